"""numba-cuda: Python functions to kernels at run time. Vector addition, a sum in shared memory with a barrier, an
atomic, a device function, and arrays that numba moves by itself."""
import sys

import numpy as np
from numba import cuda, float32

THREADS = 128


@cuda.jit(device=True)
def square(value):
    return value * value


@cuda.jit
def add(x, y, out):
    at = cuda.grid(1)
    if at < out.size:
        out[at] = square(x[at]) + y[at]


@cuda.jit
def total(x, out):
    shared = cuda.shared.array(THREADS, float32)
    at, lane = cuda.grid(1), cuda.threadIdx.x
    shared[lane] = x[at] if at < x.size else 0
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if lane < step:
            shared[lane] += shared[lane + step]
        cuda.syncthreads()
        step //= 2
    if lane == 0:
        cuda.atomic.add(out, 0, shared[0])


def main():
    n = 4000
    x, y = np.arange(n, dtype=np.float32) % 7, np.ones(n, np.float32)
    out, result = np.zeros(n, np.float32), np.zeros(1, np.float32)
    blocks = (n + THREADS - 1) // THREADS
    add[blocks, THREADS](x, y, out)
    on_device = cuda.to_device(out)
    total[blocks, THREADS](on_device, result)
    cuda.synchronize()
    if not (out == x * x + y).all() or result[0] != out.sum():
        sys.exit(f"wrong values: {result[0]} for {out.sum()}")
    print("ok")


main()
