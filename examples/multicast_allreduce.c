/* All-reduce in the switch, as a program of the CUDA driver API: every GPU asks the switch for the
 * sum of its slice of everybody's data (multimem.ld_reduce) and stores it to everybody
 * (multimem.st).
 *
 *     fanout exec -s dgx-h100 --report report.json -- ./multicast_allreduce [MIB]
 *
 * Everything but fo_launch and the kernel is plain driver API and runs on a real machine too. */
#include <fanout/fanout.h>
#include <stdio.h>
#include <stdlib.h>

#define GPUS_MAX 16
#define CTAS 16
#define THREADS 512

/* The call, or the end of the program with what went wrong. */
static void check(CUresult result, const char *call, int line)
{
    const char *name = NULL, *text = NULL;
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    cuGetErrorString(result, &text);
    fprintf(stderr, "multicast_allreduce.c:%d: %s: %s (%s)\n", line, call, name ? name : "?", text ? text : "?");
    exit(1);
}
#define CHECK(call) check(call, #call, __LINE__)

/* ---- the kernel: one CTA's share of a GPU's slice */
typedef struct {
    FoAddress slice; /* multicast address */
    size_t bytes;
} Args;

static void all_reduce(FoCta *cta, const void *data)
{
    const Args *args = data;
    FoLoop loop = {
        .bytes = args->bytes,
        .width = 16,
        .unroll = 4,
        .sources = 1,
        .source = {{FO_LD_REDUCE, args->slice}},
        .destinations = 1,
        .destination = {{FO_MULTIMEM_ST, args->slice}},
        .type = FO_F32,
        .op = FO_ADD,
    };
    fo_loop(cta, &loop);
    fo_fence(cta);
}

/* ---- the host: one process for all GPUs */
typedef struct {
    int gpus;
    size_t bytes;
    CUmemGenericAllocationHandle object, memory[GPUS_MAX];
    CUdeviceptr multicast, unicast[GPUS_MAX];
    CUcontext context[GPUS_MAX];
    CUstream stream[GPUS_MAX];
} Team;

static void team_open(Team *team, size_t wanted)
{
    CUmulticastObjectProp prop = {0};
    size_t granularity;
    int multicast;

    CHECK(cuInit(0));
    CHECK(cuDeviceGetCount(&team->gpus));
    if (team->gpus > GPUS_MAX)
        team->gpus = GPUS_MAX;
    CHECK(cuDeviceGetAttribute(&multicast, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0));
    if (!multicast) {
        fprintf(stderr, "these GPUs have no multicast\n");
        exit(1);
    }
    prop.numDevices = (unsigned)team->gpus;
    prop.size = wanted;
    CHECK(cuMulticastGetGranularity(&granularity, &prop, CU_MULTICAST_GRANULARITY_RECOMMENDED));
    team->bytes = prop.size = (wanted + granularity - 1) / granularity * granularity;
    CHECK(cuMulticastCreate(&team->object, &prop));
    for (int i = 0; i < team->gpus; i++)
        CHECK(cuMulticastAddDevice(team->object, i));
}

static void team_bind(Team *team)
{
    for (int i = 0; i < team->gpus; i++) {
        CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {CU_MEM_LOCATION_TYPE_DEVICE, i}};
        CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        CHECK(cuMemCreate(&team->memory[i], team->bytes, &prop, 0));
        CHECK(cuMulticastBindMem(team->object, 0, team->memory[i], 0, team->bytes, 0));
        CHECK(cuMemAddressReserve(&team->unicast[i], team->bytes, 0, 0, 0));
        CHECK(cuMemMap(team->unicast[i], team->bytes, 0, team->memory[i], 0));
        CHECK(cuMemSetAccess(team->unicast[i], team->bytes, &access, 1));
    }
    CHECK(cuMemAddressReserve(&team->multicast, team->bytes, 0, 0, 0));
    CHECK(cuMemMap(team->multicast, team->bytes, 0, team->object, 0));
    for (int i = 0; i < team->gpus; i++) {
        CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, i}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        CHECK(cuMemSetAccess(team->multicast, team->bytes, &access, 1));
    }
}

