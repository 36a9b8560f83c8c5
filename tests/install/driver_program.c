/* A program of the CUDA driver API, in C and in C++: finds its GPUs, and moves bytes from one to another and back. */
#include <fanout/cuda.h>
#include <stdio.h>
#include <string.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        CUresult result = call;                                                                                        \
        if (result != CUDA_SUCCESS) {                                                                                  \
            printf("%s: error %d\n", #call, (int)result);                                                              \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

int main(void)
{
    CUdevice device[2];
    CUcontext context[2];
    CUdeviceptr memory[2];
    char sent[4096], got[4096];
    int i;
    CHECK(cuInit(0));
    for (i = 0; i < 2; i++) {
        CHECK(cuDeviceGet(&device[i], i));
        CHECK(cuDevicePrimaryCtxRetain(&context[i], device[i]));
        CHECK(cuCtxSetCurrent(context[i]));
        CHECK(cuMemAlloc(&memory[i], sizeof sent));
    }
    for (i = 0; i < (int)sizeof sent; i++)
        sent[i] = (char)(i * 7);
    CHECK(cuMemcpyHtoD(memory[0], sent, sizeof sent));
    CHECK(cuMemcpyPeer(memory[1], context[1], memory[0], context[0], sizeof sent));
    CHECK(cuMemcpyDtoH(got, memory[1], sizeof got));
    if (memcmp(sent, got, sizeof sent) != 0) {
        printf("other bytes came back\n");
        return 1;
    }
    printf("driver program: %d bytes went round\n", (int)sizeof sent);
    return 0;
}
