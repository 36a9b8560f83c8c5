/* What an observer of the reference engine sees, written down as a scene (sim/report/scene.h): packets on links and in
 * the parts of GPUs and switches, queues, credits, tags and operand buffers as they change.
 *
 * GPUs and switches are places, the directions of links and trunks that carry something are lines. Of a system of more
 * than 16 GPUs only the parts that packets pass are drawn. Stages of constant latency that the model counts as part of
 * a link's flight are shown where hardware has them, as in walk.h. */
#ifndef OBSERVE_WALK_RECORDER_H
#define OBSERVE_WALK_RECORDER_H

#include "model/fabric/fabric.h"
#include "sim/report/scene.h"

typedef struct Recorder Recorder;

#define RECORDER_ALL_GPUS 16u /* of larger systems only what packets pass is drawn */

/* At most max_packets times a packet goes over a link are written down; what follows then is left out, and the scene
 * says so. */
Recorder *recorder_new(const Fabric *fabric, const char *title, guint max_packets);
/* The scene, which is the caller's; the recorder is freed. */
Scene *recorder_finish(Recorder *recorder);

void recorder_begin(Recorder *recorder, SimTime at_ps);          /* the scene's begin; nothing is written down before */
void recorder_note(Recorder *recorder, const ProbeEvent *event); /* in order of time */
/* What is told of it in words; at_ps is since the begin. */
void recorder_add_step(Recorder *recorder, SimTime at_ps, guint depth, const char *unit, const char *text,
                       const char *file);

/* From a port's decision to the wire: the stages of a GPU that the model counts as part of the flight. */
SimTime recorder_before_wire_ps(const Fabric *fabric, const Link *link, const Packet *packet);

#endif
