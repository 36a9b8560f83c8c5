/* Faults that begin when a row's run has ended: such a row says nothing about them, and the report says so. */
#ifndef CLI_COLL_LATE_H
#define CLI_COLL_LATE_H

#include "model/fabric/fabric.h"
#include "sim/report/report.h"

typedef struct CollLate CollLate;
CollLate *coll_late_new(void);
void coll_late_free(CollLate *late);
/* A row's fabric, when its run is over. */
void coll_late_add(CollLate *late, const Fabric *fabric);
/* A note for each fault that came too late for one row or more. */
void coll_late_notes(const CollLate *late, Report *report);

#endif
