/* Names without suffix, as programs that open the library ask for them: each does what its first version did. */
#include "tests/api/cuda_test.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

static void *named(const char *name)
{
    void *function = dlsym(RTLD_DEFAULT, name);
    if (!function)
        fail_msg("no %s", name);
    return function;
}
#define CALL(name, types, arguments) (((CUresult(*) types)named(name))arguments)

static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                           ".visible .entry add(.param .u64 p, .param .u32 n) { .reg .b64 %a; .reg .b32 %v, %n;\n"
                           "ld.param.u64 %a, [p]; ld.param.u32 %n, [n]; ld.global.u32 %v, [%a]; add.u32 %v, %v, %n; "
                           "st.global.u32 [%a], %v; ret; }\n";

/* As CUDA 10 and 11 had it: nothing behind `extra`. */
typedef struct {
    CUfunction function;
    unsigned int grid[3], block[3], shared;
    void **params, **extra;
} KernelParams;

/* Proves that a graph built, read, changed, instantiated and updated by the names of CUDA 10 runs, and that nothing is
 * read or written behind their smaller structure. */
static void test_graphs(void)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr va;
    CUgraph graph;
    CUgraphNode node, bad = (CUgraphNode)(guintptr)1;
    CUgraphExec exec;
    int how = -1;
    unsigned int n = 3;
    void *params[] = {&va, &n};
    struct {
        KernelParams params;
        guint64 behind[2];
    } in = {.behind = {0xdeaddead, 0xbeefbeef}}, out = in;

    start();
    use_device(0);
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&function, module, "add"));
    OK(cuMemAlloc(&va, 4));
    OK(cuMemsetD32(va, 0, 1));
    OK(cuGraphCreate(&graph, 0));
    in.params = (KernelParams){function, {1, 1, 1}, {1, 1, 1}, 0, params, NULL};
    OK(CALL("cuGraphAddKernelNode", (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const void *),
            (&node, graph, NULL, 0, &in)));
    OK(CALL("cuGraphKernelNodeGetParams", (CUgraphNode, void *), (node, &out)));
    assert_ptr_equal(out.params.function, function);
    assert_int_equal(out.params.block[2], 1);
    assert_int_equal(out.behind[0], 0xdeaddead);
    OK(CALL("cuGraphInstantiate", (CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t),
            (&exec, graph, NULL, NULL, 0)));
    OK(cuGraphLaunch(exec, NULL));
    assert_int_equal(word_at(va), 3);
    n = 10;
    OK(CALL("cuGraphExecKernelNodeSetParams", (CUgraphExec, CUgraphNode, const void *), (exec, node, &in)));
    OK(cuGraphLaunch(exec, NULL));
    assert_int_equal(word_at(va), 13);
    n = 100;
    OK(CALL("cuGraphKernelNodeSetParams", (CUgraphNode, const void *), (node, &in)));
    OK(CALL("cuGraphExecUpdate", (CUgraphExec, CUgraph, CUgraphNode *, int *), (exec, graph, &bad, &how)));
    assert_null(bad);
    assert_int_equal(how, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    OK(cuGraphLaunch(exec, NULL));
    assert_int_equal(word_at(va), 113);
    INVALID(CALL("cuGraphAddKernelNode", (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const void *),
                 (&node, graph, NULL, 0, NULL)));
}

/* Proves that a capture begins and tells of itself by the names of CUDA 10. */
static void test_capture(void)
{
    CUstream stream;
    CUgraph graph;
    int status = -1;
    guint64 id = 0;

    start();
    use_device(0);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(CALL("cuStreamBeginCapture", (CUstream), (stream)));
    OK(CALL("cuStreamGetCaptureInfo", (CUstream, int *, guint64 *), (stream, &status, &id)));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    assert_true(id != 0);
    OK(cuStreamEndCapture(stream, &graph));
    OK(CALL("cuStreamBeginCapture_ptsz", (CUstream), (stream)));
    OK(cuStreamEndCapture(stream, &graph));
}

