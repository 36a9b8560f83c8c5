/* Tables of parameters: finding rows, single assignments, the dump. */
#include "sim/param/param.h"

#include <string.h>

#include "sim/param/internal.h"
#include "sim/param/nearest.h"

GQuark param_error_quark(void) { return g_quark_from_static_string("fanout-param"); }

ParamSet *param_set_new(void)
{
    ParamSet *set = g_new0(ParamSet, 1);
    set->slots = g_array_new(FALSE, FALSE, sizeof(ParamSlot));
    set->others = g_ptr_array_new_with_free_func(g_free);
    set->owned = g_ptr_array_new_with_free_func(g_free);
    return set;
}

void param_set_free(ParamSet *set)
{
    if (!set)
        return;
    for (guint i = 0; i < set->slots->len; i++) {
        ParamSlot *slot = param_slot(set, i);
        if (slot->row->type == PARAM_STRING_T && slot->origin)
            g_clear_pointer((char **)G_STRUCT_MEMBER_P(slot->spec, slot->row->offset), g_free);
        g_free(slot->origin);
    }
    g_array_unref(set->slots);
    g_ptr_array_unref(set->others);
    g_ptr_array_unref(set->owned);
    g_free(set);
}

void param_add(ParamSet *set, const char *section, const ParamRow *rows, void *spec)
{
    for (const ParamRow *row = rows; row->name != NULL; row++) {
        ParamSlot slot = {.section = section, .row = row, .spec = spec};
        g_array_append_val(set->slots, slot);
    }
}

void param_own(ParamSet *set, void *spec) { g_ptr_array_add(set->owned, spec); }

void param_allow(ParamSet *set, const char *section, const char *key)
{
    if (!param_is_allowed(set, section, key))
        g_ptr_array_add(set->others, g_strdup_printf("%s.%s", section, key));
}

/* ---- finding rows ---- */

ParamSlot *param_find(ParamSet *set, const char *section, const char *key)
{
    for (guint i = 0; i < set->slots->len; i++) {
        ParamSlot *slot = param_slot(set, i);
        if (strcmp(slot->section, section) == 0 && strcmp(slot->row->name, key) == 0)
            return slot;
    }
    return NULL;
}

gboolean param_is_allowed(const ParamSet *set, const char *section, const char *key)
{
    g_autofree char *full = g_strdup_printf("%s.%s", section, key), *any = g_strdup_printf("%s.*", section);
    return g_ptr_array_find_with_equal_func(set->others, full, g_str_equal, NULL) ||
           g_ptr_array_find_with_equal_func(set->others, any, g_str_equal, NULL);
}

/* The sections (section NULL) or the keys of one section; NULL-terminated, g_free() the array. */
static const char **known_names(const ParamSet *set, const char *section)
{
    GPtrArray *names = g_ptr_array_new();

    for (guint i = 0; i < set->slots->len; i++) {
        const ParamSlot *slot = param_slot(set, i);
        const char *name = !section ? slot->section : slot->row->name;
        if ((!section || strcmp(slot->section, section) == 0) &&
            !g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
            g_ptr_array_add(names, (gpointer)name);
    }
    for (guint i = 0; section && i < set->others->len; i++) { /* "system.inherits": its key, unless any is allowed */
        const char *other = g_ptr_array_index(set->others, i), *dot = strrchr(other, '.');
        if (dot && strcmp(dot, ".*") != 0 && (gsize)(dot - other) == strlen(section) &&
            g_str_has_prefix(other, section))
            g_ptr_array_add(names, (gpointer)(dot + 1));
    }
    g_ptr_array_add(names, NULL);
    return (const char **)g_ptr_array_free(names, FALSE);
}

gboolean param_is_section(const ParamSet *set, const char *section)
{
    const char **names = known_names(set, NULL);
    gboolean found = g_strv_contains(names, section);
    char *prefix = g_strdup_printf("%s.", section);

    for (guint i = 0; i < set->others->len; i++)
        found = found || g_str_has_prefix(g_ptr_array_index(set->others, i), prefix);
    g_free(prefix);
    g_free(names);
    return found;
}

/* section NULL: name is an unknown section; else an unknown key of it. */
void param_set_unknown(const ParamSet *set, const char *where, const char *section, const char *name, GError **error)
{
    const char **names = known_names(set, section);
    char *hint = nearest_hint(name, names);

    if (!section) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_UNKNOWN, "%s: unknown group [%s]%s", where, name, hint);
    } else {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_UNKNOWN, "%s: unknown key '%s' in [%s]%s", where, name, section,
                    hint);
    }
    g_free(hint);
    g_free(names);
}

