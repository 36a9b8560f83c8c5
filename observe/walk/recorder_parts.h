/* What recorder.c and recorder_switch.c share. */
#ifndef OBSERVE_WALK_RECORDER_PARTS_H
#define OBSERVE_WALK_RECORDER_PARTS_H

#include "observe/walk/recorder.h"

#define RECORDER_NONE G_MAXUINT

enum { SWITCH_PIPELINE, SWITCH_HELD, SWITCH_QUEUE, SWITCH_GATHER }; /* slots of a switch */

/* Something that has begun: a packet that waits, is served, or whose answer is gathered. */
typedef struct {
    SimTime at_ps;
    guint kind;
    guint32 src, txn;
} Open;

/* A switch. */
typedef struct {
    const Switch *sw;
    guint place;
    GArray *held, *gathered;     /* Open */
    guint tags, buffer, answers; /* gauges, RECORDER_NONE before there is anything to show */
    gint64 tags_now, buffer_now;
} Hub;

struct Recorder {
    const Fabric *fabric;
    Scene *scene;
    gboolean begun;
    SimTime start_ps;
    guint packets, max_packets;
    struct Port **port;          /* by number of the link; NULL: nothing was seen of it yet */
    Hub **hub;                   /* by number of the switch: the same */
    guint *gpu_place;            /* by GPU */
    guint kind[PACKET_KINDS][2]; /* and whether it is a replica */
};

GArray *recorder_open_list(void); /* of Open */
/* The number of a kind of packet in the scene. */
guint recorder_kind(Recorder *recorder, const Packet *packet, gboolean replica);

/* ---- switches: recorder_switch.c */

Hub *recorder_hub(Recorder *recorder, const Switch *sw);
void recorder_hub_free(Hub *hub); /* NULL is none */
/* A packet is held, or goes on, or an answer is gathered, or a tag is freed. at_ps: since the scene's begin. */
void recorder_note_hub(Recorder *recorder, const ProbeEvent *event, SimTime at_ps);

#endif
