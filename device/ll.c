/* fo_ll: LL and LL128 lines, as generators of warp operations.
 *
 * A warp takes units of 512 B of lines (256 B of data in LL, 480 B in LL128), the CTA's warps in turn. For
 * each unit: a load of the own input, a poll of the flags of each peer's lines, which brings the
 * lines with it, the sum, and the stores, to the peers first. A lane of LL has 8 B of data, which it loads as two
 * words 4 B wide and stores element by element (NCCL's prims_ll.h, DataLoader and storeData): as many accesses, each
 * of a part of their sectors. Stores of single bytes leave an SM two at a time: eight of them between loads take 18.0
 * ns on an H200, four of 2 B 16.8 and two of 4 B 6.1 to 11. Packing and
 * unpacking happen in a UOP_CALL; what their instructions take is FoLl.unit_ps. That a warp waits for each unit's flags
 * before it goes on is what limits these protocols. */
#include <string.h>

#include "device/device.h"

#define LL_UNIT_BYTES 512u
#define LL_FLAG_LINE 128u
#define LL_WORDS 4u /* of 8 B of a lane, at most */

typedef enum { LL_INPUT, LL_POLL, LL_SUM, LL_WORK, LL_SEND, LL_OUTPUT, LL_NEXT } LlPhase;

typedef struct {
    DeviceSource source;
    FoLl ll;
    guint64 unit, units, step; /* of 512 B of lines */
    LlPhase phase;
    guint32 k;
    Reg input;          /* data; holds the sum afterwards */
    Reg word[LL_WORDS]; /* parts of it: LL: a word of each lane, in and out; LL128: [0], the tail */
    Reg line[FO_LL_PEERS];
    Reg out;             /* lines to send */
    gboolean flags_only; /* a timing-only run: the data is not read */
    gboolean packed;
} DeviceLl;

static guint32 ll_unit_data(const DeviceLl *run) { return run->ll.kind == FO_LL ? 256 : 480; }

/* Bytes of data in this unit: the last one may be short. */
static guint32 ll_bytes(const DeviceLl *run)
{
    guint32 whole = ll_unit_data(run);
    return (guint32)MIN(whole, run->ll.bytes - run->unit * whole);
}

/* Lines (LL: 16 B, LL128: 128 B) that carry them. */
static guint32 ll_lines(const DeviceLl *run)
{
    guint32 each = run->ll.kind == FO_LL ? 8 : 120;
    return (ll_bytes(run) + each - 1) / each;
}

static void ll_unpack(const DeviceLl *run, const guint8 *lines, guint8 *data)
{
    guint32 n = ll_lines(run);
    if (run->ll.kind == FO_LL)
        for (guint32 l = 0; l < n; l++) {
            memcpy(data + l * 8, lines + l * 16, 4);
            memcpy(data + l * 8 + 4, lines + l * 16 + 8, 4);
        }
    else
        for (guint32 l = 0; l < n; l++)
            memcpy(data + l * 120, lines + l * LL_FLAG_LINE, 120);
}

static void ll_pack(const DeviceLl *run, const guint8 *data, guint8 *lines)
{
    guint32 flag = run->ll.to_flag, n = ll_lines(run);
    guint64 wide = flag;
    if (run->ll.kind == FO_LL)
        for (guint32 l = 0; l < n; l++) {
            memcpy(lines + l * 16, data + l * 8, 4);
            memcpy(lines + l * 16 + 4, &flag, 4);
            memcpy(lines + l * 16 + 8, data + l * 8 + 4, 4);
            memcpy(lines + l * 16 + 12, &flag, 4);
        }
    else
        for (guint32 l = 0; l < n; l++) {
            memcpy(lines + l * LL_FLAG_LINE, data + l * 120, 120);
            memcpy(lines + l * LL_FLAG_LINE + 120, &wide, 8);
        }
}

/* LL128's words of a unit that are no whole 16 B of a lane: they stand behind its others. */
static guint32 ll_tail(const DeviceLl *run) { return run->ll.kind == FO_LL ? 0 : ll_bytes(run) % 16; }

/* LL: bytes of a lane's access. */
static guint32 ll_width(const DeviceLl *run, gboolean out)
{
    guint32 element = out ? run->ll.element : 0;
    return element ? MIN(MAX(element, 8 / LL_WORDS), 8) : 4;
}

