/* What is due when in a replay: a queue by time, then by order of scheduling. */
#ifndef TRACES_REPLAY_STEPS_H
#define TRACES_REPLAY_STEPS_H

#include <glib.h>

#include "sim/engine/simtime.h"

typedef enum { STEP_ARRIVE, STEP_END } StepKind;

/* Something due in recorded time. */
typedef struct {
    SimTime at_ps;
    guint64 order; /* of scheduling, at equal times */
    StepKind kind;
    guint32 job;
    guint32 index; /* of the record */
} Step;

typedef struct {
    GArray *heap; /* Step: the first is the next */
    guint64 scheduled;
} Steps;

void steps_push(Steps *steps, Step step);
Step steps_pop(Steps *steps);

#endif
