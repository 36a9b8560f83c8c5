/* A program that does what each line of its standard input says, and prints what the driver answered, so that a test
 * can use `fanout fabric` between two calls:
 *     new N       a multicast object for N devices becomes the current one     -> new: CUDA_SUCCESS
 *     add D       device D joins it                                            -> add: ...
 *     bind D      memory of device D is bound at its own offset                -> bind: ...
 *     end D       a logical endpoint of device D, and the wait until it is ready -> end: ...
 *     tie D       memory of device D is bound to it, by its handle and by address -> tie: ...
 *     work D      fills memory of device D and waits for it                    -> work: ...
 *     copy A B    16 MiB from device A to device B, and its simulated time     -> copy: ... US
 *     again D     the context of device D is given back and made anew          -> again: ...
 *     spin D      a kernel of device D that never ends is started              -> spin: ... */
#define FANOUT_CUDA_VERSION 13050
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>

#define DEVICES 8
#define BYTES (16u << 20)

static CUcontext context[DEVICES];
static CUdeviceptr memory[DEVICES];
static CUmemGenericAllocationHandle object;

static const char endless[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                              ".visible .entry spin()\n{\nagain:\n bra.uni again;\n}\n";

static CUresult open_device(int d)
{
    CUresult result = cuDevicePrimaryCtxRetain(&context[d], d);
    if (!result)
        result = cuCtxSetCurrent(context[d]);
    return result ? result : cuMemAlloc_v2(&memory[d], BYTES);
}

static CUresult new_object(int n)
{
    CUmulticastObjectProp prop = {.numDevices = (unsigned)n, .size = 8 << 21};
    return cuMulticastCreate(&object, &prop);
}

static CUresult bind(int d)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, d}};
    CUmemGenericAllocationHandle handle;
    CUresult result = cuMemCreate(&handle, 1 << 21, &prop, 0);
    return result ? result : cuMulticastBindMem(object, 0, handle, 0, 1 << 21, 0);
}

static CUlogicalEndpointId endpoint;

static CUresult new_endpoint(int d)
{
    CUlogicalEndpointProp prop = {.type = CU_LOGICAL_ENDPOINT_TYPE_UNICAST, .unicast.device = d, .size = 2 << 21};
    int ready = 0;
    CUresult result = cuLogicalEndpointIdReserve(&endpoint, 1);
    if (!result)
        result = cuLogicalEndpointCreate(endpoint, &prop);
    while (!result && !ready)
        result = cuLogicalEndpointQuery(endpoint, 1, &ready);
    return result;
}

/* Both kinds of bind answer the same, or this is no answer. */
static CUresult tie(int d)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, d}};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr va = 0;
    CUresult result = cuMemCreate(&handle, 1 << 21, &prop, 0);
    if (!result)
        result = cuMemAddressReserve(&va, 1 << 21, 0, 0, 0);
    if (!result)
        result = cuMemMap(va, 1 << 21, 0, handle, 0);
    if (result)
        return CUDA_ERROR_UNKNOWN;
    result = cuLogicalEndpointBindMem(endpoint, d, 0, handle, 0, 1 << 21, 0);
    return cuLogicalEndpointBindAddr(endpoint, d, 1 << 21, (void *)va, 1 << 21, 0) == result ? result
                                                                                             : CUDA_ERROR_UNKNOWN;
}

static CUresult work(int d)
{
    CUresult result = cuCtxSetCurrent(context[d]);
    if (!result)
        result = cuMemsetD8Async(memory[d], 1, BYTES, NULL);
    return result ? result : cuStreamSynchronize(NULL);
}

static CUresult spin(int d)
{
    CUmodule module;
    CUfunction function;
    CUresult result = cuCtxSetCurrent(context[d]);
    if (!result)
        result = cuModuleLoadData(&module, endless);
    if (!result)
        result = cuModuleGetFunction(&function, module, "spin");
    return result ? result : cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
}

static CUresult again(int d)
{
    CUresult result = cuDevicePrimaryCtxReset_v2(d);
    return result ? result : open_device(d);
}

static CUresult copy(int from, int to, double *us)
{
    CUevent event[2];
    float ms = 0;
    CUresult result = cuCtxSetCurrent(context[from]);
    for (int i = 0; i < 2 && !result; i++)
        result = cuEventCreate(&event[i], 0);
    if (!result)
        result = cuEventRecord(event[0], NULL);
    if (!result)
        result = cuMemcpyPeerAsync(memory[to], context[to], memory[from], context[from], BYTES, NULL);
    if (!result)
        result = cuEventRecord(event[1], NULL);
    if (!result)
        result = cuEventSynchronize(event[1]);
    if (!result)
        result = cuEventElapsedTime(&ms, event[0], event[1]);
    *us = ms * 1000;
    return result;
}

int main(void)
{
    char line[128], what[16];
    int a, b;

    setvbuf(stdout, NULL, _IOLBF, 0);
    CUresult result = cuInit(0);
    for (int d = 0; d < DEVICES && !result; d++)
        result = open_device(d);
    if (result)
        return 1;
    puts("ready");
    while (fgets(line, sizeof line, stdin)) {
        const char *name = "?";
        double us = -1;
        a = b = 0;
        if (sscanf(line, "%15s %d %d", what, &a, &b) < 1 || a < 0 || a > DEVICES || b < 0 || b >= DEVICES)
            return 2;
        result = !strcmp(what, "new")     ? new_object(a)
                 : !strcmp(what, "add")   ? cuMulticastAddDevice(object, a)
                 : !strcmp(what, "bind")  ? bind(a)
                 : !strcmp(what, "end")   ? new_endpoint(a)
                 : !strcmp(what, "tie")   ? tie(a)
                 : !strcmp(what, "work")  ? work(a)
                 : !strcmp(what, "again") ? again(a)
                 : !strcmp(what, "spin")  ? spin(a)
                 : !strcmp(what, "copy")  ? copy(a, b, &us)
                                          : CUDA_ERROR_NOT_SUPPORTED;
        cuGetErrorName(result, &name);
        if (us >= 0)
            printf("%s: %s %.3f\n", what, name, us);
        else
            printf("%s: %s\n", what, name);
    }
    return 0;
}
