/* The cells of a planner's table, as rows that validate can simulate, and what is written of each. */
#ifndef CLI_TABLE_ROWS_H
#define CLI_TABLE_ROWS_H

#include "cli/system.h"
#include "cli/table/args.h"
#include "sim/report/report.h"
#include "validate/error_model.h"
#include "validate/validate.h"

/* Ascending by operation, GPUs and size; sizes are rounded down to whole 16 bytes of each rank where the operation
 * divides them, as nccl-tests does, and what becomes nothing or the same as the one before is left out. */
GPtrArray *table_rows_new(const TablePlan *plan, const System *system);

/* Writes cells; in text for people, else with the columns that planners read in front. */
typedef struct TableWriter TableWriter;
/* errors: NULL for none. GError: the system cannot be built. */
TableWriter *table_writer_new(const TablePlan *plan, const System *system, const Options *options,
                              const ValidateErrors *errors, GError **error);
void table_writer_free(TableWriter *writer);
const Column *table_writer_columns(const TableWriter *writer);
void table_writer_widths(const TableWriter *writer, const GPtrArray *rows, guint *width);
void table_writer_add(const TableWriter *writer, Table *table, const ValidateRow *row);
/* In sentences: of which calls, between which times, and how far measured calls like them were off. */
void table_writer_answer(const TableWriter *writer, const GPtrArray *rows, Report *report);

#endif
