/* What spec.c and spec_load.c share: the reader of the groups of a SPEC.ini. */
#ifndef EXPLORE_SPEC_PARTS_H
#define EXPLORE_SPEC_PARTS_H

#include "explore/spec.h"

typedef struct {
    SweepSpec *spec; /* what is filled */
    GArray *lines;   /* SpecLine */
    ParamSet *rows;  /* which parameters there are; no values */
    guint64 most;    /* points */
} SpecReader;

/* Sets "FILE:LINE: [group] key: ..." and returns FALSE. */
gboolean spec_bad(const SpecReader *reader, const SpecLine *line, GError **error, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
const SpecLine *spec_line(const SpecReader *reader, const char *group, const char *key); /* NULL: not there */
/* line NULL: *to stays. */
gboolean spec_number(const SpecReader *reader, const SpecLine *line, guint64 least, guint64 most, guint64 *to,
                     GError **error);

/* The axis of a line, which has no values yet; names are separated by '+'. The spec owns it. NULL: `error` set. */
Axis *spec_add_axis(SpecReader *reader, const SpecLine *line, const char *names, AxisKind kind, GError **error);
/* Its values, from the line's list. */
gboolean spec_axis_values(SpecReader *reader, Axis *axis, const SpecLine *line, GError **error);

/* The groups, in the order in which they are read. */
gboolean spec_read_run(SpecReader *reader, GError **error);
gboolean spec_read_grid(SpecReader *reader, GError **error);
gboolean spec_read_latin(SpecReader *reader, GError **error);
gboolean spec_read_threshold(SpecReader *reader, GError **error);

GPtrArray *spec_new_axes(void);

#endif
