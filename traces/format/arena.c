#include "traces/format/arena.h"

#include <string.h>

#define BLOCK_BYTES (256 << 10)

void *arena_alloc(Arena *arena, gsize bytes)
{
    bytes = (bytes + 7) & ~(gsize)7;
    if (!arena->blocks)
        arena->blocks = g_ptr_array_new_with_free_func(g_free);
    if (arena->blocks->len == 0 || arena->used + bytes > arena->block_bytes) {
        arena->block_bytes = MAX(BLOCK_BYTES, bytes);
        g_ptr_array_add(arena->blocks, g_malloc(arena->block_bytes));
        arena->used = 0;
    }
    void *at = (char *)arena->blocks->pdata[arena->blocks->len - 1] + arena->used;
    arena->used += bytes;
    arena->total += bytes;
    return at;
}

void arena_reset(Arena *arena)
{
    if (arena->blocks && arena->blocks->len > 0) {
        gboolean keep = arena->blocks->len == 1 && arena->block_bytes == BLOCK_BYTES;
        g_ptr_array_set_size(arena->blocks, keep ? 1 : 0);
    }
    arena->used = arena->total = 0;
}

const char *arena_text(Arena *arena, const void *text, gsize n)
{
    char *copy = arena_alloc(arena, n + 1);
    memcpy(copy, text, n);
    copy[n] = 0;
    return copy;
}

void arena_clear(Arena *arena)
{
    if (arena->blocks)
        g_ptr_array_free(arena->blocks, TRUE);
    *arena = (Arena){0};
}
