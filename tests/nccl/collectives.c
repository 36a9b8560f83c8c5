/* One collective of NCCL, called as a program would; the result is checked value by value.
 * collectives OP RANKS ELEMENTS TYPE [REPEATS] [registered] [threads | processes]
 * OP: all_reduce, all_gather, reduce_scatter, broadcast, reduce, sendrecv, init; TYPE: f32, bf16. registered: buffers
 * of ncclMemAlloc in symmetric windows. Ranks are in one thread; threads: one each; processes: one each, which agree on
 * NCCL's id by a pipe. Prints what a collective took on each rank, by events around the repeats after the first, and
 * ok. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime.h>
#include <nccl.h>

#define MAX 16
#define CUDA(call)                                                                                                     \
    do {                                                                                                               \
        cudaError_t e_ = (call);                                                                                       \
        if (e_) {                                                                                                      \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(e_));                                                 \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
#define NCCL(call)                                                                                                     \
    do {                                                                                                               \
        ncclResult_t e_ = (call);                                                                                      \
        if (e_) {                                                                                                      \
            printf("line %d: %s\n", __LINE__, ncclGetLastError(NULL));                                                 \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

typedef enum { ONE_THREAD, THREADS, PROCESSES } Share;

static int ranks, registered;
static long repeats = 1;
static Share share;
static size_t elements, element_bytes;
static ncclDataType_t type;
static ncclComm_t comms[MAX];
static cudaStream_t streams[MAX];
static void *in[MAX], *out[MAX];

/* Small whole numbers, whose sums every type holds exactly. */
static float value(int rank, size_t i) { return (float)((i * 7 + (size_t)rank * 3) % 13); }

static void put(void *at, size_t i, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    if (type == ncclFloat32)
        ((float *)at)[i] = v;
    else
        ((uint16_t *)at)[i] = (uint16_t)(bits >> 16);
}
static float get(const void *at, size_t i)
{
    float v;
    uint32_t bits;
    if (type == ncclFloat32)
        return ((const float *)at)[i];
    bits = (uint32_t)((const uint16_t *)at)[i] << 16;
    memcpy(&v, &bits, 4);
    return v;
}
static float sum(size_t i)
{
    float total = 0;
    for (int r = 0; r < ranks; r++)
        total += value(r, i);
    return total;
}

typedef enum { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, REDUCE, SENDRECV, INIT, OPS } Op;
static const char *const op_names[OPS] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
                                          "sendrecv",   "init"};
static size_t in_elements(Op op) { return op == REDUCE_SCATTER ? elements * (size_t)ranks : elements; }
static size_t out_elements(Op op) { return op == ALL_GATHER ? elements * (size_t)ranks : elements; }

static void start(Op op, int r)
{
    switch (op) {
    case ALL_REDUCE: NCCL(ncclAllReduce(in[r], out[r], elements, type, ncclSum, comms[r], streams[r])); break;
    case ALL_GATHER: NCCL(ncclAllGather(in[r], out[r], elements, type, comms[r], streams[r])); break;
    case REDUCE_SCATTER: NCCL(ncclReduceScatter(in[r], out[r], elements, type, ncclSum, comms[r], streams[r])); break;
    case BROADCAST: NCCL(ncclBroadcast(in[r], out[r], elements, type, ranks - 1, comms[r], streams[r])); break;
    case REDUCE: NCCL(ncclReduce(in[r], out[r], elements, type, ncclSum, 0, comms[r], streams[r])); break;
    case SENDRECV: /* to the next, from the one before */
        NCCL(ncclSend(in[r], elements, type, (r + 1) % ranks, comms[r], streams[r]));
        NCCL(ncclRecv(out[r], elements, type, (r + ranks - 1) % ranks, comms[r], streams[r]));
        break;
    default: break;
    }
}

static float expected(Op op, int r, size_t i)
{
    switch (op) {
    case ALL_GATHER: return value((int)(i / elements), i % elements);
    case REDUCE_SCATTER: return sum((size_t)r * elements + i);
    case BROADCAST: return value(ranks - 1, i);
    case SENDRECV: return value((r + ranks - 1) % ranks, i);
    default: return sum(i);
    }
}

