/* What the multicast pages of the drivers of 13.4 and 13.5 say beyond those of 13.0 (test_cuda_rules_1.c and on):
 * cliques, memory that begins on a multiple of 256 bytes (SM 10.7), and the error of too many of it. */
#include "tests/api/cuda_test.h"

#define NEXT "cuda.gpu=vr200 cuda.driver_version=13050 "

/* Adding a device of another clique is an invalid device; the team stays usable. */
static void test_clique_add(void)
{
    start();
    Handle object = team(2, GRAIN, 0);
    OK(cuMulticastAddDevice(object, 1));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMulticastAddDevice(object, 2));
    INVALID(cuMulticastAddDevice(object, 1)); /* a member already: no question of cliques */
    OK(cuMulticastAddDevice(object, 0));
    OK(cuMulticastBindMem(object, 0, memory(1, GRAIN, 0), 0, GRAIN, 0));
}

/* Where adding does not look, binds and maps fail. */
static void test_clique_later(void)
{
    start();
    use_device(1);
    Handle object = team(2, GRAIN, 0), mem = memory(1, GRAIN, 0);
    CUdeviceptr va = mapped(mem, GRAIN, 1), window = reserve(GRAIN);
    OK(cuMulticastAddDevice(object, 1));
    OK(cuMulticastAddDevice(object, 2));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMulticastBindMem_v2(object, 1, 0, mem, 0, GRAIN, 0));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMulticastBindAddr(object, 0, va, GRAIN, 0));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMulticastBindAddr_v2(object, 1, 0, va, GRAIN, 0));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuMemMap(window, GRAIN, 0, object, 0));
}

/* The offset in memory may be a multiple of 256; offset in the object and size stay multiples of the granularity. */
static void test_unaligned_offset(void)
{
    start();
    Handle object = full_team(2, 8 * GRAIN, 0), mem = memory(0, 4 * GRAIN, 0);
    INVALID(cuMulticastBindMem(object, 0, mem, 128, GRAIN, 0));
    INVALID(cuMulticastBindMem(object, 256, mem, 256, GRAIN, 0));
    INVALID(cuMulticastBindMem(object, 0, mem, 256, GRAIN + 256, 0));
    INVALID(cuMulticastBindMem(object, 0, mem, 256, 4 * GRAIN, 0));         /* beyond the memory */
    INVALID(cuMulticastBindMem(object, 6 * GRAIN, mem, 256, 2 * GRAIN, 0)); /* no granule is left behind it */
    OK(cuMulticastBindMem(object, 5 * GRAIN, mem, 256, 2 * GRAIN, 0));
    OK(cuMulticastBindMem_v2(object, 0, 0, mem, GRAIN + 256, GRAIN, 0));
}

/* The next bind begins one granule behind the end of an unaligned one; so it does for what lies before. */
static void test_unaligned_next(void)
{
    start();
    Handle object = full_team(2, 8 * GRAIN, 0), mem = memory(0, 4 * GRAIN, 0);
    OK(cuMulticastBindMem(object, 2 * GRAIN, mem, 512, GRAIN, 0));
    INVALID(cuMulticastBindMem(object, 3 * GRAIN, mem, 0, GRAIN, 0));
    OK(cuMulticastBindMem(object, 4 * GRAIN, mem, 0, GRAIN, 0));
    INVALID(cuMulticastBindMem(object, GRAIN, mem, 256, GRAIN, 0)); /* its granule would be the other's */
    OK(cuMulticastBindMem(object, GRAIN, mem, 0, GRAIN, 0));
    OK(cuMulticastUnbind(object, 0, 2 * GRAIN, GRAIN)); /* as it was bound */
    OK(cuMulticastBindMem(object, 2 * GRAIN, mem, 0, 2 * GRAIN, 0));
}

