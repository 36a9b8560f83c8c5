/* An arena: memory handed out in small pieces and given back all at once. */
#ifndef TRACES_FORMAT_ARENA_H
#define TRACES_FORMAT_ARENA_H

#include <glib.h>

typedef struct {
    GPtrArray *blocks;
    gsize block_bytes; /* of the last one */
    gsize used;        /* of the last one */
    gsize total, limit;
} Arena;

/* {0} is an empty arena. Pieces are aligned to 8 bytes and live until reset or clear. */
void *arena_alloc(Arena *arena, gsize bytes);
const char *arena_text(Arena *arena, const void *text, gsize n); /* a copy that ends with a 0 */
void arena_reset(Arena *arena); /* keeps one block of the usual size for the next round */
void arena_clear(Arena *arena);

#endif
