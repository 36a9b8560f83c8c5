/* All-reduce in the switch with one process for each GPU, as MPI programs, NCCL and PyTorch run: rank
 * 0 creates the multicast object and passes its file descriptor on, every rank adds its own device
 * and binds its own memory, and a barrier in the kernels (multimem.red on a flag) keeps them together.
 *
 *     fanout exec -s dgx-h100 --report report.json -- ./multicast_ranks [RANKS [FLOATS]]
 *
 * The program starts its ranks itself, by fork before the first driver call. All are on the one machine that
 * `fanout exec` owns: their packets meet, time is the same for all, and one report has them all (docs/cuda.md). */
#include <fanout/fanout.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define RANKS_MAX 72
#define WORDS_MAX (1u << 24)

static int rank;
static unsigned words = 65536; /* floats to reduce */
static size_t flag_offset(void) { return words * sizeof(float); }

#define CHECK(call) check(call, #call, __LINE__)
static void check(CUresult result, const char *call, int line)
{
    const char *name = NULL;
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    fprintf(stderr, "rank %d, line %d: %s: %s\n", rank, line, call, name ? name : "?");
    exit(1);
}
static void need(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "rank %d: %s\n", rank, what);
    exit(1);
}

/* ---- what a launcher gives its ranks: a byte or a descriptor from anybody to anybody */
typedef struct {
    int ranks;
    int to_child[RANKS_MAX][2]; /* pairs of sockets between rank 0 and the others */
} World;

static void send_fd(int to, int fd)
{
    char byte = 'f', control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec io = {&byte, 1};
    struct msghdr msg = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    need(sendmsg(to, &msg, 0) == 1, "cannot send the descriptor");
}

static int receive_fd(int from)
{
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec io = {&byte, 1};
    struct msghdr msg = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    int fd;
    need(recvmsg(from, &msg, 0) == 1 && CMSG_FIRSTHDR(&msg), "no descriptor came");
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof fd);
    return fd;
}

/* Everybody is here: rank 0 hears all and answers all. */
static void host_barrier(const World *w)
{
    char byte = 'b';
    if (rank > 0) {
        need(write(w->to_child[rank][1], &byte, 1) == 1, "rank 0 is gone");
        need(read(w->to_child[rank][1], &byte, 1) == 1, "rank 0 is gone");
        return;
    }
    for (int i = 1; i < w->ranks; i++)
        need(read(w->to_child[i][0], &byte, 1) == 1, "a rank is gone");
    for (int i = 1; i < w->ranks; i++)
        need(write(w->to_child[i][0], &byte, 1) == 1, "a rank is gone");
}

/* ---- the kernel */
typedef struct {
    FoAddress slice, multicast_flag, own_flag;
    size_t bytes;
    uint64_t ranks;
} Args;

/* All ranks add one to every copy of the flag; each waits for its own copy to reach `count`. */
static void barrier(FoCta *cta, const Args *args, uint64_t count)
{
    const FoMultimem add = {.type = FO_U32, .op = FO_ADD, .order = FO_RELEASE};
    FoReg *one = fo_reg(cta, 4);

    fo_set_u64(cta, one, 1);
    fo_fence(cta);
    fo_sync(cta);
    fo_only(cta, 0, 1);
    fo_multimem_red(cta, args->multicast_flag, one, &add);
    fo_poll(cta, args->own_flag, 4, FO_GE, count, FO_ACQUIRE);
    fo_all(cta);
    fo_sync(cta);
}

static void all_reduce(FoCta *cta, const void *data)
{
    const Args *args = data;
    FoLoop loop = {.bytes = args->bytes,
                   .width = 16,
                   .unroll = 4,
                   .sources = 1,
                   .source = {{FO_LD_REDUCE, args->slice}},
                   .destinations = 1,
                   .destination = {{FO_MULTIMEM_ST, args->slice}},
                   .type = FO_F32,
                   .op = FO_ADD};
    barrier(cta, args, args->ranks);
    fo_loop(cta, &loop);
    barrier(cta, args, 2 * args->ranks);
}

/* ---- the host side of one rank */
typedef struct {
    CUmemGenericAllocationHandle object, memory;
    CUdeviceptr multicast, unicast;
    size_t bytes;
} Team;

