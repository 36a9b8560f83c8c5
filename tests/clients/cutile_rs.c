/* cutile-rs cuda-core: two GPUs in one process, nothing shareable; the whole life of virtual memory
 * and of a multicast object, with contexts pushed and popped around every step. */
#include "tests/clients/client.h"

static void whole_life(int map_first)
{
    CUmulticastObjectProp prop = {.numDevices = 2};
    CUmemGenericAllocationHandle object, memory[2];
    CUdeviceptr uc[2], mc;
    CUcontext context[2], popped;
    uint32_t data[16], back[16];
    size_t grain, bytes;

    for (int i = 0; i < 2; i++)
        CHECK(cuDevicePrimaryCtxRetain(&context[i], i));
    prop.size = 2 * MIB;
    CHECK(cuMulticastGetGranularity(&grain, &prop, CU_MULTICAST_GRANULARITY_RECOMMENDED));
    bytes = prop.size = round_up(prop.size, grain);
    CHECK(cuMulticastCreate(&object, &prop));
    for (int i = 0; i < 2; i++) {
        CHECK(cuCtxPushCurrent(context[i]));
        CHECK(cuMulticastAddDevice(object, i));
        CHECK(cuCtxPopCurrent(&popped));
        REQUIRE(popped == context[i]);
    }
    CHECK(cuMemAddressReserve(&mc, bytes, grain, 0, 0));
    if (map_first)
        CHECK(cuMemMap(mc, bytes, 0, object, 0));
    for (int i = 0; i < 2; i++) {
        CUmemAllocationProp memory_prop = device_memory(i, 0);
        CHECK(cuMemCreate(&memory[i], bytes, &memory_prop, 0));
        CHECK(cuMulticastBindMem(object, 0, memory[i], 0, bytes, 0));
        CHECK(cuMemAddressReserve(&uc[i], bytes, grain, 0, 0));
        CHECK(cuMemMap(uc[i], bytes, 0, memory[i], 0));
        allow(uc[i], bytes, i);
    }
    if (!map_first)
        CHECK(cuMemMap(mc, bytes, 0, object, 0));
    for (int i = 0; i < 2; i++)
        allow(mc, bytes, i);
    for (unsigned i = 0; i < 16; i++)
        data[i] = i * i;
    CHECK(cuCtxPushCurrent(context[1]));
    CHECK(cuMemcpyHtoD(mc, data, sizeof data));
    CHECK(cuCtxSynchronize());
    CHECK(cuCtxPopCurrent(NULL));
    for (int i = 0; i < 2; i++) {
        CHECK(cuCtxPushCurrent(context[i]));
        CHECK(cuMemcpyDtoH(back, uc[i], sizeof back));
        REQUIRE(memcmp(back, data, sizeof data) == 0);
        CHECK(cuMulticastUnbind(object, i, 0, bytes));
        CHECK(cuCtxPopCurrent(NULL));
    }
    CHECK(cuMemUnmap(mc, bytes));
    CHECK(cuMemAddressFree(mc, bytes));
    for (int i = 0; i < 2; i++) {
        CHECK(cuMemUnmap(uc[i], bytes));
        CHECK(cuMemAddressFree(uc[i], bytes));
        CHECK(cuMemRelease(memory[i]));
        CHECK(cuDevicePrimaryCtxRelease(i));
    }
    CHECK(cuMemRelease(object));
}

int main(void)
{
    int version;

    CHECK(cuInit(0));
    CHECK(cuDriverGetVersion(&version));
    REQUIRE(version >= CUDA_VERSION);
    whole_life(0);
    whole_life(1);
    return 0;
}
