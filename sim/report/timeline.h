/* Timelines: what happened when, in a file that ui.perfetto.dev and chrome://tracing open (the
 * trace event format, JSON). Written as it happens, so that long runs need no memory.
 *
 *     Timeline *timeline = timeline_open("run.json", &error);
 *     guint32 gpu = timeline_add_group(timeline, "gpu0");
 *     guint32 stream = timeline_add_track(timeline, gpu, "stream 1");
 *     timeline_add_slice(timeline, stream, "all_reduce 64M", start_ps, end_ps);
 *     timeline_add_counter(timeline, gpu, "link3.up busy %", now_ps, 87.5);
 *     if (!timeline_close(timeline, &error)) ...
 *
 * Slices of one track either follow or enclose each other. Groups and tracks appear in the order in
 * which they were added. All functions but open and close do nothing when the timeline is NULL, so
 * that callers need not ask whether one is wanted. */
#ifndef SIM_REPORT_TIMELINE_H
#define SIM_REPORT_TIMELINE_H

#include <glib.h>

#include "sim/engine/simtime.h"

typedef struct Timeline Timeline;

/* GError: G_FILE_ERROR, naming the file. */
Timeline *timeline_open(const char *path, GError **error);
/* Ends the file and frees. FALSE: it could not be written completely (a full disk). */
gboolean timeline_close(Timeline *timeline, GError **error);

guint32 timeline_add_group(Timeline *timeline, const char *name);
guint32 timeline_find_group(Timeline *timeline, const char *name); /* of that name, or a new one */
guint32 timeline_add_track(Timeline *timeline, guint32 group, const char *name);
guint32 timeline_find_track(Timeline *timeline, guint32 group, const char *name); /* the same of a group */

/* end_ps >= start_ps. */
void timeline_add_slice(Timeline *timeline, guint32 track, const char *name, SimTime start_ps, SimTime end_ps);
/* The same with facts that show when it is selected: pairs of key and text, NULL-terminated. */
void timeline_add_slice_with(Timeline *timeline, guint32 track, const char *name, SimTime start_ps, SimTime end_ps,
                             const char *const *facts);
/* From the slice that begins at from_ps to the one that begins at to_ps >= from_ps, both added. */
void timeline_add_arrow(Timeline *timeline, guint32 from_track, SimTime from_ps, guint32 to_track, SimTime to_ps);
void timeline_add_counter(Timeline *timeline, guint32 group, const char *name, SimTime at_ps, double value);

/* ---- a file that a viewer can open
 *
 * What may be left out (counters, single packets) asks first, and tells of what it leaves out. */
#define TIMELINE_BYTES_MOST (64u << 20)
gboolean timeline_has_room(const Timeline *timeline);
/* "packets of all but the first requests": is said in the file ("otherData": {"left out": ...}, and a track of its
 * own), once for each text, by timeline_close(). */
void timeline_leave_out(Timeline *timeline, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* All of it in one line for people, "; " between; NULL: nothing was left out. Caller frees. Before timeline_close(). */
char *timeline_left_out(const Timeline *timeline);

#endif
