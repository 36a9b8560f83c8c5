/* Numbers that collectives work on, and the check of their results against host arithmetic.
 *
 * Rank r's input is a sequence of small whole numbers with a period of COLL_PERIOD_BYTES, of which the memory keeps
 * one copy: a prime number of pages, so that a chunk in the wrong place shows. All sums, in whatever order, are exact
 * in every type, so that results are compared byte by byte; how rounding depends on order is numeric.h's own test. */
#include <math.h>
#include <string.h>

#include "coll/internal.h"

#define COLL_PERIOD_BYTES (127u * 4096u)

#define COLL_NUMBERS 8u      /* 0 to 7, or fewer */
#define COLL_ELEMENT_BYTES 8 /* at most */

/* How many numbers there are for a rank, so that sums are exact: up to 8 in fp8, up to 256 in bf16; and products, of
 * ones and twos. */
static guint32 coll_numbers(const Coll *coll, guint32 rank)
{
    if (coll->spec.reduce == NUMERIC_MUL || numeric_element_bytes(coll->spec.type) == 1)
        return rank < 8 ? 2 : 1;
    return coll->n > 32 ? 3 : COLL_NUMBERS;
}

/* Inlined for each size of elements. */
static inline void coll_write_elements(guint8 *to, guint8 table[][COLL_ELEMENT_BYTES], guint32 numbers, guint32 rank,
                                       guint32 n, const guint32 element)
{
    for (guint32 i = 0; i < n; i++) {
        guint32 mixed = (i * 2654435761u) ^ (rank * 40503u + 977u * i);
        mixed ^= mixed >> 15;
        memcpy(to + (gsize)i * element, table[numbers == 3 ? mixed % 3 : mixed & (numbers - 1)], element);
    }
}

/* How much of a period any buffer of this run holds. */
static gsize coll_period(const Coll *coll) { return MIN(COLL_PERIOD_BYTES, MAX(coll->in_bytes, coll->out_bytes)); }

/* A rank's numbers, for one period and what a read at its end may see of the next. */
static guint8 *coll_template(const Coll *coll, guint32 rank) { return coll->numbers + rank * coll->numbers_stride; }

/* Every number is encoded once: what is left for an element is to choose one. */
static void coll_write_template(Coll *coll, guint32 rank)
{
    const NumericType type = coll->spec.type;
    const guint32 element = numeric_element_bytes(type), numbers = coll_numbers(coll, rank);
    const gsize bytes = coll_period(coll);
    const guint32 n = (guint32)(bytes / element);
    guint8 *to = coll_template(coll, rank), table[COLL_NUMBERS][COLL_ELEMENT_BYTES];
    for (guint32 i = 0; i < COLL_NUMBERS; i++)
        numeric_set(type, table[i], coll->spec.reduce == NUMERIC_MUL ? i + 1 : i);
    switch (element) {
    case 1: coll_write_elements(to, table, numbers, rank, n, 1); break;
    case 2: coll_write_elements(to, table, numbers, rank, n, 2); break;
    case 4: coll_write_elements(to, table, numbers, rank, n, 4); break;
    default: coll_write_elements(to, table, numbers, rank, n, 8); break;
    }
    const gsize whole = (gsize)n * element;
    memset(to + whole, 0, bytes + MEMORY_READ_MAX - whole);
    memcpy(to + bytes, to, MIN(bytes, MEMORY_READ_MAX));
}

void coll_fill(Coll *coll)
{
    if (!coll->in.region[0]->host || coll_period(coll) == 0) /* a barrier has no bytes */
        return;
    coll->numbers_stride = (coll_period(coll) + MEMORY_READ_MAX + DATA_LINE_BYTES - 1) / DATA_LINE_BYTES *
                           DATA_LINE_BYTES;
    coll->numbers = data_take_fixed(coll->fabric->data, coll->n * coll->numbers_stride);
    coll->numbers_fixed = coll->numbers != NULL;
    if (!coll->numbers)
        coll->numbers = g_malloc(coll->n * coll->numbers_stride);
    for (guint32 r = 0; r < coll->n; r++) {
        coll_write_template(coll, r);
        memory_region_repeat(coll->in.region[r], coll_template(coll, r), coll_period(coll));
    }
}

void coll_fill_free(Coll *coll)
{
    if (coll->numbers_fixed)
        data_give_fixed(coll->fabric->data);
    else
        g_free(coll->numbers);
}

