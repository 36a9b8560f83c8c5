/* Inside the engine: alarms of an owner's clients. See gate.h. */
#ifndef MACHINE_ENGINE_ALARM_H
#define MACHINE_ENGINE_ALARM_H

#include "machine/engine/internal.h"

gint engine_alarm_compare(const EngineAlarm *a, const EngineAlarm *b); /* the order of the rule of time */
void engine_alarm_arm(EngineAlarm *alarm);                             /* as a standstill ends */
Event *engine_alarm_event(EngineAlarm *alarm);

#endif
