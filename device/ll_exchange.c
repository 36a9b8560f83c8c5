/* fo_exchange: LL lines between all ranks at once, as generators of warp operations.
 *
 * Each warp does the part of its 32 threads, a pack of 8 B each: it loads packs and stores them as lines of
 * 16 B to every rank (or once to a multicast address), polls the lines that come from eight ranks at a
 * time, and stores their sum or each rank's part. A packet of lines is seen whole, so that its last flag
 * stands for all of them. As in fo_ll, packing and unpacking cost no time of their own. Lamport's lines are data alone,
 * 16 B a thread: what is polled is the last word of each packet, and lines that were taken are stored empty again. */
#include <string.h>

#include "device/device.h"

#define EXCHANGE_LINES 512u /* bytes of a warp's lines */
#define EXCHANGE_GROUP 8u   /* ranks polled, or parts loaded, at a time */
#define EXCHANGE_PACKET_LINES (LINE_BYTES / 16u)

typedef enum {
    EXCHANGE_LOAD,
    EXCHANGE_AWAIT,
    EXCHANGE_PACK,
    EXCHANGE_SEND,
    EXCHANGE_POLL,
    EXCHANGE_TAKE,
    EXCHANGE_CLEAR,
    EXCHANGE_OUTPUT
} ExchangePhase;

typedef struct {
    DeviceSource source;
    FoExchange exchange;
    FoAddress *to, *input; /* copies */
    Vas *vas;
    guint32 warp, bytes; /* of data, of this warp */
    ExchangePhase phase;
    guint32 first, k; /* group of destinations or sources, and which one of it */
    Reg data[EXCHANGE_GROUP], lines[EXCHANGE_GROUP], empty;
} DeviceExchange;

/* Bytes of data in a line of 16 B, and of a warp. */
static guint32 exchange_width(const FoExchange *exchange) { return exchange->lamport ? 16 : 8; }
static guint32 exchange_unit(const FoExchange *exchange) { return exchange_width(exchange) * WARP_LANES; }

static guint32 exchange_packs(const DeviceExchange *run)
{
    guint32 width = exchange_width(&run->exchange);
    return (run->bytes + width - 1) / width;
}

static guint32 exchange_group(const DeviceExchange *run, guint32 all) { return MIN(EXCHANGE_GROUP, all - run->first); }

static FoAddress exchange_lines(const DeviceExchange *run, guint32 rank)
{
    return run->exchange.from + rank * run->exchange.from_stride + run->warp * EXCHANGE_LINES;
}

/* ---- bytes */

/* A word that says "nothing here yet" is sent as 0, its like for a sum. */
static void exchange_pack_lamport(DeviceExchange *run, guint32 part)
{
    guint32 *line = (guint32 *)run->lines[part].bytes;
    memcpy(line, run->data[part].bytes, exchange_packs(run) * 16);
    for (guint32 w = 0; w < exchange_packs(run) * 4; w++)
        line[w] = line[w] == FO_LAMPORT_EMPTY ? 0 : line[w];
}

static void exchange_pack_ll(DeviceExchange *run, guint32 part)
{
    guint32 flag = run->exchange.flag;
    for (guint32 p = 0; p < exchange_packs(run); p++) {
        guint8 *line = run->lines[part].bytes + p * 16;
        const guint8 *data = run->data[part].bytes + p * 8;
        memcpy(line, data, 4);
        memcpy(line + 4, &flag, 4);
        memcpy(line + 8, data + 4, 4);
        memcpy(line + 12, &flag, 4);
    }
}

static void exchange_on_pack(void *arg, SimTime now_ps)
{
    DeviceExchange *run = arg;
    (void)now_ps;
    for (guint32 i = 0; i < exchange_group(run, run->exchange.n_in); i++)
        (run->exchange.lamport ? exchange_pack_lamport : exchange_pack_ll)(run, i);
}

static void exchange_unpack(const DeviceExchange *run, guint32 rank, guint8 *data)
{
    FoAddress va = exchange_lines(run, rank);
    VasMapping *mapping = vas_find(run->vas, va);
    g_assert(mapping && mapping->region && mapping->region->host); /* the poll has seen flags there */
    const guint8 *lines = memory_bytes(mapping->region, mapping->offset + (va - mapping->va));
    if (run->exchange.lamport) {
        memcpy(data, lines, exchange_packs(run) * 16);
        return;
    }
    for (guint32 p = 0; p < exchange_packs(run); p++) {
        memcpy(data + p * 8, lines + p * 16, 4);
        memcpy(data + p * 8 + 4, lines + p * 16 + 8, 4);
    }
}

static void exchange_on_take(void *arg, SimTime now_ps)
{
    DeviceExchange *run = arg;
    const FoExchange *exchange = &run->exchange;
    guint8 data[EXCHANGE_LINES];
    (void)now_ps;
    for (guint32 i = 0; i < exchange_group(run, exchange->ranks); i++) {
        guint32 rank = run->first + i;
        if (exchange->output_stride || rank == 0) {
            exchange_unpack(run, rank, run->data[exchange->output_stride ? i : 0].bytes);
            continue;
        }
        exchange_unpack(run, rank, data);
        numeric_apply((NumericType)exchange->type, (NumericOp)exchange->op, run->data[0].bytes, data,
                      exchange_packs(run) * exchange_width(exchange));
    }
}