static void buffers(Op op, int first, int end)
{
    ncclWindow_t window;
    for (int r = first; r < end; r++) {
        size_t bytes = in_elements(op) * element_bytes, out_bytes = out_elements(op) * element_bytes;
        char *host = malloc(bytes);
        CUDA(cudaSetDevice(r));
        CUDA(cudaStreamCreateWithFlags(&streams[r], cudaStreamNonBlocking));
        if (registered) {
            NCCL(ncclMemAlloc(&in[r], bytes));
            NCCL(ncclMemAlloc(&out[r], out_bytes));
        } else {
            CUDA(cudaMalloc(&in[r], bytes));
            CUDA(cudaMalloc(&out[r], out_bytes));
        }
        for (size_t i = 0; i < in_elements(op); i++)
            put(host, i, value(r, i));
        CUDA(cudaMemcpy(in[r], host, bytes, cudaMemcpyHostToDevice));
        CUDA(cudaMemset(out[r], 0xff, out_bytes));
        free(host);
    }
    if (!registered)
        return;
    for (int which = 0; which < 2; which++) {
        NCCL(ncclGroupStart());
        for (int r = first; r < end; r++)
            NCCL(ncclCommWindowRegister(comms[r], which ? out[r] : in[r],
                                        (which ? out_elements(op) : in_elements(op)) * element_bytes, &window,
                                        NCCL_WIN_COLL_SYMMETRIC));
        NCCL(ncclGroupEnd());
    }
}

