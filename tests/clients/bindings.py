"""NVIDIA's own Python bindings, unmodified: a multicast team set up, bound by memory and by address and with
the _v2 calls; a copy to the multicast address read back through every unicast one."""

import ctypes
import os
import sys

from cuda.bindings import driver as cuda

MIB = 1 << 20


def ok(answer):
    """The values behind a result, which must be success."""
    result, *values = answer if isinstance(answer, tuple) else (answer,)
    if result != cuda.CUresult.CUDA_SUCCESS:
        _, name = cuda.cuGetErrorName(result)
        raise RuntimeError(name)
    return values[0] if len(values) == 1 else values


def access(device):
    desc = cuda.CUmemAccessDesc()
    desc.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    desc.location.id = device
    desc.flags = cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    return [desc]


def mapped(handle, size, device):
    va = ok(cuda.cuMemAddressReserve(size, 0, 0, 0))
    ok(cuda.cuMemMap(va, size, 0, handle, 0))
    ok(cuda.cuMemSetAccess(va, size, access(device), 1))
    return va


def memory(size, device):
    prop = cuda.CUmemAllocationProp()
    prop.type = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    prop.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    prop.location.id = device
    prop.requestedHandleTypes = (
        cuda.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    )
    return ok(cuda.cuMemCreate(size, prop, 0))


def bind(way, team, device, handle, va, size):
    if way == "mem":
        ok(cuda.cuMulticastBindMem(team, 0, handle, 0, size, 0))
    elif way == "addr":
        ok(cuda.cuMulticastBindAddr(team, 0, va, size, 0))
    elif way == "mem_v2":
        ok(cuda.cuMulticastBindMem_v2(team, device, 0, handle, 0, size, 0))
    else:
        ok(cuda.cuMulticastBindAddr_v2(team, device, 0, va, size, 0))


def team_of(way, devices):
    prop = cuda.CUmulticastObjectProp()
    prop.numDevices = devices
    prop.size = 2 * MIB
    prop.handleTypes = cuda.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR.value
    prop.flags = 0
    recommended = cuda.CUmulticastGranularity_flags.CU_MULTICAST_GRANULARITY_RECOMMENDED
    grain = ok(cuda.cuMulticastGetGranularity(prop, recommended))
    size = (prop.size + grain - 1) // grain * grain
    prop.size = size
    team = ok(cuda.cuMulticastCreate(prop))
    for device in range(devices):
        ok(cuda.cuMulticastAddDevice(team, device))
    handles = [memory(size, device) for device in range(devices)]
    views = [mapped(handle, size, device) for device, handle in enumerate(handles)]
    for device in range(devices):
        bind(way, team, device, handles[device], views[device], size)
    everybody = mapped(team, size, 0)

    sent = (ctypes.c_uint32 * 256)(*(i * 2654435761 % 2**32 for i in range(256)))
    ok(cuda.cuMemcpyHtoD(everybody, ctypes.addressof(sent), ctypes.sizeof(sent)))
    ok(cuda.cuCtxSynchronize())
    for view in views:
        got = (ctypes.c_uint32 * 256)()
        ok(cuda.cuMemcpyDtoH(ctypes.addressof(got), view, ctypes.sizeof(got)))
        assert list(got) == list(sent), "a unicast view differs from what was sent"

    ok(cuda.cuMemUnmap(everybody, size))
    for device in range(devices):
        ok(cuda.cuMulticastUnbind(team, device, 0, size))
        ok(cuda.cuMemUnmap(views[device], size))
        ok(cuda.cuMemRelease(handles[device]))
    ok(cuda.cuMemRelease(team))


def main():
    ok(cuda.cuInit(0))
    version = ok(cuda.cuDriverGetVersion())
    devices = ok(cuda.cuDeviceGetCount())
    context = ok(cuda.cuDevicePrimaryCtxRetain(0))
    ok(cuda.cuCtxSetCurrent(context))
    name = ok(cuda.cuDeviceGetName(64, 0)).split(b"\0")[0].decode()
    multicast = cuda.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED
    assert ok(cuda.cuDeviceGetAttribute(multicast, 0)) == 1
    result, text = cuda.cuGetErrorString(cuda.CUresult.CUDA_ERROR_ILLEGAL_STATE)
    assert result == cuda.CUresult.CUDA_SUCCESS and b"present state" in text
    ways = ["mem", "addr"] + (["mem_v2", "addr_v2"] if version >= 13010 else [])
    for way in ways:
        team_of(way, devices)
    print(f"{devices} x {name}, driver {version}: {', '.join(ways)}")
    sys.stdout.flush()
    if os.environ.get("LEAVE_HARD"):
        os._exit(0)


main()