/* Word k of GPU i is (i + 1) * (k % 97): small whole numbers, so that their sum is exact in any
 * order. */
static void team_fill(Team *team)
{
    float *host = malloc(team->bytes);
    for (int i = 0; i < team->gpus; i++) {
        for (size_t k = 0; k < team->bytes / sizeof *host; k++)
            host[k] = (float)((size_t)(i + 1) * (k % 97));
        CHECK(cuDevicePrimaryCtxRetain(&team->context[i], i));
        CHECK(cuCtxSetCurrent(team->context[i]));
        CHECK(cuStreamCreate(&team->stream[i], CU_STREAM_NON_BLOCKING));
        CHECK(cuMemcpyHtoD(team->unicast[i], host, team->bytes));
    }
    free(host);
}

/* Each GPU reduces its slice; the time is that of the slowest, from the common start. */
static double team_reduce_us(Team *team)
{
    CUevent start[GPUS_MAX], end[GPUS_MAX];
    size_t slice = team->bytes / (size_t)team->gpus / 16 * 16;
    double longest = 0;

    for (int i = 0; i < team->gpus; i++) {
        Args args = {team->multicast + (size_t)i * slice,
                     i == team->gpus - 1 ? team->bytes - (size_t)i * slice : slice};
        FoKernel kernel = {"all_reduce", all_reduce, &args, sizeof args, CTAS, THREADS};
        CHECK(cuCtxSetCurrent(team->context[i]));
        CHECK(cuEventCreate(&start[i], CU_EVENT_DEFAULT));
        CHECK(cuEventCreate(&end[i], CU_EVENT_DEFAULT));
        CHECK(cuEventRecord(start[i], team->stream[i]));
        CHECK(fo_launch(&kernel, team->stream[i]));
        CHECK(cuEventRecord(end[i], team->stream[i]));
    }
    for (int i = 0; i < team->gpus; i++) {
        float ms;
        CHECK(cuCtxSetCurrent(team->context[i]));
        CHECK(cuStreamSynchronize(team->stream[i]));
        CHECK(cuEventElapsedTime(&ms, start[i], end[i]));
        longest = ms * 1e3 > longest ? ms * 1e3 : longest;
    }
    return longest;
}

static size_t team_count_wrong(Team *team)
{
    float *host = malloc(team->bytes);
    size_t wrong = 0, all = (size_t)team->gpus * (size_t)(team->gpus + 1) / 2;

    for (int i = 0; i < team->gpus; i++) {
        CHECK(cuCtxSetCurrent(team->context[i]));
        CHECK(cuMemcpyDtoH(host, team->unicast[i], team->bytes));
        for (size_t k = 0; k < team->bytes / sizeof *host; k++)
            wrong += host[k] != (float)(all * (k % 97));
    }
    free(host);
    return wrong;
}

static void team_close(Team *team)
{
    CHECK(cuMemUnmap(team->multicast, team->bytes));
    CHECK(cuMemAddressFree(team->multicast, team->bytes));
    for (int i = 0; i < team->gpus; i++) {
        CHECK(cuMulticastUnbind(team->object, i, 0, team->bytes));
        CHECK(cuMemUnmap(team->unicast[i], team->bytes));
        CHECK(cuMemAddressFree(team->unicast[i], team->bytes));
        CHECK(cuMemRelease(team->memory[i]));
    }
    CHECK(cuMemRelease(team->object));
}

int main(int argc, char **argv)
{
    Team team = {0};
    long mib = argc > 1 ? strtol(argv[1], NULL, 10) : 2;

    if (mib < 1 || mib > 1024) {
        fprintf(stderr, "usage: multicast_allreduce [MIB], 1 to 1024\n");
        return 1;
    }
    team_open(&team, (size_t)mib << 20);
    team_bind(&team);
    team_fill(&team);
    double us = team_reduce_us(&team);
    size_t wrong = team_count_wrong(&team);
    printf("all-reduce of %zu bytes on %d GPUs: %.2f us, %.1f GB/s algbw, %zu wrong words\n", team.bytes, team.gpus, us,
           (double)team.bytes / us / 1e3, wrong);
    team_close(&team);
    return wrong != 0;
}
