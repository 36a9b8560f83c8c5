/* Programs for simulated GPUs.
 *
 * A kernel is a C function that runs once for each CTA. Every call below acts for the CTA's threads
 * at once, as one statement of a CUDA kernel does for its threads, and is turned into operations of
 * the CTA's warps, which the SM model executes in order for each warp:
 *
 *     static void scale(FoCta *cta, const void *args)        // one CTA
 *     {
 *         const Args *a = args;
 *         FoReg *v = fo_reg(cta, 16);                        // uint4 v;
 *         fo_ld(cta, v, a->in + fo_cta(cta) * 16 * 256);     // v = in[blockIdx.x * 256 + threadIdx.x];
 *         fo_st(cta, a->out + fo_cta(cta) * 16 * 256, v);    // out[...] = v;
 *     }
 *
 * Time. A call costs the CTA function no time by itself; the warps' operations do. The function runs
 * ahead of its warps and waits only in fo_get (it wants a value), fo_wait, and when a warp's queue of
 * operations is full. fo_sync, fo_fence and fo_poll are operations of the warps: what follows starts
 * after them, but the function runs on.
 *
 * Addresses. Thread t touches address + t * width; fo_only restricts the threads (as an if does);
 * fo_ld_at and fo_st_at take an address for each thread. Accesses must be naturally aligned.
 *
 * Errors. What CUDA leaves undefined is reported, not silently done: a plain access to a multicast
 * address, a touch of a slot that a member has not bound, an address that is not mapped or without
 * access rights, a misaligned address, an illegal multimem form. The access then has no effect (loads
 * give 0), and the launch's report says who, where and when. So is every parameter that cannot be: a width, a
 * type, an operation, an order, a number of threads, a shape of a loop, a NULL. Such a call does nothing; a
 * register of a wrong width does nothing wherever it is used; a wrong fo_only leaves no thread active.
 *
 * All names here are stable; shapes and units are in the comments. */
#ifndef FANOUT_DEVICE_H
#define FANOUT_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef FO_API
#define FO_API __attribute__((visibility("default")))
#endif

typedef struct FoCta FoCta; /* one CTA that runs */
typedef struct FoReg FoReg; /* one register of each thread of a CTA */
typedef uint64_t FoAddress; /* device virtual address */
typedef void (*FoProgram)(FoCta *cta, const void *args);

/* Element types, in PTX's names. */
typedef enum {
    FO_U32,
    FO_U64,
    FO_S32,
    FO_S64,
    FO_B32,
    FO_B64,
    FO_F16,
    FO_F16X2,
    FO_BF16,
    FO_BF16X2,
    FO_F32,
    FO_F64,
    FO_E4M3,
    FO_E4M3X2,
    FO_E4M3X4,
    FO_E5M2,
    FO_E5M2X2,
    FO_E5M2X4
} FoType;
typedef enum { FO_ADD, FO_MIN, FO_MAX, FO_AND, FO_OR, FO_XOR, FO_MUL } FoOp; /* FO_MUL: of registers, and of loops */
/* Ordering. Weak accesses may be delayed behind nothing; relaxed, acquire, release are PTX's. */
typedef enum { FO_WEAK = 1, FO_RELAXED, FO_ACQUIRE, FO_RELEASE } FoOrder;
typedef enum { FO_SCOPE_NONE, FO_SCOPE_CTA, FO_SCOPE_CLUSTER, FO_SCOPE_GPU, FO_SCOPE_SYS } FoScope;
typedef enum { FO_ACC_NATIVE, FO_ACC_F16, FO_ACC_F32 } FoAcc;

/* A kernel to launch. args is copied at the launch; every CTA sees the same copy. */
typedef struct {
    const char *name;
    FoProgram program;
    const void *args;
    size_t args_bytes;
    unsigned ctas;    /* grid, 1 to 65535 */
    unsigned threads; /* of a CTA, 1 to 1024 */
} FoKernel;

