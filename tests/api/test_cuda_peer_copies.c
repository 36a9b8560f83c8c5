/* Copies between contexts: whose copy engines they take. */
#include "tests/api/cuda_test.h"

#define SENDERS 5
#define BYTES (4 * MIB)

/* Copies of GPUs 1 to 5 to GPU 0 that begin at once, each in a stream of its source, or of GPU 0. What the first and
 * the last of them takes, in us. */
static void time_copies(gboolean by_sources, double *least, double *most)
{
    CUcontext context[SENDERS + 1];
    CUdeviceptr memory[SENDERS + 1], into;
    CUstream stream[SENDERS + 1];
    CUevent begin[SENDERS + 1], end[SENDERS + 1];

    start();
    for (int i = SENDERS; i >= 0; i--) { /* GPU 0 last: what follows is in its context */
        use_device(i);
        OK(cuCtxGetCurrent(&context[i]));
        OK(cuMemAlloc(&memory[i], BYTES));
    }
    OK(cuMemAlloc(&into, SENDERS * BYTES));
    for (int i = 1; i <= SENDERS; i++) {
        OK(cuCtxSetCurrent(context[by_sources ? i : 0]));
        OK(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
        OK(cuEventCreate(&begin[i], 0));
        OK(cuEventCreate(&end[i], 0));
        OK(cuEventRecord(begin[i], stream[i]));
        OK(cuMemcpyPeerAsync(into + (i - 1) * BYTES, context[0], memory[i], context[i], BYTES, stream[i]));
        OK(cuEventRecord(end[i], stream[i]));
    }
    *least = G_MAXDOUBLE;
    *most = 0;
    for (int i = 1; i <= SENDERS; i++) {
        float ms;
        OK(cuEventSynchronize(end[i]));
        OK(cuEventElapsedTime(&ms, begin[i], end[i]));
        *least = MIN(*least, 1e3 * (double)ms);
        *most = MAX(*most, 1e3 * (double)ms);
    }
}

/* Proves that a copy in a stream of its source is written by an engine of the source: five go at once, and share the
 * links into GPU 0 evenly. A packet of 256 B is 17 flits of 16 B, so that 20,971,520 B take 52.6 us of 18 links of
 * 23.55 GB/s, behind the 4.35 us of an engine's start and 0.7 us of the way. */
static void test_engines_of_sources(void)
{
    double least, most;

    time_copies(TRUE, &least, &most);
    assert_true(least > 57 && most < 60);
}

/* Proves that copies in streams of their destination take its engines, which are four: the fifth waits for one of them.
 * The first four end after 4 x 4 MiB, 42.1 us, and a start, 47.1; the last one 10.5 us and a start later, 62.6. */
static void test_engines_of_a_destination(void)
{
    double least, most;

    time_copies(FALSE, &least, &most);
    assert_true(least > 46 && least < 50 && most > 61 && most < 66);
}

static const CudaTest tests[] = {CUDA_TEST(test_engines_of_sources, ""), CUDA_TEST(test_engines_of_a_destination, ""),
                                 CUDA_TEST_END};
int main(int argc, char **argv) { return cuda_test_main(tests, argc, argv); }
