/* Sizes that callers give: no product and no sum of them wraps around, and what cannot be is INVALID_VALUE. */
#include "tests/api/cuda_test.h"

#define TOP ((size_t)1 << 63)

typedef struct {
    CUmemorytype type;
    size_t x, y, pitch;
} End;

static guint8 host_bytes[1 << 16];
static CUdeviceptr device_bytes;

static CUresult copy_2d(const End *to, const End *from, size_t width, size_t height, gboolean async)
{
    CUDA_MEMCPY2D copy = {.dstMemoryType = to->type,
                          .dstHost = host_bytes,
                          .dstDevice = device_bytes,
                          .dstXInBytes = to->x,
                          .dstY = to->y,
                          .dstPitch = to->pitch,
                          .srcMemoryType = from->type,
                          .srcHost = host_bytes,
                          .srcDevice = device_bytes,
                          .srcXInBytes = from->x,
                          .srcY = from->y,
                          .srcPitch = from->pitch,
                          .WidthInBytes = width,
                          .Height = height};
    return async ? cuMemcpy2DAsync(&copy, NULL) : cuMemcpy2D(&copy);
}

/* Proves that cuMemcpy2D refuses every size, pitch and place of either end, in host and device memory, whose
 * products or sums wrap around, or whose pitch no device has. */
static void test_copies_of_rows(void)
{
    static const struct {
        size_t width, height;
        size_t x, y, pitch;
    } bad[] = {
        {TOP + 16, 2, 0, 0, TOP + 16}, /* width x height wraps to 32 */
        {TOP + 16, 2, 0, 0, 0},
        {((size_t)1 << 32) + 1, (size_t)1 << 32, 0, 0, 0},
        {16, (size_t)1 << 60 | 1, 0, 0, 16}, /* the last row is row 0 again */
        {16, SIZE_MAX, 0, 0, 16},
        {16, SIZE_MAX, 0, 0, 0},
        {16, 4, SIZE_MAX - 7, 0, 0}, /* x + width wraps */
        {16, 4, SIZE_MAX - 7, 0, 64},
        {16, 4, 0, (size_t)1 << 60, 16}, /* y x pitch wraps */
        {16, 4, 0, (size_t)1 << 58, 64},
        {16, 4, 48, ((size_t)1 << 58) - 1, 64}, /* y x pitch + x */
        {16, 4, 0, ((size_t)1 << 63) / 64, 64}, /* beyond all memory */
        {16, 4, 0, 0, 15},                      /* rows that overlap */
        {16, 4, 1, 0, 16},
        {16, 2, 0, 0, (size_t)1 << 31}, /* above the greatest pitch */
        {16, 2, 0, 0, SIZE_MAX},
        {SIZE_MAX, 1, 0, 0, 0},
        {SIZE_MAX, 1, 1, 0, 0},
    };
    const CUmemorytype types[] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_UNIFIED};

    start();
    use_device(0);
    OK(cuMemAlloc(&device_bytes, sizeof host_bytes));
    OK(cuMemsetD8(device_bytes, 5, sizeof host_bytes));
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
        for (int async = 0; async < 2; async++)
            for (int where = 0; where < 2; where++)
                for (gsize t = 0; t < G_N_ELEMENTS(types); t++) {
                    End end = {types[t], bad[i].x, bad[i].y, bad[i].pitch};
                    End plain = {types[t] == CU_MEMORYTYPE_HOST ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST, 0, 0, 0};
                    CUresult result = copy_2d(where ? &plain : &end, where ? &end : &plain, bad[i].width, bad[i].height,
                                              async);
                    if (result != CUDA_ERROR_INVALID_VALUE)
                        fail_msg("row %zu, end %d of type %d: %d", i, where, types[t], result);
                }
    End to = {CU_MEMORYTYPE_HOST, 3, 2, 100}, from = {CU_MEMORYTYPE_DEVICE, 5, 7, 64};
    OK(copy_2d(&to, &from, 10, 3, FALSE));
    for (gsize i = 0; i < 1000; i++) /* rows 2 to 4, bytes 3 to 12 */
        assert_int_equal(host_bytes[i], i / 100 >= 2 && i / 100 < 5 && i % 100 >= 3 && i % 100 < 13 ? 5 : 0);
    OK(copy_2d(&to, &from, 0, SIZE_MAX, FALSE)); /* nothing is copied */
    OK(copy_2d(&to, &from, 10, 0, FALSE));
}

/* Proves the same of fills: numbers of elements, pitches and rows. Of one row the pitch is not looked at. */
static void test_fills(void)
{
    start();
    use_device(0);
    OK(cuMemAlloc(&device_bytes, 65536));
    OK(cuMemsetD8(device_bytes, 1, 65536));
    INVALID(cuMemsetD32(device_bytes, 2, ((size_t)1 << 62) + 1));
    INVALID(cuMemsetD16(device_bytes, 2, TOP + 1));
    INVALID(cuMemsetD8(device_bytes, 2, SIZE_MAX));
    INVALID(cuMemsetD32Async(device_bytes, 2, ((size_t)1 << 62) + 1, NULL));
    INVALID(cuMemsetD2D32(device_bytes, 16, 2, ((size_t)1 << 62) + 1, 4));
    INVALID(cuMemsetD2D8(device_bytes, TOP, 2, 16, 3));             /* 2 x pitch wraps to 0 */
    INVALID(cuMemsetD2D8(device_bytes, (size_t)1 << 62, 2, 16, 5)); /* 4 x pitch */
    INVALID(cuMemsetD2D8(device_bytes, 16, 2, 16, (size_t)1 << 60 | 1));
    INVALID(cuMemsetD2D8(device_bytes, 15, 2, 16, 2)); /* rows that overlap */
    INVALID(cuMemsetD2D8(device_bytes, 0, 2, 16, 2));
    INVALID(cuMemsetD2D32(device_bytes, 18, 2, 4, 2)); /* rows that are not aligned */
    assert_int_equal(word_at(device_bytes), 0x01010101);
    OK(cuMemsetD2D8(device_bytes, 0, 3, 4, 1));
    OK(cuMemsetD2D8(device_bytes + 4, SIZE_MAX, 3, 4, 1));
    OK(cuMemsetD2D8(device_bytes, 64, 4, 2, 3));
    for (int row = 0; row < 4; row++) {
        guint32 right = row == 0 ? 0x03030404 : row < 3 ? 0x01010404 : 0x01010101;
        assert_int_equal(word_at(device_bytes + 64 * (unsigned)row), right);
    }
    assert_int_equal(word_at(device_bytes + 4), 0x03030303);
}

