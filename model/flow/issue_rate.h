/* How fast the warps of one CTA go through a loop, alone on their SM.
 *
 * Each warp goes through the same steps again and again: memory instructions that the LSU takes one at a time, a gap at
 * the end of a turn, waits for what was loaded, other work. Where the LSU's time and the warps' waits are about as
 * long, warps meet at the LSU while it is idle at other times: neither of the two bounds is reached.
 * Found by simulating it: warps and LSU as in sm.c and warp.c, answers that come after a time. Tens of microseconds,
 * of long loops a millisecond. */
#ifndef MODEL_FLOW_ISSUE_RATE_H
#define MODEL_FLOW_ISSUE_RATE_H

#include "model/sm/loop.h"

#define ISSUE_LATE 16u

/* A step of all warps; memory instructions and ARITH once for each of `unroll` elements. */
typedef struct {
    guint32 kind;       /* a UopKind */
    guint16 reg, with;  /* as in LoopPart */
    guint32 after_ps;   /* of WORK, */
    guint16 away, late; /* it stores to others; what it loads is late, too */
    guint64 value_ps;   /* and of DELAY; of memory instructions: the LSU's time */
} IssueStep;

typedef struct {
    guint32 warps, unroll, regs, steps;
    guint32 last;                /* memory instruction of a turn: its step */
    SimTime answer_ps;           /* of a load, */
    guint32 late_ps[ISSUE_LATE]; /* and how much later one is that is late: each of these as often as the others */
    IssueStep step[LOOP_PARTS_MAX];
} IssueLoop;

typedef struct IssueRates IssueRates;            /* remembers what it was asked before */
IssueRates *issue_rates_new(const SmSpec *spec); /* spec: stays the caller's */
void issue_rates_free(IssueRates *rates);
/* From the beginning until all warps have issued so many turns, in thousandths of a turn. */
SimTime issue_rate_ps(IssueRates *rates, const IssueLoop *kind, guint64 turns);
/* To the first store to others; 0: there is none. */
SimTime issue_rate_away_ps(IssueRates *rates, const IssueLoop *kind);

#endif