static void ll_sum(DeviceLl *run)
{
    guint8 data[LL_UNIT_BYTES] = {0};
    guint32 bytes = ll_bytes(run), element = numeric_element_bytes((NumericType)run->ll.type);
    gboolean first = run->ll.input == 0;
    bytes = (bytes + element - 1) / element * element;
    for (guint32 i = 0; i < run->ll.n_from; i++) {
        ll_unpack(run, run->line[i].bytes, data);
        if (first)
            memcpy(run->input.bytes, data, bytes);
        else
            numeric_apply((NumericType)run->ll.type, (NumericOp)run->ll.op, run->input.bytes, data, bytes);
        first = FALSE;
    }
}

static void ll_on_sum(void *arg, SimTime now_ps)
{
    DeviceLl *run = arg;
    (void)now_ps;
    if (!run->flags_only)
        ll_sum(run);
    if (!run->flags_only || !run->packed)
        ll_pack(run, run->input.bytes, run->out.bytes); /* flags only: the first unit has as many lines as any */
    run->packed = TRUE;
}

/* Data from an address on: word k of lanes of 8 B, or lanes of 16 B and then the words behind them. FALSE: there is no
 * (more) such access. */
static gboolean ll_data_uop(DeviceLl *run, Uop *uop, UopKind kind, FoAddress base)
{
    gboolean ll = run->ll.kind == FO_LL;
    guint32 bytes = ll_bytes(run), tail = ll_tail(run);
    if (!ll && run->k == 0 && bytes == tail)
        run->k = 1;
    gboolean words = ll || run->k == 1;
    guint32 word = ll ? ll_width(run, kind == UOP_STORE) : 4, width = words ? word : 16, stride = ll ? 8 : width;
    guint32 from = ll ? run->k * word : run->k ? bytes - tail : 0;
    if (!base || run->k == (ll ? 8 / word : 2) || bytes <= from) {
        run->k = 0;
        return FALSE;
    }
    guint32 to = ll || run->k ? bytes : bytes - tail;
    Reg *reg = ll ? &run->word[run->k] : run->k ? &run->word[0] : &run->input;
    if (words)
        *reg = (Reg){.bytes = run->input.bytes + from, .apart = (guint8)stride};
    *uop = (Uop){.kind = (guint8)kind,
                 .width = (guint8)width,
                 .lane_stride = stride,
                 .lanes = (guint8)((to - from + stride - 1) / stride),
                 .va = base + run->unit * ll_unit_data(run) + from};
    if (kind == UOP_STORE && width < 4)
        uop->op = TXN_WRITE_BYTES;
    *(kind == UOP_LOAD ? &uop->dst : &uop->src) = reg;
    run->k++;
    return TRUE;
}

static void ll_poll_uop(DeviceLl *run, Uop *uop)
{
    gboolean ll = run->ll.kind == FO_LL;
    guint32 stride = ll ? 16 : LL_FLAG_LINE;
    *uop = (Uop){.kind = UOP_POLL,
                 .width = ll ? 4 : 8,
                 .lanes = (guint8)ll_lines(run),
                 .test = POLL_EQ,
                 .lane_stride = stride,
                 .value = run->ll.from_flag,
                 .dst = &run->line[run->k],
                 .va = run->ll.from[run->k] + run->unit * LL_UNIT_BYTES + (ll ? 12 : 120)};
    uop->dst->width = (guint8)stride;
}

static void ll_send_uop(DeviceLl *run, Uop *uop)
{
    guint32 lanes = run->ll.kind == FO_LL ? ll_lines(run) : ll_lines(run) * (LL_FLAG_LINE / 16);
    *uop = (Uop){.kind = UOP_STORE,
                 .width = 16,
                 .lane_stride = 16,
                 .lanes = (guint8)lanes,
                 .va = run->ll.to[run->k] + run->unit * LL_UNIT_BYTES,
                 .src = &run->out};
}