/* Proves the same of plain copies, allocations, host memory, reservations, maps, binds and objects. */
static void test_everything_else(void)
{
    CUmemAllocationProp prop = memory_prop(CU_MEM_LOCATION_TYPE_DEVICE, 0, 0);
    CUdeviceptr va, other = 0;
    CUcontext context;
    size_t pitch = 0;
    void *host = NULL;
    Handle handle = 0;

    start();
    use_device(0);
    OK(cuCtxGetCurrent(&context));
    OK(cuMemAlloc(&va, 65536));
    INVALID(cuMemcpyHtoD(va, host_bytes, SIZE_MAX));
    INVALID(cuMemcpyDtoH(host_bytes, va, SIZE_MAX - 4096));
    INVALID(cuMemcpyDtoD(va, va + 256, SIZE_MAX));
    INVALID(cuMemcpy((CUdeviceptr)(uintptr_t)host_bytes, (CUdeviceptr)(uintptr_t)host_bytes + 16, SIZE_MAX));
    INVALID(cuMemcpyPeer(va, context, va, context, SIZE_MAX));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&other, SIZE_MAX));
    INVALID(cuMemAllocPitch(&other, &pitch, SIZE_MAX, 2, 4));
    INVALID(cuMemAllocPitch(&other, &pitch, (size_t)1 << 33, (size_t)1 << 33, 4));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocAsync(&other, SIZE_MAX, NULL));
    INVALID(cuMemHostAlloc(&host, SIZE_MAX, 0));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemHostAlloc(&host, TOP, 0));
    INVALID(cuMemHostRegister(host_bytes, SIZE_MAX - 100, 0));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAddressReserve(&other, ~(GRAIN - 1), 0, 0, 0));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAddressReserve(&other, TOP - GRAIN, TOP / 2, 0, 0));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&handle, ~(GRAIN - 1), &prop, 0));
    prop = memory_prop(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0, 0);
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&handle, ~(GRAIN - 1), &prop, 0));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&handle, TOP, &prop, 0));
    Handle mem = memory(0, GRAIN, 0), object = full_team(2, 2 * GRAIN, 0);
    CUdeviceptr at = reserve(GRAIN);
    INVALID(cuMemMap(at, ~(GRAIN - 1), 0, mem, 0));
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(at, GRAIN, ~(GRAIN - 1), mem, 0));
    INVALID(cuMemMap(at, GRAIN, ~(GRAIN - 1), object, 0));
    INVALID(cuMemUnmap(at, ~(GRAIN - 1)));
    INVALID(cuMemAddressFree(at, ~(GRAIN - 1)));
    INVALID(set_access(at, ~(GRAIN - 1), 0));
    INVALID(cuMulticastBindMem(object, ~(GRAIN - 1), mem, 0, 2 * GRAIN, 0));
    INVALID(cuMulticastBindMem(object, 0, mem, ~(GRAIN - 1), 2 * GRAIN, 0));
    INVALID(cuMulticastBindMem(object, 0, mem, ~(GRAIN - 1), GRAIN, 0));
    INVALID(cuMulticastBindMem(object, 0, mem, 0, ~(GRAIN - 1), 0));
    OK(cuMemMap(at, GRAIN, 0, mem, 0));
    INVALID(cuMulticastBindAddr(object, 0, at, ~(GRAIN - 1), 0));
    INVALID(cuMulticastUnbind(object, 0, ~(GRAIN - 1), 2 * GRAIN));
    FoKernel kernel = {"k", (FoProgram)(uintptr_t)host_bytes, host_bytes, SIZE_MAX, 1, 32};
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, fo_launch(&kernel, NULL));
    kernel.args = (void *)(uintptr_t)16;
    kernel.args_bytes = 64;
    INVALID(fo_launch(&kernel, NULL));
}

/* Proves that memory is out when all of a GPU's is taken, whatever the pieces, and is there again when freed. */
static void test_memory_is_out(void)
{
    CUdeviceptr va[2] = {0}, more = 0;
    size_t left = 0, all = 0;
    start();
    use_device(0);
    OK(cuMemAlloc(&va[0], 40 * MIB));
    OK(cuMemGetInfo(&left, &all));
    assert_int_equal(all, 64 * MIB);
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&more, 40 * MIB));
    OK(cuMemAlloc(&va[1], 20 * MIB));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&more, 20 * MIB));
    OK(cuMemFree(va[0]));
    OK(cuMemAlloc(&more, 40 * MIB));
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {
        CUDA_TEST(test_copies_of_rows, ""),
        CUDA_TEST(test_fills, ""),
        CUDA_TEST(test_everything_else, ""),
        CUDA_TEST(test_memory_is_out, "cuda.memory_bytes=67108864"),
        CUDA_TEST_END,
    };
    return cuda_test_main(tests, argc, argv);
}
