/* See head_of_line.h. */
#include "model/flow/head_of_line.h"

#include "model/flow/rates.h"

/* Looks at queues that change: so many while a flit goes on and another one takes its place. */
#define HOLD_SAMPLES 4u
#define HOLD_SAMPLES_FULL 16u /* after a buffer got full */

/* From one GPU to another. */
typedef struct {
    guint16 from, to;
    gboolean listed;
    guint64 flits;   /* a second, sent, */
    guint64 packets; /* of which so many packets, */
    guint64 acks;    /* and flits of acknowledgements at least */
    guint64 waiting; /* thousandths of flits in the switch */
} HoldPair;

/* A GPU as a sender, and its links down. */
typedef struct {
    guint64 flits;           /* a second, sent to others, */
    guint64 acks, next_acks; /* and sent back to them: as rates were solved, and as these rates make it */
    guint64 waiting;         /* thousandths of flits in the buffers behind its links up, */
    gint64 more;             /* and so many flits a second more there */
    gboolean changes;        /* a queue that it has to do with does */
    SimTime wait_ps;         /* in the longest of these */
    guint64 coming;          /* flits a second, for it */
    guint64 serves;          /* flits a second that its links down have for what comes */
    guint64 queue;           /* thousandths of flits that wait for these */
    guint64 served, comes;   /* in the time that passed: thousandths of flits that could go on, and that came */
    guint64 queued;          /* before it */
} HoldGpu;

struct PortHolds {
    const Fabric *fabric;
    guint32 gpus;
    guint64 flits;     /* a second, of a GPU's links one way */
    guint64 credits;   /* thousandths of flits, of the buffers behind a GPU's links up, */
    guint64 room;      /* and what of them is not under way while these links are busy */
    SimTime turn_ps;   /* from a flit that goes on to the one that takes its place */
    HoldPair *pair;    /* from * gpus + to */
    GPtrArray *listed; /* those that send or wait */
    HoldGpu *gpu;
    SimTime at_ps;   /* to which what waits is known */
    gboolean queues; /* something waits or will */
};

PortHolds *port_holds_new(const Fabric *fabric)
{
    PortHolds *holds = g_new0(PortHolds, 1);
    const LinkSpec *link = &fabric->spec.link;
    holds->fabric = fabric;
    holds->gpus = (guint32)fabric->spec.system.gpus;
    holds->flits = link->rate_MBps * 1000000u / FLIT_BYTES * fabric->links;
    holds->turn_ps = 2 * link->flight_ps + link->credit_batch_ps / 2 + fabric->spec.sw.latency_ps;
    guint64 under_way = flow_part(holds->flits, holds->turn_ps, PS_PER_S);
    guint64 credits = link->credits_switch_flits * fabric->links;
    holds->credits = credits * 1000;
    holds->room = (credits - MIN(under_way, credits)) * 1000;
    holds->pair = g_new0(HoldPair, (gsize)holds->gpus * holds->gpus);
    holds->listed = g_ptr_array_new();
    holds->gpu = g_new0(HoldGpu, holds->gpus);
    return holds;
}

void port_holds_free(PortHolds *holds)
{
    g_free(holds->pair);
    g_ptr_array_free(holds->listed, TRUE);
    g_free(holds->gpu);
    g_free(holds);
}

/* ---- what waits */

/* First come, first served: of what waited each sender's part goes on, then of what came meanwhile. */
static void hold_pass_pair(PortHolds *holds, HoldPair *pair, SimTime past_ps)
{
    HoldGpu *down = &holds->gpu[pair->to];
    if (down->queued == 0 && down->comes <= down->served)
        return;
    guint64 more = flow_part(pair->flits, past_ps, PS_PER_S / 1000), before = pair->waiting;
    guint64 first = MIN(down->served, down->queued), rest = down->served - first;
    pair->waiting -= MIN(flow_part(first, before, down->queued), before);
    pair->waiting += more - MIN(flow_part(rest, more, down->comes), more);
    holds->gpu[pair->from].waiting += pair->waiting - before;
    down->queue += pair->waiting - before;
}

static void hold_pass(PortHolds *holds, SimTime now_ps)
{
    SimTime past_ps = now_ps - holds->at_ps;
    holds->at_ps = now_ps;
    if (past_ps == 0 || !holds->queues)
        return;
    for (guint32 g = 0; g < holds->gpus; g++) {
        HoldGpu *down = &holds->gpu[g];
        down->served = flow_part(down->serves, past_ps, PS_PER_S / 1000);
        down->comes = flow_part(down->coming, past_ps, PS_PER_S / 1000);
        down->queued = down->queue;
    }
    for (guint p = 0; p < holds->listed->len; p++)
        hold_pass_pair(holds, g_ptr_array_index(holds->listed, p), past_ps);
}

void port_holds_begin(PortHolds *holds, SimTime now_ps)
{
    hold_pass(holds, now_ps);
    for (guint p = holds->listed->len; p-- > 0;) {
        HoldPair *pair = g_ptr_array_index(holds->listed, p);
        pair->flits = pair->packets = pair->acks = 0;
        pair->listed = pair->waiting > 0;
        if (!pair->listed)
            g_ptr_array_remove_index_fast(holds->listed, p);
    }
    for (guint32 g = 0; g < holds->gpus; g++) {
        HoldGpu *gpu = &holds->gpu[g];
        gpu->flits = gpu->next_acks = gpu->coming = 0;
        gpu->serves = holds->flits;
    }
}

