/* The rows of `fanout coll`, in the columns of nccl-tests. */
#ifndef CLI_COLL_TABLE_H
#define CLI_COLL_TABLE_H

#include "cli/coll/args.h"
#include "model/fabric/usage.h"

#define COLL_COLUMNS 17
extern const Column coll_table_columns[];

void coll_table_add(Table *table, const CollSpec *spec, const CollResult *result, guint32 gpus,
                    const Usage usage[USAGE_DIRECTIONS]);
/* How wide the columns become in text, as far as the plan tells. */
void coll_table_widths(const CollPlan *plan, guint width[COLL_COLUMNS]);

#endif
