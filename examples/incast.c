/* Incast: GPU 0 and GPU 1 each push the same number of bytes to GPU 2 at once, by their copy engines, so that the links
 * into GPU 2 are what limits both. As two threads of one process, or as two processes with one GPU each, that share
 * GPU 2's memory by a file descriptor: on one machine the times are the same.
 *
 *     fanout exec -s dgx-h100 -- ./incast threads|processes [MIB]
 *
 * Each sender prints its own time and rate. Together they get what GPU 2's links take. */
#include <cuda.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TARGET 2
#define CHECK(call) check(call, #call, __LINE__)
static void check(CUresult result, const char *call, int line)
{
    const char *name = NULL;
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    fprintf(stderr, "line %d: %s: %s\n", line, call, name ? name : "?");
    exit(1);
}
static void need(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(1);
}

typedef struct {
    int gpu;
    int pair; /* a socket to the other process; -1: the other is a thread */
    size_t bytes;
    CUmemGenericAllocationHandle memory; /* of the target, for both senders */
} Sender;

static pthread_barrier_t both;

/* Neither goes on before the other has come. */
static void meet(const Sender *me)
{
    char byte = 0;
    if (me->pair < 0)
        pthread_barrier_wait(&both);
    else
        need(write(me->pair, &byte, 1) == 1 && read(me->pair, &byte, 1) == 1, "the other process");
}

/* Where a GPU reaches the target's memory. */
static CUdeviceptr map(int gpu, CUmemGenericAllocationHandle memory, size_t bytes)
{
    const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, gpu}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr at;
    CHECK(cuMemAddressReserve(&at, bytes, 0, 0, 0));
    CHECK(cuMemMap(at, bytes, 0, memory, 0));
    CHECK(cuMemSetAccess(at, bytes, &access, 1));
    return at;
}

static void *push(void *data)
{
    const Sender *me = data;
    CUcontext context;
    CUstream stream;
    CUevent start, end;
    CUdeviceptr source, target;
    float ms;

    CHECK(cuDevicePrimaryCtxRetain(&context, me->gpu));
    CHECK(cuCtxSetCurrent(context));
    target = map(me->gpu, me->memory, 2 * me->bytes) + (size_t)me->gpu * me->bytes;
    CHECK(cuMemAlloc(&source, me->bytes));
    CHECK(cuMemsetD32(source, 7 + (unsigned)me->gpu, me->bytes / 4));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&start, 0));
    CHECK(cuEventCreate(&end, 0));
    meet(me);
    CHECK(cuEventRecord(start, stream));
    CHECK(cuMemcpyDtoDAsync(target, source, me->bytes, stream));
    CHECK(cuEventRecord(end, stream));
    CHECK(cuEventSynchronize(end));
    CHECK(cuEventElapsedTime(&ms, start, end));
    unsigned last;
    CHECK(cuMemcpyDtoH(&last, target + me->bytes - 4, 4));
    printf("GPU %d: %.3f us, %.1f GB/s%s\n", me->gpu, ms * 1e3, (double)me->bytes / (ms * 1e6),
           last == 7 + (unsigned)me->gpu ? "" : ", wrong");
    return NULL;
}

static CUmemGenericAllocationHandle target_memory(size_t bytes)
{
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, TARGET}};
    CUmemGenericAllocationHandle memory;
    CUcontext context;
    CHECK(cuDevicePrimaryCtxRetain(&context, TARGET));
    CHECK(cuMemCreate(&memory, bytes, &prop, 0));
    return memory;
}

static void run_threads(size_t bytes)
{
    pthread_t thread[2];
    Sender sender[2];
    CHECK(cuInit(0));
    CUmemGenericAllocationHandle memory = target_memory(2 * bytes);
    pthread_barrier_init(&both, NULL, 2);
    for (int gpu = 0; gpu < 2; gpu++) {
        sender[gpu] = (Sender){gpu, -1, bytes, memory};
        need(pthread_create(&thread[gpu], NULL, push, &sender[gpu]) == 0, "thread");
    }
    for (int gpu = 0; gpu < 2; gpu++)
        pthread_join(thread[gpu], NULL);
}

/* A descriptor over a socket, and from one. */
static void pass(int to, int fd)
{
    char byte = 'f', control[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec io = {&byte, 1};
    struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    need(sendmsg(to, &message, 0) == 1, "descriptor");
}
static int take(int from)
{
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec io = {&byte, 1};
    struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    int fd;
    need(recvmsg(from, &message, 0) == 1 && CMSG_FIRSTHDR(&message), "descriptor");
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

/* The driver starts behind the fork, in each process: a child of one that has started it has none. */
static int run_processes(size_t bytes)
{
    int pair[2], fd, how = 0;
    need(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socket");
    pid_t child = fork();
    need(child >= 0, "fork");
    const int gpu = child == 0;
    Sender me = {gpu, pair[gpu], bytes, 0};
    CHECK(cuInit(0));
    if (gpu == 0) {
        me.memory = target_memory(2 * bytes);
        CHECK(cuMemExportToShareableHandle(&fd, me.memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        pass(pair[0], fd);
    } else {
        fd = take(pair[1]);
        CHECK(cuMemImportFromShareableHandle(&me.memory, (void *)(size_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    }
    push(&me);
    if (gpu == 0)
        waitpid(child, &how, 0);
    return how != 0;
}

int main(int argc, char **argv)
{
    long mib = argc > 2 ? strtol(argv[2], NULL, 10) : 64;
    if (argc < 2 || (strcmp(argv[1], "threads") && strcmp(argv[1], "processes")) || mib < 2 || mib % 2 || mib > 1024) {
        fprintf(stderr, "usage: incast threads|processes [MIB], an even number of 2 to 1024\n");
        return 2;
    }
    if (!strcmp(argv[1], "processes"))
        return run_processes((size_t)mib << 20);
    run_threads((size_t)mib << 20);
    return 0;
}
