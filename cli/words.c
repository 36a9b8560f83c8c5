/* The words and numbers that options take; they are below every verb, which the options themselves are not. */
#include <string.h>

#include "cli/hints.h"
#include "cli/options.h"
#include "sim/param/nearest.h"

const char *const options_fidelities[] = {"packet", "flow", "auto", NULL};
const char *const options_calendars[] = {"wheel", "systemc", NULL};
const char *const options_engines[] = {"fast", "reference", NULL};
const char *const options_formats[] = {"text", "json", "csv", "fields", NULL};
const char *const options_settings[] = {"nccl-tuner", "vllm", "sglang", NULL};
const char *const options_data[] = {"auto", "full", "off", NULL};

G_DEFINE_QUARK(fanout - cli - error, cli_error)

gboolean options_parse_name(const char *what, const char *text, const char *const *names, int *value, GError **error)
{
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], text) == 0) {
            *value = i;
            return TRUE;
        }
    }
    const char *meant = hints_value(what, text);
    g_autofree char *hint = meant ? g_strconcat("; ", meant, NULL) : nearest_hint(text, names);
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "%s: '%s' is unknown%s", what, text, hint);
    return FALSE;
}

gboolean options_parse_u64(const char *what, const char *text, guint64 min, guint64 max, guint64 *value, GError **error)
{
    if (g_ascii_string_to_unsigned(text, 10, min, max, value, NULL))
        return TRUE;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                "%s: '%s' is not a whole number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, what, text, min,
                max);
    return FALSE;
}
