/* Programmatic dependent launch: a kernel starts when the one before it lets it, waits for its stores, and the period
 * of such kernels in a graph is shorter than that of others. With an argument it prints the two periods in ns, as
 * h100/memory.csv has them; always ok. */
#include "tests/clients/client.h"

static const char text[] =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".visible .entry early()\n{\ngriddepcontrol.launch_dependents; griddepcontrol.wait; ret;\n}\n"
    ".visible .entry late()\n{\ngriddepcontrol.wait; griddepcontrol.launch_dependents; ret;\n}\n"
    ".visible .entry count(.param .u64 p)\n{\n.reg .b64 %d<3>; .reg .b32 %r<3>;\n"
    "griddepcontrol.launch_dependents; griddepcontrol.wait;\n"
    "ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1]; mad.lo.u32 %r1, %r1, 3, 1; st.global.u32 [%d1], %r1; ret;\n}\n";

#define KERNELS 20

static void launch(CUstream stream, CUfunction function, unsigned ctas, int programmatic, void **params)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION};
    CUlaunchConfig config = {.gridDimX = ctas,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 32,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = stream,
                             .attrs = &attribute,
                             .numAttrs = 1};
    attribute.value.programmaticStreamSerializationAllowed = programmatic;
    CHECK(cuLaunchKernelEx(&config, function, params, NULL));
}

/* Of one of KERNELS in a graph, by events around it and around a graph of one. */
static double period_ns(CUstream stream, CUfunction function, unsigned ctas, int programmatic)
{
    CUevent begin, end;
    CUgraph graph;
    CUgraphExec exec;
    float ms[2];
    CHECK(cuEventCreate(&begin, 0));
    CHECK(cuEventCreate(&end, 0));
    for (int many = 0; many < 2; many++) {
        CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        for (int i = 0; i < (many ? KERNELS : 1); i++)
            launch(stream, function, ctas, programmatic, NULL);
        CHECK(cuStreamEndCapture(stream, &graph));
        CHECK(cuGraphInstantiate(&exec, graph, 0));
        for (int again = 0; again < 2; again++) { /* the first reads its code from far */
            CHECK(cuEventRecord(begin, stream));
            CHECK(cuGraphLaunch(exec, stream));
            CHECK(cuEventRecord(end, stream));
            CHECK(cuStreamSynchronize(stream));
        }
        CHECK(cuEventElapsedTime(&ms[many], begin, end));
        CHECK(cuGraphExecDestroy(exec));
        CHECK(cuGraphDestroy(graph));
    }
    return (double)(ms[1] - ms[0]) * 1e6 / (KERNELS - 1);
}

int main(int argc, char **argv)
{
    static const unsigned ctas[] = {1, 132};
    CUcontext context;
    CUmodule module;
    CUfunction early, late, count;
    CUstream stream;
    CUdeviceptr p;
    unsigned seen = 0, wanted = 0;

    (void)argv;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&early, module, "early"));
    CHECK(cuModuleGetFunction(&late, module, "late"));
    CHECK(cuModuleGetFunction(&count, module, "count"));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&p, 4096));
    CHECK(cuMemsetD8(p, 0, 4096));
    void *params[] = {&p};
    for (int i = 0; i < 2 * KERNELS; i++) {
        launch(stream, count, 1, i % 3 != 0, params);
        wanted = wanted * 3 + 1;
    }
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(&seen, p, sizeof seen));
    REQUIRE(seen == wanted);
    for (int i = 0; i < 2; i++) {
        double plain = period_ns(stream, early, ctas[i], 0), first = period_ns(stream, early, ctas[i], 1),
               second = period_ns(stream, late, ctas[i], 1);
        if (argc > 1)
            printf("%u CTAs: %.0f ns, programmatic %.0f and %.0f ns\n", ctas[i], plain, first, second);
        REQUIRE(first > 0 && first < plain * 0.8 && second < plain * 0.8);
    }
    puts("ok");
    return 0;
}
