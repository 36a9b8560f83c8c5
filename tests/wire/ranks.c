/* A job of four ranks, one of which is killed at a random moment; again and again below one owner of a machine.
 *
 *     fanout exec -s dgx-h100 -- ./ranks ROUNDS SEED
 *
 * Each rank has a device, memory of which the next one has a mapping, a team with a bind, kernels that meet in the
 * team's memory, a device program, host functions, events, registered memory. Of each round in which somebody is killed
 * the survivors must end within LIMIT_S, with what they came for or with an error of the driver that has a name. The
 * first and the last round have no victim, and everything must be right in them.
 *
 *     fanout exec -s dgx-h100 -- ./ranks WHAT         exec, fork, setup: see main() */
#include <fanout/fanout.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RANKS 4
#define LIMIT_S 30
#define WORDS 4096u
#define FLAG (WORDS * 4)
#define TYPE CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

enum { END_RIGHT = 0, END_WRONG = 1, END_ERROR = 3, END_ALONE = 4 };

static int rank;
static int to[RANKS][2]; /* pairs of sockets between rank 0 and the others */

static void check(CUresult result, const char *call)
{
    const char *name = NULL;

    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    printf("rank %d: %s: %s\n", rank, call, name ? name : "an error without a name");
    fflush(stdout);
    _exit(name ? END_ERROR : END_WRONG);
}
#define CHECK(call) check(call, #call)

static void need(int good, int end)
{
    if (!good)
        _exit(end);
}

static void barrier(void)
{
    char byte = 'b';

    if (rank > 0) {
        need(write(to[rank][1], &byte, 1) == 1 && read(to[rank][1], &byte, 1) == 1, END_ALONE);
        return;
    }
    for (int i = 1; i < RANKS; i++)
        need(read(to[i][0], &byte, 1) == 1, END_ALONE);
    for (int i = 1; i < RANKS; i++)
        need(write(to[i][0], &byte, 1) == 1, END_ALONE);
}

static void send_fd(int socket, int fd)
{
    char byte = 'f', control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec io = {&byte, 1};
    struct msghdr msg = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *head = CMSG_FIRSTHDR(&msg);

    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    need(sendmsg(socket, &msg, MSG_NOSIGNAL) == 1, END_ALONE);
}

static int receive_fd(int socket)
{
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec io = {&byte, 1};
    struct msghdr msg = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    int fd;

    need(recvmsg(socket, &msg, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&msg), END_ALONE);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof fd);
    return fd;
}

/* ---- one rank */

static const char kernels[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    /* adds 1 to all copies of the flag and waits until the own one has `count`; then adds the rank's number and 1 to
       each word of all copies, and again */
    ".visible .entry meet(.param .u64 team, .param .u64 own, .param .u32 count, .param .u32 add) {\n"
    ".reg .b64 %t, %o, %w; .reg .b32 %c, %a, %v, %i, %n; .reg .pred %q;\n"
    "ld.param.u64 %t, [team]; ld.param.u64 %o, [own]; ld.param.u32 %c, [count]; ld.param.u32 %a, [add];\n"
    "mov.u32 %i, %tid.x; setp.ne.u32 %q, %i, 0; @%q bra $D;\n"
    "multimem.red.release.sys.global.add.u32 [%t+16384], 1;\n"
    "$L: ld.acquire.sys.global.u32 %v, [%o+16384]; setp.lt.u32 %q, %v, %c; @%q bra $L;\n"
    "$D: bar.sync 0; mul.wide.u32 %w, %i, 4; add.s64 %w, %w, %t;\n"
    "multimem.red.relaxed.sys.global.add.u32 [%w], %a; ret; }\n";

typedef struct {
    CUmemGenericAllocationHandle object, memory, other;
    CUdeviceptr team, own, next;
    size_t bytes;
} Team;

static CUdeviceptr map(CUmemGenericAllocationHandle handle, size_t bytes)
{
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, rank}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr va;

    CHECK(cuMemAddressReserve(&va, bytes, 0, 0, 0));
    CHECK(cuMemMap(va, bytes, 0, handle, 0));
    CHECK(cuMemSetAccess(va, bytes, &access, 1));
    return va;
}

