/* Which collective a serving framework runs: its own published rules, by GPU architecture, ranks and size.
 *
 * Of each framework the rules of its default settings for all_reduce of 16-bit floats on one NVLink domain. What no
 * rule names is classic NCCL's, with its own buffers. Sources, all read in 2026:
 *   vllm    all_reduce_utils.py (largest sizes of the custom kernels and of symmetric memory), custom_all_reduce.cuh
 *           (one-shot below 512 KiB up to 4 ranks and below 256 KiB up to 8; 36 CTAs of 512), symm_mem.py (multimem for
 *           4, 6 and 8 ranks on sm_90, 6 and 8 on sm_100; copies into its buffer and out of it), and PyTorch's
 *           CUDASymmetricMemoryOps.cu (multimem 8 CTAs of 1024, two-shot 24 of 1024). Its custom kernels stop at the 8
 *           MiB that its communicator has by default, whatever the table says. Inferred from times: 2 ranks on sm_90
 *           have no symmetric memory (45.0 us for 8 MiB, NCCL's 47.3), and 8 on sm_100 take NCCL from 256 KiB to 1 MiB
 *   sglang  configs/custom_all_reduce_v2.py: the tables for CUDA graphs, without multicast, cut at the 16 MiB that the
 *           communicator's buffer has by default; custom_all_reduce_pull.cuh: two-shot works in that buffer, with a
 *           copy in and one out, unless the graph was captured in the communicator's own way
 *   trtllm  customAllReduceUtils.h: the tables of strategies for a hidden size of 4096, where one token is 8 KiB
 *           (tokens are rounded down to a power of two), cut where messages outgrow the workspace, 16 MB for 2 ranks
 *           and 8 MB for more
 * SGLang's and TensorRT-LLM's one-shot kernels are Lamport's (coll/algo/lamport.c), vLLM's pulls between two barriers;
 * what their two-shot kernels do between which barriers is in coll/algo/direct.c.
 * Left out: other hidden sizes, fusion with norms, quantised transfers, options that users set. */
#include <string.h>

#include "coll/internal.h"
#include "device/launch_time.h"

#define KIB 1024ull
#define MIB (1024ull * KIB)
#define LIBRARY_SMS G_MAXUINT16           /* as many CTAs as the GPU has SMs */
#define LIBRARY_TOKENS (G_MAXUINT16 - 1u) /* by tokens: library_tokens() */
#define LIBRARY_TOKEN_BYTES 8192u
#define LIBRARY_PACKS (G_MAXUINT16 - 2u) /* a thread for each 16 B, of two-shot for each of a slice */
#define LIBRARY_HOST_GPUS 8u             /* a system of more has trays */
#define LIBRARY_TRAY_GPUS 4u

/* Rules of one (library, architecture, ranks) ascend in size; the first that a size fits holds. */
typedef struct {
    CollLibrary library;
    guint16 arch, ranks;
    guint64 bytes_max;
    CollAlgo algo;
    guint16 ctas, threads;
    guint16 copies; /* of the whole buffer, in kernels of their own before and after */
    guint8 kernel;  /* CollKernel */
} LibraryRule;

