/* Which views of a row of `fanout coll` there are: some want packets, and a waveform wants a single row. */
#ifndef CLI_COLL_VIEWS_H
#define CLI_COLL_VIEWS_H

#include "cli/options.h"
#include "coll/coll.h"

/* Whether a row on so many GPUs can have what the options ask for, as --data full. FALSE: *error says which cannot. */
gboolean coll_views_check(const Options *options, const CollSpec *spec, guint32 gpus, GError **error);
/* The same of --vcd, of n rows, the first of which is this. */
gboolean coll_views_check_wave(const Options *options, const CollSpec *spec, guint32 gpus, guint n, GError **error);

#endif
