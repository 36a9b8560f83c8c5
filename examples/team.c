/* See team.h. */
#include "examples/team.h"

#include <stdio.h>
#include <stdlib.h>

void team_check(CUresult result, const char *call)
{
    const char *text = NULL;
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorString(result, &text);
    fprintf(stderr, "%s: %s\n", call, text ? text : "unknown error");
    exit(1);
}

/* Reserves an address range, maps the handle there, and lets every GPU use it. */
static CUdeviceptr team_map(CUmemGenericAllocationHandle handle, size_t bytes, size_t granularity)
{
    CUdeviceptr address = 0;
    CUmemAccessDesc access[TEAM_GPUS];
    for (int i = 0; i < TEAM_GPUS; i++) {
        access[i].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        access[i].location.id = i;
        access[i].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    }
    CHECK(cuMemAddressReserve(&address, bytes, granularity, 0, 0));
    CHECK(cuMemMap(address, bytes, 0, handle, 0));
    CHECK(cuMemSetAccess(address, bytes, access, TEAM_GPUS));
    return address;
}

void team_open(Team *team, size_t bytes)
{
    size_t granularity = 0;
    CUmulticastObjectProp team_prop = {.numDevices = TEAM_GPUS, .size = bytes};
    CHECK(cuInit(0));
    for (int i = 0; i < TEAM_GPUS; i++)
        CHECK(cuDevicePrimaryCtxRetain(&team->context[i], i));
    CHECK(cuCtxSetCurrent(team->context[0]));
    CHECK(cuMulticastGetGranularity(&granularity, &team_prop, CU_MULTICAST_GRANULARITY_MINIMUM));
    team->bytes = team_prop.size = (bytes + granularity - 1) / granularity * granularity;
    CHECK(cuMulticastCreate(&team->object, &team_prop));
    for (int i = 0; i < TEAM_GPUS; i++)
        CHECK(cuMulticastAddDevice(team->object, i));
    for (int i = 0; i < TEAM_GPUS; i++) {
        CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
        prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        prop.location.id = i;
        CHECK(cuMemCreate(&team->memory[i], team->bytes, &prop, 0));
        CHECK(cuMulticastBindMem(team->object, 0, team->memory[i], 0, team->bytes, 0));
        team->unicast[i] = team_map(team->memory[i], team->bytes, granularity);
        CHECK(cuMemsetD8(team->unicast[i], 0, team->bytes));
    }
    team->multicast = team_map(team->object, team->bytes, granularity);
}

void team_run(Team *team, const char *name, FoProgram program, const void *args, size_t args_bytes, unsigned ctas,
              unsigned threads)
{
    FoKernel kernel = {.name = name, .program = program, .args_bytes = args_bytes, .ctas = ctas, .threads = threads};
    for (int i = 0; i < TEAM_GPUS; i++) {
        CHECK(cuCtxSetCurrent(team->context[i]));
        kernel.args = (const char *)args + (size_t)i * args_bytes;
        CHECK(fo_launch(&kernel, NULL));
    }
    for (int i = 0; i < TEAM_GPUS; i++) {
        CHECK(cuCtxSetCurrent(team->context[i]));
        CHECK(cuCtxSynchronize());
    }
    CHECK(cuCtxSetCurrent(team->context[0]));
}

void team_close(Team *team)
{
    CHECK(cuMemUnmap(team->multicast, team->bytes));
    CHECK(cuMemAddressFree(team->multicast, team->bytes));
    for (int i = 0; i < TEAM_GPUS; i++) {
        CHECK(cuMulticastUnbind(team->object, i, 0, team->bytes));
        CHECK(cuMemUnmap(team->unicast[i], team->bytes));
        CHECK(cuMemAddressFree(team->unicast[i], team->bytes));
        CHECK(cuMemRelease(team->memory[i]));
    }
    CHECK(cuMemRelease(team->object));
    for (int i = 0; i < TEAM_GPUS; i++)
        CHECK(cuDevicePrimaryCtxRelease(i));
}
