/* Kernels with fabric.* on endpoints that the driver made, in one process or in one for each GPU: every rank puts a
 * block to its neighbour, whose counter counts it, and one to all, waits for its own counter by plain loads, and brings
 * the sum of all ranks' words into its shared memory. Everything is compared, word by word.
 *
 * fabric_kernels RANKS each     one process for each GPU
 * fabric_kernels RANKS one      the same of all GPUs in one process */
#define FANOUT_CUDA_VERSION 13050
#include "tests/clients/client.h"

#define RANKS_MAX 72
#define WORDS 256u /* of a block */
#define BLOCK (WORDS * 4)
#define GRAIN (2 * MIB)
#define COUNTER 65536u /* of the own endpoint's memory */
#define FOUND 131072u
#define TO_ALL 0u /* of the team's: a block of each rank, and what is summed */
#define SUMMED 131072u
#define FABRIC CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_FABRIC

static const char text[] =
    ".version 9.3\n.target sm_100\n.address_size 64\n"
    ".visible .entry exchange(.param .u32 p_next, .param .u32 p_team, .param .u64 p_own, .param .u32 p_rank)\n{\n"
    ".reg .b32 %r<20>; .reg .b64 %w<20>; .reg .pred %p<9>; .reg .b8 %b<3>; .reg .b32 next; .reg .b32 team;\n"
    ".reg .b64 off; .reg .b64 ctr; .reg .b64 all; .reg .b64 sums;\n"
    ".shared .align 128 .b8 sm[2048]; .shared .align 8 .b64 sent; .shared .align 8 .b64 fetched;\n"
    "ld.param.u32 next, [p_next]; ld.param.u32 team, [p_team]; ld.param.u64 %w1, [p_own]; ld.param.u32 %r1, [p_rank];\n"
    "mov.u32 %r3, %tid.x; mov.u32 %r5, sm; mov.u64 off, 0; mov.u64 ctr, 65536; mov.u64 sums, 131072;\n"
    "mul.wide.u32 all, %r1, 1024; setp.eq.u32 %p1, %r3, 0; mul.lo.u32 %r4, %r1, 1000; mov.u32 %r6, %r3;\n"
    "$F: add.u32 %r7, %r4, %r6; shl.b32 %r8, %r6, 2; add.u32 %r8, %r8, %r5; st.shared.u32 [%r8], %r7;\n"
    "add.u32 %r6, %r6, 32; setp.lt.u32 %p2, %r6, 256; @%p2 bra $F;\n"
    "@%p1 mbarrier.init.layout::v1.shared::cta.b64 [sent], 1;\n"
    "@%p1 mbarrier.init.layout::v1.shared::cta.b64 [fetched], 1;\n"
    "bar.sync 0; fence.proxy.async.shared::cta;\n"
    "@%p1 fabric.try_put.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.counted::bytes"
    ".relaxed.sys.b128 [next, off, ctr], [sm], 1024, [sent];\n"
    "@%p1 fabric.try_put.async.multimem.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric"
    ".relaxed.sys.b128 [team, all], [sm], 1024, [sent];\n"
    "fabric.submit;\n@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [sent], 128;\n"
    "$S: mbarrier.try_wait.parity.phase_type::primary.acquire.cta.shared::cta.b64 %p2|%p3, %b1, [sent], 0;\n"
    "@!%p2 bra $S;\n@%p3 trap;\n"
    "$C: ld.acquire.sys.global.u64 %w2, [%w1+65536]; setp.ne.u64 %p2, %w2, 1024; @%p2 bra $C;\n"
    "fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric"
    ".relaxed.sys.add.u32.sync [sm+1024], [team, sums], 1024, [fetched], 0xffffffff;\n"
    "fabric.submit.op_restrict::fetching;\n@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [fetched], 1024;\n"
    "$P: mbarrier.try_wait.parity.phase_type::primary.acquire.cta.shared::cta.b64 %p2|%p3, %b1, [fetched], 0;\n"
    "@!%p2 bra $P;\n@%p3 trap;\nmov.u32 %r6, %r3;\n"
    "$O: shl.b32 %r8, %r6, 2; add.u32 %r9, %r8, %r5; ld.shared.u32 %r10, [%r9+1024]; cvt.u64.u32 %w3, %r8;\n"
    "add.s64 %w4, %w1, %w3; st.global.u32 [%w4+131072], %r10;\n"
    "add.u32 %r6, %r6, 32; setp.lt.u32 %p2, %r6, 256; @%p2 bra $O;\nret;\n}\n";