/* ---- operations */

static void exchange_data_uop(const DeviceExchange *run, Uop *uop, UopKind kind, FoAddress base)
{
    guint32 width = exchange_width(&run->exchange);
    *uop = (Uop){.kind = (guint8)kind,
                 .width = (guint8)width,
                 .lane_stride = width,
                 .lanes = (guint8)exchange_packs(run),
                 .va = base + run->warp * exchange_unit(&run->exchange)};
}

static void exchange_poll_uop(const DeviceExchange *run, Uop *uop, guint64 *lane_va)
{
    guint32 packs = exchange_packs(run), lanes = 0;
    for (guint32 i = 0; i < exchange_group(run, run->exchange.ranks); i++)
        for (guint32 at = 0; at < packs; at += EXCHANGE_PACKET_LINES)
            lane_va[lanes++] = exchange_lines(run, run->first + i) + (MIN(at + EXCHANGE_PACKET_LINES, packs) - 1) * 16 +
                               12;
    gboolean lamport = run->exchange.lamport != 0;
    *uop = (Uop){.kind = UOP_POLL,
                 .width = 4,
                 .lanes = (guint8)lanes,
                 .test = lamport ? POLL_NE : POLL_EQ,
                 .va = lane_va[0],
                 .lane_va = lane_va,
                 .value = lamport ? FO_LAMPORT_EMPTY : run->exchange.flag};
}

static void exchange_clear_uop(DeviceExchange *run, Uop *uop, guint32 rank)
{
    *uop = (Uop){.kind = UOP_STORE,
                 .width = 16,
                 .lane_stride = 16,
                 .lanes = (guint8)exchange_packs(run),
                 .va = exchange_lines(run, rank),
                 .src = &run->empty};
}

/* The sending half; FALSE: this step made no operation. */
static gboolean exchange_send(DeviceExchange *run, Uop *uop)
{
    const FoExchange *exchange = &run->exchange;
    guint32 parts = exchange_group(run, exchange->n_in), i = run->k++;
    switch (run->phase) {
    case EXCHANGE_LOAD:
    case EXCHANGE_AWAIT:
        if (i == parts) {
            run->phase++;
            run->k = 0;
            return FALSE;
        }
        if (run->phase == EXCHANGE_AWAIT) {
            *uop =
                (Uop){.kind = UOP_ARITH, .lanes = 1, .width = (guint8)exchange_width(exchange), .src = &run->data[i]};
            return TRUE;
        }
        exchange_data_uop(run, uop, UOP_LOAD, run->input[run->first + i]);
        uop->dst = &run->data[i];
        return TRUE;
    case EXCHANGE_PACK:
        *uop = (Uop){.kind = UOP_CALL, .lanes = 1, .call = exchange_on_pack, .arg = run};
        run->phase = EXCHANGE_SEND;
        run->k = 0;
        return TRUE;
    default: break;
    }
    if (i == (exchange->n_in == 1 ? exchange->n_to : parts)) {
        run->first += exchange->n_in == 1 ? exchange->n_to : parts;
        run->phase = run->first == exchange->n_to ? EXCHANGE_POLL : EXCHANGE_LOAD;
        if (run->phase == EXCHANGE_POLL)
            run->first = 0;
        run->k = 0;
        return FALSE;
    }
    *uop = (Uop){.kind = exchange->multimem ? UOP_MC_STORE : UOP_STORE,
                 .width = 16,
                 .lane_stride = 16,
                 .lanes = (guint8)exchange_packs(run),
                 .type = NUMERIC_F32,
                 .va = run->to[run->first + i] + run->warp * EXCHANGE_LINES,
                 .src = &run->lines[exchange->n_in == 1 ? 0 : i]};
    return TRUE;
}

static void exchange_begin(DeviceExchange *run, Warp *warp)
{
    guint8 *bytes = device_scratch(warp, 2 * EXCHANGE_GROUP + 1);
    for (guint32 i = 0; i < EXCHANGE_GROUP; i++) {
        run->data[i].bytes = bytes + i * REG_BYTES;
        run->lines[i].bytes = bytes + (EXCHANGE_GROUP + i) * REG_BYTES;
    }
    run->empty.bytes = bytes + 2 * EXCHANGE_GROUP * REG_BYTES;
    guint32 *word = (guint32 *)run->empty.bytes;
    for (guint32 w = 0; run->exchange.lamport && w < 4 * WARP_LANES; w++)
        word[w] = FO_LAMPORT_EMPTY;
}

