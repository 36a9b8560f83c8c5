/* A walk as a timeline for ui.perfetto.dev: a track for each part of the fabric, a slice for each step there, until the
 * next one anywhere, and an arrow from each step to those that follow from it: operation, packets, replicas, their
 * answers, completion. */
#ifndef CLI_WALK_TIMELINE_H
#define CLI_WALK_TIMELINE_H

#include <glib.h>

/* steps: WalkStep, as walk_run() returns them; op names them. GError: G_FILE_ERROR, naming the file. */
gboolean walk_timeline_save(const GArray *steps, const char *op, const char *path, GError **error);

#endif
