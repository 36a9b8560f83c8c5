/* Tensor maps of the driver: which it makes and which it refuses, as an H100's driver does; and kernels that copy by
 * them, right and wrong ones. */
#include "tests/api/cuda_test.h"

#include "tests/measured.h"
#include "tests/ptx/tensor_cases.h"

static CUresult encode(CUtensorMap *map, const TensorCase *x, CUdeviceptr base)
{
    void *address = (void *)(guintptr)(base + x->offset);
    return x->im2col ? cuTensorMapEncodeIm2col(map, (CUtensorMapDataType)x->type, x->rank, address, x->dim, x->stride,
                                               x->lower, x->upper, x->channels, x->pixels, x->element,
                                               (CUtensorMapInterleave)x->interleave, (CUtensorMapSwizzle)x->swizzle,
                                               CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)x->fill)
                     : cuTensorMapEncodeTiled(map, (CUtensorMapDataType)x->type, x->rank, address, x->dim, x->stride,
                                              x->box, x->element, (CUtensorMapInterleave)x->interleave,
                                              (CUtensorMapSwizzle)x->swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                              (CUtensorMapFloatOOBfill)x->fill);
}

/* Proves that the calls answer what an H100's driver answers, of 1,200 maps with up to two numbers that are changed. */
static void test_measured(void)
{
    g_auto(GStrv) lines = measured_lines("tensor.csv");
    guint seen = 0;
    start();
    use_device(0);
    for (guint i = 0; lines[i]; i++) {
        guint64 number;
        TensorCase x;
        CUtensorMap map;
        if (!g_str_has_prefix(lines[i], "map,"))
            continue;
        number = g_ascii_strtoull(lines[i] + 4, NULL, 10);
        tensor_map_draw((guint)number, &x);
        CUresult have = encode(&map, &x, 0);
        if (have != (CUresult)g_ascii_strtoull(strrchr(lines[i], ',') + 1, NULL, 10))
            fail_msg("%s: %d", lines[i], (int)have);
        seen++;
    }
    assert_int_equal(seen, TENSOR_MAPS);
}

/* A map of 64 x 64 halves. */
static CUresult plain(CUtensorMap *map, guint64 address, guint64 stride, guint32 box)
{
    const cuuint64_t dim[] = {64, 64}, strides[] = {stride};
    const cuuint32_t boxes[] = {box, 8}, one[] = {1, 1};
    return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)(guintptr)address, dim, strides,
                                  boxes, one, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                  CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* Proves that pointers and addresses are looked at, and that a map's address can be replaced by one of its rule. */
static void test_arguments(void)
{
    const cuuint64_t dim[] = {64, 64}, strides[] = {128};
    const cuuint32_t box[] = {64, 8}, one[] = {1, 1};
    CUtensorMap map[2] = {{{0}}}, other;
    start();
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, plain(&map[0], 4096, 128, 64));
    use_device(0);
    OK(plain(&map[0], 4096, 128, 64));
    EXPECT(CUDA_ERROR_INVALID_VALUE, plain((CUtensorMap *)((guint8 *)map + 32), 4096, 128, 64));
    EXPECT(CUDA_ERROR_INVALID_VALUE, plain(NULL, 4096, 128, 64));
    EXPECT(CUDA_ERROR_INVALID_VALUE, plain(&map[1], 4100, 128, 64));
    EXPECT(CUDA_ERROR_INVALID_VALUE, plain(&map[1], 4096, 130, 64));
    EXPECT(CUDA_ERROR_INVALID_VALUE, plain(&map[1], 4096, (guint64)1 << 40, 64));
    EXPECT(CUDA_ERROR_INVALID_VALUE, plain(&map[1], 4096, 128, 72)); /* more than the swizzle's 128 bytes */
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuTensorMapEncodeTiled(&map[1], CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)4096,
                                                            dim, NULL, box, one, 0, 0, 0, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuTensorMapEncodeTiled(&map[1], CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)4096,
                                                            NULL, strides, box, one, 0, 0, 0, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuTensorMapReplaceAddress(&map[1], (void *)4096)); /* it is none */
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuTensorMapReplaceAddress(&map[0], (void *)4104));
    OK(cuTensorMapReplaceAddress(&map[0], (void *)8192));
    OK(plain(&other, 8192, 128, 64));
    assert_memory_equal(&map[0], &other, sizeof other);
}

