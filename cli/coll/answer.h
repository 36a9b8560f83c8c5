/* What rows of a collective say together: which algorithm was fastest at which size and by how much, what limits it,
 * and what was not tried. They are the sentences that its report opens with. */
#ifndef CLI_COLL_ANSWER_H
#define CLI_COLL_ANSWER_H

#include "cli/coll/args.h"
#include "cli/coll/what_if.h"
#include "cli/live/samples.h"
#include "model/fabric/usage.h"

typedef struct CollAnswer CollAnswer;
CollAnswer *coll_answer_new(const CollPlan *plan, guint32 gpus);
void coll_answer_free(CollAnswer *answer);
/* A row that has run. samples: what its recording saw of it, if it did; usage: as in its columns; some_fail: its search
 * left out candidates that do not end well. */
void coll_answer_add(CollAnswer *answer, const Fabric *fabric, const CollSpec *spec, const CollResult *result,
                     const Usage usage[USAGE_DIRECTIONS], const Samples *samples, gboolean some_fail);
void coll_answer_write(const CollAnswer *answer, Report *report);
/* The fastest of the last size, and what held it up; FALSE: nothing of the fabric did. */
typedef struct {
    guint64 bytes;
    NumericType type;
    CollAlgo asked;    /* for, */
    CollResult result; /* which has what ran */
    WhatIf what;
} CollHeld;
gboolean coll_answer_held(const CollAnswer *answer, CollHeld *held);
/* Times as fast as what? As `base`, the fastest algorithm and protocol that needs no multicast, of that size. ran: by
 * the position of its algorithm in the plan. Of the fastest of them it is an answer, of others a note. */
void coll_answer_compare(const CollPlan *plan, const CollResult *ran, guint64 bytes, const CollResult *base,
                         Report *report);

#endif