static const LibraryRule library_rules[] = {
    {COLL_VLLM, 90, 2, 8 * MIB - 1, COLL_ONESHOT, 36, 512, 0, COLL_KERNEL_VLLM},
    {COLL_VLLM, 90, 4, 512 * KIB - 1, COLL_ONESHOT, 36, 512, 0, COLL_KERNEL_VLLM},
    {COLL_VLLM, 90, 4, 8 * MIB - 1, COLL_TWOSHOT, 36, 512, 0, COLL_KERNEL_VLLM},
    {COLL_VLLM, 90, 4, 32 * MIB, COLL_NVLS, 8, 1024, 2, COLL_KERNEL_TORCH},
    {COLL_VLLM, 90, 6, 256 * KIB - 1, COLL_ONESHOT, 36, 512, 0, COLL_KERNEL_VLLM},
    {COLL_VLLM, 90, 6, 512 * KIB - 1, COLL_TWOSHOT, 36, 512, 0, COLL_KERNEL_VLLM},
    {COLL_VLLM, 90, 6, 64 * MIB, COLL_NVLS, 8, 1024, 2, COLL_KERNEL_TORCH},
    {COLL_VLLM, 90, 8, 256 * KIB - 1, COLL_ONESHOT, 36, 512, 0, COLL_KERNEL_VLLM},
    {COLL_VLLM, 90, 8, 64 * MIB, COLL_NVLS, 8, 1024, 2, COLL_KERNEL_TORCH},
    {COLL_VLLM, 100, 2, 2 * MIB - 1, COLL_ONESHOT, 36, 512, 0, COLL_KERNEL_VLLM},
    {COLL_VLLM, 100, 2, 8 * MIB, COLL_TWOSHOT, 24, 1024, 2, 0},
    {COLL_VLLM, 100, 4, 512 * KIB - 1, COLL_ONESHOT, 36, 512, 0, COLL_KERNEL_VLLM},
    {COLL_VLLM, 100, 4, 2 * MIB - 1, COLL_TWOSHOT, 36, 512, 0, COLL_KERNEL_VLLM},
    {COLL_VLLM, 100, 4, 32 * MIB, COLL_TWOSHOT, 24, 1024, 2, 0},
    {COLL_VLLM, 100, 6, 256 * KIB - 1, COLL_ONESHOT, 36, 512, 0, COLL_KERNEL_VLLM},
    {COLL_VLLM, 100, 6, 1 * MIB - 1, COLL_TWOSHOT, 36, 512, 0, COLL_KERNEL_VLLM},
    {COLL_VLLM, 100, 6, 128 * MIB, COLL_NVLS, 8, 1024, 2, COLL_KERNEL_TORCH},
    {COLL_VLLM, 100, 8, 256 * KIB - 1, COLL_ONESHOT, 36, 512, 0, COLL_KERNEL_VLLM},
    {COLL_VLLM, 100, 8, 1 * MIB - 1, COLL_AUTO, 0, 0, 0, 0},
    {COLL_VLLM, 100, 8, 128 * MIB, COLL_NVLS, 8, 1024, 2, COLL_KERNEL_TORCH},

    {COLL_SGLANG, 90, 2, 16 * MIB, COLL_LAMPORT, LIBRARY_SMS, 512, 0, COLL_KERNEL_SGLANG},
    {COLL_SGLANG, 90, 4, 384 * KIB, COLL_LAMPORT, LIBRARY_SMS, 512, 0, COLL_KERNEL_SGLANG},
    {COLL_SGLANG, 90, 4, 16 * MIB, COLL_TWOSHOT, 64, 512, 2, COLL_KERNEL_SGLANG},
    {COLL_SGLANG, 90, 6, 128 * KIB, COLL_LAMPORT, LIBRARY_SMS, 512, 0, COLL_KERNEL_SGLANG},
    {COLL_SGLANG, 90, 6, 16 * MIB, COLL_TWOSHOT, 64, 512, 2, COLL_KERNEL_SGLANG},
    {COLL_SGLANG, 90, 8, 128 * KIB, COLL_LAMPORT, LIBRARY_SMS, 512, 0, COLL_KERNEL_SGLANG},
    {COLL_SGLANG, 90, 8, 16 * MIB, COLL_TWOSHOT, 64, 512, 2, COLL_KERNEL_SGLANG},
    {COLL_SGLANG, 100, 2, 16 * MIB, COLL_LAMPORT, LIBRARY_SMS, 512, 0, COLL_KERNEL_SGLANG},
    {COLL_SGLANG, 100, 4, 1152 * KIB, COLL_LAMPORT, LIBRARY_SMS, 512, 0, COLL_KERNEL_SGLANG},
    {COLL_SGLANG, 100, 4, 16 * MIB, COLL_TWOSHOT, 64, 512, 2, COLL_KERNEL_SGLANG},
    {COLL_SGLANG, 100, 6, 1 * MIB, COLL_LAMPORT, LIBRARY_SMS, 512, 0, COLL_KERNEL_SGLANG},
    {COLL_SGLANG, 100, 6, 16 * MIB, COLL_TWOSHOT, 96, 512, 2, COLL_KERNEL_SGLANG},
    {COLL_SGLANG, 100, 8, 512 * KIB, COLL_LAMPORT, LIBRARY_SMS, 512, 0, COLL_KERNEL_SGLANG},
    {COLL_SGLANG, 100, 8, 16 * MIB, COLL_TWOSHOT, 96, 512, 2, COLL_KERNEL_SGLANG},

    {COLL_TRTLLM, 90, 2, 16000000, COLL_LAMPORT, LIBRARY_SMS, 512, 0, COLL_KERNEL_TRTLLM},
    {COLL_TRTLLM, 90, 4, 2 * MIB - 1, COLL_LAMPORT, LIBRARY_SMS, 512, 0, COLL_KERNEL_TRTLLM},
    {COLL_TRTLLM, 90, 4, 8000000, COLL_TWOSHOT, LIBRARY_TOKENS, 128, 0, COLL_KERNEL_TRTLLM},
    {COLL_TRTLLM, 90, 8, 1 * MIB - 1, COLL_LAMPORT, LIBRARY_SMS, 512, 0, COLL_KERNEL_TRTLLM},
    {COLL_TRTLLM, 90, 8, 2 * MIB - 1, COLL_AUTO, 0, 0, 0, 0},
    {COLL_TRTLLM, 90, 8, 8000000, COLL_TWOSHOT, LIBRARY_TOKENS, 128, 0, COLL_KERNEL_TRTLLM},
    {COLL_TRTLLM, 100, 2, 16000000, COLL_LAMPORT, LIBRARY_SMS, 512, 0, COLL_KERNEL_TRTLLM},
    {COLL_TRTLLM, 100, 4, 8000000, COLL_LAMPORT, LIBRARY_SMS, 512, 0, COLL_KERNEL_TRTLLM},
    {COLL_TRTLLM, 100, 8, 4 * MIB - 1, COLL_LAMPORT, LIBRARY_SMS, 512, 0, COLL_KERNEL_TRTLLM},
    {COLL_TRTLLM, 100, 8, 8000000, COLL_TWOSHOT, LIBRARY_TOKENS, 128, 0, COLL_KERNEL_TRTLLM},
};

