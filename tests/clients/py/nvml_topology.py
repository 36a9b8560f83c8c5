"""nvidia-ml-py: GPUs, their links and remote ends, as tools read them."""
import pynvml as nvml

nvml.nvmlInit()
count = nvml.nvmlDeviceGetCount()
assert count == 8, count
switches = {}
for i in range(count):
    gpu = nvml.nvmlDeviceGetHandleByIndex(i)
    assert nvml.nvmlDeviceGetName(gpu) == "NVIDIA H100 80GB HBM3"
    assert nvml.nvmlDeviceGetMemoryInfo(gpu, version=nvml.nvmlMemory_v2).used == 0
    for link in range(18):
        assert nvml.nvmlDeviceGetNvLinkState(gpu, link) == nvml.NVML_FEATURE_ENABLED
        assert nvml.nvmlDeviceGetNvLinkRemoteDeviceType(gpu, link) == nvml.NVML_NVLINK_DEVICE_TYPE_SWITCH
        remote = nvml.nvmlDeviceGetNvLinkRemotePciInfo(gpu, link).busId
        switches[remote] = switches.get(remote, 0) + 1
assert sorted(switches.values()) == [32, 32, 40, 40], switches
near = nvml.nvmlDeviceGetTopologyNearestGpus(nvml.nvmlDeviceGetHandleByIndex(0), nvml.NVML_TOPOLOGY_NODE)
assert len(near) == 3
try:
    nvml.nvmlDeviceGetPowerUsage(gpu)
    raise SystemExit("power of a simulated GPU")
except nvml.NVMLError_NotSupported:
    pass
nvml.nvmlShutdown()
print("ok")