typedef struct {
    pthread_barrier_t everybody;
    CUlogicalEndpointFabricHandle unicast[RANKS_MAX], multicast;
    unsigned long words, wrong; /* of all ranks, added atomically */
} World;

/* The ranks of this process are first .. last - 1. */
typedef struct {
    World *world;
    int ranks, first, last;
    CUlogicalEndpointId id; /* of rank 0's endpoint; the team's comes behind the last rank's */
    CUdeviceptr own[RANKS_MAX], shared[RANKS_MAX];
} Ranks;

static uint32_t begins(int rank, unsigned i) { return (uint32_t)rank * 1000 + i; }
static uint32_t summand(int rank, unsigned i) { return (uint32_t)(rank + 1) * (i + 1); }

static void meet(const Ranks *me)
{
    if (me->last - me->first < me->ranks)
        pthread_barrier_wait(&me->world->everybody);
}

static void wait_ready(CUlogicalEndpointId id, unsigned n)
{
    int ready = 0;

    while (!ready)
        CHECK(cuLogicalEndpointQuery(id, n, &ready));
}

static CUdeviceptr allocate(int device)
{
    CUmemAllocationProp prop = device_memory(device, CU_MEM_HANDLE_TYPE_FABRIC);
    CUmemGenericAllocationHandle memory;
    CUdeviceptr va;

    CHECK(cuMemCreate(&memory, GRAIN, &prop, 0));
    CHECK(cuMemAddressReserve(&va, GRAIN, 0, 0, 0));
    CHECK(cuMemMap(va, GRAIN, 0, memory, 0));
    allow(va, GRAIN, device);
    CHECK(cuMemRelease(memory));
    CHECK(cuMemsetD8(va, 0, GRAIN));
    return va;
}

static void create(CUlogicalEndpointId id, CUlogicalEndpointType type, unsigned of)
{
    CUlogicalEndpointProp prop;

    memset(&prop, 0, sizeof prop);
    prop.type = type;
    if (type == CU_LOGICAL_ENDPOINT_TYPE_UNICAST)
        prop.unicast.device = (CUdevice)of;
    else
        prop.multicast.numDevices = of;
    prop.flags = CU_LOGICAL_ENDPOINT_FLAG_COUNTED_OPS;
    prop.ipcHandleTypes = FABRIC;
    prop.size = GRAIN;
    CHECK(cuLogicalEndpointCreate(id, &prop));
}

static void set_up(Ranks *me)
{
    const CUlogicalEndpointId team = me->id + (unsigned)me->ranks;
    uint32_t words[WORDS];

    for (int r = me->first; r < me->last; r++) {
        use_device(r);
        me->own[r] = allocate(r);
        me->shared[r] = allocate(r);
        for (unsigned i = 0; i < WORDS; i++)
            words[i] = summand(r, i);
        CHECK(cuMemcpyHtoD(me->shared[r] + SUMMED, words, sizeof words));
        create(me->id + (unsigned)r, CU_LOGICAL_ENDPOINT_TYPE_UNICAST, (unsigned)r);
        wait_ready(me->id + (unsigned)r, 1);
        CHECK(cuLogicalEndpointBindAddr(me->id + (unsigned)r, r, 0, (void *)me->own[r], GRAIN, 0));
        CHECK(cuLogicalEndpointExport(&me->world->unicast[r], me->id + (unsigned)r, FABRIC));
    }
    if (me->first == 0) {
        create(team, CU_LOGICAL_ENDPOINT_TYPE_MULTICAST, (unsigned)me->ranks);
        CHECK(cuLogicalEndpointExport(&me->world->multicast, team, FABRIC));
    }
    meet(me);
    for (int r = 0; r < me->ranks; r++)
        if (r < me->first || r >= me->last)
            CHECK(cuLogicalEndpointImport(me->id + (unsigned)r, &me->world->unicast[r], FABRIC));
    if (me->first != 0)
        CHECK(cuLogicalEndpointImport(team, &me->world->multicast, FABRIC));
    for (int r = me->first; r < me->last; r++)
        CHECK(cuLogicalEndpointAddDevice(team, r));
    wait_ready(me->id, (unsigned)me->ranks + 1);
    for (int r = me->first; r < me->last; r++)
        CHECK(cuLogicalEndpointBindAddr(team, r, 0, (void *)me->shared[r], GRAIN, 0));
    meet(me); /* nobody writes before all have bound */
}

