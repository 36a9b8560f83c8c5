/* Parameters: const tables of rows. A row names a field of a spec struct, its unit, its bounds and
 * what it means; presets, --config, --set, --help and the effective-parameter dump walk the rows.
 *
 *     static const ParamRow link_rows[] = {
 *         PARAM_U64(LinkSpec, rate_MBps, "MB/s", 1, 1000000, "flits of one direction"),
 *         PARAM_END,
 *     };
 *     param_add(set, "link", link_rows, &spec);
 *
 * Defaults live in the presets only: a preset that leaves a row without value is an error. */
#ifndef SIM_PARAM_PARAM_H
#define SIM_PARAM_PARAM_H

#include <glib.h>

typedef enum { PARAM_U64_T, PARAM_BOOL_T, PARAM_ENUM_T, PARAM_STRING_T, PARAM_LIST_T } ParamType;

#define PARAM_LIST_MAX 64
typedef struct {
    guint32 n;
    guint32 value[PARAM_LIST_MAX];
} ParamList; /* "4,5,5,4" */

typedef struct {
    const char *name; /* with its unit last: latency_ps */
    ParamType type;
    gsize offset; /* in the spec struct: guint64, gboolean, int (enum), char *, ParamList */
    const char *unit;
    guint64 min, max;         /* of a U64 or of each element of a list */
    const char *const *enums; /* NULL-terminated names of an ENUM's values 0, 1, ... */
    const char *text;         /* one line for people */
} ParamRow;

#define PARAM_FIELD_(T, f, type_) (G_STRUCT_OFFSET(T, f) + 0 * sizeof(((T *)0)->f == *(type_ *)0))
#define PARAM_U64(T, f, unit, min, max, text)                                                                          \
    {                                                                                                                  \
#f, PARAM_U64_T, PARAM_FIELD_(T, f, guint64), unit, min, max, NULL, text                                       \
    }
#define PARAM_BOOL(T, f, text)                                                                                         \
    {                                                                                                                  \
#f, PARAM_BOOL_T, G_STRUCT_OFFSET(T, f), "", 0, 1, NULL, text                                                  \
    }
#define PARAM_ENUM(T, f, names, text)                                                                                  \
    {                                                                                                                  \
#f, PARAM_ENUM_T, G_STRUCT_OFFSET(T, f), "", 0, 0, names, text                                                 \
    }
#define PARAM_STRING(T, f, text)                                                                                       \
    {                                                                                                                  \
#f, PARAM_STRING_T, G_STRUCT_OFFSET(T, f), "", 0, 0, NULL, text                                                \
    }
#define PARAM_LIST(T, f, unit, min, max, text)                                                                         \
    {                                                                                                                  \
#f, PARAM_LIST_T, G_STRUCT_OFFSET(T, f), unit, min, max, NULL, text                                            \
    }
#define PARAM_END                                                                                                      \
    {                                                                                                                  \
        NULL, 0, 0, NULL, 0, 0, NULL, NULL                                                                             \
    }

typedef struct ParamSet ParamSet;

ParamSet *param_set_new(void);
void param_set_free(ParamSet *set); /* frees the strings it stored in specs */
/* rows and spec must outlive the set; section is the INI group ("link"). */
void param_add(ParamSet *set, const char *section, const ParamRow *rows, void *spec);
void param_own(ParamSet *set, void *spec); /* frees it with the set, by g_free() */

/* Where a value comes from, shown by `fanout systems NAME`: the "# source: ...", "# calibrated:
 * ..." or "# assumed ..." comment on the line above the key or behind its value; "changed in FILE:LINE,
 * NAME has VALUE" (param_load_layer); or "--set", "--config FILE". */
typedef struct {
    const char *section;
    const ParamRow *row;
    char *value;        /* as text in the row's unit, "" when unset */
    const char *origin; /* the set's; "unset" when there is no value yet */
} ParamDumpRow;

/* Loads INI text. `name` is the file's name for messages. Unknown groups or keys, doubled keys and
 * values out of bounds are errors naming file, line, group, key and what would be right (with the
 * nearest known key as a guess); rows before the faulty line keep what they were given.
 * need_origin: every key needs an origin comment (presets). Units may be written behind numbers
 * where they are of the row's kind: ps, ns, us, ms, s; B, K, M, G, T or KiB ... (powers of two);
 * MB/s, GB/s, TB/s; Hz ... GHz. The value must come out whole in the row's unit. */
gboolean param_load_text(ParamSet *set, const char *name, const char *text, gboolean need_origin, GError **error);
/* The same for the file of an own system, which lies over the values that `under` (its name; NULL: nothing) has
 * given. A value that is another than before says so in its origin: "changed in NAME:LINE, UNDER has VALUE", then the
 * comment that it carries; one that is the same keeps its own comment or the origin below. */
gboolean param_load_layer(ParamSet *set, const char *name, const char *text, const char *under, GError **error);
gboolean param_load_file(ParamSet *set, const char *path, GError **error);
/* A key that is no row but may stand in the text, for param_peek() ("system", "title"). */
void param_allow(ParamSet *set, const char *section, const char *key);
gboolean param_set_text(ParamSet *set, const char *assignment, GError **error); /* "link.vcs=2" */
/* The row that "link.flight_ps" names; NULL: none, and the error has a guess ("unknown key 'flight' in [link]; ...").
 * */
const ParamRow *param_row(const ParamSet *set, const char *name, GError **error);
/* `text` as a value of the row, without storing it anywhere. TRUE: *number is a whole number's value in the row's unit
 * (0 for other types), *normal the text in the row's own unit, to be freed. FALSE: *wrong says what was wrong and what
 * would be right, to be freed. */
gboolean param_row_parse(const ParamRow *row, const char *text, guint64 *number, char **normal, char **wrong);
/* What a value may be, for people: "1 to 1000000 MB/s", "one of hold, stream". Caller frees. */
char *param_row_bounds(const ParamRow *row);
/* FALSE where a row has no value; the error names the first three and how many more there are. */
gboolean param_check_complete(ParamSet *set, const char *name, GError **error);
GArray *param_dump(const ParamSet *set); /* ParamDumpRow, in table order */
void param_dump_free(GArray *rows);
/* One key of an INI text that is no row (a preset's "system.inherits"): NULL when absent. at: its line; may be NULL. */
char *param_peek(const char *text, const char *group, const char *key, int *at);

#define PARAM_ERROR (param_error_quark())
GQuark param_error_quark(void);
typedef enum { PARAM_ERROR_SYNTAX, PARAM_ERROR_UNKNOWN, PARAM_ERROR_VALUE, PARAM_ERROR_MISSING } ParamError;

#endif
