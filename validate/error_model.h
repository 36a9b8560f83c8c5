/* How far off the simulator was on the measurements nearest to something that nobody measured.
 *
 *     ValidateErrors *errors = validate_errors_new(NULL, &error);        // those that come with Fanout
 *     ValidateNear near = validate_near(errors, &(ValidateCell){100, COLL_ALL_REDUCE, 8, 1 << 20, TRUE, FALSE});
 *     if (near.rows) ... near.half_width_pct
 *
 * A file of errors is CSV with the header `id,preset,gpus,op,program,timing,bytes,measured_us,simulated_us`, one row a
 * measurement; `fanout validate --errors FILE` writes it. Which rows count:
 * - the same operation and kind of launch (one by one, or in a CUDA graph or as a kernel), and the same kind of program
 *   (classic NCCL, NCCL's symmetric kernels, or a kernel written by hand or of a framework), on a GPU of the same
 *   generation;
 * - of these only the half that no parameter was taken from (validate_half);
 * - of these the VALIDATE_NEAR_ROWS nearest, and those as near as the last of them, up to VALIDATE_NEAR_MAX away. The
 *   distance is |log2 of the sizes' ratio| + 2 |log2 of the GPUs' ratio|: twice the GPUs is as far as four times the
 *   size.
 * The half-width is the 90th percentile of their absolute errors (of fewer than ten rows the largest). */
#ifndef VALIDATE_ERROR_MODEL_H
#define VALIDATE_ERROR_MODEL_H

#include "coll/coll.h"

#define VALIDATE_NEAR_ROWS 8u
#define VALIDATE_NEAR_LEAST 2u /* with fewer there is no answer */
#define VALIDATE_NEAR_MAX 4.0

typedef struct ValidateErrors ValidateErrors;
/* path NULL: the errors that come with Fanout. GError: the file, with line and what is wrong. */
ValidateErrors *validate_errors_new(const char *path, GError **error);
void validate_errors_free(ValidateErrors *errors);         /* NULL is fine */
guint validate_errors_count(const ValidateErrors *errors); /* rows that may be near something */

typedef enum { VALIDATE_NCCL, VALIDATE_NCCL_SYM, VALIDATE_KERNEL } ValidateKind;
/* Of a program as the tables name it: nccl, nccl-registered, nccl-sym, else a kernel. */
ValidateKind validate_kind(const char *program);

typedef struct {
    guint64 arch; /* of sm.arch: 80, 90, 100 */
    CollOp op;
    guint32 gpus;
    guint64 bytes;
    ValidateKind kind;
    gboolean eager; /* launched one by one */
} ValidateCell;
typedef struct {
    guint rows;                      /* 0: none is near, and the rest means nothing */
    double half_width_pct, mean_pct; /* mean of the signed errors: below 0, simulated too fast */
    double distance;                 /* of the farthest */
} ValidateNear;
ValidateNear validate_near(const ValidateErrors *errors, const ValidateCell *cell);

/* Writes the published rows among `rows` (of ValidateRow) that were simulated. GError: as g_file_set_contents. */
gboolean validate_errors_save(const GPtrArray *rows, const char *path, GError **error);

#endif
