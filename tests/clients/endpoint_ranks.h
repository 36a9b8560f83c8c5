/* What programs share whose ranks have logical endpoints as NCCL's copies by endpoints (CFT) set them up: every rank
 * has a unicast endpoint of its own, bound by address, whose fabric handle all others import into a row of
 * identifiers; and one multicast endpoint that rank 0 makes, to which each rank adds its device and then binds. The
 * ranks are processes, one for each GPU, or all in this one.
 *
 * PROGRAM RANKS each       one process for each GPU
 * PROGRAM RANKS one        the same of all GPUs in one process */
#ifndef TESTS_CLIENTS_ENDPOINT_RANKS_H
#define TESTS_CLIENTS_ENDPOINT_RANKS_H

#define FANOUT_CUDA_VERSION 13050
#include "tests/clients/client.h"

#define RANKS_MAX 72
#define GRAIN (2 * MIB) /* bytes of each endpoint, and of what each rank binds */
#define FABRIC CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_FABRIC

/* What a launcher gives its ranks. */
typedef struct {
    pthread_barrier_t everybody;
    CUlogicalEndpointFabricHandle unicast[RANKS_MAX], multicast;
    unsigned long words, wrong; /* of all ranks, added atomically */
    unsigned long tally;        /* what a program adds up itself */
} World;

/* The ranks of this process are first .. last - 1. */
typedef struct {
    World *world;
    int ranks, first, last;
    CUlogicalEndpointId id;                        /* of rank 0's endpoint; the team's comes behind the last rank's */
    CUdeviceptr own[RANKS_MAX], shared[RANKS_MAX]; /* behind the rank's endpoint, and behind the team's */
} Ranks;

static inline CUlogicalEndpointId team_of(const Ranks *me) { return me->id + (unsigned)me->ranks; }

/* All ranks have come here: those of one process do what they do one after the other. */
static inline void meet(const Ranks *me)
{
    if (me->last - me->first < me->ranks)
        pthread_barrier_wait(&me->world->everybody);
}

static inline int device_of(const Ranks *me, int rank)
{
    int n;

    CHECK(cuDeviceGetCount(&n)); /* with trays a host has four */
    return n < me->ranks ? rank % n : rank;
}

static inline void use_rank(const Ranks *me, int rank) { use_device(device_of(me, rank)); }

/* Compares words of device memory with those that are right. */
static inline void compare(const Ranks *me, CUdeviceptr at, const uint32_t *want, unsigned n)
{
    uint32_t *words = malloc(n * sizeof *words);
    unsigned long wrong = 0;

    CHECK(cuMemcpyDtoH(words, at, n * sizeof *words));
    for (unsigned i = 0; i < n; i++)
        wrong += words[i] != want[i];
    __atomic_fetch_add(&me->world->words, n, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&me->world->wrong, wrong, __ATOMIC_SEQ_CST);
    free(words);
}

static inline void wait_ready(CUlogicalEndpointId id, unsigned n)
{
    int ready = 0;

    while (!ready)
        CHECK(cuLogicalEndpointQuery(id, n, &ready));
}

static inline CUdeviceptr allocate(int device)
{
    const CUdeviceptr va = fabric_memory(device, GRAIN);

    CHECK(cuMemsetD8(va, 0, GRAIN));
    return va;
}

/* of: the device, or how many there are. */
static inline void create(CUlogicalEndpointId id, CUlogicalEndpointType type, unsigned of)
{
    CUlogicalEndpointProp prop;
    cuuint64_t alignment, most;

    memset(&prop, 0, sizeof prop);
    prop.type = type;
    if (type == CU_LOGICAL_ENDPOINT_TYPE_UNICAST)
        prop.unicast.device = (CUdevice)of;
    else
        prop.multicast.numDevices = of;
    prop.flags = CU_LOGICAL_ENDPOINT_FLAG_COUNTED_OPS;
    prop.ipcHandleTypes = FABRIC;
    prop.size = GRAIN;
    CHECK(cuLogicalEndpointGetLimits(&alignment, &most, &prop));
    REQUIRE(GRAIN % alignment == 0 && GRAIN <= most);
    CHECK(cuLogicalEndpointCreate(id, &prop));
}

static inline void set_up(Ranks *me)
{
    const CUlogicalEndpointId team = team_of(me);

    for (int r = me->first; r < me->last; r++) {
        const int device = device_of(me, r);
        use_device(device);
        me->own[r] = allocate(device);
        me->shared[r] = allocate(device);
        create(me->id + (unsigned)r, CU_LOGICAL_ENDPOINT_TYPE_UNICAST, (unsigned)device);
        wait_ready(me->id + (unsigned)r, 1);
        CHECK(cuLogicalEndpointBindAddr(me->id + (unsigned)r, device, 0, (void *)me->own[r], GRAIN, 0));
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
        CHECK(cuLogicalEndpointAddDevice(team, device_of(me, r)));
    wait_ready(me->id, (unsigned)me->ranks + 1);
    for (int r = me->first; r < me->last; r++)
        CHECK(cuLogicalEndpointBindAddr(team, device_of(me, r), 0, (void *)me->shared[r], GRAIN, 0));
    meet(me); /* nobody writes before all have bound */
}

static inline void take_down(const Ranks *me)
{
    for (int r = me->first; r < me->last; r++) {
        CHECK(cuLogicalEndpointUnbind(team_of(me), device_of(me, r), 0, GRAIN));
        CHECK(cuLogicalEndpointUnbind(me->id + (unsigned)r, device_of(me, r), 0, GRAIN));
    }
    for (int r = 0; r <= me->ranks; r++)
        CHECK(cuLogicalEndpointDestroy(me->id + (unsigned)r));
    CHECK(cuLogicalEndpointIdRelease(me->id, (unsigned)me->ranks + 1));
}

/* work: what the ranks of a process do with their endpoints; nobody's are taken down before all have done theirs. */
static inline void run_process(World *world, int ranks, int first, int last, void (*work)(const Ranks *me))
{
    Ranks *me = calloc(1, sizeof *me);

    me->world = world;
    me->ranks = ranks;
    me->first = first;
    me->last = last;
    CHECK(cuInit(0));
    CHECK(cuLogicalEndpointIdReserve(&me->id, (unsigned)ranks + 1));
    set_up(me);
    work(me);
    meet(me);
    take_down(me);
    free(me);
}

static inline void start_ranks(World *world, int ranks, void (*work)(const Ranks *me))
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
            alarm(580);
            run_process(world, ranks, r, r + 1, work);
            exit(0);
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

/* What main() returns: 0 if all words were right. */
static inline int run_program(int argc, char **argv, void (*work)(const Ranks *me))
{
    World *world = mmap(NULL, sizeof *world, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int ranks = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 2;

    REQUIRE(world != MAP_FAILED && ranks >= 2 && ranks <= RANKS_MAX);
    if (argc > 2 && strcmp(argv[2], "one") == 0)
        run_process(world, ranks, 0, ranks, work);
    else
        start_ranks(world, ranks, work);
    printf("%d ranks: %lu words compared, %lu wrong\n", ranks, world->words, world->wrong);
    return world->wrong != 0;
}

#endif
