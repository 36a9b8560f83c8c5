/* Numbers that collectives work on, and the check of their results against host arithmetic.
 *
 * Rank r's input is a sequence of small whole numbers with a period of COLL_PERIOD elements (a prime, so
 * that a chunk in the wrong place shows). All sums, in whatever order, are exact in every type, so
 * that results are compared byte by byte; how rounding depends on order is numeric.h's own test. */
#include <string.h>

#include "coll/internal.h"

#define COLL_PERIOD 8191u

static double coll_number(const Coll *coll, guint32 rank, guint32 i)
{
    guint32 mixed = (i * 2654435761u) ^ (rank * 40503u + 977u * i);
    mixed ^= mixed >> 15;
    gboolean fp8 = numeric_element_bytes(coll->spec.type) == 1;
    if (fp8) /* exact up to 8 */
        return rank < 8 ? mixed & 1 : 0;
    return mixed % (coll->n > 32 ? 3 : 8); /* bf16: exact up to 256 */
}

static guint8 *coll_template(const Coll *coll, guint32 rank)
{
    guint32 element = numeric_element_bytes(coll->spec.type);
    guint8 *bytes = g_malloc(COLL_PERIOD * element);
    for (guint32 i = 0; i < COLL_PERIOD; i++)
        numeric_set(coll->spec.type, bytes + i * element, coll_number(coll, rank, i));
    return bytes;
}

void coll_fill(Coll *coll)
{
    gsize period = (gsize)COLL_PERIOD * numeric_element_bytes(coll->spec.type);
    for (guint32 r = 0; r < coll->n; r++) {
        guint8 *to = coll->in.region[r]->host;
        if (!to)
            continue;
        guint8 *template = coll_template(coll, r);
        for (guint64 at = 0; at < coll->in_bytes; at += period)
            memcpy(to + at, template, MIN(period, coll->in_bytes - at));
        g_free(template);
    }
}

/* Compares `bytes` of rank's output from `offset` on with the periodic template from `start` on. */
static gboolean coll_compare(Coll *coll, guint32 rank, guint64 offset, const guint8 *template,
                             guint64 start, guint64 bytes)
{
    guint32 element = numeric_element_bytes(coll->spec.type);
    guint64 period = (guint64)COLL_PERIOD * element;
    const guint8 *got = coll->out.region[rank]->host + offset;
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

static guint8 *coll_reduced(const Coll *coll)
{
    gsize bytes = (gsize)COLL_PERIOD * numeric_element_bytes(coll->spec.type);
    guint8 *sum = coll_template(coll, 0);
    for (guint32 r = 1; r < coll->n; r++) {
        guint8 *next = coll_template(coll, r);
        numeric_apply(coll->spec.type, coll->spec.reduce, sum, next, bytes);
        g_free(next);
    }
    return sum;
}

/* Every rank's whole output is that of `source` (a rank's input, from `from` on). */
static gboolean coll_compare_rank(Coll *coll, guint32 rank, guint64 offset, guint32 source, guint64 from,
                                  guint64 bytes)
{
    guint8 *template = coll_template(coll, source);
    gboolean same = coll_compare(coll, rank, offset, template, from, bytes);
    g_free(template);
    return same;
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
        coll->out.region[coll->n - 1]->host[coll->out_bytes - 1] ^= 1;
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
