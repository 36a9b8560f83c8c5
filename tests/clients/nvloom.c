/* nvloom (and nvbandwidth): one process for all GPUs; the granularity is asked for with a size of
 * 0; the object mapped for every GPU. Taken down: unbind, release of the memory, unmap, release of
 * the object; the memory's own mapping is never undone. */
#include "tests/clients/client.h"

static void benchmark(int gpus, int map_first)
{
    CUmulticastObjectProp prop = {.numDevices = (unsigned)gpus};
    CUmemGenericAllocationHandle object, memory[16];
    CUdeviceptr uc[16], mc;
    CUevent start, end;
    size_t grain, bytes;
    float ms;

    CHECK(cuMulticastGetGranularity(&grain, &prop, CU_MULTICAST_GRANULARITY_RECOMMENDED));
    bytes = prop.size = round_up(8 * MIB, grain);
    CHECK(cuMulticastCreate(&object, &prop));
    for (int i = 0; i < gpus; i++)
        CHECK(cuMulticastAddDevice(object, i));
    CHECK(cuMemAddressReserve(&mc, bytes, 0, 0, 0));
    for (int i = map_first ? -1 : 0; i < gpus + (map_first ? 0 : 1); i++) {
        if (i < 0 || i == gpus) {
            CHECK(cuMemMap(mc, bytes, 0, object, 0));
            for (int d = 0; d < gpus; d++)
                allow(mc, bytes, d);
            continue;
        }
        CUmemAllocationProp memory_prop = device_memory(i, 0);
        CHECK(cuMemCreate(&memory[i], bytes, &memory_prop, 0));
        CHECK(cuMulticastBindMem(object, 0, memory[i], 0, bytes, 0));
        CHECK(cuMemAddressReserve(&uc[i], bytes, 0, 0, 0));
        CHECK(cuMemMap(uc[i], bytes, 0, memory[i], 0));
        allow(uc[i], bytes, i);
    }
    use_device(0);
    CHECK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
    CHECK(cuMemsetD8(uc[0], 0x5a, bytes));
    CHECK(cuEventRecord(start, NULL));
    CHECK(cuMemcpyDtoDAsync(mc, uc[0], bytes, NULL)); /* a copy engine writes to everybody */
    CHECK(cuEventRecord(end, NULL));
    CHECK(cuStreamSynchronize(NULL));
    CHECK(cuEventElapsedTime(&ms, start, end));
    REQUIRE(ms > 0);
    for (int i = 0; i < gpus; i++)
        REQUIRE(word_at(uc[i] + bytes - 4) == 0x5a5a5a5au);
    for (int i = 0; i < gpus; i++) {
        CHECK(cuMulticastUnbind(object, i, 0, bytes));
        CHECK(cuMemRelease(memory[i]));
    }
    CHECK(cuMemUnmap(mc, bytes));
    CHECK(cuMemRelease(object));
}

int main(void)
{
    int gpus;

    CHECK(cuInit(0));
    CHECK(cuDeviceGetCount(&gpus));
    benchmark(gpus > 16 ? 16 : gpus, 0);
    benchmark(gpus > 16 ? 16 : gpus, 1);
    return 0;
}
