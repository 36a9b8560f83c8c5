/* A job of several processes that does what a seed draws, on memory that all of them have: and what a model without any
 * simulated machine says of it must be in all of it after each step.
 *
 *     fanout exec -s dgx-h100 -- ./random_job SEED STEPS
 *
 * Each process has a device and a block of its memory, of which the others have mappings by its descriptor; memory of a
 * file in /dev/shm, which each has mapped by itself and registered; a multicast object of all devices' blocks, in which
 * a write reaches each of them and a read gives their sum; and a stream. A step draws for each process some pieces of
 * work: a kernel that adds a block's part and a number to another's, a copy, a fill. They run one by one, or as a graph
 * that is captured, or made by hand, and launched so often. No two pieces of one step touch words that another one
 * writes, so there is one right result. The model is computed by every process for all of them, in plain arrays. */
#include "tests/clients/client.h"

#define PROCESSES 3
#define WORDS 4096u            /* of each block */
#define BLOCKS (PROCESSES + 1) /* the devices', and the host's */
#define TEAM BLOCKS            /* all devices' blocks at once, by multicast */
#define SLOTS (8 * PROCESSES)  /* parts of a block, none of which two pieces of a step write */
#define SLOT (WORDS / SLOTS)
#define PIECES 4

enum { ADD, COPY, FILL, OPS };

typedef struct {
    int op, to, to_slot, from, from_slot; /* blocks and their parts */
    unsigned value, words;
} Piece;

typedef struct {
    uint64_t state;
} Draw;

typedef struct {
    int rank, (*socket)[2];
    pthread_barrier_t *all;
    CUdeviceptr block[BLOCKS + 1];
    unsigned *host;       /* of the registered block */
    CUfunction add[2][2]; /* to: a block or the team; from, likewise */
    CUstream stream;
    unsigned model[BLOCKS][WORDS];
} Process;

/* splitmix64: the same in all processes. */
static unsigned draw(Draw *draw, unsigned below)
{
    uint64_t z = draw->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (unsigned)((z ^ z >> 31) >> 16) % below;
}

/* to[i] = to[i] + from[i] + value, of n words */
#define KERNEL(name, load, add)                                                                                        \
    ".visible .entry " name "(.param .u64 to, .param .u64 from, .param .u32 value, .param .u32 n)\n{\n"                \
    ".reg .b64 %d<6>; .reg .b32 %r<9>; .reg .pred %p;\n"                                                               \
    "ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from]; ld.param.u32 %r1, [value]; ld.param.u32 %r2, [n];\n"            \
    "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r3, 128, %r4; setp.ge.u32 %p, %r5, %r2;\n"           \
    "@%p bra end; mul.wide.u32 %d3, %r5, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;\n" load                      \
    " %r7, [%d5]; add.u32 %r7, %r7, %r1;\n" add "\nend: ret;\n}\n"
#define LOAD "ld.global.u32"
#define LOAD_SUM "multimem.ld_reduce.relaxed.sys.global.add.u32"
#define ADD_HERE "ld.global.u32 %r6, [%d4]; add.u32 %r6, %r6, %r7; st.global.u32 [%d4], %r6;"
#define ADD_ALL "multimem.red.relaxed.sys.global.add.u32 [%d4], %r7;"
static const char text[] = ".version 8.1\n.target sm_90\n.address_size 64\n" KERNEL("add00", LOAD, ADD_HERE)
    KERNEL("add01", LOAD_SUM, ADD_HERE) KERNEL("add10", LOAD, ADD_ALL) KERNEL("add11", LOAD_SUM, ADD_ALL);