static void team_open(Team *team)
{
    CUmulticastObjectProp prop = {.numDevices = RANKS, .size = FLAG + 4, .handleTypes = TYPE};
    CUmemAllocationProp own = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                               .requestedHandleTypes = TYPE,
                               .location = {CU_MEM_LOCATION_TYPE_DEVICE, rank}};
    size_t granularity;
    int fd;

    CHECK(cuMulticastGetGranularity(&granularity, &prop, CU_MULTICAST_GRANULARITY_RECOMMENDED));
    team->bytes = prop.size = (prop.size + granularity - 1) / granularity * granularity;
    if (rank > 0) {
        fd = receive_fd(to[rank][1]);
        CHECK(cuMemImportFromShareableHandle(&team->object, (void *)(uintptr_t)fd, TYPE));
    } else {
        CHECK(cuMulticastCreate(&team->object, &prop));
        CHECK(cuMemExportToShareableHandle(&fd, team->object, TYPE, 0));
        for (int i = 1; i < RANKS; i++)
            send_fd(to[i][0], fd);
    }
    close(fd);
    CHECK(cuMulticastAddDevice(team->object, rank));
    CHECK(cuMemCreate(&team->memory, team->bytes, &own, 0));
    CHECK(cuMulticastBindMem(team->object, 0, team->memory, 0, team->bytes, 0));
    team->own = map(team->memory, team->bytes);
    team->team = map(team->object, team->bytes);
    CHECK(cuMemsetD32(team->own, 0, WORDS + 1));
}

/* Rank 0 hands memory of its own to all: it lives while they have it. */
static void share(Team *team)
{
    int fd;

    if (rank > 0) {
        fd = receive_fd(to[rank][1]);
        CHECK(cuMemImportFromShareableHandle(&team->other, (void *)(uintptr_t)fd, TYPE));
        team->next = map(team->other, team->bytes);
        close(fd);
        return;
    }
    CHECK(cuMemExportToShareableHandle(&fd, team->memory, TYPE, 0));
    for (int i = 1; i < RANKS; i++)
        send_fd(to[i][0], fd);
    team->next = team->own;
    close(fd);
}

static void count_up(void *data) { __atomic_add_fetch((int *)data, 1, __ATOMIC_RELAXED); }

static void store(FoCta *cta, const void *data)
{
    FoReg *seven = fo_reg(cta, 4);
    FoAddress at;

    memcpy(&at, data, sizeof at);
    fo_set_u64(cta, seven, 7);
    fo_only(cta, 0, 1);
    fo_st(cta, at, seven);
    fo_all(cta);
}

static void work(const Team *team, CUfunction meet, unsigned round, unsigned *pinned)
{
    unsigned count = RANKS * (round + 1), add = (unsigned)rank + 1, got;
    void *params[] = {(void *)(uintptr_t)&team->team, (void *)(uintptr_t)&team->own, &count, &add};
    CUdeviceptr stored = team->own + FLAG + 64;
    FoKernel program = {"store", store, &stored, sizeof stored, 1, 32};
    CUstream stream;
    CUevent event;
    int called = 0;

    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&event, 0));
    CHECK(cuLaunchKernel(meet, 1, 1, 1, 256, 1, 1, 0, stream, params, NULL));
    CHECK(cuLaunchHostFunc(stream, count_up, &called));
    CHECK(cuEventRecord(event, stream));
    CHECK(cuStreamWaitEvent(NULL, event, 0));
    CHECK(fo_launch(&program, NULL));
    CHECK(cuMemcpyDtoHAsync(pinned, stored, 4, NULL));
    CHECK(cuStreamSynchronize(NULL));
    need(__atomic_load_n(&called, __ATOMIC_RELAXED) == 1 && *pinned == 7, END_WRONG);
    CHECK(cuEventDestroy(event));
    CHECK(cuStreamDestroy(stream));
    barrier();
    CHECK(cuMemcpyDtoH(&got, team->next, 4));
    need(got == (round + 1) * RANKS * (RANKS + 1) / 2, END_WRONG);
    barrier();
}