/* Proves that CUDA 3.1's sizes and addresses of 32 bits are kept to: the largest size, no address cut off, nothing
 * written beside, and no memory lost. */
static void test_of_32_bits(void)
{
    unsigned int words[2] = {1, 77}, total[2] = {1, 77};
    size_t before, after, all;
    CUarray array;
    guint8 out[8] = {0};
    void *host = NULL;

    start();
    use_device(0);
    OK(CALL("cuDeviceTotalMem", (unsigned int *, CUdevice), (words, 0)));
    assert_true(words[0] == 0xffffffffu && words[1] == 77);
    OK(CALL("cuMemGetInfo", (unsigned int *, unsigned int *), (words, total)));
    assert_true(words[0] == 0xffffffffu && words[1] == 77 && total[0] == 0xffffffffu && total[1] == 77);
    OK(cuMemGetInfo(&before, &all));
    words[0] = 5;
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, CALL("cuMemAlloc", (unsigned int *, unsigned int), (words, 4096)));
    assert_true(words[0] == 5 && words[1] == 77);
    OK(cuMemGetInfo(&after, &all));
    assert_int_equal(before, after);
    INVALID(CALL("cuMemcpyHtoD", (unsigned int, const void *, unsigned int), (4096, out, 4)));
    INVALID(CALL("cuMemFree", (unsigned int), (4096)));
    OK(CALL("cuMemAllocHost", (void **, unsigned int), (&host, 64)));
    OK(cuMemFreeHost(host));
    const struct {
        unsigned int width, height, format, channels;
    } line = {8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    OK(CALL("cuArrayCreate", (CUarray *, const void *), (&array, &line)));
    OK(CALL("cuMemcpyHtoA", (CUarray, unsigned int, const void *, unsigned int), (array, 2, "word", 4)));
    OK(CALL("cuMemcpyAtoH", (void *, CUarray, unsigned int, unsigned int), (out, array, 2, 4)));
    assert_memory_equal(out, "word", 5);
}

/* Proves that no name of the list whose later version is there answers NOT_SUPPORTED for itself. */
static void test_none_is_left(void)
{
    const char *top = g_getenv("TOP_SRCDIR");
    g_autofree char *path = g_build_filename(top ? top : ".", "api/cuda/symbols.list", NULL), *list = NULL;
    if (!g_file_get_contents(path, &list, NULL, NULL))
        skip();
    g_auto(GStrv) lines = g_strsplit(list, "\n", -1);
    guint looked = 0;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    for (char **line = lines; *line; line++) {
        g_auto(GStrv) words = g_strsplit(*line, " ", -1);
        if (!words[0] || words[0][0] == '#' || !words[1] || strcmp(words[0], words[1]) != 0)
            continue;
        g_autofree char *second = g_strconcat(words[0], "_v2", NULL);
        void *first = dlsym(library, words[0]), *next = dlsym(library, second);
        if (!next)
            continue;
        Dl_info info;
        ElfW(Sym) *symbol = NULL;
        if (!first)
            fail_msg("no %s", words[0]);
        assert_true(dladdr1(next, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0);
        if (!symbol || ELF64_ST_BIND(symbol->st_info) == STB_WEAK)
            continue; /* nor is the later one */
        assert_true(dladdr1(first, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0);
        if (symbol && ELF64_ST_BIND(symbol->st_info) == STB_WEAK)
            fail_msg("%s answers NOT_SUPPORTED, %s does not", words[0], second);
        looked++;
    }
    assert_true(looked > 60);
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {CUDA_TEST(test_graphs, ""), CUDA_TEST(test_capture, ""),
                                     CUDA_TEST(test_of_32_bits, ""), CUDA_TEST(test_none_is_left, ""), CUDA_TEST_END};
    return cuda_test_main(tests, argc, argv);
}