static size_t wrong(Op op, int first, int end)
{
    size_t n = out_elements(op), bad = 0;
    void *host = malloc(n * element_bytes);
    for (int r = first; r < end; r++) {
        if (op == REDUCE && r != 0)
            continue;
        CUDA(cudaMemcpy(host, out[r], n * element_bytes, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < n; i++)
            if (get(host, i) != expected(op, r, i) && bad++ < 5)
                printf("rank %d element %zu: %g, not %g\n", r, i, (double)get(host, i), (double)expected(op, r, i));
    }
    free(host);
    return bad;
}

static void run(Op op, int first, int end, long times)
{
    for (long i = 0; i < times; i++) {
        NCCL(ncclGroupStart());
        for (int r = first; r < end; r++)
            start(op, r);
        NCCL(ncclGroupEnd());
    }
}

static void await(int first, int end)
{
    for (int r = first; r < end; r++) {
        CUDA(cudaSetDevice(r));
        CUDA(cudaStreamSynchronize(streams[r]));
    }
}

/* What a collective takes once the ranks are connected. */
static void run_timed(Op op, int first, int end)
{
    cudaEvent_t events[MAX][2];
    for (int when = 0; when < 2; when++) {
        if (when == 1)
            run(op, first, end, repeats - 1);
        for (int r = first; r < end; r++) {
            CUDA(cudaSetDevice(r));
            CUDA(cudaEventCreate(&events[r][when]));
            CUDA(cudaEventRecord(events[r][when], streams[r]));
        }
    }
    await(first, end);
    for (int r = first; r < end; r++) {
        float ms = 0;
        CUDA(cudaEventElapsedTime(&ms, events[r][0], events[r][1]));
        printf("rank %d: %.3f us\n", r, (double)ms * 1000 / (double)(repeats - 1));
    }
}

static size_t run_ranks(Op op, int first, int end)
{
    size_t bad = 0;
    if (op != INIT) {
        buffers(op, first, end);
        run(op, first, end, 1);
        await(first, end);
        if (repeats > 1)
            run_timed(op, first, end);
        bad = wrong(op, first, end);
    }
    for (int r = first; r < end; r++)
        NCCL(ncclCommDestroy(comms[r]));
    return bad;
}

/* ---- a rank by itself */

static ncclUniqueId id;
static Op op;

static size_t run_rank(int r)
{
    CUDA(cudaSetDevice(r));
    NCCL(ncclCommInitRank(&comms[r], ranks, id, r));
    return run_ranks(op, r, r + 1);
}

static void *thread_main(void *rank) { return (void *)run_rank((int)(intptr_t)rank); }

static size_t run_threads(void)
{
    pthread_t threads[MAX];
    size_t bad = 0;
    NCCL(ncclGetUniqueId(&id));
    for (int r = 0; r < ranks; r++)
        if (pthread_create(&threads[r], NULL, thread_main, (void *)(intptr_t)r) != 0)
            exit(1);
    for (int r = 0; r < ranks; r++) {
        void *result;
        pthread_join(threads[r], &result);
        bad += (size_t)result;
    }
    return bad;
}

static int process_main(int r, const int ends[2])
{
    if (r > 0)
        close(ends[1]); /* where rank 0 is killed, its end is the end */
    if (r > 0 && read(ends[0], &id, sizeof id) != sizeof id)
        return 1;
    if (r == 0)
        NCCL(ncclGetUniqueId(&id));
    for (int i = 1; i < ranks && r == 0; i++)
        if (write(ends[1], &id, sizeof id) != sizeof id)
            return 1;
    return run_rank(r) != 0;
}

#define LAUNCHER_S 10

/* As mpirun and torchrun do: where a rank was killed, the others, which may wait for it in NCCL's own sockets for ever,
 * get some seconds to find out, and are ended then. */
static size_t await_ranks(pid_t *pids)
{
    size_t bad = 0;
    int status, left = LAUNCHER_S * 10, killed = 0;

    for (int live = ranks; live > 0;) {
        pid_t pid = waitpid(-1, &status, killed ? WNOHANG : 0);
        if (pid < 0)
            break;
        live -= pid > 0;
        bad += pid > 0 && status != 0;
        killed |= pid > 0 && WIFSIGNALED(status);
        for (int r = 0; r < ranks && pid > 0; r++)
            pids[r] = pids[r] == pid ? 0 : pids[r];
        if (pid == 0 && left-- > 0)
            usleep(100000);
        else if (pid == 0 && left == -1)
            puts("launcher: some ranks had not ended after the seconds that they had, and were ended");
        for (int r = 0; r < ranks && pid == 0 && left < 0; r++)
            if (pids[r] > 0)
                kill(pids[r], SIGKILL);
    }
    return bad;
}

static size_t run_processes(void)
{
    pid_t pids[MAX];
    int ends[2];
    if (pipe(ends) != 0)
        return 1;
    for (int r = 0; r < ranks; r++) {
        char text[16];
        snprintf(text, sizeof text, "%d", r);
        setenv("RANK", text, 1);
        pids[r] = fork();
        if (pids[r] == 0)
            exit(process_main(r, ends));
        if (pids[r] < 0)
            return 1;
    }
    close(ends[1]);
    return await_ranks(pids);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    while (op < OPS && strcmp(argv[1], op_names[op]) != 0)
        op++;
    ranks = (int)strtol(argv[2], NULL, 10);
    elements = strtoul(argv[3], NULL, 10);
    type = strcmp(argv[4], "bf16") == 0 ? ncclBfloat16 : ncclFloat32;
    element_bytes = type == ncclFloat32 ? 4 : 2;
    repeats = argc > 5 ? strtol(argv[5], NULL, 10) : 1;
    for (int i = 6; i < argc; i++) {
        registered |= strcmp(argv[i], "registered") == 0;
        share = strcmp(argv[i], "threads") == 0 ? THREADS : strcmp(argv[i], "processes") == 0 ? PROCESSES : share;
    }
    if (op == OPS || ranks < 1 || ranks > MAX)
        return 2;
    if (share == ONE_THREAD)
        NCCL(ncclCommInitAll(comms, ranks, NULL));
    size_t bad = share == THREADS ? run_threads() : share == PROCESSES ? run_processes() : run_ranks(op, 0, ranks);
    puts(bad ? "wrong" : "ok");
    return bad != 0;
}
