/* What is done as a window begins and ends, for each domain: see parallel.h. */
#include "model/parallel/mailbox.h"

/* ---- its begin: what the other side wrote in the window before */

/* Calls to link_fly() and the fast engine's tables are those of the receiver, whose thread this is. */
static void side_deliver(Pair *pair, guint which)
{
    Side *side = &pair->side[which], *other = &pair->side[!which];
    Mailbox *box = &other->box[(side->window - 1) & 1];
    for (guint i = 0; i < box->packets->len; i++) {
        const PacketMessage *message = &g_array_index(box->packets, PacketMessage, i);
        if (!link_boundary(message->link)->inner->arrive(message->link, message->packet, message->at_ps))
            link_fly(message->link, message->packet, message->at_ps);
    }
    for (guint i = 0; i < box->credits->len; i++) {
        const CreditMessage *message = &g_array_index(box->credits, CreditMessage, i);
        link_credit_return(message->link, message->vc, message->flits, message->due_ps);
    }
    for (guint i = 0; i < box->slots->len; i++)
        data_give(side->data, g_array_index(box->slots, guint32, i));
    g_array_set_size(box->packets, 0);
    g_array_set_size(box->credits, 0);
    g_array_set_size(box->slots, 0);
}

static void parallel_deliver(void *user, guint domain)
{
    Parallel *parallel = user;
    if (domain != 0) {
        side_deliver(&parallel->pair[domain - 1], SIDE_SWITCH);
        return;
    }
    for (guint32 s = 0; s < parallel->n; s++)
        side_deliver(&parallel->pair[s], SIDE_GPUS);
}

/* ---- its end: deferred ports decide */

static void side_begin_close(Side *side)
{
    side->done = side->kept = 0;
    side->next_ps = SIMTIME_NEVER;
}

/* Those that are left, up to last_ps; more may come in meanwhile. TRUE: there were some. */
static gboolean side_decide(Side *side, SimTime last_ps)
{
    guint before = side->done;
    for (; side->done < side->deferred->len; side->done++) {
        Link *link = side->deferred->pdata[side->done];
        link->ops->advance(link, last_ps);
        SimTime next_ps = boundary_next_ps(link);
        link_boundary(link)->deferred = next_ps != SIMTIME_NEVER || fast_port(link)->replicas;
        if (!link_boundary(link)->deferred)
            continue;
        side->next_ps = MIN(side->next_ps, next_ps);
        side->deferred->pdata[side->kept++] = link;
    }
    return side->done != before;
}

#define DATA_KEPT 64 /* slots that a switch keeps for its sums */

/* All decisions are made. Returns when this side has something to do that has no event, or its earliest message takes
 * effect. */
static SimTime side_close(Side *side, guint which)
{
    g_ptr_array_set_size(side->deferred, (gint)side->kept);
    for (DataPool *data = side->data; which == SIDE_SWITCH && data->n_free > DATA_KEPT;)
        g_array_append_val(side_writing(side)->slots, data->free[--data->n_free]);
    SimTime next_ps = MIN(side->first_ps, side->next_ps);
    side->first_ps = SIMTIME_NEVER;
    side->window++;
    return next_ps;
}

static SimTime parallel_close_gpus(Parallel *parallel, SimTime last_ps)
{
    SimTime next_ps = SIMTIME_NEVER;
    for (guint32 s = 0; s < parallel->n; s++)
        side_begin_close(&parallel->pair[s].side[SIDE_GPUS]);
    for (gboolean more = TRUE; more;) {
        more = FALSE;
        for (guint32 s = 0; s < parallel->n; s++)
            more |= side_decide(&parallel->pair[s].side[SIDE_GPUS], last_ps);
    }
    for (guint32 s = 0; s < parallel->n; s++) {
        SimTime side_ps = side_close(&parallel->pair[s].side[SIDE_GPUS], SIDE_GPUS);
        next_ps = MIN(next_ps, side_ps);
    }
    return next_ps;
}

static SimTime parallel_close(void *user, guint domain, SimTime last_ps)
{
    Parallel *parallel = user;
    if (domain == 0)
        return parallel_close_gpus(parallel, last_ps);
    Side *side = &parallel->pair[domain - 1].side[SIDE_SWITCH];
    side_begin_close(side);
    while (side_decide(side, last_ps)) {
    }
    return side_close(side, SIDE_SWITCH);
}

static gboolean parallel_is_busy(void *user)
{
    const Parallel *parallel = user;
    for (guint32 s = 0; s < parallel->n; s++) {
        const Side *side = &parallel->pair[s].side[SIDE_GPUS];
        if (side->first_ps != SIMTIME_NEVER || side->deferred->len > side->kept)
            return TRUE;
    }
    return FALSE;
}

const SimExchange parallel_exchange = {
    .deliver = parallel_deliver, .close = parallel_close, .is_busy = parallel_is_busy};
