/* Diagnostics: what a program did that is undefined, or did with something dead. See process.h. */
#include "api/cuda/context/process.h"

static void log_diagnostic(const Call *call, const Diagnostic *d)
{
    g_autoptr(GString) line = g_string_new(NULL);

    g_string_append_printf(line, "%s: %s", d->call, d->text);
    if (d->handle != 0)
        g_string_append_printf(line, "; handle 0x%" G_GINT64_MODIFIER "x", d->handle);
    if (d->device >= 0)
        g_string_append_printf(line, "; device %d", d->device);
    if (d->address != 0)
        g_string_append_printf(line, "; address 0x%" G_GINT64_MODIFIER "x", d->address);
    log_line(call->cuda->log, LOG_CUDA, LOG_WARN, 0, "%s", line->str);
}

void cuda_diagnose(Call *call, guint64 handle, int device, guint64 address, const char *format, ...)
{
    Diagnostic d = {call->name, NULL, handle, address != 0 ? address : call->address,
                    device >= 0 ? device : call->device};
    va_list args;

    va_start(args, format);
    d.text = g_strdup_vprintf(format, args);
    va_end(args);
    log_diagnostic(call, &d);
    call->cuda->n_diagnostics++;
    if (call->cuda->diagnostics->len < CUDA_DIAGNOSTICS_MAX)
        g_array_append_val(call->cuda->diagnostics, d);
    else
        g_free(d.text);
}

void *cuda_object(Call *call, HandleKind kind, guint64 handle, const char *dead, const char *none)
{
    HandleState state;
    void *object = handle_get(call->cuda->handles, kind, handle, &state);

    if (!object)
        cuda_diagnose(call, handle, -1, 0, "%s", state == HANDLE_STALE ? dead : none);
    return object;
}
