/* What `auto` stood for, size by size, and why: lines for people behind a table of collectives. */
#ifndef CLI_COLL_AUTO_H
#define CLI_COLL_AUTO_H

#include "coll/coll.h"
#include "sim/report/report.h"

typedef struct CollAuto CollAuto;

CollAuto *coll_auto_new(void);
void coll_auto_free(CollAuto *taken);
/* A row that ran. Of others than COLL_AUTO nothing is noted. */
void coll_auto_add(CollAuto *taken, const CollGroup *group, const CollSpec *spec, const CollResult *result);
/* One note for all sizes after each other for which the same holds. */
void coll_auto_notes(const CollAuto *taken, Report *report);

#endif
