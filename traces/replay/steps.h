/* What is due when in a replay: a queue by time, then by order of scheduling. */
#ifndef TRACES_REPLAY_STEPS_H
#define TRACES_REPLAY_STEPS_H

#include <glib.h>

#include "sim/engine/simtime.h"

typedef enum { STEP_ARRIVE, STEP_END, STEP_MEMO_END } StepKind;

/* Something due in recorded time. */
typedef struct {
    SimTime at_ps;
    guint64 order; /* of scheduling, at equal times; what the fabric ends comes first */
    StepKind kind;
    guint32 job;
    guint32 index;     /* record, or item of STEP_MEMO_END */
    guint64 tentative; /* of STEP_MEMO_END: which one */
} Step;

typedef struct {
    GArray *heap; /* Step: the first is the next */
    guint64 scheduled;
} Steps;

void steps_push(Steps *steps, Step step);
Step steps_pop(Steps *steps);

#endif