const char *const coll_library_names[COLL_LIBRARIES + 1] = {"nccl", "nccl-registered", "nccl-sym", "trtllm",
                                                            "vllm", "sglang",          NULL};

gboolean coll_library_parse(const char *name, CollLibrary *library)
{
    for (guint i = 0; i < COLL_LIBRARIES; i++) {
        if (strcmp(name, coll_library_names[i]) == 0) {
            *library = (CollLibrary)i;
            return TRUE;
        }
    }
    return FALSE;
}

static guint64 library_bytes(const CollSpec *spec) { return spec->as_bytes ? spec->as_bytes : spec->bytes; }

/* A tray of a rack is a host of four GPUs, and what frameworks wrote for one host's peers stops there. Beyond it
 * TensorRT-LLM has kernels by multicast (one-shot while all ranks' data are 1 MiB, two-shot above), vLLM has PyTorch's
 * symmetric memory, whatever the size, and SGLang has NCCL. */
static const LibraryRule library_trays[] = {
    {COLL_TRTLLM, 100, 8, 128 * KIB, COLL_LAMPORT, LIBRARY_PACKS, 128, 0, COLL_KERNEL_MNNVL_ONESHOT},
    {COLL_TRTLLM, 100, 8, 16 * MIB, COLL_LAMPORT, LIBRARY_PACKS, 128, 0, COLL_KERNEL_MNNVL_TWOSHOT},
    {COLL_TRTLLM, 100, 16, 64 * KIB, COLL_LAMPORT, LIBRARY_PACKS, 128, 0, COLL_KERNEL_MNNVL_ONESHOT},
    {COLL_TRTLLM, 100, 16, 16 * MIB, COLL_LAMPORT, LIBRARY_PACKS, 128, 0, COLL_KERNEL_MNNVL_TWOSHOT},
    {COLL_TRTLLM, 100, 32, 32 * KIB, COLL_LAMPORT, LIBRARY_PACKS, 128, 0, COLL_KERNEL_MNNVL_ONESHOT},
    {COLL_TRTLLM, 100, 32, 16 * MIB, COLL_LAMPORT, LIBRARY_PACKS, 128, 0, COLL_KERNEL_MNNVL_TWOSHOT},
    {COLL_TRTLLM, 100, 64, 16 * KIB, COLL_LAMPORT, LIBRARY_PACKS, 128, 0, COLL_KERNEL_MNNVL_ONESHOT},
    {COLL_TRTLLM, 100, 64, 16 * MIB, COLL_LAMPORT, LIBRARY_PACKS, 128, 0, COLL_KERNEL_MNNVL_TWOSHOT},
    {COLL_VLLM, 100, 6, 128 * MIB, COLL_NVLS, 8, 1024, 2, COLL_KERNEL_TORCH},
    {COLL_VLLM, 100, 8, 128 * MIB, COLL_NVLS, 8, 1024, 2, COLL_KERNEL_TORCH},
};

