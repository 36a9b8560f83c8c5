/* Logical endpoints as NCCL's copies by endpoints (CFT) set them up: every rank has a unicast endpoint of its own,
 * bound by address, whose fabric handle all others import into a row of identifiers; and one multicast endpoint that
 * rank 0 makes, to which each rank adds its device and then binds. Every rank writes a block to every other, and one
 * to all; what arrived is compared, word by word, and read back through the neighbour's endpoint.
 *
 * endpoints RANKS each     one process for each GPU endpoints RANKS one      the same of all GPUs in one process */
#define FANOUT_CUDA_VERSION 13050
#include "tests/clients/client.h"

#define RANKS_MAX 72
#define BLOCK 64u /* words */
#define GRAIN (2 * MIB)
#define FABRIC CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_FABRIC

/* What a launcher gives its ranks. */
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
    CUstream stream[RANKS_MAX];
    unsigned long wrong, words;
} Ranks;

static uint32_t word_to(int from, int to, unsigned i) { return 0x1000000u + (uint32_t)(from * 100 + to) * 100 + i; }
static uint32_t word_to_all(int from, unsigned i) { return 0x2000000u + (uint32_t)from * 100 + i; }

static void meet(const Ranks *me)
{
    if (me->last - me->first < me->ranks)
        pthread_barrier_wait(&me->world->everybody);
}

static int device_of(const Ranks *me, int rank)
{
    int n;

    CHECK(cuDeviceGetCount(&n)); /* with trays a host has four */
    return n < me->ranks ? rank % n : rank;
}

static void use(const Ranks *me, int rank) { use_device(device_of(me, rank)); }

static void wait_ready(CUlogicalEndpointId id, unsigned n)
{
    int ready = 0;

    while (!ready)
        CHECK(cuLogicalEndpointQuery(id, n, &ready));
}

static CUdeviceptr allocate(const Ranks *me, int rank)
{
    CUmemAllocationProp prop = device_memory(device_of(me, rank), CU_MEM_HANDLE_TYPE_FABRIC);
    CUmemGenericAllocationHandle memory;
    CUdeviceptr va;

    CHECK(cuMemCreate(&memory, GRAIN, &prop, 0));
    CHECK(cuMemAddressReserve(&va, GRAIN, 0, 0, 0));
    CHECK(cuMemMap(va, GRAIN, 0, memory, 0));
    allow(va, GRAIN, device_of(me, rank));
    CHECK(cuMemRelease(memory));
    return va;
}

static CUlogicalEndpointProp properties(CUlogicalEndpointType type, unsigned of)
{
    CUlogicalEndpointProp prop;
    cuuint64_t alignment, most;

    memset(&prop, 0, sizeof prop);
    prop.type = type;
    if (type == CU_LOGICAL_ENDPOINT_TYPE_UNICAST)
        prop.unicast.device = (CUdevice)of;
    else
        prop.multicast.numDevices = of;
    prop.ipcHandleTypes = FABRIC;
    prop.size = GRAIN;
    CHECK(cuLogicalEndpointGetLimits(&alignment, &most, &prop));
    REQUIRE(GRAIN % alignment == 0 && GRAIN <= most);
    return prop;
}

static void set_up(Ranks *me)
{
    const CUlogicalEndpointId team = me->id + (unsigned)me->ranks;

    for (int r = me->first; r < me->last; r++) {
        CUlogicalEndpointProp prop = properties(CU_LOGICAL_ENDPOINT_TYPE_UNICAST, (unsigned)device_of(me, r));
        use(me, r);
        CHECK(cuStreamCreate(&me->stream[r], CU_STREAM_NON_BLOCKING));
        me->own[r] = allocate(me, r);
        me->shared[r] = allocate(me, r);
        CHECK(cuLogicalEndpointCreate(me->id + (unsigned)r, &prop));
        wait_ready(me->id + (unsigned)r, 1);
        CHECK(cuLogicalEndpointBindAddr(me->id + (unsigned)r, device_of(me, r), 0, (void *)me->own[r], GRAIN, 0));
        CHECK(cuLogicalEndpointExport(&me->world->unicast[r], me->id + (unsigned)r, FABRIC));
    }
    if (me->first == 0) {
        CUlogicalEndpointProp prop = properties(CU_LOGICAL_ENDPOINT_TYPE_MULTICAST, (unsigned)me->ranks);
        CHECK(cuLogicalEndpointCreate(team, &prop));
        CHECK(cuLogicalEndpointExport(&me->world->multicast, team, FABRIC));
    }
    meet(me);
    for (int r = 0; r < me->ranks; r++)
        if (r < me->first || r >= me->last)
            CHECK(cuLogicalEndpointImport(me->id + (unsigned)r, &me->world->unicast[r], FABRIC));
    if (me->first != 0)
        CHECK(cuLogicalEndpointImport(team, &me->world->multicast, FABRIC));
    for (int r = me->first; r < me->last; r++)
        CHECK(cuLogicalEndpointAddDevice(team, device_of(me, r)));
    wait_ready(me->id, (unsigned)me->ranks + 1);
    for (int r = me->first; r < me->last; r++)
        CHECK(cuLogicalEndpointBindAddr(team, device_of(me, r), 0, (void *)me->shared[r], GRAIN, 0));
    meet(me); /* nobody writes before all have bound */
}