typedef struct {
    CUtensorMap map;
    TensorParam par;
} Args;

/* The result of one drawn copy, by the driver's calls alone. */
static CUresult copy(guint index, guint64 *hash)
{
    static guint8 bytes[TENSOR_MEMORY];
    g_autofree char *text = tensor_text();
    CUdeviceptr memory, out, in;
    CUmodule module;
    CUfunction function;
    TensorCase x;
    Args args = {.par = {.mask = 3}};
    char name[64];
    OK(cuMemAlloc(&memory, TENSOR_MEMORY));
    OK(cuMemAlloc(&out, 1 << 17));
    OK(cuMemAlloc(&in, TENSOR_SHARED));
    tensor_case_draw(index, &x);
    OK(encode(&args.map, &x, memory));
    memcpy(args.par.at, x.at, sizeof x.at);
    memcpy(args.par.shift, x.shift, sizeof x.shift);
    args.par.shared = x.shared;
    args.par.bytes = x.bytes;
    args.par.out = out;
    args.par.in = in;
    tensor_kernel_name(&x, name, sizeof name);
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&function, module, name));
    tensor_memory_fill(&x, bytes);
    OK(cuMemcpyHtoD(memory, bytes, TENSOR_MEMORY));
    tensor_shared_fill(&x, bytes);
    OK(cuMemcpyHtoD(in, bytes, TENSOR_SHARED));
    OK(cuMemsetD8(out, 0, 1 << 17));
    void *params[] = {&args.map, &args.par};
    OK(cuLaunchKernel(function, x.work == TENSOR_MULTICAST ? 2 : 1, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    CUresult result = cuCtxSynchronize();
    gsize n = x.work > TENSOR_MULTICAST    ? TENSOR_MEMORY
              : x.work == TENSOR_MULTICAST ? 2 * (TENSOR_SHARED + 16)
                                           : TENSOR_SHARED + 16;
    if (result == CUDA_SUCCESS) {
        OK(cuMemcpyDtoH(bytes, x.work > TENSOR_MULTICAST ? memory : out, n));
        *hash = tensor_hash(bytes, n);
    }
    return result;
}

/* Proves that a program's copies leave the bytes of an H100: a load, a multicast in a cluster, a store, a reduction. */
static void test_copies(void)
{
    static const guint which[] = {0, 11, 12, 16};
    g_auto(GStrv) lines = measured_lines("tensor.csv");
    start();
    use_device(0);
    for (guint i = 0; i < G_N_ELEMENTS(which); i++) {
        guint64 hash = 0;
        OK(copy(which[i], &hash));
        g_autofree char *line = g_strdup_printf("copy,%u,%016" G_GINT64_MODIFIER "x", which[i], hash);
        if (!g_strv_contains((const char *const *)lines, line))
            fail_msg("%s: not as measured", line);
    }
}

/* Proves that a copy that an H100 refuses ends its context as there, by the error of an illegal instruction. */
static void test_refused(void)
{
    g_auto(GStrv) lines = measured_lines("tensor.csv");
    guint i = 0;
    guint64 hash;
    while (lines[i] && !g_str_has_suffix(lines[i], ",error 715"))
        i++;
    assert_non_null(lines[i]);
    start();
    use_device(0);
    EXPECT(CUDA_ERROR_ILLEGAL_INSTRUCTION, copy((guint)g_ascii_strtoull(lines[i] + strlen("copy,"), NULL, 10), &hash));
}

/* Proves that a GPU that has no tensor maps has no calls for them. */
static void test_older(void)
{
    CUtensorMap map;
    int has = 1;
    start();
    use_device(0);
    OK(cuDeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0));
    assert_int_equal(has, 0);
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, plain(&map, 4096, 128, 64));
}

static const CudaTest tests[] = {CUDA_TEST(test_measured, ""),
                                 CUDA_TEST(test_arguments, ""),
                                 CUDA_TEST(test_copies, ""),
                                 CUDA_TEST(test_refused, ""),
                                 CUDA_TEST_ON("dgx-a100", test_older, ""),
                                 CUDA_TEST_END};
int main(int argc, char **argv) { return cuda_test_main(tests, argc, argv); }