static void launch(const Ranks *me, int r)
{
    uint32_t next = me->id + (unsigned)((r + 1) % me->ranks), team = me->id + (unsigned)me->ranks, rank = (uint32_t)r;
    CUdeviceptr own = me->own[r];
    void *arguments[] = {&next, &team, &own, &rank};
    CUmodule module;
    CUfunction kernel;

    use_device(r);
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&kernel, module, "exchange"));
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, arguments, 0));
}

static void compare(const Ranks *me, CUdeviceptr at, const uint32_t *want)
{
    uint32_t words[WORDS];
    unsigned long wrong = 0;

    CHECK(cuMemcpyDtoH(words, at, sizeof words));
    for (unsigned i = 0; i < WORDS; i++)
        wrong += words[i] != want[i];
    __atomic_fetch_add(&me->world->words, WORDS, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&me->world->wrong, wrong, __ATOMIC_SEQ_CST);
}

static void look(const Ranks *me, int r)
{
    const int before = (r + me->ranks - 1) % me->ranks;
    uint32_t want[WORDS], sums[WORDS] = {0};

    use_device(r);
    for (int from = 0; from < me->ranks; from++) {
        for (unsigned i = 0; i < WORDS; i++) {
            want[i] = begins(from, i);
            sums[i] += summand(from, i);
        }
        compare(me, me->shared[r] + TO_ALL + (size_t)from * BLOCK, want);
        if (from == before)
            compare(me, me->own[r], want);
    }
    compare(me, me->own[r] + FOUND, sums);
}

static int run(World *world, int ranks, int first, int last)
{
    Ranks *me = calloc(1, sizeof *me);

    me->world = world;
    me->ranks = ranks;
    me->first = first;
    me->last = last;
    CHECK(cuInit(0));
    CHECK(cuLogicalEndpointIdReserve(&me->id, (unsigned)ranks + 1));
    set_up(me);
    for (int r = first; r < last; r++)
        launch(me, r);
    for (int r = first; r < last; r++) {
        use_device(r);
        CHECK(cuCtxSynchronize());
    }
    meet(me);
    for (int r = first; r < last; r++)
        look(me, r);
    meet(me);
    for (int r = 0; r <= ranks; r++)
        CHECK(cuLogicalEndpointDestroy(me->id + (unsigned)r));
    free(me);
    return 0;
}

static void start_ranks(World *world, int ranks)
{
    pthread_barrierattr_t attr;
    char number[16];

    pthread_barrierattr_init(&attr);
    pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&world->everybody, &attr, (unsigned)ranks);
    for (int r = 0; r < ranks; r++)
        if (fork() == 0) {
            snprintf(number, sizeof number, "%d", r);
            setenv("RANK", number, 1);
            alarm(250);
            exit(run(world, ranks, r, r + 1));
        }
    for (int r = 0; r < ranks; r++) {
        int status = 1;
        wait(&status);
        if (status != 0) { /* the others would wait for ever */
            fprintf(stderr, "a rank has failed\n");
            signal(SIGTERM, SIG_IGN);
            kill(0, SIGTERM);
            _exit(1);
        }
    }
}

int main(int argc, char **argv)
{
    World *world = mmap(NULL, sizeof *world, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int ranks = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 2;

    REQUIRE(world != MAP_FAILED && ranks >= 2 && ranks <= RANKS_MAX);
    if (argc > 2 && strcmp(argv[2], "one") == 0)
        run(world, ranks, 0, ranks);
    else
        start_ranks(world, ranks);
    printf("%d ranks: %lu words compared, %lu wrong\n", ranks, world->words, world->wrong);
    return world->wrong != 0;
}
