/* Functions that the system gives a kernel: vprintf, __assertfail, malloc, free; and of the device runtime those that
 * decode the report of an operation on an endpoint (cudaFabricOpErrorStatus...), where a kernel declares them. */
#include "ptx/run/exec.h"

#define STRING_MAX 4096u
#define TEXT_MAX (64u << 10)

/* Bytes of a generic address, as this lane sees them. */
static gboolean peek(PtxWarp *warp, PtxPath *path, guint lane, guint64 va, void *to, guint bytes)
{
    const PtxGrid *grid = warp->cta->grid;
    guint64 offset;
    PtxSpace space = ptx_space_of(va, &offset);
    if (space == SPACE_GLOBAL)
        return grid->host->read(grid->user, va, to, bytes);
    for (guint i = 0; i < bytes; i++) { /* byte by byte: strings have no alignment */
        guint8 *memory = space == SPACE_CODE ? NULL
                                             : ptx_lane_memory(warp, path, path->ins, space, offset + i, 1, lane);
        if (!memory)
            return FALSE;
        ((guint8 *)to)[i] = *memory;
    }
    return TRUE;
}

static char *peek_string(PtxWarp *warp, PtxPath *path, guint lane, guint64 va)
{
    GString *text = g_string_new(NULL);
    char c;
    while (va && text->len < STRING_MAX && peek(warp, path, lane, va + text->len, &c, 1) && c)
        g_string_append_c(text, c);
    return g_string_free(text, FALSE);
}

static guint64 argument(const PtxWarp *warp, const PtxPath *path, const PtxCall *call, guint at, guint lane)
{
    guint64 value = 0;
    if (at >= call->n_args)
        return 0;
    const PtxActual *actual = &call->args[at];
    if (actual->place != PLACE_NONE)
        return ptx_lane_get(warp, actual->place, MAX(actual->bytes, 2u), lane);
    memcpy(&value, path->frame->param + (gsize)lane * path->frame->code->param_bytes + actual->offset,
           MIN(actual->bytes, 8u));
    return value;
}

/* One conversion, "%-8.3f": *at is behind '%'. Arguments lie in the buffer as C's varargs do: 4 or 8 bytes, aligned. */
static void print_one(PtxWarp *warp, PtxPath *path, guint lane, GString *out, const char **at, guint64 args,
                      guint *offset)
{
    char format[32] = "%", *to = format + 1;
    gboolean wide = FALSE;
    while (**at && strchr("-+ #0123456789.hlzjtLI*", **at) && to < format + 24) {
        if (**at == 'l' || **at == 'z' || **at == 'j' || **at == 't') {
            wide = TRUE;
        } else if (**at == '*') {
            gint32 number = 0;
            peek(warp, path, lane, args + *offset, &number, 4);
            *offset += 4;
            to += g_snprintf(to, 8, "%d", CLAMP(number, -999, 999));
        } else if (**at != 'h') {
            *to++ = **at;
        }
        ++*at;
    }
    char kind = **at ? *(*at)++ : '%';
    guint64 value = 0;
    if (kind == '%') {
        g_string_append_c(out, '%');
        return;
    }
    gboolean eight = wide || strchr("fFeEgGaAsp", kind);
    *offset = eight ? (*offset + 7u) & ~7u : *offset;
    peek(warp, path, lane, args + *offset, &value, eight ? 8 : 4);
    *offset += eight ? 8 : 4;
    *to = 0;
    if (strchr("di", kind)) {
        g_strlcat(format, G_GINT64_FORMAT, sizeof format);
        g_string_append_printf(out, format, eight ? (gint64)value : (gint64)(gint32)value);
    } else if (strchr("ouxX", kind)) {
        char tail[8] = G_GINT64_MODIFIER;
        gsize length = strlen(tail);
        tail[length] = kind;
        tail[length + 1] = 0;
        g_strlcat(format, tail, sizeof format);
        g_string_append_printf(out, format, value);
    } else if (kind == 'c') {
        g_strlcat(format, "c", sizeof format);
        g_string_append_printf(out, format, (int)(value & 0xff));
    } else if (kind == 's') {
        g_autofree char *text = peek_string(warp, path, lane, value);
        g_strlcat(format, "s", sizeof format);
        g_string_append_printf(out, format, value ? text : "(null)");
    } else if (kind == 'p') {
        g_string_append_printf(out, "0x%" G_GINT64_MODIFIER "x", value);
    } else if (strchr("fFeEgGaA", kind)) {
        char tail[2] = {kind, 0}, *number = NULL;
        double real;
        memcpy(&real, &value, sizeof real);
        g_strlcat(format, tail, sizeof format);
        number = g_strdup_printf(format, real);
        g_string_append(out, number);
        g_free(number);
    } else {
        g_string_append_c(out, kind);
    }
}

