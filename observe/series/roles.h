/* Which statistics of the registry a SeriesPoint sums up. */
#ifndef OBSERVE_SERIES_ROLES_H
#define OBSERVE_SERIES_ROLES_H

#include "observe/series/points.h"

/* 0: none. path: of the unit, as "gpu0.link3.up". */
guint8 series_role(const char *path, const StatRow *row);
void series_role_add(guint8 role, SeriesPoint *point, guint64 value);

#endif
