/* Every documented error of every implemented call is produced: tests/api/cuda_errors.list names them,
 * and a test that cannot produce one fails. Those of a state (before cuInit, at the end of the
 * process) come about by themselves; the others also by `cuda.fail`, whatever the call is given.
 * What programs bring about by wrong arguments is in the test_cuda_bad_* and test_cuda_rules_*
 * tests. */
#include <stdio.h>

#include "tests/api/cuda_test.h"

typedef struct {
    char *call;
    char **code; /* without CUDA_ERROR_ */
    CUresult (*function)(guint64, guint64, guint64, guint64, guint64, guint64, guint64, guint64);
} Row;

static GArray *rows; /* Row; global because an exit handler reads it */

static void load_rows(void)
{
    g_autofree char *path = g_build_filename(g_getenv("TOP_SRCDIR") ? g_getenv("TOP_SRCDIR") : ".", "tests", "api",
                                             "cuda_errors.list", NULL);
    g_autofree char *text = NULL;

    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    rows = g_array_new(FALSE, FALSE, sizeof(Row));
    for (guint i = 0; lines[i] != NULL; i++) {
        if (lines[i][0] == '#' || lines[i][0] == '\0')
            continue;
        Row row = {.code = g_strsplit(lines[i], " ", -1)};
        row.call = row.code[0];
        row.code++;
        g_array_append_val(rows, row);
    }
    assert_true(rows->len > 120);
}

static void look_up_rows(void)
{
    for (guint i = 0; i < rows->len; i++) {
        Row *row = &g_array_index(rows, Row, i);
        CUdriverProcAddressQueryResult found;
        void *function = NULL;
        /* the plain binds, not what 13.1 made of them */
        int version = g_str_has_prefix(row->call, "cuMulticastBind") ? 13010 : 13050;
        if (version == 13010 && !g_str_has_suffix(row->call, "_v2"))
            version = 12010;
        OK(cuGetProcAddress_v2(row->call, &function, version, 0, &found));
        if (!function)
            fail_msg("%s is not there", row->call);
        memcpy(&row->function, &function, sizeof function);
    }
}

static const char *name_of(CUresult result)
{
    const char *name = NULL;
    cuGetErrorName(result, &name);
    return name && result != CUDA_SUCCESS ? name + strlen("CUDA_ERROR_") : "SUCCESS";
}

static const char *answer(const Row *row) { return name_of(row->function(0, 0, 0, 0, 0, 0, 0, 0)); }

/* The looked-up functions of a state all answer the same. */
static void all_answer(const char *code)
{
    guint n = 0;

    for (guint i = 0; i < rows->len; i++) {
        const Row *row = &g_array_index(rows, Row, i);
        if (!g_strv_contains((const char *const *)row->code, code) || g_str_equal(row->call, "cuGetProcAddress"))
            continue;
        if (!g_str_equal(answer(row), code))
            fail_msg("%s: %s, not %s", row->call, answer(row), code);
        n++;
    }
    assert_true(n > 90);
}

/* Before cuInit every call that documents it is NOT_INITIALIZED. */
static void test_before_init(void)
{
    load_rows();
    look_up_rows();
    all_answer("NOT_INITIALIZED");
}

static void at_exit(void)
{
    for (guint i = 0; i < rows->len; i++) {
        const Row *row = &g_array_index(rows, Row, i);
        if (g_strv_contains((const char *const *)row->code, "DEINITIALIZED") &&
            !g_str_equal(answer(row), "DEINITIALIZED")) {
            fprintf(stderr, "%s: %s, not DEINITIALIZED\n", row->call, answer(row));
            _exit(3);
        }
    }
}

/* While the process ends every call that documents it is DEINITIALIZED. */
static void test_at_exit(void)
{
    load_rows();
    atexit(at_exit); /* runs behind the driver's own handler, which is registered later */
    look_up_rows();
    start();
}

/* One of the calls, as often as it has codes: each is answered once, in order. */
static void produce(const Row *row)
{
    for (guint i = 0; row->code[i] != NULL; i++) {
        const char *got = answer(row);
        if (!g_str_equal(got, row->code[i]))
            fail_msg("%s: %s, not %s", row->call, got, row->code[i]);
    }
}

/* `cuda.fail` produces every documented error, whatever the call is given. */
static void test_on_demand(void)
{
    g_autoptr(GString) set = g_string_new("cuda.driver_version=13050\ncuda.fail=");
    guint pairs = 0;

    load_rows();
    for (guint i = 0; i < rows->len; i++) {
        const Row *row = &g_array_index(rows, Row, i);
        for (guint k = 0; row->code[k] != NULL; k++, pairs++)
            g_string_append_printf(set, "%s:%s:%u,", row->call, row->code[k], k + 1);
    }
    g_setenv("FANOUT_SET", set->str, TRUE);
    Row address = {"cuGetProcAddress", NULL, NULL}; /* first: the others are looked up by it */
    for (guint i = 0; i < rows->len; i++)
        if (g_str_equal(g_array_index(rows, Row, i).call, address.call))
            for (guint k = 0; g_array_index(rows, Row, i).code[k] != NULL; k++)
                assert_string_equal(name_of(cuGetProcAddress_v2("cuInit", NULL, 0, 0, NULL)),
                                    g_array_index(rows, Row, i).code[k]);
    look_up_rows();
    for (guint i = 0; i < rows->len; i++)
        if (g_str_equal(g_array_index(rows, Row, i).call, "cuInit"))
            produce(&g_array_index(rows, Row, i));
    start();
    for (guint i = 0; i < rows->len; i++) {
        const Row *row = &g_array_index(rows, Row, i);
        if (!g_str_equal(row->call, address.call) && !g_str_equal(row->call, "cuInit"))
            produce(row);
    }
    assert_true(pairs > 550);
}

/* A failing call does nothing; the one behind it works; a name without suffix means all variants.
 */
static void test_a_failing_call_does_nothing(void)
{
    Handle handle = 77;
    CUdeviceptr va = 77;
    CUmemAllocationProp prop = memory_prop(CU_MEM_LOCATION_TYPE_DEVICE, 0, 0);

    start();
    use_device(0);
    OK(cuMemCreate(&handle, GRAIN, &prop, 0));
    handle = 77;
    EXPECT(CUDA_ERROR_NOT_PERMITTED, cuMemCreate(&handle, GRAIN, &prop, 0));
    assert_int_equal(handle, 77);
    OK(cuMemCreate(&handle, GRAIN, &prop, 0));
    for (int i = 0; i < 3; i++)
        EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&va, 1));
    assert_int_equal(va, 77);
    EXPECT(CUDA_ERROR_UNKNOWN, cuMemsetD32Async(0, 0, 0, NULL));
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {
        CUDA_TEST(test_before_init, "cuda.driver_version=13050"),
        CUDA_TEST(test_at_exit, "cuda.driver_version=13050"),
        CUDA_TEST(test_on_demand, ""),
        CUDA_TEST(test_a_failing_call_does_nothing,
                  "cuda.fail=cuMemCreate:NOT_PERMITTED:2,cuMemAlloc:CUDA_ERROR_OUT_OF_MEMORY,"
                  "cuMemsetD32Async:UNKNOWN"),
        CUDA_TEST_END,
    };
    return cuda_test_main(tests, argc, argv);
}