static gboolean ll_next(DeviceSource *source, Warp *warp, Uop *uop)
{
    DeviceLl *run = (DeviceLl *)source;
    gboolean made = FALSE;
    if (!run->input.bytes) {
        run->input.bytes = device_scratch(warp, 2 + FO_LL_PEERS);
        run->out.bytes = run->input.bytes + REG_BYTES;
        for (guint32 i = 0; i < run->ll.n_from; i++)
            run->line[i].bytes = run->out.bytes + (i + 1) * REG_BYTES;
    }
    while (!made && run->unit < run->units) {
        switch (run->phase) {
        case LL_INPUT:
            made = ll_data_uop(run, uop, UOP_LOAD, run->ll.input);
            run->phase = made ? LL_INPUT : LL_POLL;
            break;
        case LL_POLL:
            made = run->k < run->ll.n_from;
            if (made)
                ll_poll_uop(run, uop);
            run->k = made ? run->k + 1 : 0;
            run->phase = made ? LL_POLL : LL_SUM;
            break;
        case LL_SUM:
            *uop = (Uop){.kind = UOP_CALL,
                         .lanes = 1,
                         .src = run->ll.kind == FO_LL ? &run->word[1] : &run->input,
                         .dst = &run->word[0],
                         .call = ll_on_sum,
                         .arg = run};
            made = TRUE;
            run->phase = LL_WORK;
            break;
        case LL_WORK:
            *uop = (Uop){.kind = UOP_DELAY, .lanes = 1, .value = run->ll.unit_ps};
            made = run->ll.unit_ps > 0;
            run->phase = LL_SEND;
            break;
        case LL_SEND:
            made = run->k < run->ll.n_to;
            if (made)
                ll_send_uop(run, uop);
            run->k = made ? run->k + 1 : 0;
            run->phase = made ? LL_SEND : LL_OUTPUT;
            break;
        case LL_OUTPUT:
            made = ll_data_uop(run, uop, UOP_STORE, run->ll.output);
            run->phase = made ? LL_OUTPUT : LL_NEXT;
            break;
        case LL_NEXT:
            run->unit += run->step;
            run->phase = LL_INPUT;
            break;
        }
    }
    return made;
}

static void ll_free(DeviceSource *source) { g_free(source); }

/* Addresses of one side, all multiples of what is said. */
static gboolean ll_check_addresses(FoCta *cta, const FoAddress *address, unsigned n, guint32 multiple)
{
    for (unsigned i = 0; i < n; i++)
        if (address[i] % multiple) {
            device_fault(cta, address[i], UOP_STORE, FAULT_MISALIGNED, NULL);
            return FALSE;
        }
    return TRUE;
}

static gboolean ll_check(FoCta *cta, const FoLl *ll)
{
    gboolean sums = ll->n_from > (ll->input == 0);
    guint32 line = ll->kind == FO_LL ? 16 : LL_FLAG_LINE; /* what one store makes visible at once */
    if (ll->kind != FO_LL && ll->kind != FO_LL128)
        device_wrong(cta, 0, UOP_CALL, "lines of kind %d; FO_LL and FO_LL128 are right", (int)ll->kind);
    else if (ll->n_from > FO_LL_PEERS || ll->n_to > FO_LL_PEERS)
        device_wrong(cta, 0, UOP_CALL, "lines from %u and to %u peers; at most %u each are right", ll->n_from, ll->n_to,
                     FO_LL_PEERS);
    else if (ll->bytes % 4 || ll->bytes > DEVICE_SIZE_MAX)
        device_wrong(cta, 0, UOP_CALL, "lines of %" G_GUINT64_FORMAT " B; a multiple of 4 up to 2^56 is right",
                     ll->bytes);
    else if (ll->element > 8 || (ll->element & (ll->element - 1)))
        device_wrong(cta, 0, UOP_CALL, "lines whose output goes out by %u B; 1, 2, 4 or 8, or 0, are right",
                     ll->element);
    else if ((ll->n_from && !ll->from_flag) || (ll->n_to && !ll->to_flag))
        device_wrong(cta, 0, UOP_CALL, "lines with flag 0, which memory has before they come; another one is right");
    else
        return ll_check_addresses(cta, ll->from, ll->n_from, line) && ll_check_addresses(cta, ll->to, ll->n_to, line) &&
               ll_check_addresses(cta, &ll->input, 1, 16) && ll_check_addresses(cta, &ll->output, 1, 16) &&
               (!sums || device_check_numeric(cta, UOP_ARITH, ll->type, ll->op, 8)) &&
               device_check_warps(cta, UOP_CALL);
    return FALSE;
}

static const DeviceSourceKind ll_source = {ll_next, ll_free};

void program_ll(FoCta *cta, const FoLl *ll)
{
    if (!device_check_given(cta, ll, "lines", UOP_CALL) || !ll_check(cta, ll))
        return;
    guint32 whole = ll->kind == FO_LL ? 256 : 480;
    guint32 first = cta->first / WARP_LANES, warps = (cta->count + WARP_LANES - 1) / WARP_LANES;
    for (guint32 w = 0; w < warps; w++) {
        guint64 units = (ll->bytes + whole - 1) / whole;
        if (w >= units)
            break;
        DeviceLl *run = g_new0(DeviceLl, 1);
        run->source.kind = &ll_source;
        run->ll = *ll;
        run->unit = w;
        run->units = units;
        run->step = warps;
        run->flags_only = !memory_keeps_bytes(cta->launch->fabric->memory);
        device_push_source(cta, first + w, &run->source);
    }
}
