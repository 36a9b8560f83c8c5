/* See gtkw.h. The file's lines: "[key] value"; "@200" and "-text" a heading; "@24" decimal and "@28" binary, then the
 * signals so shown. */
#include "sim/report/gtkw.h"

#include <gio/gio.h>
#include <string.h>

#define GTKW_MARK "[*] Fanout wrote this beside the waveform; saved by GTKWave it is yours and stays.\n"

typedef struct {
    char *unit, *name; /* "SystemC.gpu0.link3.up", "state[1:0]" */
    char *first;       /* its first value */
    gboolean changed;
} Signal;

struct Gtkw {
    char *vcd, *path;
    GPtrArray *scopes, *signals; /* char, Signal */
    GHashTable *of_code;         /* the waveform's short names; Signal */
    gboolean in_body;
    guint64 at, last; /* times: of the line, and of the last change */
};

static void signal_free(gpointer data)
{
    Signal *signal = data;
    g_free(signal->unit);
    g_free(signal->name);
    g_free(signal->first);
    g_free(signal);
}

Gtkw *gtkw_new(const char *path)
{
    Gtkw *gtkw = g_new0(Gtkw, 1);
    gtkw->vcd = g_strdup(path);
    g_autofree char *stem = g_str_has_suffix(path, ".vcd") ? g_strndup(path, strlen(path) - strlen(".vcd"))
                                                           : g_strdup(path);
    gtkw->path = g_strconcat(stem, ".gtkw", NULL);
    gtkw->scopes = g_ptr_array_new_with_free_func(g_free);
    gtkw->signals = g_ptr_array_new_with_free_func(signal_free);
    gtkw->of_code = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return gtkw;
}

/* "$var wire 64 aaabs requests [63:0] $end", "$scope module gpu0 $end", "$upscope $end". */
static void gtkw_note_head(Gtkw *gtkw, char **words, guint n)
{
    if (strcmp(words[0], "$scope") == 0 && n > 2) {
        g_ptr_array_add(gtkw->scopes, g_strdup(words[2]));
    } else if (strcmp(words[0], "$upscope") == 0 && gtkw->scopes->len) {
        g_ptr_array_remove_index(gtkw->scopes, gtkw->scopes->len - 1);
    } else if (strcmp(words[0], "$var") == 0 && n > 5) {
        Signal *signal = g_new0(Signal, 1);
        GString *unit = g_string_new(NULL);
        for (guint i = 0; i < gtkw->scopes->len; i++)
            g_string_append_printf(unit, "%s%s", i ? "." : "", (char *)gtkw->scopes->pdata[i]);
        signal->unit = g_string_free(unit, FALSE);
        signal->name = g_strconcat(words[4], words[5][0] == '[' ? words[5] : "", NULL);
        g_ptr_array_add(gtkw->signals, signal);
        g_hash_table_insert(gtkw->of_code, g_strdup(words[3]), signal);
    } else if (strcmp(words[0], "$enddefinitions") == 0) {
        gtkw->in_body = TRUE;
    }
}

/* "b101 aaabs", "1aaabs", "#500". */
static void gtkw_note_value(Gtkw *gtkw, char **words, guint n)
{
    const char *word = words[0];
    if (word[0] == '#')
        gtkw->at = g_ascii_strtoull(word + 1, NULL, 10);
    if (!strchr("01xzb", word[0]) || (word[0] == 'b' && n < 2))
        return;
    Signal *signal = g_hash_table_lookup(gtkw->of_code, word[0] == 'b' ? words[1] : word + 1);
    g_autofree char *value = word[0] == 'b' ? g_strdup(word + 1) : g_strndup(word, 1);
    if (!signal)
        return;
    if (!signal->first) {
        signal->first = g_steal_pointer(&value);
    } else if (strcmp(signal->first, value) != 0) {
        signal->changed = TRUE;
        gtkw->last = gtkw->at;
    }
}

void gtkw_note(Gtkw *gtkw, const char *line)
{
    g_auto(GStrv) split = g_strsplit_set(line, " \t\n", -1);
    char *words[8];
    guint n = 0;
    for (char **word = split; *word && n < G_N_ELEMENTS(words); word++)
        if (**word)
            words[n++] = *word;
    if (n && gtkw->in_body)
        gtkw_note_value(gtkw, words, n);
    else if (n)
        gtkw_note_head(gtkw, words, n);
}

/* Where GTKWave's zoom shows the whole: at -z a pixel is 2^z / 200 units of time, and there are some 600 pixels. */
static int gtkw_zoom(guint64 last)
{
    int zoom = 0;
    while (zoom < 62 && (last >> zoom) > 3)
        zoom++;
    return zoom;
}

static GString *gtkw_text(const Gtkw *gtkw)
{
    GString *text = g_string_new(GTKW_MARK);
    const char *unit = NULL;
    guint shown = 0;
    g_autofree char *name = g_path_get_basename(gtkw->vcd);
    g_string_append_printf(text,
                           "[dumpfile] \"%s\"\n[timestart] 0\n[size] 1200 700\n[signals_width] 320\n"
                           "*-%d.000000 0\n[sst_expanded] 1\n",
                           name, gtkw_zoom(gtkw->last));
    for (guint i = 0; i < gtkw->signals->len && shown < GTKW_SIGNALS; i++) {
        const Signal *signal = gtkw->signals->pdata[i];
        if (!signal->changed)
            continue;
        if (g_strcmp0(unit, signal->unit) != 0) {
            const char *dot = strchr(signal->unit, '.'); /* behind SystemC's own scope */
            g_string_append_printf(text, "@200\n-%s\n", dot ? dot + 1 : signal->unit);
        }
        unit = signal->unit;
        g_string_append_printf(text, "%s\n%s%s%s\n", strchr(signal->name, '[') ? "@24" : "@28", signal->unit,
                               *signal->unit ? "." : "", signal->name);
        shown++;
    }
    return shown ? text : g_string_truncate(text, 0);
}

/* Whether what stands there may be replaced. */
static gboolean gtkw_is_ours(const char *path)
{
    g_autofree char *old = NULL;
    return !g_file_test(path, G_FILE_TEST_EXISTS) ||
           (g_file_get_contents(path, &old, NULL, NULL) && g_str_has_prefix(old, GTKW_MARK));
}

gboolean gtkw_close(Gtkw *gtkw)
{
    gboolean good = TRUE;
    if (g_file_test(gtkw->vcd, G_FILE_TEST_IS_REGULAR) && gtkw_is_ours(gtkw->path)) {
        GString *text = gtkw_text(gtkw);
        good = text->len == 0 || g_file_set_contents(gtkw->path, text->str, (gssize)text->len, NULL);
        g_string_free(text, TRUE);
    }
    g_ptr_array_free(gtkw->scopes, TRUE);
    g_ptr_array_free(gtkw->signals, TRUE);
    g_hash_table_destroy(gtkw->of_code);
    g_free(gtkw->vcd);
    g_free(gtkw->path);
    g_free(gtkw);
    return good;
}
