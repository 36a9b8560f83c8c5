/* Numbers that collectives work on, and the check of their results against host arithmetic.
 *
 * Rank r's input is a sequence of small whole numbers with a period of COLL_PERIOD_BYTES, of which the memory keeps
 * one copy: a prime number of pages, so that a chunk in the wrong place shows. All sums, in whatever order, are exact
 * in every type, so that results are compared byte by byte; how rounding depends on order is numeric.h's own test. */
#include <string.h>

#include "coll/internal.h"

#define COLL_PERIOD_BYTES (127u * 4096u)

static double coll_number(const Coll *coll, guint32 rank, guint32 i)
{
    guint32 mixed = (i * 2654435761u) ^ (rank * 40503u + 977u * i);
    mixed ^= mixed >> 15;
    gboolean fp8 = numeric_element_bytes(coll->spec.type) == 1;
    if (fp8) /* exact up to 8 */
        return rank < 8 ? mixed & 1 : 0;
    return mixed % (coll->n > 32 ? 3 : 8); /* bf16: exact up to 256 */
}

/* How much of a period any buffer of this run holds. */
static gsize coll_period(const Coll *coll) { return MIN(COLL_PERIOD_BYTES, MAX(coll->in_bytes, coll->out_bytes)); }

/* A rank's numbers, for one period. */
static const guint8 *coll_template(Coll *coll, guint32 rank)
{
    guint32 element = numeric_element_bytes(coll->spec.type);
    gsize bytes = coll_period(coll);
    if (!coll->template)
        coll->template = g_ptr_array_new_full(coll->n, g_free);
    g_ptr_array_set_size(coll->template, (gint)coll->n);
    if (!coll->template->pdata[rank]) {
        guint8 *numbers = coll->template->pdata[rank] = g_malloc0(bytes + MEMORY_READ_MAX);
        for (guint32 i = 0; i < bytes / element; i++)
            numeric_set(coll->spec.type, numbers + i * element, coll_number(coll, rank, i));
        memcpy(numbers + bytes, numbers, MIN(bytes, MEMORY_READ_MAX));
    }
    return coll->template->pdata[rank];
}

void coll_fill(Coll *coll)
{
    for (guint32 r = 0; r < coll->n; r++) {
        if (coll->in.region[r]->host)
            memory_region_repeat(coll->in.region[r], coll_template(coll, r), coll_period(coll));
    }
}

/* Compares `bytes` of rank's output from `offset` on with the periodic template from `start` on. */
static gboolean coll_compare(Coll *coll, guint32 rank, guint64 offset, const guint8 *template,
                             guint64 start, guint64 bytes)
{
    guint32 element = numeric_element_bytes(coll->spec.type);
    guint64 period = coll_period(coll);
    const guint8 *got = memory_bytes(coll->out.region[rank], offset);
    for (guint64 at = 0; at < bytes;) {
        guint64 phase = (start + at) % period, piece = MIN(period - phase, bytes - at);
        if (memcmp(got + at, template + phase, piece) != 0) {
            guint64 i = 0;
            while (memcmp(got + at + i, template + phase + i, element) == 0)
                i += element;
            g_snprintf(coll->result.wrong, sizeof coll->result.wrong,
                       "rank %u, element %" G_GUINT64_FORMAT " of the result: got %g, right is %g", rank,
                       (offset + at + i) / element, numeric_get(coll->spec.type, got + at + i),
                       numeric_get(coll->spec.type, template + phase + i));
            return FALSE;
        }
        at += piece;
    }
    return TRUE;
}

static guint8 *coll_reduced(Coll *coll)
{
    gsize bytes = coll_period(coll);
    guint8 *sum = g_memdup2(coll_template(coll, 0), bytes);
    for (guint32 r = 1; r < coll->n; r++)
        numeric_apply(coll->spec.type, coll->spec.reduce, sum, coll_template(coll, r), bytes);
    return sum;
}

/* Every rank's whole output is that of `source` (a rank's input, from `from` on). */
static gboolean coll_compare_rank(Coll *coll, guint32 rank, guint64 offset, guint32 source, guint64 from,
                                  guint64 bytes)
{
    return coll_compare(coll, rank, offset, coll_template(coll, source), from, bytes);
}

static gboolean coll_verify_rank(Coll *coll, guint32 r, const guint8 *reduced)
{
    guint64 slice = coll->spec.bytes / coll->n;
    gboolean same = TRUE;
    switch (coll->spec.op) {
    case COLL_ALL_REDUCE:
        return coll_compare(coll, r, 0, reduced, 0, coll->spec.bytes);
    case COLL_REDUCE_SCATTER:
        return coll_compare(coll, r, 0, reduced, r * slice, slice);
    case COLL_BROADCAST:
        return coll_compare_rank(coll, r, 0, coll->spec.root, 0, coll->spec.bytes);
    case COLL_SENDRECV:
        return coll_compare_rank(coll, r, 0, (r + coll->n - 1) % coll->n, 0, coll->spec.bytes);
    case COLL_ALL_GATHER:
        for (guint32 s = 0; s < coll->n && same; s++)
            same = coll_compare_rank(coll, r, s * slice, s, 0, slice);
        return same;
    case COLL_ALL_TO_ALL:
        for (guint32 s = 0; s < coll->n && same; s++)
            same = coll_compare_rank(coll, r, s * slice, s, r * slice, slice);
        return same;
    default:
        return TRUE;
    }
}

void coll_verify(Coll *coll)
{
    coll->result.check = COLL_NOT_CHECKED;
    if (!coll->spec.check || coll->spec.op == COLL_BARRIER || !coll->out.region[0]->host)
        return;
    if (coll->spec.corrupt)
        *memory_bytes(coll->out.region[coll->n - 1], coll->out_bytes - 1) ^= 1;
    guint8 *reduced = coll->spec.op == COLL_ALL_REDUCE || coll->spec.op == COLL_REDUCE_SCATTER
                          ? coll_reduced(coll) : NULL;
    coll->result.check = COLL_VERIFIED;
    for (guint32 r = 0; r < coll->n; r++)
        if (!coll_verify_rank(coll, r, reduced)) {
            coll->result.check = COLL_WRONG;
            break;
        }
    g_free(reduced);
}