static void run_rank(void)
{
    unsigned *pinned = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CUcontext context;
    CUmodule module;
    CUfunction meet;
    Team team;

    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, rank));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, kernels));
    CHECK(cuModuleGetFunction(&meet, module, "meet"));
    CHECK(cuMemHostRegister(pinned, 4096, 0));
    team_open(&team);
    share(&team);
    barrier();
    for (unsigned round = 0; round < 3; round++)
        work(&team, meet, round, pinned);
    CHECK(cuMulticastUnbind(team.object, rank, 0, team.bytes));
    CHECK(cuMemUnmap(team.team, team.bytes));
    CHECK(cuMemRelease(team.object));
    CHECK(cuMemHostUnregister(pinned));
    exit(END_RIGHT);
}

/* ---- the launcher, which is no client */

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* In time of the host: poll() and the like wait in simulated time below `fanout exec`. */
static void host_sleep(double s)
{
    const struct timespec length = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};

    syscall(SYS_nanosleep, &length, NULL);
}

static pid_t ranks[RANKS];

static void start_ranks(void (*run)(void))
{
    for (int i = 1; i < RANKS; i++)
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to[i]) != 0)
            exit(END_WRONG);
    for (int i = 0; i < RANKS; i++) {
        char text[8];
        snprintf(text, sizeof text, "%d", i);
        setenv("RANK", text, 1);
        if ((ranks[i] = fork()) != 0)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGPIPE, SIG_IGN);
        rank = i;
        for (int k = 1; k < RANKS; k++) { /* who dies closes its end */
            if (i != 0)
                close(to[k][0]);
            if (i != k)
                close(to[k][1]);
        }
        run();
        _exit(END_RIGHT);
    }
    for (int i = 1; i < RANKS; i++) {
        close(to[i][0]);
        close(to[i][1]);
    }
}

/* How each has ended; FALSE: one has not, and is killed. */
static int wait_ranks(int ends[RANKS])
{
    int left = RANKS, in_time = 1;
    double begin = now_s();

    for (int i = 0; i < RANKS; i++)
        ends[i] = -1;
    while (left > 0) {
        for (int i = 0; i < RANKS; i++)
            if (ends[i] == -1 && waitpid(ranks[i], &ends[i], WNOHANG) == ranks[i])
                left--;
        if (in_time && now_s() - begin > LIMIT_S) {
            in_time = 0;
            for (int i = 0; i < RANKS; i++)
                if (ends[i] == -1) {
                    fprintf(stderr, "rank %d has not ended within %d s\n", i, LIMIT_S);
                    kill(ranks[i], SIGKILL);
                }
        }
        host_sleep(0.001);
    }
    return in_time;
}

static int is_end(int status, int killed)
{
    if (killed && WIFSIGNALED(status))
        return WTERMSIG(status) == SIGKILL;
    return WIFEXITED(status) &&
           (WEXITSTATUS(status) == END_RIGHT ||
            (killed >= 0 && (WEXITSTATUS(status) == END_ERROR || WEXITSTATUS(status) == END_ALONE)));
}

static unsigned long long random_state;
static double random_unit(void)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(random_state >> 11) / 9007199254740992.0;
}

static int run_rounds(long rounds)
{
    double whole_s = 0;
    int counts[5] = {0};

    for (long round = 0; round <= rounds + 1; round++) {
        int ends[RANKS], victim = round == 0 || round > rounds ? -1 : (int)(random_unit() * RANKS);
        double begin = now_s(), after_s = random_unit() * whole_s;
        start_ranks(run_rank);
        if (victim >= 0) {
            host_sleep(after_s);
            kill(ranks[victim], SIGKILL);
        }
        if (!wait_ranks(ends))
            return 1;
        if (round == 0)
            whole_s = now_s() - begin;
        for (int i = 0; i < RANKS; i++) {
            if (!is_end(ends[i], victim == -1 ? -1 : i == victim)) {
                fprintf(stderr, "round %ld (rank %d killed after %.3f s of %.3f): rank %d ended with 0x%x\n", round,
                        victim, after_s, whole_s, i, (unsigned)ends[i]);
                return 1;
            }
            if (WIFEXITED(ends[i]))
                counts[WEXITSTATUS(ends[i])]++;
        }
    }
    printf("%ld rounds: %d ranks ended right, %d with an error of the driver, %d since a socket was closed\n",
           rounds + 2, counts[END_RIGHT], counts[END_ERROR], counts[END_ALONE]);
    return 0;
}