/* By address the same; and what is written to the object lands there and nowhere else. */
static void test_unaligned_address(void)
{
    CUdeviceptr va[2];

    start();
    Handle object = full_team(2, 2 * GRAIN, 0);
    for (int i = 0; i < 2; i++) {
        va[i] = mapped(memory(i, 2 * GRAIN, 0), 2 * GRAIN, i);
        use_device(i);
        OK(cuMemsetD32(va[i], 7, 2 * GRAIN / 4));
    }
    INVALID(cuMulticastBindAddr(object, 0, va[0] + 128, GRAIN, 0));
    INVALID(cuMulticastBindAddr(object, 0, va[0] + GRAIN + 256, GRAIN, 0));
    OK(cuMulticastBindAddr(object, 0, va[0] + 768, GRAIN, 0));
    OK(cuMulticastBindAddr_v2(object, 1, 0, va[1], GRAIN, 0));
    use_device(0);
    CUdeviceptr window = mapped(object, 2 * GRAIN, 0);
    OK(cuMemsetD32(window + 4096, 99, 1));
    assert_int_equal(word_at(va[0] + 768 + 4096), 99);
    assert_int_equal(word_at(va[0] + 4096), 7);
    use_device(1);
    assert_int_equal(word_at(va[1] + 4096), 99);
}

/* A GPU has room for so many of them; others are bound all the same, and one that goes makes room. */
static void test_resource_full(void)
{
    const char *name;

    start();
    Handle object = full_team(2, 16 * GRAIN, 0), other = full_team(2, 16 * GRAIN, 0), mem = memory(0, 4 * GRAIN, 0);
    OK(cuMulticastBindMem(object, 0, mem, 256, GRAIN, 0));
    OK(cuMulticastBindMem(other, 0, mem, 256, GRAIN, 0));
    EXPECT(CUDA_ERROR_MULTICAST_RESOURCE_FULL, cuMulticastBindMem(object, 2 * GRAIN, mem, 256, GRAIN, 0));
    EXPECT(CUDA_ERROR_MULTICAST_RESOURCE_FULL, cuMulticastBindMem_v2(object, 0, 2 * GRAIN, mem, 256, GRAIN, 0));
    CUdeviceptr va = mapped(mem, 4 * GRAIN, 0);
    EXPECT(CUDA_ERROR_MULTICAST_RESOURCE_FULL, cuMulticastBindAddr(object, 2 * GRAIN, va + 256, GRAIN, 0));
    EXPECT(CUDA_ERROR_MULTICAST_RESOURCE_FULL, cuMulticastBindAddr_v2(object, 0, 2 * GRAIN, va + 256, GRAIN, 0));
    OK(cuMulticastBindMem(object, 2 * GRAIN, mem, 0, GRAIN, 0));
    OK(cuMulticastBindMem(object, 0, memory(1, 4 * GRAIN, 0), 256, GRAIN, 0)); /* of the other GPU */
    OK(cuMulticastUnbind(other, 0, 0, GRAIN));
    OK(cuMulticastBindMem(object, 4 * GRAIN, mem, 256, GRAIN, 0));
    OK(cuGetErrorName(CUDA_ERROR_MULTICAST_RESOURCE_FULL, &name));
    assert_string_equal(name, "CUDA_ERROR_MULTICAST_RESOURCE_FULL");
    assert_int_equal(CUDA_ERROR_MULTICAST_RESOURCE_FULL, 47);
}

/* Models before it take no such memory. */
static void test_unaligned_before(void)
{
    start();
    Handle object = full_team(2, 8 * GRAIN, 0), mem = memory(0, 4 * GRAIN, 0);
    CUdeviceptr va = mapped(mem, 4 * GRAIN, 0);
    INVALID(cuMulticastBindMem(object, 0, mem, 256, GRAIN, 0));
    INVALID(cuMulticastBindAddr(object, 0, va + 256, GRAIN, 0));
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {
        CUDA_TEST(test_clique_add, "cuda.clique_gpus=2"),
        CUDA_TEST(test_clique_later, "cuda.clique_gpus=2 cuda.clique_check=later"),
        CUDA_TEST(test_unaligned_offset, NEXT),
        CUDA_TEST(test_unaligned_next, NEXT),
        CUDA_TEST(test_unaligned_address, NEXT),
        CUDA_TEST(test_resource_full, NEXT "cuda.multicast_unaligned_binds=2"),
        CUDA_TEST(test_unaligned_before, "cuda.gpu=gb200"),
        CUDA_TEST_END,
    };
    return cuda_test_main(tests, argc, argv);
}
