/* The lines of a region that are in L2: see l2_lines.h. */
#include "model/memory/l2_lines.h"

#define LINE 128u
#define BLOCK (32u * LINE) /* a bit of a word for each line */

typedef struct {
    guint32 age;           /* L2.brought at its last access, in blocks, and 1; 0: it was never touched */
    guint32 lines;         /* that are there */
} Block;

struct L2Lines {
    L2 *l2;
    guint64 bytes;
    Block block[];
};

L2Lines *l2_lines_new(L2 *l2, guint64 bytes)
{
    L2Lines *lines = g_malloc0(sizeof *lines + (bytes / BLOCK + 1) * sizeof(Block));
    lines->l2 = l2;
    lines->bytes = bytes;
    l2->allocated += bytes;
    return lines;
}

void l2_lines_free(L2Lines *lines)
{
    if (!lines)
        return;
    lines->l2->allocated -= lines->bytes;
    g_free(lines);
}

static Block *block_at(L2Lines *lines, guint64 offset)
{
    L2 *l2 = lines->l2;
    Block *block = &lines->block[offset / BLOCK];
    guint32 now = (guint32)(l2->brought / BLOCK) + 1;
    if (block->age == 0)
        block->lines = lines->bytes <= l2->bytes ? 0xffffffffu : 0;
    else if (now - block->age > l2->bytes / BLOCK)
        block->lines = 0;
    block->age = now;
    return block;
}

gboolean l2_lines_miss(L2Lines *lines, guint64 offset, guint32 bytes)
{
    L2 *l2 = lines->l2;
    if (l2->allocated <= l2->bytes || bytes == 0)
        return FALSE;
    gboolean missed = FALSE;
    for (guint64 line = offset / LINE; line <= (offset + bytes - 1) / LINE; line++) {
        Block *block = block_at(lines, line * LINE);
        guint32 bit = 1u << line % 32;
        if (block->lines & bit)
            continue;
        block->lines |= bit;
        l2->brought += LINE;
        missed = TRUE;
    }
    return missed;
}

void l2_lines_bring(L2Lines *lines, guint64 offset, guint64 bytes)
{
    for (guint64 end = offset + bytes; offset < end; offset = (offset / LINE + 1) * LINE)
        l2_lines_miss(lines, offset, 1);
}
