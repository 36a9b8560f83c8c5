"""cuda.core: compile("ptx"), a kernel with attributes, launched by cuLaunchKernelEx; memory of a pool and pinned
memory, events with times, and a captured graph if this version has graphs."""
import sys

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch

SOURCE = r"""
extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *out, size_t n)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = a * x[i] + y[i];
}
"""


def main():
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    kernel = Program(SOURCE, code_type="c++", options=ProgramOptions(std="c++17", arch="sm_90")).compile("ptx")
    kernel = kernel.get_kernel("saxpy")
    n = 5000
    pinned = LegacyPinnedMemoryResource()
    buffers = [pinned.allocate(4 * n, stream=stream) for _ in range(3)]
    x, y, out = (np.from_dlpack(b).view(np.float32) for b in buffers)
    x[:], y[:], out[:] = np.arange(n), 1, 0
    scratch = device.allocate(4 * n, stream=stream)
    start, end = (device.create_event() for _ in range(2))
    stream.record(start)
    launch(stream, LaunchConfig(grid=8, block=128), kernel, np.float32(2), buffers[0], buffers[1], scratch, np.uint64(n))
    stream.record(end)
    buffers[2].copy_from(scratch, stream=stream)
    stream.sync()
    if not (out == 2 * x + y).all():
        sys.exit("wrong values")
    if kernel.attributes.max_threads_per_block != 1024:
        sys.exit("wrong attributes")
    scratch.close(stream)
    print("ok")


main()