static gboolean exchange_next(DeviceSource *source, Warp *warp, Uop *uop)
{
    DeviceExchange *run = (DeviceExchange *)source;
    const FoExchange *exchange = &run->exchange;
    gboolean made = FALSE;
    if (!run->data[0].bytes)
        exchange_begin(run, warp);
    while (!made && run->first < exchange->ranks + exchange->n_to) {
        guint32 group = exchange_group(run, exchange->ranks);
        if (run->phase <= EXCHANGE_SEND) {
            made = exchange_send(run, uop);
        } else if (run->phase == EXCHANGE_POLL) {
            if (run->first >= exchange->ranks)
                break;
            exchange_poll_uop(run, uop, warp_lanes(warp));
            run->phase = EXCHANGE_TAKE;
            made = TRUE;
        } else if (run->phase == EXCHANGE_TAKE) {
            *uop = (Uop){.kind = UOP_CALL, .lanes = 1, .call = exchange_on_take, .arg = run};
            run->phase = exchange->lamport ? EXCHANGE_CLEAR : EXCHANGE_OUTPUT;
            run->k = 0;
            made = TRUE;
        } else if (run->phase == EXCHANGE_CLEAR) {
            made = run->k < group;
            if (made) {
                exchange_clear_uop(run, uop, run->first + run->k++);
            } else {
                run->phase = EXCHANGE_OUTPUT;
                run->k = 0;
            }
        } else { /* a sum is stored once, behind the last group */
            gboolean last = run->first + group == exchange->ranks;
            guint32 outputs = exchange->output_stride ? group : last ? 1 : 0;
            made = run->k < outputs;
            if (made) {
                guint32 part = exchange->output_stride ? run->first + run->k : 0;
                exchange_data_uop(run, uop, UOP_STORE, exchange->output + part * exchange->output_stride);
                uop->src = &run->data[run->k++];
            } else {
                run->first += group;
                run->phase = EXCHANGE_POLL;
            }
        }
    }
    return made;
}

static void exchange_free(DeviceSource *source)
{
    DeviceExchange *run = (DeviceExchange *)source;
    g_free(run->to);
    g_free(run->input);
    g_free(run);
}

static gboolean exchange_check_addresses(FoCta *cta, const FoAddress *address, unsigned n, unsigned to)
{
    if (n && !device_check_given(cta, address, "addresses", UOP_CALL))
        return FALSE;
    for (unsigned i = 0; i < n; i++)
        if (address[i] % to) {
            device_fault(cta, address[i], UOP_STORE, FAULT_MISALIGNED, NULL);
            return FALSE;
        }
    return TRUE;
}

static gboolean exchange_check(FoCta *cta, const FoExchange *exchange)
{
    guint64 most = (guint64)cta->cta->threads * exchange_width(exchange);
    gboolean sums = exchange->output_stride == 0 && exchange->ranks > 1;
    if (exchange->n_in != 1 && exchange->n_in != exchange->n_to)
        device_wrong(cta, 0, UOP_CALL, "an exchange of %u parts to %u ranks; 1 or as many parts are right",
                     exchange->n_in, exchange->n_to);
    else if (exchange->bytes > most || exchange->bytes % 4)
        device_wrong(cta, 0, UOP_CALL,
                     "an exchange of %" G_GUINT64_FORMAT " B; a multiple of 4 up to %" G_GUINT64_FORMAT
                     ", %u a thread, is right",
                     exchange->bytes, most, exchange_width(exchange));
    else if (exchange->ranks == 0)
        device_wrong(cta, 0, UOP_CALL, "an exchange with lines of no rank; 1 and more are right");
    else if (exchange->flag == 0 && !exchange->lamport)
        device_wrong(cta, 0, UOP_CALL, "lines with flag 0, which memory has before they come; another one is right");
    else if (exchange->from_stride % 16 || exchange->output_stride % 8)
        device_wrong(cta, 0, UOP_CALL,
                     "an exchange with lines %" G_GUINT64_FORMAT " B and outputs %" G_GUINT64_FORMAT
                     " B apart; multiples of 16 and of 8 are right",
                     exchange->from_stride, exchange->output_stride);
    else
        return exchange_check_addresses(cta, exchange->to, exchange->n_to, 16) &&
               exchange_check_addresses(cta, exchange->input, exchange->n_in, exchange_width(exchange)) &&
               exchange_check_addresses(cta, &exchange->from, 1, 16) &&
               exchange_check_addresses(cta, &exchange->output, 1, exchange_width(exchange)) &&
               (!sums || device_check_numeric(cta, UOP_ARITH, exchange->type, exchange->op, 8));
    return FALSE;
}

static const DeviceSourceKind exchange_source = {exchange_next, exchange_free};

void program_exchange(FoCta *cta, const FoExchange *exchange)
{
    if (!device_check_given(cta, exchange, "exchange", UOP_CALL) || !exchange_check(cta, exchange))
        return;
    for (guint32 w = 0; w < cta->cta->n_warps && w * exchange_unit(exchange) < exchange->bytes; w++) {
        DeviceExchange *run = g_new0(DeviceExchange, 1);
        run->source.kind = &exchange_source;
        run->exchange = *exchange;
        run->to = g_memdup2(exchange->to, exchange->n_to * sizeof *run->to);
        run->input = g_memdup2(exchange->input, exchange->n_in * sizeof *run->input);
        run->vas = cta->cta->vas;
        run->warp = w;
        run->bytes = (guint32)MIN(exchange_unit(exchange), exchange->bytes - w * exchange_unit(exchange));
        device_push_source(cta, w, &run->source);
    }
}
