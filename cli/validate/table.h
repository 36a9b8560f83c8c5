/* The summaries under fanout validate's rows: by file, group, target, and published rows by half. */
#ifndef CLI_VALIDATE_TABLE_H
#define CLI_VALIDATE_TABLE_H

#include "cli/options.h"
#include "sim/report/report.h"
#include "validate/validate.h"

/* Adds them to the report; rows: ValidateRow, simulated or skipped. */
void validate_table_add(Report *report, const GPtrArray *rows);

/* What results depend on beside the rows, as a journal keeps it. Caller frees. */
char *validate_settings(const Options *options, const ValidateSetup *setup);

#endif
