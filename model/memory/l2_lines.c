/* The lines of a region that are in L2: see l2_lines.h. */
#include "model/memory/l2_lines.h"

#define LINE 128u
#define BLOCK (32u * LINE) /* a bit of a word for each line */

/* In the list by age as long as one of its lines is there. */
typedef struct L2Block {
    struct L2Block *newer, *older;
    guint32 lines; /* that are there */
    gboolean touched;
} L2Block;

struct L2Lines {
    L2 *l2;
    guint64 bytes;
    L2Block block[];
};

static void block_unlink(L2 *l2, L2Block *block)
{
    *(block->newer ? &block->newer->older : &l2->newest) = block->older;
    *(block->older ? &block->older->newer : &l2->oldest) = block->newer;
    block->newer = block->older = NULL;
}

static void block_push(L2 *l2, L2Block *block)
{
    block->newer = NULL;
    block->older = l2->newest;
    *(l2->newest ? &l2->newest->newer : &l2->oldest) = block;
    l2->newest = block;
}

static void block_drop(L2 *l2, L2Block *block)
{
    if (block->lines == 0)
        return;
    l2->held -= (guint64)__builtin_popcount(block->lines) * LINE;
    block->lines = 0;
    block_unlink(l2, block);
}

guint64 l2_held_bytes(guint64 l2_bytes) { return l2_bytes / 5 * 4; }

void l2_set_bytes(L2 *l2, guint64 l2_bytes) { l2->bytes = l2_held_bytes(l2_bytes); }

L2Lines *l2_lines_new(L2 *l2, guint64 bytes)
{
    L2Lines *lines = g_malloc0(sizeof *lines + (bytes / BLOCK + 1) * sizeof(L2Block));
    lines->l2 = l2;
    lines->bytes = bytes;
    l2->allocated += bytes;
    return lines;
}

void l2_lines_free(L2Lines *lines)
{
    if (!lines)
        return;
    for (guint64 i = 0; i <= lines->bytes / BLOCK; i++)
        block_drop(lines->l2, &lines->block[i]);
    lines->l2->allocated -= lines->bytes;
    g_free(lines);
}

/* Brings lines of a block, which becomes the newest one. */
static void block_bring(L2 *l2, L2Block *block, guint32 lines)
{
    if (block->lines == 0)
        block_push(l2, block);
    l2->held += (guint64)__builtin_popcount(lines & ~block->lines) * LINE;
    block->lines |= lines;
    while (l2->held > l2->bytes && l2->oldest != block)
        block_drop(l2, l2->oldest);
}

gboolean l2_lines_miss(L2Lines *lines, guint64 offset, guint32 bytes)
{
    L2 *l2 = lines->l2;
    if (l2->allocated <= l2->bytes || bytes == 0)
        return FALSE;
    gboolean missed = FALSE;
    for (guint64 line = offset / LINE; line <= (offset + bytes - 1) / LINE; line++) {
        L2Block *block = &lines->block[line * LINE / BLOCK];
        guint32 bit = 1u << line % 32;
        if (!block->touched) {
            block->touched = TRUE;
            if (lines->bytes <= l2->bytes)
                block_bring(l2, block, 0xffffffffu);
        } else if (block->lines && l2->newest != block) {
            block_unlink(l2, block);
            block_push(l2, block);
        }
        if (block->lines & bit)
            continue;
        block_bring(l2, block, bit);
        missed = TRUE;
    }
    return missed;
}

void l2_lines_bring(L2Lines *lines, guint64 offset, guint64 bytes)
{
    for (guint64 end = offset + bytes; offset < end; offset = (offset / LINE + 1) * LINE)
        l2_lines_miss(lines, offset, 1);
}
