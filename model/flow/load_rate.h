/* How fast the CTAs of a GPU load from other GPUs when each warp waits for all it asked for before it asks for more.
 *
 * A warp's loads go to the links of their addresses' hash, and it goes on when the slowest is back: so it waits for the
 * fullest of the queues it meets, at the ports that answer and at those that bring the answers, while other links run
 * dry. Window over round trip is too fast, the less so the less the links have to do. Flows (rates.h) know nothing
 * of queues; this tells them.
 *
 * Found by playing it, for GPUs that all read from each other alike: warps and LSUs, the queues between SMs and ports
 * and at the ports, requests and answers that take turns on a link, hash, the switch's buffers, links down. Some ten
 * microseconds, and tens of milliseconds of computing. */
#ifndef MODEL_FLOW_LOAD_RATE_H
#define MODEL_FLOW_LOAD_RATE_H

#include "model/sm/sm.h"

/* What a CTA's warps do again and again: whole lines, 512 B with each instruction. Compared as memory: no holes. */
typedef struct {
    guint64 trip_ps;      /* of a load that meets no other */
    guint64 work_ps;      /* a warp's other work of a turn: before the last load, */
    guint64 meanwhile_ps; /* while it waits for what it loads, */
    guint64 then_ps;      /* and when that is there */
    guint32 ctas;         /* of each GPU, when all of them load, */
    guint32 warps;        /* and of each CTA */
    guint32 unroll;       /* elements of a turn: so many instructions for each source and destination */
    guint32 peers;        /* that each element comes from, */
    guint32 own;          /* and loads of it from the own memory */
    guint32 stores;       /* of each element, to the own memory */
    guint32 strided;      /* the CTAs take turns in one array, else each has an array of its own */
} LoadKind;

typedef struct LoadShares LoadShares;
LoadShares *load_shares_new(const Fabric *fabric);
void load_shares_free(LoadShares *shares);
guint32 load_kind(LoadShares *shares, const LoadKind *kind); /* its number */
/* The share of its links' time that so many CTAs of each GPU can use, in millionths; all of it while they are far from
 * that. Played for all of them: fewer, as when they end one after the other, are no better. */
guint32 load_share_links(LoadShares *shares, guint32 ctas, guint32 kind);
/* Elements of 128 B a second that one CTA gets, turn after turn: by itself, or, if all together are far from the links'
 * time, among the others, whose packets its own still meet. */
guint64 load_share_limit(LoadShares *shares, guint32 kind);
#define LOAD_ALL 1000000u
/* What the CTA of this number gets of the links where all of them hold it up, in thousandths of the mean: requests wait
 * before the ports, which halves of the GPU share, and in these CPCs (model/sm/egress_queue.c). */
guint32 load_share_weight(LoadShares *shares, guint32 kind, guint32 cta);
#define LOAD_EVEN 1000u

#endif
