/* Of a command line that GOption refuses: what would be right, behind its own words. */
#include <string.h>

#include "cli/hints.h"
#include "cli/options.h"
#include "sim/param/nearest.h"

void options_tell_more(GError *error, const char *between, const char *more)
{
    char *message = g_strconcat(error->message, between, more, NULL);

    g_free(error->message);
    error->message = message;
}

static void options_tell_help(GError *error, const Verb *verb)
{
    g_autofree char *help = g_strdup_printf("fanout %s --help lists its options; usage: fanout %s %s", verb->name,
                                            verb->name, verb->usage);
    options_tell_more(error, "; ", help);
}

/* "Cannot parse integer value “4,8” for -n", which are GLib's words: also what would be right. */
static void options_tell_number(GError *error, const Verb *verb)
{
    static const char open[] = "\u201c", close[] = "\u201d";
    const char *from = strstr(error->message, open), *to = from ? strstr(from, close) : NULL;
    const char *option = strrchr(error->message, ' ');

    if (!to)
        return;
    g_autofree char *value = g_strndup(from + strlen(open), (gsize)(to - from) - strlen(open));
    g_autofree char *right = hints_number(verb->name, option + 1, value);
    options_tell_more(error, "; ", right);
}

/* "Missing argument for --html": also of which kind it is. FALSE: none of these options is meant. */
static gboolean options_tell_argument(GError *error, const GOptionEntry *entries)
{
    const char *option = strrchr(error->message, ' ') + 1;

    for (const GOptionEntry *entry = entries; entry->long_name; entry++) {
        const gboolean is_short = option[1] != '-' && option[1] == entry->short_name && !option[2];
        if (!entry->arg_description || !(is_short || (option[1] == '-' && strcmp(option + 2, entry->long_name) == 0)))
            continue;
        g_autofree char *right = g_strdup_printf("%s %s is right", option, entry->arg_description);
        options_tell_more(error, "; ", right);
        return TRUE;
    }
    return FALSE;
}

void options_add_hint(GError **error, const Verb *verb, const GOptionEntry *own, const GOptionEntry *common, int argc,
                      char **argv)
{
    g_autofree char *glued = hints_glued(argc, argv);
    if (error && *error && glued) {
        g_autofree char *apart = g_strdup_printf("write '%s', with a space", glued);
        options_tell_more(*error, "; ", apart);
        return;
    }
    if (error && *error && strstr((*error)->message, "Cannot parse double"))
        options_tell_more(*error, "; ", "a number is right, as 0.8");
    if (error && *error && strstr((*error)->message, "Cannot parse integer"))
        options_tell_number(*error, verb);
    if (error && *error && strstr((*error)->message, "Missing argument for -") && !options_tell_argument(*error, own))
        options_tell_argument(*error, common);
    if (!error || !g_error_matches(*error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION))
        return;
    const char *option = strrchr((*error)->message, ' '), *name = strstr((*error)->message, "--");
    g_autofree char *hint = option ? hints_option(verb->name, option + 1) : NULL;
    if (hint) {
        options_tell_more(*error, ": ", hint);
        return;
    }
    if (!name) {
        options_tell_help(*error, verb);
        return;
    }
    GPtrArray *names = g_ptr_array_new();
    for (const GOptionEntry *entry = own; entry->long_name; entry++)
        g_ptr_array_add(names, (gpointer)entry->long_name);
    for (const GOptionEntry *entry = common; entry->long_name; entry++)
        g_ptr_array_add(names, (gpointer)entry->long_name);
    g_ptr_array_add(names, NULL);
    const char *near = nearest_name(name + 2, (const char *const *)names->pdata);
    g_autofree char *parameter = near ? NULL : hints_parameter(name + 2);
    if (near) {
        g_autofree char *option_near = g_strdup_printf("did you mean --%s?", near);
        options_tell_more(*error, "; ", option_near);
    } else if (parameter) {
        options_tell_more(*error, "; a parameter is --set SECTION.KEY=VALUE, of ", parameter);
    } else {
        options_tell_help(*error, verb);
    }
    g_ptr_array_free(names, TRUE);
}