static CUfabricCpyOperand at_pointer(const void *at)
{
    CUfabricCpyOperand operand;

    memset(&operand, 0, sizeof operand);
    operand.type = CU_FABRIC_COPY_OPERAND_TYPE_POINTER;
    operand.op.ptr.ptr = (CUdeviceptr)(uintptr_t)at;
    return operand;
}

static CUfabricCpyOperand at_endpoint(CUlogicalEndpointId id, size_t offset)
{
    CUfabricCpyOperand operand;

    memset(&operand, 0, sizeof operand);
    operand.type = CU_FABRIC_COPY_OPERAND_TYPE_LOGICAL_ENDPOINT;
    operand.op.le.id = id;
    operand.op.le.offset = offset;
    return operand;
}

/* A block to every rank, and one to all, in one batch. */
static void put(const Ranks *me, int r)
{
    uint32_t(*words)[BLOCK] = malloc((size_t)(me->ranks + 1) * sizeof *words);
    CUDA_FABRIC_COPY_BATCH_OP *list = calloc((size_t)me->ranks + 1, sizeof *list);

    for (int to = 0; to <= me->ranks; to++) {
        for (unsigned i = 0; i < BLOCK; i++)
            words[to][i] = to < me->ranks ? word_to(r, to, i) : word_to_all(r, i);
        list[to].src = at_pointer(words[to]);
        list[to].dst = at_endpoint(me->id + (unsigned)to, (size_t)r * sizeof *words);
        list[to].size = sizeof *words;
    }
    use(me, r);
    CHECK(cuFabricCpyBatchAsync((size_t)me->ranks + 1, list, 0, me->stream[r]));
    CHECK(cuStreamSynchronize(me->stream[r]));
    free(list);
    free(words);
}

static void compare(Ranks *me, uint32_t got, uint32_t expected)
{
    me->words++;
    me->wrong += got != expected;
}

static void look(Ranks *me, int r)
{
    const int next = (r + 1) % me->ranks;
    uint32_t words[BLOCK];
    CUDA_FABRIC_COPY_BATCH_OP get = {.src = at_endpoint(me->id + (unsigned)next, (size_t)r * sizeof words),
                                     .dst = at_pointer(words),
                                     .size = sizeof words};

    use(me, r);
    for (int from = 0; from < me->ranks; from++) {
        CHECK(cuMemcpyDtoH(words, me->own[r] + (size_t)from * sizeof words, sizeof words));
        for (unsigned i = 0; i < BLOCK; i++)
            compare(me, words[i], word_to(from, r, i));
        CHECK(cuMemcpyDtoH(words, me->shared[r] + (size_t)from * sizeof words, sizeof words));
        for (unsigned i = 0; i < BLOCK; i++)
            compare(me, words[i], word_to_all(from, i));
    }
    memset(words, 0, sizeof words);
    CHECK(cuFabricCpyBatchAsync(1, &get, 0, me->stream[r]));
    CHECK(cuStreamSynchronize(me->stream[r]));
    for (unsigned i = 0; i < BLOCK; i++)
        compare(me, words[i], word_to(r, next, i));
}

static void take_down(const Ranks *me)
{
    const CUlogicalEndpointId team = me->id + (unsigned)me->ranks;

    for (int r = me->first; r < me->last; r++) {
        CHECK(cuLogicalEndpointUnbind(team, device_of(me, r), 0, GRAIN));
        CHECK(cuLogicalEndpointUnbind(me->id + (unsigned)r, device_of(me, r), 0, GRAIN));
    }
    for (int r = 0; r <= me->ranks; r++)
        CHECK(cuLogicalEndpointDestroy(me->id + (unsigned)r));
    CHECK(cuLogicalEndpointIdRelease(me->id, (unsigned)me->ranks + 1));
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
        put(me, r);
    meet(me);
    for (int r = first; r < last; r++)
        look(me, r);
    meet(me);
    take_down(me);
    __atomic_fetch_add(&world->words, me->words, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&world->wrong, me->wrong, __ATOMIC_SEQ_CST);
    free(me);
    return 0;
}

static void start_ranks(World *world, int ranks)
{
    pthread_barrierattr_t attr;
    char text[16];

    pthread_barrierattr_init(&attr);
    pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&world->everybody, &attr, (unsigned)ranks);
    for (int r = 0; r < ranks; r++)
        if (fork() == 0) {
            snprintf(text, sizeof text, "%d", r);
            setenv("RANK", text, 1);
            alarm(300);
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