/* ---- who am I */
FO_API unsigned fo_cta(const FoCta *cta);     /* blockIdx.x */
FO_API unsigned fo_ctas(const FoCta *cta);    /* gridDim.x */
FO_API unsigned fo_threads(const FoCta *cta); /* blockDim.x */
FO_API unsigned fo_gpu(const FoCta *cta);     /* number of the GPU it runs on */
FO_API uint64_t fo_time_ps(FoCta *cta);       /* %globaltimer of the function, in picoseconds */

/* ---- registers: width 4, 8 or 16 bytes for each thread; live until the CTA ends */
FO_API FoReg *fo_reg(FoCta *cta, unsigned width);
/* The value of one thread; waits until the operations that produce it are done. */
FO_API void fo_get(FoCta *cta, const FoReg *reg, unsigned thread, void *value);
/* The same constant in every active thread: `bytes` (4, 8, 16: the register's width) at value. */
FO_API void fo_set(FoCta *cta, FoReg *reg, const void *value);
FO_API void fo_set_u64(FoCta *cta, FoReg *reg, uint64_t value); /* low bytes, by the width */
/* d = d op s, elementwise, in registers of one width. One ALU instruction of each warp. Any operation but those of bits
 * on floating-point types. */
FO_API void fo_combine(FoCta *cta, FoReg *d, const FoReg *s, FoType type, FoOp op);

/* ---- which threads act: [first, first + count), first a multiple of 32; fo_all: all of them */
FO_API void fo_only(FoCta *cta, unsigned first, unsigned count);
FO_API void fo_all(FoCta *cta);

/* ---- unicast accesses. Each thread's width is its register's. */
FO_API void fo_ld(FoCta *cta, FoReg *d, FoAddress address);
FO_API void fo_st(FoCta *cta, FoAddress address, const FoReg *s);
FO_API void fo_ld_at(FoCta *cta, FoReg *d, const FoAddress *address); /* one for each active thread */
FO_API void fo_st_at(FoCta *cta, const FoAddress *address, const FoReg *s);
/* ld.{relaxed,acquire}.sys, st.{relaxed,release}.sys. */
FO_API void fo_ld_sys(FoCta *cta, FoReg *d, FoAddress address, FoOrder order);
FO_API void fo_st_sys(FoCta *cta, FoAddress address, const FoReg *s, FoOrder order);
FO_API void fo_st_sys_at(FoCta *cta, const FoAddress *address, const FoReg *s, FoOrder order);
/* As PTX has them: bits of b32 and b64; add, min and max of integers (no add of s64); add of floating-point types; a
 * register wider than its type is a vector, of f32, f16(x2) and bf16(x2) only. order: relaxed or release. */
FO_API void fo_red(FoCta *cta, FoAddress address, const FoReg *s, FoType type, FoOp op, FoOrder order);
/* Returns the old value in d. order: relaxed, acquire or release. */
FO_API void fo_atom(FoCta *cta, FoReg *d, FoAddress address, const FoReg *s, FoType type, FoOp op, FoOrder order);
FO_API void fo_atom_exch(FoCta *cta, FoReg *d, FoAddress address, const FoReg *s, FoOrder order);
/* By one active thread (fo_only(cta, first, 1)), the first of its warp. */
FO_API void fo_atom_cas(FoCta *cta, FoReg *d, FoAddress address, const FoReg *compare, const FoReg *s, FoOrder order);

/* ---- multimem: on multicast addresses only. vec 0 or 1: no .vec. */
typedef struct {
    FoType type;
    FoOp op; /* not of st */
    unsigned vec;
    FoAcc acc;     /* ld_reduce.add only */
    FoOrder order; /* 0: PTX's default */
    FoScope scope;
} FoMultimem;
FO_API void fo_multimem_ld_reduce(FoCta *cta, FoReg *d, FoAddress address, const FoMultimem *form);
FO_API void fo_multimem_st(FoCta *cta, FoAddress address, const FoReg *s, const FoMultimem *form);
FO_API void fo_multimem_red(FoCta *cta, FoAddress address, const FoReg *s, const FoMultimem *form);

