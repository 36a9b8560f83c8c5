/* Modules come and go: 10,000 of them leave nothing behind. */
#include "tests/test.h"

#include <fanout/cuda.h>

#include <stdio.h>

static const char text[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n.visible .global .align 4 .u32 g[64];\n"
    ".visible .const .align 4 .u32 c[4] = {1, 2, 3, 4};\n"
    ".visible .entry k(.param .u32 v)\n{\n.reg .b64 %d<4>; .reg .b32 %r<6>;\n.shared .align 4 .b8 s[64];\n"
    "ld.param.u32 %r1, [v]; mov.u32 %r2, %tid.x; mul.wide.u32 %d1, %r2, 4; mov.u64 %d2, g; add.s64 %d3, %d1, %d2;\n"
    "ld.const.u32 %r3, [c+4]; mad.lo.u32 %r4, %r1, %r3, %r2; st.global.u32 [%d3], %r4; ret;\n}\n";

static guint64 resident_bytes(void)
{
    g_autofree char *statm = NULL;
    guint64 pages = 0, resident = 0;
    assert_true(g_file_get_contents("/proc/self/statm", &statm, NULL, NULL));
    assert_int_equal(sscanf(statm, "%" G_GINT64_MODIFIER "u %" G_GINT64_MODIFIER "u", &pages, &resident), 2);
    return resident * 4096;
}

/* One module, loaded, looked into, its kernel launched now and then, and unloaded. */
static void once(guint i, gboolean library)
{
    CUmodule module = NULL;
    CUlibrary whole = NULL;
    CUfunction function;
    CUdeviceptr global;
    size_t bytes;
    unsigned value = i;
    void *params[] = {&value};
    if (library) {
        assert_int_equal(cuLibraryLoadData(&whole, text, NULL, NULL, 0, NULL, NULL, 0), CUDA_SUCCESS);
        assert_int_equal(cuLibraryGetModule(&module, whole), CUDA_SUCCESS);
    } else {
        assert_int_equal(cuModuleLoadData(&module, text), CUDA_SUCCESS);
    }
    assert_int_equal(cuModuleGetFunction(&function, module, "k"), CUDA_SUCCESS);
    assert_int_equal(cuModuleGetGlobal(&global, &bytes, module, "g"), CUDA_SUCCESS);
    assert_int_equal(bytes, 256);
    if (i % 100 == 0) {
        unsigned seen[64];
        assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL), CUDA_SUCCESS);
        assert_int_equal(cuMemcpyDtoH(seen, global, sizeof seen), CUDA_SUCCESS);
        assert_int_equal(seen[63], 2 * i + 63);
    }
    assert_int_equal(library ? cuLibraryUnload(whole) : cuModuleUnload(module), CUDA_SUCCESS);
}

/* Proves that 10,000 loads and unloads, with launches among them, take no more memory than the first thousand: of the
 * host, and of the device. */
static void test_leak(void **state)
{
    (void)state;
    CUcontext context;
    size_t left[2], all;
    guint64 resident[2];
    assert_int_equal(cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    assert_int_equal(cuCtxSetCurrent(context), CUDA_SUCCESS);
    for (guint round = 0; round < 2; round++) {
        for (guint i = 0; i < (round ? 9000u : 1000u); i++)
            once(i, i % 2 != 0);
        assert_int_equal(cuMemGetInfo(&left[round], &all), CUDA_SUCCESS);
        resident[round] = resident_bytes();
    }
    print_message("resident: %.1f MB after 1,000, %.1f MB after 10,000\n", (double)resident[0] * 1e-6,
                  (double)resident[1] * 1e-6);
    assert_int_equal(left[0], left[1]);
    assert_true(resident[1] < resident[0] + (2u << 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_leak)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
