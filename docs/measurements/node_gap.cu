// How long two kernels of a graph are apart, by what stands between them: nothing, event records, empty nodes, a
// memset of 4 B, a host function; in line or beside. Prints us from one kernel to the next, in a graph of 100.
// nvcc -O3 -arch=sm_90 node_gap.cu && ./a.out
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>
#define CK(x)                                                                                                          \
    do {                                                                                                               \
        cudaError_t e_ = (x);                                                                                          \
        if (e_ != cudaSuccess) {                                                                                       \
            printf("%s: %s\n", #x, cudaGetErrorName(e_));                                                              \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
__device__ unsigned sink;
__global__ void plain(unsigned word)
{
    if (word == 0x12345678u)
        sink = 1;
}
static void CUDART_CB nothing(void *) {}
enum { NONE, EVENT, EVENT_TIMED, EMPTY, MEMSET, HOST, WAIT };
static double period_us(int between, int count, bool beside)
{
    const int n = 100;
    cudaStream_t s;
    cudaEvent_t a, b, e;
    void *p;
    CK(cudaMalloc(&p, 256));
    CK(cudaStreamCreate(&s));
    CK(cudaEventCreate(&a));
    CK(cudaEventCreate(&b));
    CK(cudaEventCreateWithFlags(&e, between == EVENT_TIMED ? cudaEventDefault : cudaEventDisableTiming));
    CK(cudaEventRecord(e, s));
    cudaGraph_t g;
    CK(cudaGraphCreate(&g, 0));
    unsigned word = 0;
    void *params[] = {&word};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)plain;
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(32);
    kernel.kernelParams = params;
    cudaMemsetParams set = {};
    set.dst = p;
    set.elementSize = 4;
    set.width = set.height = 1;
    cudaHostNodeParams host = {nothing, NULL};
    std::vector<cudaGraphNode_t> last;
    for (int i = 0; i < n; i++) {
        cudaGraphNode_t k, m;
        CK(cudaGraphAddKernelNode(&k, g, last.data(), last.size(), &kernel));
        last.assign(1, k);
        for (int c = 0; c < count; c++) {
            cudaGraphNode_t before = beside ? k : last.back();
            if (between == EVENT || between == EVENT_TIMED)
                CK(cudaGraphAddEventRecordNode(&m, g, &before, 1, e));
            else if (between == WAIT)
                CK(cudaGraphAddEventWaitNode(&m, g, &before, 1, e));
            else if (between == EMPTY)
                CK(cudaGraphAddEmptyNode(&m, g, &before, 1));
            else if (between == MEMSET)
                CK(cudaGraphAddMemsetNode(&m, g, &before, 1, &set));
            else
                CK(cudaGraphAddHostNode(&m, g, &before, 1, &host));
            if (!beside)
                last.clear();
            last.push_back(m);
        }
    }
    cudaGraphExec_t exec;
    CK(cudaGraphInstantiate(&exec, g, 0));
    std::vector<double> all;
    for (int r = 0; r < 9; r++) {
        CK(cudaEventRecord(a, s));
        CK(cudaGraphLaunch(exec, s));
        CK(cudaEventRecord(b, s));
        CK(cudaEventSynchronize(b));
        float ms;
        CK(cudaEventElapsedTime(&ms, a, b));
        all.push_back(ms * 1000 / n);
    }
    std::sort(all.begin(), all.end());
    return all[4];
}
int main()
{
    static const char *const name[] = {"none", "event", "event_timed", "empty", "memset", "host", "wait"};
    printf("between,count,in_line_us,beside_us\n");
    printf("none,0,%.3f,%.3f\n", period_us(NONE, 0, false), period_us(NONE, 0, false));
    for (int b = EVENT; b <= WAIT; b++)
        for (int c = 1; c <= 2; c++)
            printf("%s,%d,%.3f,%.3f\n", name[b], c, period_us(b, c, false), period_us(b, c, true));
    return 0;
}
