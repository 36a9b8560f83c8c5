/* The instruction caches of an SM, as far as kernels of PTX see them.
 *
 * What an SM has executed of a function stays there, over launches, until other functions need the room: the first
 * launch of a kernel fetches its lines one after the other (`sm.code_ps`), the next ones find them.
 * Modelled: one cache of lines of 128 B, emptied of all other functions when one is entered and there is too much.
 * Left out: the small caches of an SM's quarters, prefetching, replacement by age. The same function loaded again is
 * taken to be the one that was there.
 * Source: docs/measurements/nccl_stages.csv: stages of NCCL's kernel are longer by 0.3 to 2 us in its first launch, and
 * alike in all others. 128 KiB: Jia and others, "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking",
 * 2018, the L1.5 of an SM. */
#include "device/kernel/internal.h"

#define CACHE_LINES ((128u << 10) / 128u)

typedef struct {
    guint n_words;
    guint64 bits[]; /* of the function's lines */
} Lines;

static GHashTable *cache_of(Gpu *gpu, guint32 sm)
{
    if (!gpu->kernel_code) {
        gpu->kernel_code = g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_unref);
        for (guint64 i = 0; i < gpu->fabric->spec.sm.count; i++)
            g_ptr_array_add(gpu->kernel_code, g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free));
    }
    return gpu->kernel_code->pdata[sm];
}

/* Warps may point to lines: they are emptied where they stand. The order of a sum and of emptying does not show. */
static void make_room(GHashTable *cache, const Lines *keep)
{
    GHashTableIter iter;
    gpointer value;
    guint lines = 0;
    g_hash_table_iter_init(&iter, cache);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        for (guint i = 0; i < ((Lines *)value)->n_words; i++)
            lines += (guint)__builtin_popcountll(((Lines *)value)->bits[i]);
    if (lines <= CACHE_LINES)
        return;
    g_hash_table_iter_init(&iter, cache);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        for (guint i = 0; value != keep && i < ((Lines *)value)->n_words; i++)
            ((Lines *)value)->bits[i] = 0;
}

guint64 *kernel_code_lines(KernelLaunch *launch, guint32 sm, const PtxCode *code)
{
    GHashTable *cache = cache_of(launch->gpu, sm);
    Lines *lines = g_hash_table_lookup(cache, &code->tag);
    if (!lines) {
        guint n_words = code->costs[code->n_ins].sum[COST_SLOTS] / PTX_LINE_SLOTS / 64 + 1u;
        lines = g_malloc0(sizeof *lines + n_words * sizeof lines->bits[0]);
        lines->n_words = n_words;
        g_hash_table_insert(cache, g_memdup2(&code->tag, sizeof code->tag), lines);
    }
    make_room(cache, lines);
    return lines->bits;
}
