/* Alarms of an owner's clients: what is to happen in simulated time, armed as a standstill ends. See gate.h. */
#include "machine/engine/alarm.h"
#include "machine/engine/internal.h"

struct EngineAlarm {
    Engine *engine;
    Event event;
    guint64 after_ps;
    EngineOrder order;
    gboolean armed;
    void (*ring)(void *user);
    void *user;
};

gint engine_alarm_compare(const EngineAlarm *a, const EngineAlarm *b)
{
    return engine_order_compare(&a->order, &b->order);
}

static void alarm_rings(Event *event, SimTime now_ps)
{
    EngineAlarm *alarm = EVENT_OWNER(event, EngineAlarm, event);
    Engine *engine = alarm->engine;

    (void)now_ps;
    g_ptr_array_remove(engine->alarms, alarm);
    engine_disturbed(engine);
    engine_tell_time(engine);
    alarm->ring(alarm->user);
    sim_stop(engine->sim);
    g_free(alarm);
}

EngineAlarm *engine_alarm_new(Engine *engine, guint64 after_ps, const EngineOrder *order, void (*ring)(void *user),
                              void *user)
{
    EngineAlarm *alarm = g_new0(EngineAlarm, 1);

    *alarm = (EngineAlarm){.engine = engine, .after_ps = after_ps, .order = *order, .ring = ring, .user = user};
    event_init(&alarm->event, alarm_rings);
    g_ptr_array_add(engine->alarms, alarm);
    return alarm;
}

void engine_alarm_arm(EngineAlarm *alarm)
{
    if (!alarm->armed)
        sim_after(alarm->engine->sim, &alarm->event, alarm->after_ps, EVENT_PRIORITY_PROCESS);
    alarm->armed = TRUE;
}

Event *engine_alarm_event(EngineAlarm *alarm) { return &alarm->event; }

void engine_alarm_free(EngineAlarm *alarm)
{
    sim_cancel(alarm->engine->sim, &alarm->event);
    g_ptr_array_remove(alarm->engine->alarms, alarm);
    g_free(alarm);
}
