#include "device/kernel/trace.h"

#include <string.h>

static gboolean read_number(const char **at, guint64 most, guint64 *value)
{
    char *end;
    if (!g_ascii_isdigit(**at))
        return FALSE;
    *value = g_ascii_strtoull(*at, &end, 10);
    *at = end;
    return *value <= most;
}

static gboolean read_cta(KernelTrace *trace, const char *text)
{
    const char *at = text;
    guint64 index[3] = {0};
    for (guint i = 0; i < 3; i++) {
        if (!read_number(&at, i == 0 ? G_MAXUINT64 / 2 : G_MAXUINT16, &index[i]))
            return FALSE;
        trace->cta[i] = (guint32)MIN(index[i], G_MAXUINT32);
        if (*at == '\0') {
            trace->by_number = i == 0;
            trace->number = index[0];
            return i != 1;
        }
        if (*at++ != ',')
            return FALSE;
    }
    return FALSE;
}

KernelTrace *kernel_trace_new(const char *text, GError **error)
{
    const char *last = strrchr(text, ':');
    const char *middle = last ? g_strrstr_len(text, last - text, ":") : NULL;
    KernelTrace *trace = g_new0(KernelTrace, 1);
    g_autofree char *cta = middle ? g_strndup(middle + 1, (gsize)(last - middle - 1)) : g_strdup("");
    const char *at = last ? last + 1 : "";
    guint64 warp = 0;
    if (middle && middle > text && read_cta(trace, cta) && read_number(&at, PTX_WARPS_MAX - 1, &warp) && !*at) {
        trace->kernel = g_strndup(text, (gsize)(middle - text));
        trace->warp = (guint32)warp;
        return trace;
    }
    kernel_trace_free(trace);
    g_set_error(error, KERNEL_ERROR, KERNEL_ERROR_SHAPE,
                "'%s' names no warp: write KERNEL:CTA:WARP, as in scale:0:3 or scale:1,0,0:3; warps are 0 to %u", text,
                PTX_WARPS_MAX - 1);
    return NULL;
}

void kernel_trace_free(KernelTrace *trace)
{
    if (!trace)
        return;
    g_free(trace->kernel);
    g_free(trace);
}

gboolean kernel_trace_wants(const KernelTrace *trace, const char *kernel)
{
    g_autofree char *part = g_strdup_printf("%" G_GSIZE_FORMAT "%s", strlen(trace->kernel), trace->kernel);
    if (g_str_equal(trace->kernel, kernel) || g_str_equal(trace->kernel, "*"))
        return TRUE;
    return g_str_has_prefix(kernel, "_Z") && strstr(kernel, part);
}

gboolean kernel_trace_is(const KernelTrace *trace, const PtxCta *cta, guint32 warp)
{
    const guint32 *dim = cta->grid->dim, *index = cta->index;
    if (warp != trace->warp)
        return FALSE;
    if (trace->by_number)
        return trace->number == index[0] + (guint64)dim[0] * (index[1] + (guint64)dim[1] * index[2]);
    return !memcmp(trace->cta, index, sizeof trace->cta);
}
