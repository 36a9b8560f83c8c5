/* machine/engine/dependents.c: how long kernels of a graph are apart, by what stands between them. */
#include "tests/api/cuda_test.h"

#include <math.h>

#define KERNELS 100

static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry nothing() { ret; }\n";

/* From one of KERNELS kernels to the next, with so many event records between, in ns. */
static double period_ns(CUfunction function, guint events)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode last = NULL;
    CUevent event, begin, end;
    CUstream stream;
    float ms;
    CUDA_KERNEL_NODE_PARAMS kernel = {
        .func = function, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1};
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    OK(cuEventCreate(&end, CU_EVENT_DEFAULT));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuGraphCreate(&graph, 0));
    for (guint k = 0; k < KERNELS; k++) {
        OK(cuGraphAddKernelNode_v2(&last, graph, &last, last != NULL, &kernel));
        for (guint e = 0; e < events; e++)
            OK(cuGraphAddEventRecordNode(&last, graph, &last, 1, event));
    }
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuEventRecord(begin, stream));
    OK(cuGraphLaunch(exec, stream));
    OK(cuEventRecord(end, stream));
    OK(cuEventSynchronize(end));
    OK(cuEventElapsedTime(&ms, begin, end));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    return (double)ms * 1e6 / KERNELS;
}

/* Proves that an event record between two kernels of a graph takes 0.93 us and a second one 0.47 more, as on an H200
 * (docs/measurements/node_gap.csv, in line: 0.56, 1.49 and 1.96 us): of 100 kernels 99 start behind one, and the time
 * between two events is told in half microseconds. */
static void test_events_between(void)
{
    CUmodule module;
    CUfunction function;
    start();
    use_device(0);
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&function, module, "nothing"));
    const double none_ns = period_ns(function, 0);
    assert_true(fabs(period_ns(function, 1) - none_ns - 0.99 * 930) < 15);
    assert_true(fabs(period_ns(function, 2) - none_ns - 0.99 * 1400) < 15);
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {CUDA_TEST(test_events_between, ""), CUDA_TEST_END};
    return cuda_test_main(tests, argc, argv);
}
