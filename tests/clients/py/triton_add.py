"""Triton without a framework: its compiler writes PTX, the assembler's stand-in hands it through, its launcher starts
the kernel with the driver API. Memory comes from cuda-bindings."""
import sys

import numpy as np
import triton
import triton.language as tl
from cuda.bindings import driver


@triton.jit
def add_and_sum(x, y, out, total, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    value = tl.load(x + at, mask=mask, other=0.0) + tl.load(y + at, mask=mask, other=0.0)
    tl.store(out + at, value, mask=mask)
    tl.atomic_add(total, tl.sum(value.to(tl.int32), axis=0))


class Pointer:
    """What Triton's launcher takes for a tensor: an address and the type of an element."""

    def __init__(self, address, dtype):
        self.address, self.dtype = int(address), dtype

    def data_ptr(self):
        return self.address


def check(result):
    code, *values = result
    if int(code) != 0:
        sys.exit(f"{code!r}")
    return values[0] if len(values) == 1 else values


def main():
    check(driver.cuInit(0))
    check(driver.cuCtxSetCurrent(check(driver.cuDevicePrimaryCtxRetain(check(driver.cuDeviceGet(0))))))
    n = 5000
    x, y = np.arange(n, dtype=np.float32), np.full(n, 3, np.float32)
    out, total = np.zeros(n, np.float32), np.zeros(1, np.int32)
    at = []
    for array in (x, y, out, total):
        at.append(check(driver.cuMemAlloc(array.nbytes)))
        check(driver.cuMemcpyHtoD(at[-1], array.ctypes.data, array.nbytes))
    add_and_sum[(triton.cdiv(n, 256),)](Pointer(at[0], "fp32"), Pointer(at[1], "fp32"), Pointer(at[2], "fp32"),
                                        Pointer(at[3], "i32"), n, BLOCK=256)
    check(driver.cuCtxSynchronize())
    check(driver.cuMemcpyDtoH(out.ctypes.data, at[2], out.nbytes))
    check(driver.cuMemcpyDtoH(total.ctypes.data, at[3], total.nbytes))
    if not (out == x + y).all() or total[0] != int((x + y).sum()):
        sys.exit(f"wrong values: sum {total[0]}")
    print("ok")


main()