/* ---- order */
FO_API void fo_sync(FoCta *cta); /* __syncthreads(): all warps of the CTA */
/* bar.sync barrier, n with n the active threads (whole warps): only they wait, for each other. `barrier` is
 * 1 to 15; the same one by the same threads each time. */
FO_API void fo_sync_active(FoCta *cta, unsigned barrier);
FO_API void fo_fence(FoCta *cta);                       /* fence.acq_rel.sys in the active threads' warps */
FO_API void fo_wait(FoCta *cta);                        /* the function waits until all its warps are idle */
FO_API void fo_sleep_ps(FoCta *cta, uint64_t delay_ps); /* __nanosleep of the active warps; at most 10^15 */

/* ---- polling: `while (!(ld(address) cmp value));` by the first active thread, as a watch on the
 * memory, which must be the GPU's own: it sleeps until the line is written and then pays a load. It is
 * an operation of the thread's warp; the function runs on, and usually queues an fo_sync behind it.
 * width: 4 or 8. GE is (signed)(memory - value) >= 0 in that width, so counters may wrap. */
typedef enum { FO_EQ, FO_NE, FO_GE } FoCompare;
FO_API void fo_poll(FoCta *cta, FoAddress address, unsigned width, FoCompare compare, uint64_t value, FoOrder order);
/* The same by the first active thread with a register of that width (0 at first) that keeps what was seen: memory
 * is looked at only when that is not enough. The same thread and address each time. */
FO_API void fo_poll_seen(FoCta *cta, FoReg *seen, FoAddress address, FoCompare compare, uint64_t value, FoOrder order);
/* The same by the first n active threads, one address each (a flag barrier's waiters). */
FO_API void fo_poll_at(FoCta *cta, const FoAddress *address, unsigned n, unsigned width, FoCompare compare,
                       uint64_t value, FoOrder order);

/* The same on a multicast address: `while (multimem.ld_reduce.min(...) < value)`. address[i] is where the i-th
 * of n members has its copy; each reading takes as long as a load from another GPU's L2. */
FO_API void fo_poll_members(FoCta *cta, const FoAddress *address, unsigned n, unsigned width, uint64_t value,
                            FoOrder order);

/* ---- loops: a whole grid-stride loop as one call, the same packets as if written out; accesses of one turn follow
 * each other as soon as the LSU has taken them, while each one that is written out is a turn of its own
 * (sm.warp_issue_ps). `thread` counts the active threads, which must be whole warps; if they are not all, `step` must
 * be given.
 *
 *     for (i = first + thread; i < n; i += step)   // unrolled `unroll` times: all loads, then stores
 *         v = src[0][i] op src[1][i] op ...; dst[0][i] = v; dst[1][i] = v; ...
 *
 * With n = bytes / width; element i stands at base + i * width, or, if segment is set, at
 * base + (i * width / segment) * stride + i * width % segment. */
