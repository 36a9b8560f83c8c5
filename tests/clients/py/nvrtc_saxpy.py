"""cuda-bindings with NVRTC: CUDA C++ to PTX at run time, loaded by the driver API, launched with packed parameters;
managed memory that the host writes and reads directly."""
import ctypes
import sys

import numpy as np
from cuda.bindings import driver, nvrtc

SOURCE = rb"""
extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *out, unsigned long long n)
{
    for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = a * x[i] + y[i];
}
"""


def check(result):
    code, *values = result
    if int(code) != 0:
        sys.exit(f"{code!r}")
    return values[0] if len(values) == 1 else values


def main():
    check(driver.cuInit(0))
    device = check(driver.cuDeviceGet(0))
    context = check(driver.cuDevicePrimaryCtxRetain(device))
    check(driver.cuCtxSetCurrent(context))
    program = check(nvrtc.nvrtcCreateProgram(SOURCE, b"saxpy.cu", 0, [], []))
    check(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=compute_90"]))
    ptx = b" " * check(nvrtc.nvrtcGetPTXSize(program))
    check(nvrtc.nvrtcGetPTX(program, ptx))
    module = check(driver.cuModuleLoadData(ptx))
    kernel = check(driver.cuModuleGetFunction(module, b"saxpy"))
    n = 10_000
    at = [check(driver.cuMemAllocManaged(4 * n, driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL.value)) for _ in range(3)]
    x, y, out = (np.ctypeslib.as_array((ctypes.c_float * n).from_address(int(p))) for p in at)
    x[:], y[:], out[:] = np.arange(n), 1, 0
    stream = check(driver.cuStreamCreate(0))
    values = (ctypes.c_float(2), *(ctypes.c_void_p(int(p)) for p in at), ctypes.c_ulonglong(n))
    types = tuple(type(v) for v in values)
    check(driver.cuLaunchKernel(kernel, 16, 1, 1, 256, 1, 1, 0, stream, (values, types), 0))
    check(driver.cuStreamSynchronize(stream))
    if not (out == 2 * x + y).all():
        sys.exit("wrong values")
    for p in at:
        check(driver.cuMemFree(p))
    check(driver.cuModuleUnload(module))
    print("ok")


main()
