/* What a replay of stores through the ports comes to: see egress_share.h. */
#include <math.h>

#include "model/flow/egress_internal.h"

#define PORT_SAMPLE_PS 500000u /* from one look at what still waits, as a fence has, to the next */

void port_count(PortReplay *replay, guint64 issued_ps, guint64 start_ps)
{
    replay->wait_ps += start_ps - issued_ps;
    for (guint64 n = (issued_ps + PORT_SAMPLE_PS - 1) / PORT_SAMPLE_PS; n * PORT_SAMPLE_PS < start_ps; n++) {
        if (n >= replay->still_ps->len)
            g_array_set_size(replay->still_ps, (guint)n + 1);
        guint64 *still_ps = &g_array_index(replay->still_ps, guint64, n);
        *still_ps = MAX(*still_ps, start_ps - n * PORT_SAMPLE_PS);
    }
}

/* The mean of what those that wait at an instant still have to wait; of instants since from_ps whose units have all
 * been sent. */
static guint64 port_still_ps(const PortReplay *replay, guint64 from_ps)
{
    guint64 until_ps = replay->now_ps, first = from_ps / PORT_SAMPLE_PS + 1, sum_ps = 0, n = first;
    for (guint32 q = 0; q < replay->n_queues; q++)
        if (replay->queue[q].count)
            until_ps = MIN(until_ps, replay->waiting[replay->queue[q].head].issued_ps);
    for (; n * PORT_SAMPLE_PS <= until_ps && n < replay->still_ps->len; n++)
        sum_ps += g_array_index(replay->still_ps, guint64, n);
    return sum_ps / MAX(n - first, 1);
}

/* How much queues of one half that equally many SMs share differ in what one SM gets, and how much SMs of one queue
 * do. */
static void port_spread(const PortReplay *replay, const guint32 *before, PortShare *share)
{
    g_autofree double *sum = g_new0(double, replay->n_queues), *all = g_new0(double, 2 * replay->sms + 2);
    g_autofree guint32 *sharing = g_new0(guint32, replay->n_queues), *among = g_new0(guint32, 2 * replay->sms + 2);
    double total = 0, apart = 0, queues = 0;
    for (guint32 s = 0; s < replay->sms; s++) {
        double n = (double)PORT_CHUNK_LINES * (replay->sm[s].issued - before[s]);
        sharing[replay->sm[s].queue]++;
        sum[replay->sm[s].queue] += n;
        apart += n * n;
        total += n;
    }
    for (guint32 q = 0; q < replay->n_queues; q++) {
        double square = sharing[q] ? sum[q] * sum[q] / sharing[q] : 0;
        all[2 * sharing[q] + replay->queue[q].half] += sum[q];
        among[2 * sharing[q] + replay->queue[q].half] += sharing[q];
        apart -= square;
        queues += square;
    }
    for (guint32 alike = 2; alike < 2 * replay->sms + 2; alike++)
        queues -= among[alike] ? all[alike] * all[alike] / among[alike] : 0;
    share->queues_per_mille = (guint32)(1000 * sqrt(fmax(queues, 0) / total));
    share->spread_per_mille = (guint32)(1000 * sqrt(fmax(apart, 0) / total));
}

/* Packets of an SM that loads, in thousandths of those of one that stores. */
static guint32 port_loads(const PortReplay *replay, const guint32 *before)
{
    guint64 loaded = 0, stored = 0;
    for (guint32 s = 0; s < replay->sms; s++)
        *(replay->sm[s].as == replay->loads ? &loaded : &stored) += replay->sm[s].issued - before[s];
    return (guint32)(loaded * replay->stores->sms * 1000 / MAX(stored * replay->loads->sms, 1));
}

guint64 port_backlog_ps(const PortReplay *replay)
{
    guint64 backlog_ps = 0;
    for (guint32 l = 0; l < replay->fabric->links; l++)
        backlog_ps += replay->port[l].free_ps - MIN(replay->now_ps, replay->port[l].free_ps);
    return backlog_ps;
}

PortShare port_result(const PortReplay *replay, const guint32 *before, guint64 begin_ps)
{
    const PortReplayed *stores = replay->stores;
    guint64 past_ps = MAX(replay->now_ps - begin_ps, 1), inside_ps = (PORT_CHUNK_LINES - 1) * stores->kind->packet_ps;
    /* what links sent, of which not all got to ports in that time */
    double more_ps = (double)replay->backlog_ps - (double)port_backlog_ps(replay);
    double counted = (double)PORT_CHUNK_LINES * replay->counted + more_ps / (double)stores->kind->packet_ps;
    double sms_ps = (double)stores->issue_ps / stores->sms, links_ps = (double)stores->kind->packet_ps;
    double per_mille = counted * MAX(sms_ps, links_ps / replay->fabric->links) / (double)past_ps * 1000;
    if (replay->loads->sms)
        per_mille = ((double)replay->busy_ps + more_ps) / (double)past_ps / replay->fabric->links * 1000;
    PortShare share = {.per_mille = (guint32)CLAMP(per_mille, 1, 1000),
                       .loads_per_mille = port_loads(replay, before),
                       .wait_ps = replay->wait_ps / replay->counted + inside_ps / 2,
                       .worst_ps = port_still_ps(replay, begin_ps) + inside_ps};
    port_spread(replay, before, &share);
    return share;
}
