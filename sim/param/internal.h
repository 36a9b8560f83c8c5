/* What param.c, ini.c and value.c share. */
#ifndef SIM_PARAM_INTERNAL_H
#define SIM_PARAM_INTERNAL_H

#include "sim/param/param.h"

typedef struct {
    const char *section;
    const ParamRow *row;
    void *spec;
    char *origin; /* NULL: no value yet */
    int line;     /* in the text being loaded; 0: not seen in it */
} ParamSlot;

struct ParamSet {
    GArray *slots;     /* ParamSlot, in the order of param_add() */
    GPtrArray *others; /* "section.key" that param_peek() reads: no row, but allowed */
    GPtrArray *owned;  /* param_own() */
};

static inline ParamSlot *param_slot(const ParamSet *set, guint index)
{
    return &g_array_index(set->slots, ParamSlot, index);
}

ParamSlot *param_find(ParamSet *set, const char *section, const char *key); /* NULL: no such row */
gboolean param_is_allowed(const ParamSet *set, const char *section, const char *key);
gboolean param_is_section(const ParamSet *set, const char *section);
/* Sets "WHERE: unknown key 'name' in [section]" with a guess; section NULL: name is an unknown
 * group. */
void param_set_unknown(const ParamSet *set, const char *where, const char *section, const char *name, GError **error);

/* Parses all of text into the row's field. FALSE: *wrong says what was wrong and what would be
 * right ("'99' is out of bounds: 1 to 8 flits"), to be freed; the field is unchanged. */
gboolean param_value_parse(const ParamRow *row, void *spec, const char *text, char **wrong);
/* The field in the row's own unit, without the unit. Caller frees. */
char *param_value_format(const ParamRow *row, const void *spec);

#endif
