/* What the ports of clients' call sequences share: checked calls, and ranks as processes of one
 * machine. Plain driver API: compiled against a toolkit's cuda.h where there is one. */
#ifndef TESTS_CLIENTS_CLIENT_H
#define TESTS_CLIENTS_CLIENT_H

#include <cuda.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define CHECK(call) client_check(call, #call, __FILE__, __LINE__)
static inline void client_check(CUresult result, const char *call, const char *file, int line)
{
    const char *name = NULL;
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, name ? name : "?");
    _exit(1);
}
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

/* Two processes that take turns over pipes: owner(to, from) in this one, guest(from, to) in another, which begins with
 * CUDA by itself. Prints ok; what main() returns. */
static inline int run_pair(void (*owner)(int, int), void (*guest)(int, int))
{
    int down[2], up[2], status = 0;
    REQUIRE(pipe(down) == 0 && pipe(up) == 0);
    pid_t child = fork(); /* before either has begun with CUDA */
    REQUIRE(child >= 0);
    if (child == 0) {
        guest(down[0], up[1]);
        return 0;
    }
    close(up[1]); /* a guest that fails ends the wait for it */
    owner(down[1], up[0]);
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    puts("ok");
    return 0;
}

static inline size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

static inline CUmemAllocationProp device_memory(int device, int types)
{
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = device;
    prop.requestedHandleTypes = (CUmemAllocationHandleType)types;
    return prop;
}

static inline void allow(CUdeviceptr va, size_t bytes, int device)
{
    CUmemAccessDesc desc = {{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CHECK(cuMemSetAccess(va, bytes, &desc, 1));
}

/* Memory of a device, mapped for it, of a whole number of its grains. */
static inline CUdeviceptr fabric_memory(int device, size_t bytes)
{
    CUmemAllocationProp prop = device_memory(device, CU_MEM_HANDLE_TYPE_FABRIC);
    CUmemGenericAllocationHandle memory;
    CUdeviceptr va;

    CHECK(cuMemCreate(&memory, bytes, &prop, 0));
    CHECK(cuMemAddressReserve(&va, bytes, 0, 0, 0));
    CHECK(cuMemMap(va, bytes, 0, memory, 0));
    allow(va, bytes, device);
    CHECK(cuMemRelease(memory));
    return va;
}

static inline void use_device(int device)
{
    CUcontext context;
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
}

static inline uint32_t word_at(CUdeviceptr va)
{
    uint32_t word = 0;
    CHECK(cuMemcpyDtoH(&word, va, sizeof word));
    return word;
}

/* ---- ranks */
typedef struct {
    int rank, ranks;
    pthread_barrier_t *everybody;
    int (*socket)[2]; /* of each rank: [0] to send to it, [1] where it receives */
} Rank;

static inline void barrier(const Rank *me) { pthread_barrier_wait(me->everybody); }

static inline void give_fd(int socket, int fd)
{
    char byte = 'f', control[CMSG_SPACE(sizeof(int))];
    struct iovec io = {&byte, 1};
    struct msghdr msg = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    memset(control, 0, sizeof control);
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    REQUIRE(sendmsg(socket, &msg, 0) == 1);
}

static inline int take_fd(int socket)
{
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec io = {&byte, 1};
    struct msghdr msg = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    int fd;
    REQUIRE(recvmsg(socket, &msg, 0) == 1);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof fd);
    return fd;
}

/* Rank `root`'s handle reaches every rank as a descriptor; what is returned is this rank's handle.
 */
static inline CUmemGenericAllocationHandle share(const Rank *me, int root, CUmemGenericAllocationHandle handle)
{
    int fd;
    if (me->rank == root) {
        for (int r = 0; r < me->ranks; r++)
            if (r != root) {
                CHECK(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
                give_fd(me->socket[r][0], fd);
                close(fd);
            }
        return handle;
    }
    fd = take_fd(me->socket[me->rank][1]);
    CHECK(cuMemImportFromShareableHandle(&handle, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
    return handle;
}

/* One process a rank; the program's exit code is 0 when all went well. */
static inline int run_ranks(int ranks, void (*rank_main)(const Rank *me))
{
    pthread_barrierattr_t attr;
    pthread_barrier_t *everybody = mmap(NULL, sizeof *everybody, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                                        0);
    int socket[16][2], bad = 0, status;

    pthread_barrierattr_init(&attr);
    pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(everybody, &attr, (unsigned)ranks);
    for (int r = 0; r < ranks; r++)
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, socket[r]) == 0);
    for (int r = 0; r < ranks; r++)
        if (fork() == 0) {
            Rank me = {r, ranks, everybody, socket};
            alarm(60);
            CHECK(cuInit(0));
            rank_main(&me);
            exit(0);
        }
    for (int r = 0; r < ranks; r++) {
        wait(&status);
        bad |= status;
        if (bad) /* the others would wait for ever */
            kill(0, SIGTERM);
    }
    return bad != 0;
}

#endif
