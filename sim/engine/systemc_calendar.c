/* The reference calendar: every pending event is a SystemC notification of its own.
 *
 * Nothing runs ahead and nothing is sorted across time here: SystemC says when an event is due.
 * Only the order inside an instant is ours: what SystemC notified at one time is gathered first,
 * then fired in (priority, sequence) order, and an event scheduled for the same instant is
 * notified by SystemC (one delta cycle later) before anything after it fires. */
#include "sim/engine/internal.h"

typedef struct {
    Event *event; /* NULL: this place is free */
    guint32 slot; /* of the kernel, or SLOT_NONE before the pump armed it */
    guint32 next_free;
} Armed;

#define SLOT_NONE G_MAXUINT32
#define PLACE_DUE 1u
#define PLACE_ARMED 2u /* plus the index in sim->armed */

static Armed *armed_at(Sim *sim, guint32 index) { return &g_array_index(sim->armed, Armed, index); }

void reference_init(Sim *sim)
{
    sim->armed = g_array_new(FALSE, FALSE, sizeof(Armed));
    sim->fresh = g_array_new(FALSE, FALSE, sizeof(guint32));
    sim->armed_free = G_MAXUINT32;
}

void reference_forget(Sim *sim)
{
    for (guint32 i = 0; i < sim->armed->len; i++)
        if (armed_at(sim, i)->event)
            armed_at(sim, i)->event->place = 0;
    g_array_set_size(sim->armed, 0);
    g_array_set_size(sim->fresh, 0);
}

void reference_clear(Sim *sim)
{
    g_array_unref(sim->armed);
    g_array_unref(sim->fresh);
}

void reference_insert(Sim *sim, Event *event)
{
    guint32 index = sim->armed_free;

    if (index == G_MAXUINT32) {
        index = sim->armed->len;
        g_array_set_size(sim->armed, index + 1);
    } else {
        sim->armed_free = armed_at(sim, index)->next_free;
    }
    *armed_at(sim, index) = (Armed){event, SLOT_NONE, 0};
    event->place = PLACE_ARMED + index;
    sim->armed_n++;
    g_array_append_val(sim->fresh, index);
}

static void armed_release(Sim *sim, guint32 index)
{
    *armed_at(sim, index) = (Armed){NULL, SLOT_NONE, sim->armed_free};
    sim->armed_free = index;
    sim->armed_n--;
}

/* Fresh events become notifications. Here and not in reference_insert(), so that SystemC objects
 * are made by the pump only. */
static void arm_fresh(Sim *sim)
{
    for (guint i = 0; i < sim->fresh->len; i++) {
        Armed *armed = armed_at(sim, g_array_index(sim->fresh, guint32, i));
        if (armed->event && armed->slot == SLOT_NONE) {
            SimTime delay_ps = armed->event->time_ps - sim->now_ps;
            sim->armed_now_n += delay_ps == 0;
            armed->slot = kernel_notify_arm(armed->event, sim->base_ps + armed->event->time_ps - kernel_now_ps());
        }
    }
    g_array_set_size(sim->fresh, 0);
}

static void due_insert(Sim *sim, Event *event)
{
    Event **link = &sim->due;

    while (*link && event->order > (*link)->order)
        link = &(*link)->next;
    event->next = *link;
    *link = event;
    event->place = PLACE_DUE;
}

void reference_remove(Sim *sim, Event *event)
{
    if (event->place == PLACE_DUE) {
        Event **link = &sim->due;
        while (*link != event)
            link = &(*link)->next;
        *link = event->next;
    } else {
        guint32 index = event->place - PLACE_ARMED;
        Armed *armed = armed_at(sim, index);
        if (armed->slot != SLOT_NONE) {
            kernel_notify_disarm(armed->slot);
            sim->armed_now_n -= event->time_ps == sim->now_ps;
        }
        armed_release(sim, index);
    }
    event->place = CALENDAR_PLACE_IDLE;
}

/* SystemC: this event is due. The pump follows in the next delta cycle, when all of them are. */
static void notified(void *user, Event *event)
{
    Sim *sim = user;

    if (event->time_ps == sim->now_ps)
        sim->armed_now_n--;
    armed_release(sim, event->place - PLACE_ARMED);
    due_insert(sim, event);
    kernel_wake_after(0);
}

void reference_enter(Sim *sim)
{
    kernel_notify_set_handler(notified, sim);
    sim->settled_ps = SIMTIME_NEVER;
    sim->armed_now_n = 0;
    g_array_set_size(sim->fresh, 0);
    for (guint32 i = 0; i < sim->armed->len; i++)
        if (armed_at(sim, i)->event)
            g_array_append_val(sim->fresh, i);
}

/* Between runs nothing of ours stays with SystemC: another Sim may run. */
void reference_leave(Sim *sim)
{
    for (guint32 i = 0; i < sim->armed->len; i++) {
        Armed *armed = armed_at(sim, i);
        if (armed->slot != SLOT_NONE) {
            kernel_notify_disarm(armed->slot);
            armed->slot = SLOT_NONE;
        }
    }
}

static void fire_due(Sim *sim)
{
    while (!sim->stop && sim->armed_now_n == 0 && sim->due) {
        Event *event = sim->due;
        sim->due = event->next;
        event->place = CALENDAR_PLACE_IDLE;
        sim->now_ps = event->time_ps;
        sim->order = event->order;
        sim->fired++;
        event->fire(event, event->time_ps);
        arm_fresh(sim);
    }
    sim->order = UINT64_MAX;
}

/* When the first of the armed events is due. */
static SimTime armed_next_ps(const Sim *sim)
{
    SimTime next_ps = SIMTIME_NEVER;

    for (guint32 i = 0; i < sim->armed->len; i++) {
        const Armed *armed = &g_array_index(sim->armed, Armed, i);
        if (armed->event)
            next_ps = MIN(next_ps, armed->event->time_ps);
    }
    return next_ps;
}

void reference_pump(Sim *sim)
{
    SimTime clock_ps = kernel_now_ps() - sim->base_ps;

    arm_fresh(sim);
    if (sim->settled_ps != clock_ps) {
        sim->settled_ps = clock_ps;
        kernel_wake_after(0);
        return;
    }
    fire_due(sim);
    if (sim->stop) {
        sim_finish(sim, SIM_STOPPED);
    } else if (sim->armed_now_n > 0) {
        return; /* notified() wakes the pump */
    } else if (sim->ready_first) {
        process_resume_first(sim);
    } else {
        while (background_next_ps(sim) != SIMTIME_NEVER && background_release(sim, armed_next_ps(sim)))
            arm_fresh(sim);
        kernel_wake_cancel();
        sim_sleep(sim, SIMTIME_NEVER, clock_ps); /* SystemC knows of the armed ones */
    }
}

/* Whether something is still to fire at this instant: settled means that the pump has seen all of
 * it. */
gboolean reference_is_busy(const Sim *sim) { return sim->due || sim->armed_now_n > 0 || sim->fresh->len > 0; }
