/* malloc and free of kernels: blocks of the heap that the context gives, whose account is kept here, not in the memory.
 *
 * A block is as large as asked for, to 16 bytes; a freed one serves the next that asks for as much. Left out: what
 * it takes in time, and that a real heap gives memory to warps in larger pieces. */
#include "device/kernel/internal.h"

typedef struct {
    guint64 next, end; /* addresses that were never given out */
    GHashTable *sizes; /* address -> bytes of each block that is out */
    GHashTable *spare; /* bytes -> GArray of addresses that came back */
} KernelHeap;

static void heap_free(gpointer data)
{
    KernelHeap *heap = data;
    g_hash_table_unref(heap->sizes);
    g_hash_table_unref(heap->spare);
    g_free(heap);
}

static KernelHeap *heap_of(KernelLaunch *launch)
{
    Gpu *gpu = launch->gpu;
    const KernelSpec *spec = &launch->spec;
    if (!gpu->kernel_heaps)
        gpu->kernel_heaps = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, heap_free);
    KernelHeap *heap = g_hash_table_lookup(gpu->kernel_heaps, &spec->heap);
    if (!heap) {
        heap = g_new0(KernelHeap, 1);
        heap->next = (spec->heap + 15) & ~(guint64)15;
        heap->end = spec->heap + spec->heap_bytes;
        heap->sizes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
        heap->spare = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, (GDestroyNotify)g_array_unref);
        g_hash_table_insert(gpu->kernel_heaps, g_memdup2(&spec->heap, sizeof spec->heap), heap);
    }
    return heap;
}

guint64 kernel_heap_allocate(KernelLaunch *launch, guint64 bytes)
{
    if (launch->spec.heap_bytes == 0 || bytes == 0 || bytes > launch->spec.heap_bytes)
        return 0;
    KernelHeap *heap = heap_of(launch);
    guint64 size = (bytes + 15) & ~(guint64)15, va;
    GArray *spare = g_hash_table_lookup(heap->spare, &size);
    if (spare && spare->len) {
        va = g_array_index(spare, guint64, spare->len - 1);
        g_array_set_size(spare, spare->len - 1);
    } else if (heap->end - heap->next >= size) {
        va = heap->next;
        heap->next += size;
    } else {
        return 0;
    }
    g_hash_table_insert(heap->sizes, g_memdup2(&va, sizeof va), g_memdup2(&size, sizeof size));
    return va;
}

/* An address that malloc did not give is left alone, as by CUDA, where it is undefined. */
void kernel_heap_release(KernelLaunch *launch, guint64 va)
{
    if (launch->spec.heap_bytes == 0 || va == 0)
        return;
    KernelHeap *heap = heap_of(launch);
    const guint64 *found = g_hash_table_lookup(heap->sizes, &va);
    if (!found)
        return;
    guint64 size = *found;
    GArray *spare = g_hash_table_lookup(heap->spare, &size);
    if (!spare) {
        spare = g_array_new(FALSE, FALSE, sizeof(guint64));
        g_hash_table_insert(heap->spare, g_memdup2(&size, sizeof size), spare);
    }
    g_array_append_val(spare, va);
    g_hash_table_remove(heap->sizes, &va);
}
