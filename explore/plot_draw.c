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

/* A picture for white paper that follows its reader into the dark: gnuplot's colours, which stand in the elements'
 * attributes, have others there. On a telephone its words are larger. A reader that knows no such style sees the white
 * one. */
static const char draw_style[] = "<style>\n"
                                 "@media (prefers-color-scheme: dark) {\n"
                                 ".plotted > g > rect[fill=\"#ffffff\"] { fill: #16181b; }\n"
                                 ".plotted [fill=\"black\"] { fill: #e4e4e4; }\n"
                                 ".plotted [fill=\"rgb(85,85,85)\"] { fill: #b4b4b4; }\n"
                                 ".plotted [stroke=\"black\"] { stroke: #e4e4e4; }\n"
                                 ".plotted [color=\"black\"] { color: #e4e4e4; }\n"
                                 ".plotted [stroke=\"rgb( 85,  85,  85)\"] { stroke: #999; }\n"
                                 ".plotted [stroke=\"rgb(221, 221, 221)\"] { stroke: #33373c; }\n"
                                 ".plotted [stroke=\"rgb(  0, 114, 178)\"] { stroke: #5aa9e6; }\n"
                                 ".plotted [color=\"rgb(  0, 114, 178)\"] { color: #5aa9e6; }\n"
                                 ".plotted [stroke=\"rgb(123,  79, 163)\"] { stroke: #b58ae0; }\n"
                                 ".plotted [color=\"rgb(123,  79, 163)\"] { color: #b58ae0; }\n"
                                 "}\n"
                                 "@media (max-width: 520px) {\n"
                                 ".plotted text { font-size: 19px !important; }\n"
                                 ".plotted [font-size=\"10.00\"][text-anchor=\"end\"] { display: none; }\n" /* keys */
                                 "}\n"
                                 "</style>\n";

static GBytes *draw_theme(GBytes *svg)
{
    gsize n;
    const char *bytes = g_bytes_get_data(svg, &n);
    const char *element = g_strstr_len(bytes, (gssize)n, "<svg"), *end = element ? strchr(element, '>') : NULL;
    if (!end)
        return g_bytes_ref(svg);
    GString *text = g_string_new_len(bytes, element + 4 - bytes);
    g_string_append(text, " class=\"plotted\"");
    g_string_append_len(text, element + 4, end + 1 - element - 4);
    g_string_append_c(text, '\n');
    g_string_append(text, draw_style);
    g_string_append_len(text, end + 1, (gssize)n - (end + 1 - bytes));
    return g_string_free_to_bytes(text);
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
    return format == PLOT_SVG ? draw_theme(out) : g_steal_pointer(&out);
}