static void print_lane(PtxWarp *warp, PtxPath *path, guint lane, guint64 format, guint64 args)
{
    const PtxGrid *grid = warp->cta->grid;
    g_autofree char *text = peek_string(warp, path, lane, format);
    GString *out = g_string_new(NULL);
    guint offset = 0;
    for (const char *at = text; *at && out->len < TEXT_MAX;) {
        if (*at != '%') {
            g_string_append_c(out, *at++);
            continue;
        }
        at++;
        print_one(warp, path, lane, out, &at, args, &offset);
    }
    if (grid->host->print)
        grid->host->print(grid->user, warp->cta, out->str);
    g_string_free(out, TRUE);
}

static void give_back(PtxWarp *warp, PtxPath *path, const PtxCall *call, guint lane, guint64 value)
{
    if (call->n_rets == 0 || call->rets[0].bytes == 0)
        return;
    const PtxActual *actual = &call->rets[0];
    if (actual->place != PLACE_NONE)
        ptx_lane_set(warp, actual->place, MAX(actual->bytes, 2u), lane, value);
    else
        memcpy(path->frame->param + (gsize)lane * path->frame->code->param_bytes + actual->offset, &value,
               MIN(actual->bytes, 8u));
}

static PtxStep fail_assertion(PtxWarp *warp, PtxPath *path, const PtxIns *ins, const PtxCall *call, guint lane)
{
    g_autofree char *message = peek_string(warp, path, lane, argument(warp, path, call, 0, lane));
    g_autofree char *file = peek_string(warp, path, lane, argument(warp, path, call, 1, lane));
    g_autofree char *function = peek_string(warp, path, lane, argument(warp, path, call, 3, lane));
    return ptx_fault(warp, ins, lane, PTX_FAULT_ASSERT, 0, "%s:%u: %s: assertion '%s' failed", file,
                     (guint)argument(warp, path, call, 2, lane), function, message);
}

/* ---- reports of operations on endpoints */

enum { CUDA_OK = 0, CUDA_INVALID_VALUE = 1, CUDA_NOT_SUPPORTED = 801 }; /* of the runtime's cudaError_t */

/* Four bytes to a generic address in memory of the lane or of its CTA; FALSE: it is none of these. */
static gboolean poke_u32(PtxWarp *warp, PtxPath *path, guint lane, guint64 va, guint32 value)
{
    guint64 offset;
    PtxSpace space = ptx_space_of(va, &offset);
    if (space != SPACE_LOCAL && space != SPACE_SHARED)
        return FALSE;
    guint8 *memory = ptx_lane_memory(warp, path, path->ins, space, offset, 4, lane);
    if (memory)
        memcpy(memory, &value, sizeof value);
    return TRUE;
}

/* (status, source, count) or, if `gets`, (status, source, index, info): the errors of a report are its bits, the lowest
 * first, and `info` is the bit. One source is known: 0, the byte that a wait for an mbarrier of .layout::v1 gives. */
static guint64 decode_report(PtxWarp *warp, PtxPath *path, const PtxCall *call, guint lane, gboolean gets)
{
    const guint64 status = argument(warp, path, call, 0, lane), source = argument(warp, path, call, 1, lane);
    const guint64 index = gets ? argument(warp, path, call, 2, lane) : 0;
    const guint64 to = argument(warp, path, call, gets ? 3 : 2, lane);
    guint8 report = 0;
    guint32 n = 0, found = 0;
    if (!status || !to || (guint32)source != 0 || !peek(warp, path, lane, status, &report, 1))
        return CUDA_INVALID_VALUE;
    for (guint bit = 0; bit < 8; bit++)
        if (report >> bit & 1 && n++ == (guint32)index)
            found = 1u << bit;
    if (gets && found == 0)
        return CUDA_INVALID_VALUE;
    return poke_u32(warp, path, lane, to, gets ? found : n) ? CUDA_OK : CUDA_NOT_SUPPORTED;
}

PtxStep ptx_system_call(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask, const PtxCall *call)
{
    warp->effects++;
    const PtxGrid *grid = warp->cta->grid;
    const char *name = call->function->symbol->name;
    path->ins = ins;
    for (guint l = 0; l < PTX_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        guint64 first = argument(warp, path, call, 0, l);
        if (!strcmp(name, "__assertfail"))
            return fail_assertion(warp, path, ins, call, l);
        if (g_str_has_prefix(name, "cudaFabricOp")) {
            give_back(warp, path, call, l, decode_report(warp, path, call, l, g_str_has_suffix(name, "Get")));
        } else if (!strcmp(name, "vprintf")) {
            print_lane(warp, path, l, first, argument(warp, path, call, 1, l));
            give_back(warp, path, call, l, 1);
        } else if (!strcmp(name, "malloc")) {
            give_back(warp, path, call, l, grid->host->allocate ? grid->host->allocate(grid->user, first) : 0);
        } else if (grid->host->release) {
            grid->host->release(grid->user, first);
        }
        if (grid->fault.kind != PTX_FAULT_NONE)
            return STEP_FAULT;
    }
    return STEP_NEXT;
}
