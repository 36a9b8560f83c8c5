#include "sim/report/vcd.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/kernel.h"
#include "sim/report/gtkw.h"

struct Vcd {
    KernelVcd *kernel; /* NULL: nothing traced yet */
    char *path;
    char *raw_path;
};

Vcd *vcd_open(const char *path, GError **error)
{
    FILE *probe = g_fopen(path, "w");

    if (!probe) {
        int code = errno;
        g_set_error(error, G_IO_ERROR, g_io_error_from_errno(code), "cannot write waveform '%s': %s", path,
                    g_strerror(code));
        return NULL;
    }
    fclose(probe);
    Vcd *vcd = g_new0(Vcd, 1);
    vcd->path = g_strdup(path);
    vcd->raw_path = g_strdup_printf("%s.raw.vcd", path);
    return vcd;
}

void vcd_trace(Vcd *vcd, const char *name, const void *value, int bytes, int bits)
{
    if (!vcd->kernel) { /* not before: SystemC complains about a file without traces */
        char *stem = g_strdup_printf("%s.raw", vcd->path);
        vcd->kernel = kernel_vcd_open(stem);
        g_free(stem);
    }
    kernel_vcd_trace(vcd->kernel, name, value, bytes, bits);
}

/* SystemC opens a section by "$date" on a line of its own and closes it by "$end". */
static void copy_clean(FILE *raw, FILE *clean, SimTime base_ps, Gtkw *gtkw)
{
    char *line = NULL;
    size_t size = 0;
    gboolean skipping = FALSE;

    fprintf(clean, "$version\n fanout\n$end\n");
    while (getline(&line, &size, raw) >= 0) {
        if (g_str_has_prefix(line, "$date") || g_str_has_prefix(line, "$version") || g_str_has_prefix(line, "$comment"))
            skipping = TRUE;
        if (line[0] == '#')
            fprintf(clean, "#%" G_GUINT64_FORMAT "\n", (guint64)g_ascii_strtoull(line + 1, NULL, 10) - base_ps);
        else if (!skipping)
            fputs(line, clean);
        gtkw_note(gtkw, line);
        if (skipping && g_str_has_prefix(line, "$end"))
            skipping = FALSE;
    }
    free(line);
}

gboolean vcd_close(Vcd *vcd, SimTime base_ps)
{
    if (vcd->kernel)
        kernel_vcd_close(vcd->kernel);
    FILE *raw = g_fopen(vcd->raw_path, "r");
    FILE *clean = g_fopen(vcd->path, "w");
    Gtkw *gtkw = gtkw_new(vcd->path);
    if (raw && clean)
        copy_clean(raw, clean, base_ps, gtkw);
    gboolean fine = clean && !ferror(clean) && (!vcd->kernel || (raw && !ferror(raw)));
    if (clean && fclose(clean) != 0)
        fine = FALSE;
    if (raw)
        fclose(raw);
    if (!fine)
        g_printerr("fanout: cannot write waveform '%s': %s\n", vcd->path, g_strerror(errno));
    fine &= gtkw_close(gtkw);
    g_remove(vcd->raw_path);
    g_free(vcd->raw_path);
    g_free(vcd->path);
    g_free(vcd);
    return fine;
}