void port_holds_send(PortHolds *holds, guint32 from, guint32 to, guint64 flits, guint32 packet_ps, guint64 acks)
{
    HoldPair *pair = &holds->pair[from * holds->gpus + to];
    if (!pair->listed) {
        pair->from = (guint16)from;
        pair->to = (guint16)to;
        pair->listed = TRUE;
        g_ptr_array_add(holds->listed, pair);
    }
    pair->flits += flits;
    pair->packets += flow_part(PS_PER_S / packet_ps * holds->fabric->links, flits, holds->flits);
    pair->acks += acks;
    holds->gpu[from].flits += flits;
    holds->gpu[to].coming += flits;
}

/* ---- what comes of it */

guint64 port_acks_merged(const FabricSpec *spec, SimTime every_ps)
{
    return MIN(1000 + spec->gpu.ack_timer_ps * 1000 / MAX(every_ps, 1), spec->gpu.ack_merge_max * 1000);
}

/* An acknowledgement answers as many writes of a GPU as come to one link while it waits. */
static void hold_answer(PortHolds *holds, const HoldPair *pair)
{
    HoldGpu *from = &holds->gpu[pair->from];
    guint64 every_ps = PS_PER_S * holds->fabric->links / MAX(pair->packets, 1);
    guint64 acks = pair->packets * 1000 / port_acks_merged(&holds->fabric->spec, every_ps);
    acks = MAX(acks, pair->acks);
    holds->gpu[pair->to].next_acks += acks;
    from->serves -= MIN(acks, from->serves / 2);
}

/* What goes on from the switch: of what waits, or of what comes when nothing does. */
static void hold_sample(PortHolds *holds, const HoldPair *pair)
{
    HoldGpu *up = &holds->gpu[pair->from];
    const HoldGpu *down = &holds->gpu[pair->to];
    if (!down->queue && down->coming <= down->serves)
        return;
    guint64 served = down->queue ? flow_part(down->serves, pair->waiting, down->queue)
                                 : flow_part(down->serves, pair->flits, down->coming);
    guint64 apart = MAX(down->coming, down->serves) - MIN(down->coming, down->serves);
    up->more += (gint64)pair->flits - (gint64)served;
    up->wait_ps = MAX(up->wait_ps, flow_part(down->queue, PS_PER_S / 1000, down->serves));
    up->changes = up->changes || apart > holds->flits / 100;
    holds->queues = TRUE;
}

/* When a GPU's share has to be looked at again. */
static SimTime hold_next_ps(const PortHolds *holds, const HoldGpu *up)
{
    guint64 apart = MAX(up->acks, up->next_acks) - MIN(up->acks, up->next_acks);
    SimTime next_ps = SIMTIME_NEVER;
    if (up->flits && apart > holds->flits / 1000)
        next_ps = holds->turn_ps;
    if (up->flits && up->waiting < holds->room && up->more > 0)
        next_ps = MIN(next_ps, flow_part(holds->room - up->waiting, PS_PER_S / 1000, (guint64)up->more) +
                                   holds->turn_ps / HOLD_SAMPLES_FULL);
    else if (up->waiting >= holds->room && up->changes)
        next_ps = MIN(next_ps, holds->turn_ps / HOLD_SAMPLES);
    return next_ps;
}

SimTime port_holds_end(PortHolds *holds)
{
    SimTime next_ps = SIMTIME_NEVER;
    holds->queues = FALSE;
    if (holds->listed->len == 0)
        return next_ps;
    for (guint32 g = 0; g < holds->gpus; g++) {
        holds->gpu[g].more = 0;
        holds->gpu[g].wait_ps = 0;
        holds->gpu[g].changes = FALSE;
    }
    for (guint p = 0; p < holds->listed->len; p++)
        hold_answer(holds, g_ptr_array_index(holds->listed, p));
    for (guint p = 0; p < holds->listed->len; p++)
        hold_sample(holds, g_ptr_array_index(holds->listed, p));
    for (guint32 g = 0; g < holds->gpus; g++)
        next_ps = MIN(next_ps, hold_next_ps(holds, &holds->gpu[g]));
    return next_ps == SIMTIME_NEVER ? next_ps : holds->at_ps + next_ps;
}

guint32 port_holds_share(PortHolds *holds, guint32 gpu, guint32 most, SimTime now_ps)
{
    HoldGpu *up = &holds->gpu[gpu];
    hold_pass(holds, now_ps);
    up->acks = up->next_acks;
    most = (guint32)flow_part(most, holds->flits - MIN(up->acks, holds->flits / 2), holds->flits);
    if (up->waiting <= holds->room)
        return MAX(most, 1);
    guint64 under_way = holds->credits - MIN(up->waiting, holds->credits);
    guint64 flits = flow_part(under_way, PS_PER_S / 1000, holds->turn_ps);
    return MAX(MIN(most, (guint32)flow_part(PORT_FREE, flits, holds->flits)), 1);
}

SimTime port_holds_wait_ps(const PortHolds *holds, guint32 gpu) { return holds->queues ? holds->gpu[gpu].wait_ps : 0; }

gboolean port_holds_full(const PortHolds *holds, guint32 gpu) { return holds->gpu[gpu].waiting > holds->room; }
