/* Time-outs of multicast requests: a member of the team does not answer.
 *
 * What hardware it stands for: CRUMBSTORE_MCTO_ERR and CRUMBSTORE_RTO_ERR: the switch ends a request in progress with
 * an error. Modelled: the time runs once all
 * other members have answered and what is missing was lost; a slow member is never timed out; a time-out
 * of 0 never comes, and the run gets stuck. Sources: names HARDWARE.md 2.4; the times are not published. */
#include "model/switch/switch.h"

typedef struct {
    Event event;
    Switch *sw;
    guint32 record;
} TimeoutTimer;

static void timeout_on_event(Event *event, SimTime now_ps)
{
    TimeoutTimer *timer = EVENT_OWNER(event, TimeoutTimer, event);
    Switch *sw = timer->sw;
    *(sw->record[timer->record].read ? &sw->crumbstore_rto_err : &sw->crumbstore_mcto_err) += 1;
    sw->requests->request[timer->record].state = TXN_TIMEOUT;
    reduction_end(sw, timer->record, now_ps);
    g_free(timer);
}

void timeout_start(Switch *sw, guint32 index, SimTime from_ps)
{
    const FaultSpec *spec = &sw->fabric->spec.fault;
    guint64 timeout_ps = sw->record[index].read ? spec->reduction_timeout_ps : spec->multicast_timeout_ps;
    if (timeout_ps == 0)
        return;
    TimeoutTimer *timer = g_new0(TimeoutTimer, 1);
    timer->sw = sw;
    timer->record = index;
    event_init(&timer->event, timeout_on_event);
    sim_set_key(&timer->event, sw->timeout_key + index);
    sim_at_key(sw->sim, &timer->event, MAX(from_ps + timeout_ps, sim_now_ps(sw->sim)));
}