/* ---- single assignments ---- */

/* "link.vcs=2"; a section's name may hold dots itself. */
gboolean param_set_text(ParamSet *set, const char *assignment, GError **error)
{
    const char *equals = strchr(assignment, '=');
    const char *dot = equals ? g_strrstr_len(assignment, equals - assignment, ".") : NULL;

    if (!g_utf8_validate(assignment, -1, NULL)) {
        char *valid = g_utf8_make_valid(assignment, -1);
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_SYNTAX, "--set %s: not UTF-8 text", valid);
        g_free(valid);
        return FALSE;
    }
    if (!dot || dot == assignment || dot + 1 == equals) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_SYNTAX, "--set %s: write section.key=value", assignment);
        return FALSE;
    }
    char *section = g_strndup(assignment, (gsize)(dot - assignment));
    char *key = g_strndup(dot + 1, (gsize)(equals - dot - 1));
    char *value = g_strdup(equals + 1);
    char *where = g_strdup_printf("--set %s", assignment);
    char *wrong = NULL;
    ParamSlot *slot = param_find(set, g_strstrip(section), g_strstrip(key));

    if (!slot && !param_is_section(set, section)) {
        param_set_unknown(set, where, NULL, section, error);
    } else if (!slot) {
        param_set_unknown(set, where, section, key, error);
    } else if (!param_value_parse(slot->row, slot->spec, g_strstrip(value), &wrong)) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE, "%s: %s", where, wrong);
        slot = NULL;
    } else {
        g_free(slot->origin);
        slot->origin = g_strdup("--set");
    }
    g_free(wrong);
    g_free(where);
    g_free(value);
    g_free(key);
    g_free(section);
    return slot != NULL;
}

const ParamRow *param_row(const ParamSet *set, const char *name, GError **error)
{
    const char *dot = strrchr(name, '.');
    char *section = g_strndup(name, dot ? (gsize)(dot - name) : strlen(name));
    const char *key = dot ? dot + 1 : "";
    const ParamRow *row = NULL;

    for (guint i = 0; i < set->slots->len && !row; i++) {
        const ParamSlot *slot = param_slot(set, i);
        if (strcmp(slot->section, section) == 0 && strcmp(slot->row->name, key) == 0)
            row = slot->row;
    }
    if (!row) {
        char *where = g_strdup_printf("'%s'", name);
        param_set_unknown(set, where, param_is_section(set, section) ? section : NULL,
                          param_is_section(set, section) ? key : section, error);
        g_free(where);
    }
    g_free(section);
    return row;
}

gboolean param_check_complete(ParamSet *set, const char *name, GError **error)
{
    enum { NAMED = 3 };
    GString *missing = g_string_new(NULL);
    guint n = 0;

    for (guint i = 0; i < set->slots->len; i++) {
        const ParamSlot *slot = param_slot(set, i);
        if (!slot->origin && n++ < NAMED)
            g_string_append_printf(missing, "%s[%s] %s", missing->len > 0 ? ", " : "", slot->section, slot->row->name);
    }
    if (n > NAMED)
        g_string_append_printf(missing, " and %u more", n - NAMED);
    if (n > 0)
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_MISSING, "%s: no value for %s", name, missing->str);
    g_string_free(missing, TRUE);
    return n == 0;
}

/* ---- the dump ---- */

static void dump_row_clear(gpointer row) { g_free(((ParamDumpRow *)row)->value); }

GArray *param_dump(const ParamSet *set)
{
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(ParamDumpRow));

    g_array_set_clear_func(rows, dump_row_clear);
    for (guint i = 0; i < set->slots->len; i++) {
        const ParamSlot *slot = param_slot(set, i);
        ParamDumpRow row = {.section = slot->section, .row = slot->row, .origin = "unset"};
        if (slot->origin) {
            row.value = param_value_format(slot->row, slot->spec);
            row.origin = slot->origin;
        } else {
            row.value = g_strdup("");
        }
        g_array_append_val(rows, row);
    }
    return rows;
}

void param_dump_free(GArray *rows) { g_array_unref(rows); }
