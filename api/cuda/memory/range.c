/* See range.h. */
#include "api/cuda/memory/range.h"

#include <sys/mman.h>

/* Where no loader or heap puts anything, also under address checkers. */
#define FIRST_VA 0x200000000000ull
#define GUARD_BYTES ((guint64)2 << 20) /* between reservations: overruns meet nothing */

static gint compare_address(gconstpointer a, gconstpointer b, gpointer unused)
{
    guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
    (void)unused;
    return x < y ? -1 : x > y;
}

Ranges *ranges_new(void)
{
    Ranges *ranges = g_new0(Ranges, 1);
    ranges->reserved = g_tree_new_full(compare_address, NULL, NULL, g_free);
    ranges->mapped = g_tree_new_full(compare_address, NULL, NULL, g_free);
    ranges->next_va = FIRST_VA;
    return ranges;
}

Range *range_new(const Range *as, guint devices)
{
    Range *range = g_malloc0(sizeof *range + 2 * (gsize)devices);
    *range = *as;
    range->access = (guint8 *)(range + 1);
    range->advice.accessed_by = range->access + devices;
    return range;
}

#define RESERVE_FLAGS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

static gboolean reserve_at(guint64 va, guint64 bytes)
{
#ifdef __SANITIZE_THREAD__
    if (va >> 40 == FIRST_VA >> 40) /* its shadow memory is around there: the system chooses */
        return FALSE;
#endif
    void *at = mmap((void *)va, bytes, PROT_NONE, RESERVE_FLAGS | MAP_FIXED_NOREPLACE, -1, 0);

    if (at != MAP_FAILED && at != (void *)va)
        munmap(at, bytes);
    return at == (void *)va;
}

guint64 range_reserve(Ranges *ranges, guint64 bytes, guint64 alignment, guint64 hint)
{
    if (bytes > G_MAXUINT64 - alignment)
        return 0;
    if (hint != 0 && hint % alignment == 0 && reserve_at(hint, bytes))
        return hint;
    guint64 next = (ranges->next_va + alignment - 1) / alignment * alignment;
    if (next >= FIRST_VA && reserve_at(next, bytes)) {
        ranges->next_va = next + bytes + GUARD_BYTES;
        return next;
    }
    guint8 *raw = mmap(NULL, bytes + alignment, PROT_NONE, RESERVE_FLAGS, -1, 0);
    if (raw == MAP_FAILED)
        return 0;
    guint64 first = (guint64)raw;
    guint64 va = (first + alignment - 1) / alignment * alignment;
    if (va > first)
        munmap(raw, va - first);
    guint64 tail = first + bytes + alignment - (va + bytes);
    if (tail > 0)
        munmap((void *)(va + bytes), tail);
    return va;
}

void range_release(guint64 va, guint64 bytes) { munmap((void *)va, bytes); }

/* The node with the greatest key <= va. */
static gpointer tree_floor(GTree *tree, guint64 va)
{
    GTreeNode *node = g_tree_upper_bound(tree, &va);

    node = node ? g_tree_node_previous(node) : g_tree_node_last(tree);
    return node ? g_tree_node_value(node) : NULL;
}

Reservation *reservation_find(Ranges *ranges, guint64 va)
{
    Reservation *found = tree_floor(ranges->reserved, va);
    return found && va - found->va < found->bytes ? found : NULL;
}

Range *range_find(Ranges *ranges, guint64 va)
{
    Range *found = tree_floor(ranges->mapped, va);
    return found && va - found->va < found->bytes ? found : NULL;
}

Range *range_next(Ranges *ranges, guint64 va)
{
    GTreeNode *node = g_tree_lower_bound(ranges->mapped, &va);
    return node ? g_tree_node_value(node) : NULL;
}

gboolean range_any(Ranges *ranges, guint64 va, guint64 bytes)
{
    if (range_find(ranges, va))
        return TRUE;
    Range *next = range_next(ranges, va);
    return next && next->va - va < bytes;
}

void range_insert(Ranges *ranges, Range *range) { g_tree_insert(ranges->mapped, &range->va, range); }

void range_remove(Ranges *ranges, Range *range) { g_tree_remove(ranges->mapped, &range->va); }

gboolean range_whole(Ranges *ranges, guint64 va, guint64 bytes)
{
    guint64 at = va;

    while (at - va < bytes) {
        Range *range = range_find(ranges, at);
        if (!range || range->va != at || range->kind != RANGE_VMM)
            return FALSE;
        at += range->bytes;
    }
    return at - va == bytes && bytes > 0;
}
