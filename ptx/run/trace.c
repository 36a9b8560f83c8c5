/* What an instruction did, as a line for people: for a warp that is traced (PtxWarp.traced). */
#include "ptx/run/exec.h"

#define VALUE_TEXT 40u

/* The statement as it stands in the text, with its guard and without what surrounds it. */
static void add_statement(GString *line, const PtxFunction *function, const PtxIns *ins)
{
    const char *at = function->body_line_start, *end = function->unit->text + function->unit->bytes;
    for (guint32 n = function->body_line; at && n < ins->statement_line; n++) {
        at = memchr(at, '\n', (gsize)(end - at));
        at = at ? at + 1 : NULL;
    }
    if (!at)
        return;
    const char *stop = memchr(at, '\n', (gsize)(end - at)), *from = at;
    stop = stop ? stop : end;
    if (ins->column > 1 && ins->column - 1 < (gsize)(stop - at))
        from += ins->column - 1;
    const char *semicolon = memchr(from, ';', (gsize)(stop - from));
    while (from > at && !strchr(";{}:", from[-1]))
        from--;
    g_autofree char *text = g_strndup(from, (gsize)((semicolon ? semicolon + 1 : stop) - from));
    g_string_append(line, g_strstrip(text));
}

typedef enum { SHOW_HEX, SHOW_F32, SHOW_F64 } Show;

static Show show_of(const PtxIns *ins, guint bytes)
{
    return ins->type == T_F32 && bytes == 4 ? SHOW_F32 : ins->type == T_F64 && bytes == 8 ? SHOW_F64 : SHOW_HEX;
}

static void value_text(char *text, Show show, guint64 value)
{
    double number;
    float single;
    guint32 word = (guint32)value;
    memcpy(&single, &word, sizeof single);
    memcpy(&number, &value, sizeof number);
    if (show == SHOW_F32)
        g_snprintf(text, VALUE_TEXT, "%.9g", (double)single);
    else if (show == SHOW_F64)
        g_snprintf(text, VALUE_TEXT, "%.17g", number);
    else
        g_snprintf(text, VALUE_TEXT, "0x%" G_GINT64_MODIFIER "x", value);
}

/* The lanes of mask: once if all have the same, first and step if they count, else each. */
static void add_lanes(GString *line, Show show, const guint64 *value, guint32 mask)
{
    guint first = (guint)__builtin_ctz(mask), last = 31u - (guint)__builtin_clz(mask);
    guint64 step = first < last ? value[first + 1] - value[first] : 0;
    gboolean same = TRUE, counts = show == SHOW_HEX && step < G_MAXINT32;
    char text[VALUE_TEXT];
    for (guint l = first; l <= last; l++) {
        if (!(mask >> l & 1))
            continue;
        same &= value[l] == value[first];
        counts &= value[l] == value[first] + (l - first) * step;
    }
    value_text(text, show, value[first]);
    g_string_append_printf(line, " %s", text);
    if (!same && counts)
        g_string_append_printf(line, " + 0x%" G_GINT64_MODIFIER "x a lane", step);
    for (guint l = first + 1; !same && !counts && l <= last; l++)
        if (mask >> l & 1) {
            value_text(text, show, value[l]);
            g_string_append_printf(line, " %s", text);
        }
}

static void add_register(GString *line, const void *lanes, Show show, guint bytes, guint32 mask)
{
    guint64 value[PTX_LANES] = {0};
    if (bytes == 0 || mask == 0)
        return;
    if (bytes == 1) {
        guint32 bits;
        memcpy(&bits, lanes, sizeof bits);
        g_string_append_printf(line, " lanes %08x", bits & mask);
        return;
    }
    for (guint l = 0; l < PTX_LANES; l++)
        memcpy(&value[l], (const guint8 *)lanes + (gsize)l * bytes, MIN(bytes, 8u)); /* of 16 bytes the low half */
    add_lanes(line, show, value, mask);
}

/* The registers of a memory instruction. */
static void add_vector(GString *line, const PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    const guint32 *places = &warp->current->frame->code->places[ins->vec];
    guint bytes = ins->src_bytes[3];
    for (guint e = 0; e < ins->n_vec; e++)
        if (places[e] != PLACE_NONE)
            add_register(line, ptx_lanes(warp, places[e]), show_of(ins, bytes), bytes, mask);
}

static void add_results(GString *line, const PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    if (ins->n_vec) {
        add_vector(line, warp, ins, mask);
        return;
    }
    if (ins->dst != PLACE_NONE)
        add_register(line, ptx_lanes(warp, ins->dst), show_of(ins, ins->dst_bytes), ins->dst_bytes, mask);
    if (ins->dst2 != PLACE_NONE)
        add_register(line, ptx_lanes(warp, ins->dst2), SHOW_HEX, ins->dst2_bytes, mask);
}

static void add_access(GString *line, const PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    const PtxAccess *access = warp->handed;
    if (!access || access->kind == PTX_ACCESS_FENCE)
        return;
    g_string_append(line, "  at");
    if (access->block)
        g_string_append_printf(line, " 0x%" G_GINT64_MODIFIER "x, %u bytes", access->va[0], access->block_bytes);
    else
        add_lanes(line, SHOW_HEX, access->va, access->mask);
    if (access->kind == PTX_ACCESS_STORE || access->kind == PTX_ACCESS_MC_STORE || access->kind == PTX_ACCESS_MC_RED) {
        g_string_append(line, "  gets");
        add_vector(line, warp, ins, mask);
    }
}

static void begin_line(GString *line, const PtxFunction *function, const PtxIns *ins, guint32 mask)
{
    g_string_printf(line, "line %5u  lanes %08x  ", ins->statement_line, mask);
    add_statement(line, function, ins);
}

void ptx_trace_begin(PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    const PtxGrid *grid = warp->cta->grid;
    ptx_account(warp, ins); /* so that its time is that of its issue */
    warp->trace_ps = grid->host->now_ps(grid->user);
    begin_line(warp->traced, warp->current->frame->code->function, ins, mask);
}

void ptx_trace_end(PtxWarp *warp, const PtxIns *ins, guint32 mask, PtxStep step)
{
    const PtxGrid *grid = warp->cta->grid;
    GString *line = warp->traced;
    if (warp->handed)
        add_access(line, warp, ins, mask);
    else if (step == STEP_AGAIN)
        g_string_append(line, "  waits");
    else if (step == STEP_NEXT && mask) {
        gsize before = line->len, arrow = g_string_append(line, "  ->")->len;
        add_results(line, warp, ins, mask);
        if (line->len == arrow)
            g_string_truncate(line, before);
    }
    grid->host->trace(grid->user, warp, warp->trace_ps, line->str);
}

void ptx_trace_answer(PtxWarp *warp, const PtxAccess *access)
{
    const PtxIns *ins = access->ins;
    const PtxGrid *grid = warp->cta->grid;
    const PtxCode *code = access->frame->code;
    guint bytes = ins->src_bytes[3];
    begin_line(warp->traced, code->function, ins, access->mask);
    g_string_append(warp->traced, "  brings");
    for (guint e = 0; e < ins->n_vec; e++)
        if (code->places[ins->vec + e] != PLACE_NONE)
            add_register(warp->traced, access->frame->regs + code->places[ins->vec + e], show_of(ins, bytes), bytes,
                         access->mask);
    grid->host->trace(grid->user, warp, grid->host->now_ps(grid->user), warp->traced->str);
}