static CUmemGenericAllocationHandle team_object(const World *w, size_t *bytes)
{
    const CUmemAllocationHandleType type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmulticastObjectProp prop = {.numDevices = (unsigned)w->ranks, .size = flag_offset() + 4, .handleTypes = type};
    CUmemGenericAllocationHandle object;
    size_t granularity;
    int fd;

    CHECK(cuMulticastGetGranularity(&granularity, &prop, CU_MULTICAST_GRANULARITY_RECOMMENDED));
    *bytes = prop.size = (prop.size + granularity - 1) / granularity * granularity;
    if (rank > 0) {
        fd = receive_fd(w->to_child[rank][1]);
        CHECK(cuMemImportFromShareableHandle(&object, (void *)(uintptr_t)fd, type));
    } else {
        CHECK(cuMulticastCreate(&object, &prop));
        CHECK(cuMemExportToShareableHandle(&fd, object, type, 0));
        for (int i = 1; i < w->ranks; i++)
            send_fd(w->to_child[i][0], fd);
    }
    close(fd);
    return object;
}

static CUdeviceptr map(CUmemGenericAllocationHandle handle, size_t bytes)
{
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, rank}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr va;
    CHECK(cuMemAddressReserve(&va, bytes, 0, 0, 0));
    CHECK(cuMemMap(va, bytes, 0, handle, 0));
    CHECK(cuMemSetAccess(va, bytes, &access, 1));
    return va;
}

static void team_open(const World *w, Team *team)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, rank}};
    float *host = calloc(words, sizeof *host);

    team->object = team_object(w, &team->bytes);
    CHECK(cuMulticastAddDevice(team->object, rank));
    CHECK(cuMemCreate(&team->memory, team->bytes, &prop, 0));
    CHECK(cuMulticastBindMem(team->object, 0, team->memory, 0, team->bytes, 0));
    team->unicast = map(team->memory, team->bytes);
    team->multicast = map(team->object, team->bytes);
    for (unsigned k = 0; k < words; k++)
        host[k] = (float)((unsigned)(rank + 1) * (k % 97));
    CHECK(cuMemcpyHtoD(team->unicast, host, words * sizeof *host));
    CHECK(cuMemsetD32(team->unicast + flag_offset(), 0, 1));
    free(host);
}

static size_t count_wrong(const World *w, const Team *team)
{
    float *host = malloc(words * sizeof *host);
    unsigned all = (unsigned)(w->ranks * (w->ranks + 1) / 2);
    size_t wrong = 0;

    CHECK(cuMemcpyDtoH(host, team->unicast, words * sizeof *host));
    for (unsigned k = 0; k < words; k++)
        wrong += host[k] != (float)(all * (k % 97));
    free(host);
    return wrong;
}

static int run_rank(const World *w)
{
    Team team;
    CUcontext context;

    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, rank));
    CHECK(cuCtxSetCurrent(context));
    team_open(w, &team);
    host_barrier(w); /* everybody has bound before anybody touches all copies */
    size_t slice = words * sizeof(float) / (size_t)w->ranks / 16 * 16;
    size_t begin = (size_t)rank * slice;
    Args args = {team.multicast + begin, team.multicast + flag_offset(), team.unicast + flag_offset(),
                 rank == w->ranks - 1 ? words * sizeof(float) - begin : slice, (uint64_t)w->ranks};
    FoKernel kernel = {"all_reduce", all_reduce, &args, sizeof args, 1, 512};
    CHECK(fo_launch(&kernel, NULL));
    CHECK(cuCtxSynchronize());
    size_t wrong = count_wrong(w, &team);
    printf("rank %d of %d: %u words reduced, %zu wrong\n", rank, w->ranks, words, wrong);
    fflush(stdout);
    host_barrier(w); /* nobody unbinds while others still store */
    CHECK(cuMulticastUnbind(team.object, rank, 0, team.bytes));
    CHECK(cuMemUnmap(team.multicast, team.bytes));
    CHECK(cuMemUnmap(team.unicast, team.bytes));
    CHECK(cuMemRelease(team.memory));
    CHECK(cuMemRelease(team.object));
    return wrong != 0;
}

int main(int argc, char **argv)
{
    World w = {.ranks = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 4};
    int bad = 0, status;

    const long floats = argc > 2 ? strtol(argv[2], NULL, 10) : (long)words;
    if (w.ranks < 2 || w.ranks > RANKS_MAX || floats < 4 * w.ranks || floats > (long)WORDS_MAX) {
        fprintf(stderr, "usage: multicast_ranks [RANKS [FLOATS]], 2 to %d, at most %u floats\n", RANKS_MAX, WORDS_MAX);
        return 1;
    }
    words = (unsigned)floats;
    for (int i = 1; i < w.ranks; i++)
        need(socketpair(AF_UNIX, SOCK_STREAM, 0, w.to_child[i]) == 0, "no socket");
    for (int i = 1; i < w.ranks; i++)
        if (fork() == 0) {
            rank = i;
            exit(run_rank(&w));
        }
    bad = run_rank(&w);
    while (wait(&status) > 0)
        bad |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    return bad;
}
