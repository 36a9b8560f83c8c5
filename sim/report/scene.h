/* A scene: what moved between places, and when, for a page that plays it (scene.js).
 *
 *     Scene *scene = scene_new("a store");
 *     guint a = scene_add_place(scene, "gpu0", 0, slots), b = scene_add_place(scene, "switch0", 1, more_slots);
 *     guint line = scene_add_line(scene, "gpu0.link1.up", a, b);
 *     guint kind = scene_add_kind(scene, "W", "write", 0);
 *     scene_add_stay(scene, a, 0, kind, 0, 50000);               in the first slot of a
 *     scene_add_move(scene, line, kind, 9, 50000, 9000, 100000);  then 9 flits on the line
 *     scene_add_step(scene, 0, 0, "gpu0", "opens a transaction", "model/gpu/requester.c");
 *     guint gauge = scene_add_gauge(scene, "gpu0.link1.up", "credits", "flits", 64, 64);
 *     scene_add_change(scene, gauge, 50000, -9);
 *
 * Places are boxes in rows (levels), lowest first; each has slots, where things stay. Lines join them, one line a
 * direction. Times are since the scene's begin. Steps are what is told in words, in order of time; what else happens is
 * drawn from moves, stays and gauges alone, so that any time of it can be shown without those before.
 * Strings are copied, slots are not. */
#ifndef SIM_REPORT_SCENE_H
#define SIM_REPORT_SCENE_H

#include "sim/engine/simtime.h"
#include "sim/report/report.h"

typedef struct Scene Scene;

Scene *scene_new(const char *title);
void scene_free(Scene *scene); /* one that no report has; NULL is none */
/* It belongs to the report from now on. Only pages have it. */
void report_add_scene(Report *report, Scene *scene);

/* Each returns the number of what it added. */
guint scene_add_place(Scene *scene, const char *name, guint level, const char *const *slots); /* slots end with NULL */
guint scene_add_line(Scene *scene, const char *name, guint from, guint to);
/* Something that moves: a sign of one letter, a name, and one of 4 colours by its role (0 to 3). */
guint scene_add_kind(Scene *scene, const char *sign, const char *name, guint role);
/* A number that changes by the differences that are added, in any order of time. most: of its scale; 0: none. */
guint scene_add_gauge(Scene *scene, const char *where, const char *name, const char *unit, guint64 most, guint64 first);

/* Two places that are joined, though nothing may move there. */
void scene_add_wire(Scene *scene, guint from, guint to);
/* Its head is on the line from at_ps for flight_ps, its tail serial_ps later. */
void scene_add_move(Scene *scene, guint line, guint kind, guint size, SimTime at_ps, SimTime serial_ps,
                    SimTime flight_ps);
void scene_add_stay(Scene *scene, guint place, guint slot, guint kind, SimTime from_ps, SimTime to_ps);
/* where: the name of a place or line, or one that begins with a place's and a dot. */
void scene_add_step(Scene *scene, SimTime at_ps, guint depth, const char *where, const char *text, const char *file);
void scene_add_change(Scene *scene, guint gauge, SimTime at_ps, gint64 difference);
/* Something that is said below it. */
void scene_set_note(Scene *scene, const char *note);

#endif