/* ---- particular ends */

/* A client becomes another program, which is a client anew. */
static void run_exec(void)
{
    CUdevice device;

    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, rank));
    execl("/proc/self/exe", "ranks", "one", (char *)NULL);
    _exit(END_WRONG);
}

static int run_one(void)
{
    CUcontext context;
    CUdeviceptr memory;
    unsigned got = 0;

    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc(&memory, 4096));
    CHECK(cuMemsetD32(memory, 5, 1024));
    CHECK(cuMemcpyDtoH(&got, memory, 4));
    return got == 5 ? END_RIGHT : END_WRONG;
}

/* A child of a client is none, and the client goes on. */
static void run_fork(void)
{
    int status;

    need(run_one() == END_RIGHT, END_WRONG);
    pid_t child = fork();
    if (child == 0) {
        CUdeviceptr memory;
        int count;
        _exit(cuMemAlloc(&memory, 4096) == CUDA_ERROR_NOT_INITIALIZED && cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
                      cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED
                  ? 0
                  : 1);
    }
    need(waitpid(child, &status, 0) == child && status == 0, END_WRONG);
    need(run_one() == END_RIGHT, END_WRONG);
}

/* Rank 3 ends before it has added its device: the binds of the others have no hope any more. */
static void run_setup(void)
{
    CUcontext context;
    Team team;

    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, rank));
    CHECK(cuCtxSetCurrent(context));
    if (rank == RANKS - 1) {
        host_sleep(0.3);
        kill(getpid(), SIGKILL);
    }
    team_open(&team);
    _exit(END_WRONG);
}

/* Does all kinds of work until standard input ends. */
static int run_good(void)
{
    unsigned *pinned = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CUcontext context;
    CUdeviceptr memory;
    unsigned rounds = 0;
    char byte;

    fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemHostRegister(pinned, 4096, 0));
    for (; read(STDIN_FILENO, &byte, 1) != 0; rounds++) {
        unsigned got[1024];
        int called = 0;
        CHECK(cuMemAlloc(&memory, 4096));
        FoKernel program = {"store", store, &memory, sizeof memory, 1, 32};
        CHECK(cuMemsetD32(memory, rounds, 1024));
        CHECK(fo_launch(&program, NULL));
        CHECK(cuLaunchHostFunc(NULL, count_up, &called));
        CHECK(cuMemcpyDtoHAsync(pinned, memory, 4096, NULL));
        CHECK(cuStreamSynchronize(NULL));
        CHECK(cuMemcpyDtoH(got, memory, 4096));
        need(called == 1 && got[0] == 7 && pinned[0] == 7 && got[1023] == rounds && pinned[1023] == rounds, END_WRONG);
        CHECK(cuMemFree(memory));
        host_sleep(0.001);
    }
    printf("%u rounds were right\n", rounds);
    return rounds > 0 ? END_RIGHT : END_WRONG;
}

static int run_particular(void (*run)(void), int wanted)
{
    int ends[RANKS];

    start_ranks(run);
    if (!wait_ranks(ends))
        return 1;
    for (int i = 0; i < RANKS; i++)
        if (!(run == run_setup && i == RANKS - 1) && (!WIFEXITED(ends[i]) || WEXITSTATUS(ends[i]) != wanted)) {
            fprintf(stderr, "rank %d ended with 0x%x\n", i, (unsigned)ends[i]);
            return 1;
        }
    return 0;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 2 && !strcmp(argv[1], "one"))
        return run_one();
    if (argc == 2 && !strcmp(argv[1], "good"))
        return run_good();
    if (argc == 2 && !strcmp(argv[1], "exec"))
        return run_particular(run_exec, END_RIGHT);
    if (argc == 2 && !strcmp(argv[1], "fork"))
        return run_particular(run_fork, END_RIGHT);
    if (argc == 2 && !strcmp(argv[1], "setup"))
        return run_particular(run_setup, END_ERROR);
    if (argc != 3) {
        fprintf(stderr, "usage: ranks ROUNDS SEED, or ranks one|exec|fork|setup\n");
        return 2;
    }
    random_state = strtoull(argv[2], NULL, 10);
    return run_rounds(strtol(argv[1], NULL, 10));
}
