#include "sim/log.h"

#include <string.h>

#include "sim/param/nearest.h"

/* In the order of the enums. */
static const char *const category_names[] = {"sim",  "gpu",   "link", "switch", "mc", "cuda",
                                             "coll", "trace", "cli",  "all",    NULL};
static const char *const level_names[] = {"error", "warn", "info", "debug", "spew", NULL};
G_STATIC_ASSERT(G_N_ELEMENTS(category_names) == LOG_CATEGORIES + 2);
G_STATIC_ASSERT(G_N_ELEMENTS(level_names) == LOG_SPEW + 2);

struct Log {
    LogLevel level[LOG_CATEGORIES];
};

GQuark log_error_quark(void) { return g_quark_from_static_string("fanout-log"); }

Log *log_new(void)
{
    Log *log = g_new(Log, 1);
    for (int i = 0; i < LOG_CATEGORIES; i++)
        log->level[i] = LOG_WARN;
    return log;
}

void log_free(Log *log) { g_free(log); }

static int find_name(const char *what, const char *name, const char *const *names, GError **error)
{
    for (int i = 0; names[i] != NULL; i++)
        if (g_ascii_strcasecmp(name, names[i]) == 0)
            return i;
    char *hint = nearest_hint(name, names);
    g_set_error(error, LOG_PARSE_ERROR, 0, "log: unknown %s '%s'%s", what, name, hint);
    g_free(hint);
    return -1;
}

/* "link:debug", or "debug" for every category. */
static gboolean parse_item(Log *log, const char *item, GError **error)
{
    const char *colon = strchr(item, ':');
    int category = LOG_CATEGORIES;

    if (colon) {
        char *name = g_strndup(item, (gsize)(colon - item));
        category = find_name("category", g_strstrip(name), category_names, error);
        g_free(name);
    }
    char *name = g_strdup(colon ? colon + 1 : item);
    int level = category < 0 ? -1 : find_name("level", g_strstrip(name), level_names, error);
    g_free(name);
    if (level < 0)
        return FALSE;
    for (int i = 0; i < LOG_CATEGORIES; i++)
        if (category == LOG_CATEGORIES || category == i)
            log->level[i] = (LogLevel)level;
    return TRUE;
}

gboolean log_parse(Log *log, const char *spec, GError **error)
{
    char **items = g_strsplit(spec, ",", -1);
    Log parsed = *log;
    gboolean fine = TRUE;

    for (char **item = items; *item != NULL && fine; item++)
        fine = **item == '\0' || parse_item(&parsed, *item, error);
    if (fine)
        *log = parsed;
    g_strfreev(items);
    return fine;
}

gboolean log_on(const Log *log, LogCategory category, LogLevel level) { return level <= log->level[category]; }

void log_line(Log *log, LogCategory category, LogLevel level, SimTime now_ps, const char *format, ...)
{
    if (!log_on(log, category, level))
        return;
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_printerr("fanout: %" G_GUINT64_FORMAT ".%03u ns: %s: %s\n", now_ps / PS_PER_NS, (unsigned)(now_ps % PS_PER_NS),
               category_names[category], text);
    g_free(text);
}