static const LibraryRule *library_rule(const CollGroup *group, const CollSpec *spec)
{
    gboolean trays = group->fabric->spec.system.gpus > LIBRARY_HOST_GPUS && group->n > LIBRARY_TRAY_GPUS;
    const LibraryRule *rules = trays ? library_trays : library_rules;
    guint all = trays ? G_N_ELEMENTS(library_trays) : G_N_ELEMENTS(library_rules);
    guint64 arch = group->fabric->spec.sm.arch >= 100 ? 100 : 90;
    guint64 bytes = library_bytes(spec);
    for (guint i = 0; i < all; i++) {
        const LibraryRule *rule = &rules[i];
        if (rule->library == spec->library && rule->arch == arch && rule->ranks == group->n && bytes <= rule->bytes_max)
            return rule->algo == COLL_AUTO ? NULL : rule; /* AUTO: classic NCCL */
    }
    return NULL;
}

/* TensorRT-LLM's launcher: a cluster of up to 4 CTAs of 128 threads, 16 B each, has a token of each rank's slice; CTAs
 * grow where there are more than SMs. Threads that the user gave stay. */
static void library_tokens(const CollGroup *group, CollSpec *spec, gboolean grow)
{
    guint64 tokens = (library_bytes(spec) + LIBRARY_TOKEN_BYTES - 1) / LIBRARY_TOKEN_BYTES;
    guint64 clusters = (tokens + group->n - 1) / group->n, sms = group->fabric->spec.sm.count;
    guint32 cluster = 4;
    for (; clusters * cluster > sms && cluster > 1; cluster /= 2)
        spec->threads *= grow ? 2 : 1;
    spec->ctas = (guint32)MIN(clusters * cluster, sms / cluster * cluster);
}

static void library_packs(const CollGroup *group, CollSpec *spec, CollKernel kernel)
{
    guint64 bytes = library_bytes(spec) / (kernel == COLL_KERNEL_MNNVL_TWOSHOT ? group->n : 1);
    guint64 ctas = (bytes + spec->threads * 16ull - 1) / (spec->threads * 16ull);
    spec->ctas = (guint32)CLAMP(ctas, 1, coll_resident(group, spec->threads));
}

void coll_library_apply(const CollGroup *group, CollSpec *spec)
{
    if (spec->algo != COLL_AUTO)
        return;
    if (spec->library == COLL_NCCL_SYM && coll_row(spec->op, COLL_SYM_LSA)) {
        spec->algo = spec->unicast || group->fabric->spec.mctable.entries == 0 ? COLL_SYM_UNICAST : COLL_SYM;
        return;
    }
    const LibraryRule *rule = spec->op == COLL_ALL_REDUCE ? library_rule(group, spec) : NULL;
    CollSpec ruled = *spec;
    if (rule) {
        ruled.algo = rule->algo;
        ruled.ctas = spec->ctas                  ? spec->ctas
                     : rule->ctas == LIBRARY_SMS ? (guint32)group->fabric->spec.sm.count
                                                 : rule->ctas;
        ruled.threads = spec->threads ? spec->threads : coll_threads_fit(group, rule->threads);
        if (rule->ctas == LIBRARY_TOKENS && !spec->ctas)
            library_tokens(group, &ruled, !spec->threads);
        if (rule->ctas == LIBRARY_PACKS && !spec->ctas)
            library_packs(group, &ruled, (CollKernel)rule->kernel);
        ruled.copies = rule->copies;
        ruled.kernel = (CollKernel)rule->kernel;
        if (coll_check(group, &ruled, NULL)) {
            *spec = ruled;
            return;
        }
    }
    CollAlgo algo;
    CollProto proto;
    coll_choose(group, spec, &algo, &proto);
    ruled = *spec;
    ruled.algo = COLL_NVLS_BUFFERED;
    gboolean sliced = spec->op == COLL_ALL_GATHER || spec->op == COLL_REDUCE_SCATTER;
    if (algo == COLL_NVLS && sliced && group->n > COLL_NVLS_SLICED_RANKS)
        spec->unicast = TRUE; /* AUTO stays */
    else if (algo == COLL_NVLS && spec->library != COLL_NCCL_REGISTERED && coll_check(group, &ruled, NULL))
        spec->algo = COLL_NVLS_BUFFERED;
}

/* Each copy reads and writes every byte, at the rate of the L2 or, beyond its size, of the DRAM. */
guint64 coll_copies_ps(const CollGroup *group, const CollSpec *spec)
{
    const GpuSpec *gpu = &group->fabric->spec.gpu;
    guint64 traffic = 2 * library_bytes(spec);
    guint64 rate_MBps = traffic <= gpu->l2_bytes ? gpu->local_MBps : gpu->hbm_MBps;
    guint64 copy_ps = (guint64)((__uint128_t)traffic * PS_PER_US / rate_MBps) + 2 * gpu->local_ps;
    return spec->copies * (copy_ps + launch_spec(&group->fabric->spec)->graph_kernel_ps);
}