/* The multicast object, which the first process makes and all others get, and its mapping. */
static void join(Process *p, CUmemGenericAllocationHandle own)
{
    CUmulticastObjectProp prop = {
        .numDevices = PROCESSES, .size = 2 * MIB, .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    CUmemGenericAllocationHandle team;
    int fd;
    if (p->rank == 0) {
        CHECK(cuMulticastCreate(&team, &prop));
        for (int other = 1; other < PROCESSES; other++) {
            CHECK(cuMemExportToShareableHandle(&fd, team, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
            give_fd(p->socket[other][0], fd);
            close(fd);
        }
    } else {
        fd = take_fd(p->socket[p->rank][1]);
        CHECK(cuMemImportFromShareableHandle(&team, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
        close(fd);
    }
    CHECK(cuMulticastAddDevice(team, p->rank));
    pthread_barrier_wait(p->all);
    CHECK(cuMulticastBindMem(team, 0, own, 0, 2 * MIB, 0));
    CHECK(cuMemAddressReserve(&p->block[TEAM], 2 * MIB, 0, 0, 0));
    CHECK(cuMemMap(p->block[TEAM], 2 * MIB, 0, team, 0));
    allow(p->block[TEAM], 2 * MIB, p->rank);
}

static void begin(Process *p, int shm)
{
    CUmemAllocationProp prop = device_memory(p->rank, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CUmemGenericAllocationHandle handle;
    CUmodule module;
    CUdeviceptr there;
    int fd;

    CHECK(cuInit(0));
    use_device(p->rank);
    CHECK(cuMemCreate(&handle, 2 * MIB, &prop, 0));
    for (int r = 0; r < PROCESSES; r++) {
        CUmemGenericAllocationHandle of = handle;
        if (r == p->rank) {
            for (int other = 0; other < PROCESSES; other++)
                if (other != r) {
                    CHECK(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
                    give_fd(p->socket[other][0], fd);
                    close(fd);
                }
        } else {
            fd = take_fd(p->socket[p->rank][1]);
            CHECK(cuMemImportFromShareableHandle(&of, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
            close(fd);
        }
        CHECK(cuMemAddressReserve(&p->block[r], 2 * MIB, 0, 0, 0));
        CHECK(cuMemMap(p->block[r], 2 * MIB, 0, of, 0));
        allow(p->block[r], 2 * MIB, p->rank);
        pthread_barrier_wait(p->all);
    }
    join(p, handle);
    p->host = mmap(NULL, 4 * WORDS, PROT_READ | PROT_WRITE, MAP_SHARED, shm, 0);
    REQUIRE(p->host != MAP_FAILED);
    CHECK(cuMemHostRegister(p->host, 4 * WORDS, CU_MEMHOSTREGISTER_DEVICEMAP));
    CHECK(cuMemHostGetDevicePointer(&there, p->host, 0));
    p->block[PROCESSES] = there;
    CHECK(cuModuleLoadData(&module, text));
    for (int i = 0; i < 4; i++) {
        const char name[] = {'a', 'd', 'd', (char)('0' + i / 2), (char)('0' + i % 2), 0};
        CHECK(cuModuleGetFunction(&p->add[i / 2][i % 2], module, name));
    }
    CHECK(cuStreamCreate(&p->stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemsetD32(p->block[p->rank], 0, WORDS));
    pthread_barrier_wait(p->all);
}

static CUdeviceptr part(const Process *p, int block, int slot) { return p->block[block] + (size_t)slot * SLOT * 4; }

/* The blocks that an address of one, or of the team, names: from *first on, so many. */
static int blocks_of(int block, int *first)
{
    *first = block == TEAM ? 0 : block;
    return block == TEAM ? PROCESSES : 1;
}

enum { UNTOUCHED, WRITTEN, READ };

/* Draws a part that may be used so beside what is taken, and takes it. */
static void draw_part(Draw *d, int taken[BLOCKS][SLOTS], int use, int blocks, int *block, int *slot)
{
    int first, n, free;
    do {
        *block = (int)draw(d, (unsigned)blocks);
        *slot = (int)draw(d, SLOTS);
        n = blocks_of(*block, &first);
        free = 1;
        for (int b = first; b < first + n; b++)
            free &= taken[b][*slot] == UNTOUCHED || (use == READ && taken[b][*slot] == READ);
    } while (!free);
    for (int b = first; b < first + n; b++)
        taken[b][*slot] = use;
}

/* Pieces of all processes in one step: each writes a part of its own, and reads parts that nobody writes. Kernels alone
 * read the team. */
static void draw_step(Draw *d, Piece piece[PROCESSES][PIECES], int n[PROCESSES])
{
    int taken[BLOCKS][SLOTS] = {{UNTOUCHED}};
    for (int r = 0; r < PROCESSES; r++) {
        n[r] = 1 + (int)draw(d, PIECES);
        for (int i = 0; i < n[r]; i++) {
            Piece *at = &piece[r][i];
            at->op = (int)draw(d, OPS);
            at->value = draw(d, 1000);
            at->words = 1 + draw(d, SLOT);
            draw_part(d, taken, WRITTEN, BLOCKS + 1, &at->to, &at->to_slot);
            draw_part(d, taken, READ, BLOCKS + (at->op == ADD), &at->from, &at->from_slot);
        }
    }
}

static void model_piece(Process *p, const Piece *at)
{
    int to, from;
    const int targets = blocks_of(at->to, &to), sources = blocks_of(at->from, &from);
    for (unsigned i = 0; i < at->words; i++) {
        unsigned value = 0;
        for (int b = from; b < from + sources; b++)
            value += p->model[b][at->from_slot * SLOT + i];
        for (int b = to; b < to + targets; b++) {
            unsigned *word = &p->model[b][at->to_slot * SLOT + i];
            *word = at->op == ADD ? *word + value + at->value : at->op == COPY ? value : at->value;
        }
    }
}

static CUfunction kernel_of(const Process *p, const Piece *at) { return p->add[at->to == TEAM][at->from == TEAM]; }

static void run_piece(const Process *p, const Piece *at)
{
    CUdeviceptr to = part(p, at->to, at->to_slot), from = part(p, at->from, at->from_slot);
    unsigned value = at->value, words = at->words;
    void *params[] = {&to, &from, &value, &words};
    if (at->op == ADD)
        CHECK(cuLaunchKernel(kernel_of(p, at), (words + 127) / 128, 1, 1, 128, 1, 1, 0, p->stream, params, NULL));
    else if (at->op == COPY)
        CHECK(cuMemcpyAsync(to, from, words * 4, p->stream));
    else
        CHECK(cuMemsetD32Async(to, value, words, p->stream));
}

static void run_captured(const Process *p, const Piece *piece, int n, int times)
{
    CUgraph graph;
    CUgraphExec exec;
    CHECK(cuStreamBeginCapture(p->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int i = 0; i < n; i++)
        run_piece(p, &piece[i]);
    CHECK(cuStreamEndCapture(p->stream, &graph));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < times; i++)
        CHECK(cuGraphLaunch(exec, p->stream));
    CHECK(cuStreamSynchronize(p->stream));
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
}

/* A node for each piece, without an order among them. */
static void run_made(const Process *p, const Piece *piece, int n, int times)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    CUcontext context;
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuGraphCreate(&graph, 0));
    for (int i = 0; i < n; i++) {
        const Piece *at = &piece[i];
        CUdeviceptr to = part(p, at->to, at->to_slot), from = part(p, at->from, at->from_slot);
        unsigned value = at->value, words = at->words;
        void *params[] = {&to, &from, &value, &words};
        CUDA_KERNEL_NODE_PARAMS kernel = {.func = kernel_of(p, at),
                                          .gridDimX = (words + 127) / 128,
                                          .gridDimY = 1,
                                          .gridDimZ = 1,
                                          .blockDimX = 128,
                                          .blockDimY = 1,
                                          .blockDimZ = 1,
                                          .kernelParams = params};
        CUDA_MEMSET_NODE_PARAMS fill = {.dst = to, .value = value, .elementSize = 4, .width = words, .height = 1};
        CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                              .srcDevice = from,
                              .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                              .dstDevice = to,
                              .WidthInBytes = words * 4,
                              .Height = 1,
                              .Depth = 1};
        if (at->op == ADD)
            CHECK(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
        else if (at->op == COPY)
            CHECK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
        else
            CHECK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    }
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < times; i++)
        CHECK(cuGraphLaunch(exec, p->stream));
    CHECK(cuStreamSynchronize(p->stream));
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
}

/* Everything, as the host reads it from the devices and as it stands in its own memory. */
static void compare(const Process *p, unsigned seed, unsigned step)
{
    static unsigned got[WORDS];
    for (int b = 0; b < BLOCKS; b++) {
        if (b < PROCESSES)
            CHECK(cuMemcpyDtoH(got, p->block[b], sizeof got));
        else
            memcpy(got, p->host, sizeof got);
        for (unsigned i = 0; i < WORDS; i++)
            if (got[i] != p->model[b][i]) {
                fprintf(stderr, "seed %u, step %u, process %d: word %u of block %d is %u, should be %u\n", seed, step,
                        p->rank, i, b, got[i], p->model[b][i]);
                _exit(1);
            }
    }
}

static void live(Process *p, int shm, unsigned seed, unsigned steps)
{
    Draw d = {seed};
    begin(p, shm);
    for (unsigned s = 0; s < steps; s++) {
        Piece piece[PROCESSES][PIECES];
        int n[PROCESSES], how[PROCESSES], times[PROCESSES];
        draw_step(&d, piece, n);
        for (int r = 0; r < PROCESSES; r++) {
            how[r] = (int)draw(&d, 3);
            times[r] = how[r] == 0 ? 1 : 1 + (int)draw(&d, 3);
            for (int t = 0; t < times[r]; t++)
                for (int i = 0; i < n[r]; i++)
                    model_piece(p, &piece[r][i]);
        }
        if (how[p->rank] == 1) {
            run_captured(p, piece[p->rank], n[p->rank], times[p->rank]);
        } else if (how[p->rank] == 2) {
            run_made(p, piece[p->rank], n[p->rank], times[p->rank]);
        } else {
            for (int i = 0; i < n[p->rank]; i++)
                run_piece(p, &piece[p->rank][i]);
            CHECK(cuStreamSynchronize(p->stream));
        }
        pthread_barrier_wait(p->all);
        compare(p, seed, s);
        pthread_barrier_wait(p->all);
    }
}

int main(int argc, char **argv)
{
    const unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    const unsigned steps = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 20;
    static Process process;
    static int socket[PROCESSES][2];
    pthread_barrierattr_t shared;
    int shm = memfd_create("random_job", 0), status, wrong = 0;
    pid_t child[PROCESSES];

    process.socket = socket;
    process.all = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shm >= 0 && ftruncate(shm, 4 * WORDS) == 0 && process.all != MAP_FAILED);
    REQUIRE(pthread_barrierattr_init(&shared) == 0);
    REQUIRE(pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED) == 0);
    REQUIRE(pthread_barrier_init(process.all, &shared, PROCESSES) == 0);
    for (int r = 0; r < PROCESSES; r++)
        REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM, 0, socket[r]) == 0);
    for (int r = 0; r < PROCESSES; r++) {
        child[r] = fork();
        REQUIRE(child[r] >= 0);
        if (child[r] == 0) {
            process.rank = r;
            live(&process, shm, seed, steps);
            exit(0);
        }
    }
    for (int r = 0; r < PROCESSES; r++) { /* one that is wrong leaves the others at their barrier */
        REQUIRE(wait(&status) > 0);
        if (status == 0)
            continue;
        wrong = 1;
        for (int other = 0; other < PROCESSES; other++)
            kill(child[other], SIGKILL);
    }
    return wrong;
}