#define FO_LOOP_MAX 16
typedef enum {
    FO_LD,           /* source: plain load */
    FO_LD_REDUCE,    /* source: multimem.ld_reduce.op.type */
    FO_ST,           /* destination: plain store */
    FO_MULTIMEM_ST,  /* destination */
    FO_RED,          /* destination: red.relaxed.sys.op.type */
    FO_MULTIMEM_RED, /* destination */
} FoAccess;
typedef struct {
    FoAccess access;
    FoAddress base;
} FoStream;
typedef struct {
    uint64_t bytes;       /* that the loop covers; a tail shorter than width is moved in 4 B units. Sizes: up to 2^56 */
    unsigned width;       /* of a thread's access: 4, 8, 16 */
    unsigned unroll;      /* elements of a thread in flight: 1 to 32 */
    unsigned tail_unroll; /* the same for the last, incomplete group; 0: all that is left */
    uint64_t first;       /* element of the CTA's thread 0; with step 0: fo_cta * fo_threads */
    uint64_t step;        /* elements from one iteration to the next; 0: fo_ctas * fo_threads */
    uint64_t segment, stride; /* 0: contiguous */
    /* Elements from a CTA's warp to its next one, and from an unrolled element of a warp to the next one;
     * 0: 32, and step. `step` is then what one whole group of all warps covers, bytes % width is 0. */
    uint64_t warp_step, unroll_step;
    unsigned batch_first, batch; /* sources loaded and summed so many at a time; 0: all at once */
    uint32_t delay_ps;           /* of a warp in each iteration: the instructions between its accesses */
    unsigned sources, destinations;
    FoStream source[FO_LOOP_MAX], destination[FO_LOOP_MAX];
    FoType type; /* of op */
    FoOp op;
    FoAcc acc;
    uint32_t fill[4]; /* stored when there is no source: its first `width` bytes, again and again */
} FoLoop;
FO_API void fo_loop(FoCta *cta, const FoLoop *loop);

/* ---- LL and LL128 lines: data and flag in one store, so that the receiver needs no other signal.
 * LL: lines of 16 B, {data 4 B, flag 4 B, data 4 B, flag 4 B}. LL128: lines of 128 B, 120 B of data and an 8 B flag.
 * One call moves `bytes` of data: each active warp waits for the lines of its share in the CTA's own buffers (`from`),
 * adds up what came and the own input, stores the sum to the own output and as lines to the peers' buffers (`to`).
 * bytes is a multiple of 4; addresses are multiples of 16, 128 for lines of LL128: they lie in one of memory. */
#define FO_LL_PEERS 3
typedef enum { FO_LL, FO_LL128 } FoLlKind;
typedef struct {
    FoLlKind kind;
    uint64_t bytes;
    unsigned n_from, n_to;
    FoAddress from[FO_LL_PEERS], to[FO_LL_PEERS];
    FoAddress input, output;     /* 0: none */
    uint32_t from_flag, to_flag; /* not 0 */
    FoType type;
    FoOp op;
    unsigned element; /* LL: bytes of a lane's store to `output`: 1, 2, 4, 8; 0: 4 */
    unsigned unit_ps; /* what a warp's instructions take for each 512 B of lines */
} FoLl;
FO_API void fo_ll(FoCta *cta, const FoLl *ll);

/* The same between all ranks at once, as latency-bound one-shot kernels do: thread t packs 8 B of a part at
 * input[i] + 8 t into an LL line at to[i] + 16 t, waits for the lines of every rank r at
 * from + r * from_stride + 16 t in the GPU's own memory, and stores their sum at output + 8 t, or each at
 * output + r * output_stride + 8 t. With multimem a line at to[i] goes to all members of its object. With `lamport` all
 * are 16 B of data: memory at `from` holds FO_LAMPORT_EMPTY (-0.0, sent as 0) where nothing is, again afterwards. */
#define FO_LAMPORT_EMPTY 0x80000000u
typedef struct {
    uint64_t bytes;      /* of a part: at most 8 a thread (lamport: 16), a multiple of 4 */
    unsigned ranks;      /* that lines come from */
    unsigned n_to, n_in; /* n_in 1: the same part to all; else n_to */
    const FoAddress *to; /* both arrays are copied */
    const FoAddress *input;
    int multimem, lamport;
    FoAddress from, output;
    uint64_t from_stride;
    uint64_t output_stride; /* 0: the sum */
    uint32_t flag;          /* not 0, and another one each time; lamport: not used */
    FoType type;
    FoOp op;
} FoExchange;
FO_API void fo_exchange(FoCta *cta, const FoExchange *exchange);

#ifdef __cplusplus
}
#endif

#endif