/* Compares `bytes` of rank's output from `offset` on with the periodic template from `start` on. */
static gboolean coll_compare(Coll *coll, guint32 rank, guint64 offset, const guint8 *template, guint64 start,
                             guint64 bytes)
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

/* What avg adds to a sum: NCCL multiplies numbers by 1 / n in registers, as it loads them, or divides whole ones in the
 * end; neither takes time that a link or a memory would notice, so that it is done to the bytes at the end. */
static void coll_divide(const Coll *coll, guint8 *bytes, gsize n_bytes)
{
    guint32 element = numeric_element_bytes(coll->spec.type);
    for (gsize at = 0; at < n_bytes; at += element) {
        double mean = numeric_get(coll->spec.type, bytes + at) / coll->n;
        if (!numeric_is_float(coll->spec.type))
            mean = floor(mean);
        numeric_set(coll->spec.type, bytes + at, mean);
    }
}

static guint8 *coll_reduced(Coll *coll)
{
    gsize bytes = coll_period(coll);
    guint8 *sum = g_memdup2(coll_template(coll, 0), bytes);
    for (guint32 r = 1; r < coll->n; r++)
        numeric_apply(coll->spec.type, coll->spec.reduce, sum, coll_template(coll, r), bytes);
    if (coll->spec.average)
        coll_divide(coll, sum, bytes);
    return sum;
}

/* Every rank's whole output is that of `source` (a rank's input, from `from` on). */
static gboolean coll_compare_rank(Coll *coll, guint32 rank, guint64 offset, guint32 source, guint64 from, guint64 bytes)
{
    return coll_compare(coll, rank, offset, coll_template(coll, source), from, bytes);
}

static gboolean coll_verify_rank(Coll *coll, guint32 r, const guint8 *reduced)
{
    guint64 slice = coll->spec.bytes / coll->n;
    gboolean same = TRUE;
    switch (coll->spec.op) {
    case COLL_ALL_REDUCE: return coll_compare(coll, r, 0, reduced, 0, coll->spec.bytes);
    case COLL_REDUCE_SCATTER: return coll_compare(coll, r, 0, reduced, r * slice, slice);
    case COLL_REDUCE: return r != coll->spec.root || coll_compare(coll, r, 0, reduced, 0, coll->spec.bytes);
    case COLL_SCATTER: return coll_compare_rank(coll, r, 0, coll->spec.root, r * slice, slice);
    case COLL_BROADCAST: return coll_compare_rank(coll, r, 0, coll->spec.root, 0, coll->spec.bytes);
    case COLL_SENDRECV: return coll_compare_rank(coll, r, 0, (r + coll->n - 1) % coll->n, 0, coll->spec.bytes);
    case COLL_GATHER:
        if (r != coll->spec.root)
            return TRUE;
        __attribute__((fallthrough));
    case COLL_ALL_GATHER:
        for (guint32 s = 0; s < coll->n && same; s++)
            same = coll_compare_rank(coll, r, s * slice, s, 0, slice);
        return same;
    case COLL_ALL_TO_ALL:
        for (guint32 s = 0; s < coll->n && same; s++)
            same = coll_compare_rank(coll, r, s * slice, s, r * slice, slice);
        return same;
    default: return TRUE;
    }
}

void coll_verify(Coll *coll)
{
    coll->result.check = COLL_NOT_CHECKED;
    if (!coll->spec.check || coll->spec.op == COLL_BARRIER || !coll->out.region[0]->host)
        return;
    if (coll->spec.corrupt)
        *memory_bytes(coll->out.region[coll_has_root(coll->spec.op) ? coll->spec.root : coll->n - 1],
                      coll->out_bytes - 1) ^= 1;
    for (guint32 r = 0; coll->spec.average && coll_reduces(coll->spec.op) && r < coll->n; r++)
        if (coll->spec.op != COLL_REDUCE || r == coll->spec.root)
            coll_divide(coll, memory_bytes(coll->out.region[r], 0), coll->out_bytes);
    guint8 *reduced = coll_reduces(coll->spec.op) ? coll_reduced(coll) : NULL;
    coll->result.check = COLL_VERIFIED;
    for (guint32 r = 0; r < coll->n; r++)
        if (!coll_verify_rank(coll, r, reduced)) {
            coll->result.check = COLL_WRONG;
            break;
        }
    g_free(reduced);
}
