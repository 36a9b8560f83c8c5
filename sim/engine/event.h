/* Events and the two calendars that order them.
 *
 * An Event is embedded in what it is about (a link, a timer, a process): nothing is allocated to
 * schedule one. An event is pending at most once. Order is total and ours: (time, priority,
 * sequence), the sequence being the order in which events were scheduled. */
#ifndef SIM_ENGINE_EVENT_H
#define SIM_ENGINE_EVENT_H

#include <glib.h>
#include <string.h>

#include "sim/engine/simtime.h"

typedef struct Event Event;
typedef void (*EventFire)(Event *event, SimTime now_ps);

/* Lower fires first among events of one picosecond. */
typedef enum {
    EVENT_PRIORITY_FABRIC = 0,  /* packets, credits, timers of the hardware */
    EVENT_PRIORITY_DEVICE = 1,  /* SM issue, completions seen by programs */
    EVENT_PRIORITY_PROCESS = 2, /* wake-ups of straight-line programs */
    EVENT_PRIORITY_LAST = 3,    /* samplers, watchdogs: see the instant as it ends */
} EventPriority;

struct Event {
    SimTime time_ps;
    uint64_t order; /* priority in the top 2 bits, sequence below */
    Event *next;    /* in a bucket */
    EventFire fire;
    uint32_t place; /* 0: idle; else where the calendar keeps it */
    uint32_t spare; /* free for the owner */
};

static inline void event_init(Event *event, EventFire fire)
{
    memset(event, 0, sizeof *event); /* and not a compound literal: C++ includes this too */
    event->fire = fire;
}
static inline gboolean event_is_pending(const Event *event) { return event->place != 0; }

/* The owner of an embedded event: EVENT_OWNER(event, Link, head_event). */
#define EVENT_OWNER(ptr, type, member) ((type *)((char *)(ptr)-G_STRUCT_OFFSET(type, member)))

#endif
