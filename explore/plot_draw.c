/* A run of gnuplot; see plot_script.h. */
#include <gio/gio.h>
#include <string.h>

#include "explore/plot_script.h"
#include "explore/store.h"

static void draw_refuse(GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(error, STORE_ERROR, STORE_ERROR_OTHER, what);
}

/* gnuplot's complaint: the line that says what is wrong follows a copy of the command and an arrow. */
static char *draw_complaint(GBytes *err)
{
    gsize n;
    const char *bytes = g_bytes_get_data(err, &n);
    g_autofree char *text = g_strndup(bytes ? bytes : "", n);
    char **lines = g_strsplit(text, "\n", -1), *last = NULL;
    for (char **line = lines; *line; line++)
        if (*g_strstrip(*line))
            last = *line;
    last = g_strdup(last ? last : "it says nothing");
    g_strfreev(lines);
    return last;
}

GBytes *plot_draw(const Plot *plot, PlotFormat format, GError **error)
{
    g_autofree char *program = g_find_program_in_path("gnuplot"), *script = plot_script(plot, format);
    if (!program) {
        draw_refuse(error, "gnuplot draws the pictures and is not installed here: on Debian or Ubuntu, "
                    "'apt-get install gnuplot-nox'");
        return NULL;
    }
    g_autoptr(GError) why = NULL;
    g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new(
        G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
    g_subprocess_launcher_setenv(launcher, "LC_ALL", "C.UTF-8", TRUE); /* a point in numbers, in every country */
    g_autoptr(GSubprocess) run = g_subprocess_launcher_spawn(launcher, &why, program, "--default-settings", "-", NULL);
    g_autoptr(GBytes) in = g_bytes_new(script, strlen(script)), out = NULL, err = NULL;
    if (!run || !g_subprocess_communicate(run, in, NULL, &out, &err, &why)) {
        draw_refuse(error, "gnuplot cannot be run: %s", why->message);
        return NULL;
    }
    if (!g_subprocess_get_successful(run) || g_bytes_get_size(out) == 0) {
        g_autofree char *said = draw_complaint(err);
        draw_refuse(error, "gnuplot drew nothing: %s", said);
        return NULL;
    }
    return g_steal_pointer(&out);
}
