/* How far off the simulator was on measurements, and what that says on something near them that nobody measured.
 *
 *     ValidateErrors *errors = validate_errors_new(NULL, &error);        // those that come with Fanout
 *     ValidateNear near = validate_near(errors, &cell, VALIDATE_NEAR_ALL);
 *     time_us = validate_near_time(&near, simulated_us);  ... near.half_width_pct
 *
 * A file of errors is CSV with the header VALIDATE_ERRORS_HEAD, one row a measurement; `fanout validate --errors
 * FILE` writes it. An error is the logarithm of the simulated over the measured time. Errors of two rows are the
 * more alike the less the rows differ: their correlation is a product of one factor for each thing that is not
 * the same (the operation, NCCL's version, the machine) and of exp(-|log2 of the ratio| / length) of their sizes
 * and of their GPUs; of another program or generation it is 0. From the rows with the highest correlation the
 * error of the cell is estimated (kriging.h), taken out of the simulated time, and what is left is the
 * uncertainty. docs/planning.md says it for users; validate/reference/neighbours.py finds the factors and lengths
 * anew, from the rows that parameters may be taken from. */
#ifndef VALIDATE_ERROR_MODEL_H
#define VALIDATE_ERROR_MODEL_H

#include "coll/coll.h"
#include "validate/validate.h"

#define VALIDATE_ERRORS_HEAD "id,preset,gpus,op,program,nccl,timing,bytes,measured_us,simulated_us"
#define VALIDATE_NEAR_LEAST 0.1 /* correlation from which a row is a neighbour */
#define VALIDATE_NEAR_ROWS 48u  /* that are looked at at most */

/* The factors of the correlation of two rows' errors, by what is not the same, and the lengths: those with which
 * rows of the half of the published rows that parameters may be taken from are best estimated from the others
 * of that half (validate/reference/neighbours.py), rounded. Rows of another program or generation were found to
 * say nothing; the kind of launch and the algorithm were found not to matter. */
#define VALIDATE_NEAR_OP 0.25      /* the operation */
#define VALIDATE_NEAR_NCCL 0.6     /* NCCL's version, but for its third number */
#define VALIDATE_NEAR_MACHINE 0.25 /* two machines of one generation */
#define VALIDATE_NEAR_SIZE_LENGTH 20.0
#define VALIDATE_NEAR_GPUS_LENGTH 1.0
#define VALIDATE_NEAR_SD 0.165        /* of errors before a neighbour is known */
#define VALIDATE_NINE_OF_TEN_SD 1.645 /* to either side of a normal distribution's mean lie nine of ten */
#define VALIDATE_NEAR_NOISE_SD 0.036  /* of a measurement beside its own repetition */

typedef struct ValidateErrors ValidateErrors;
/* path NULL: the errors that come with Fanout. GError: the file, with line and what is wrong. */
ValidateErrors *validate_errors_new(const char *path, GError **error);
void validate_errors_free(ValidateErrors *errors);         /* NULL is fine */
guint validate_errors_count(const ValidateErrors *errors); /* of rows */
/* Adds the published rows among `rows` (of ValidateRow) that were simulated; each replaces the one with its id. */
void validate_errors_add(ValidateErrors *errors, const GPtrArray *rows);
/* Writes those among `rows`. GError: as g_file_set_contents. */
gboolean validate_errors_save(const GPtrArray *rows, const char *path, GError **error);

/* What is asked about. Strings are the caller's. */
typedef struct {
    const char *preset; /* rows of the same name are of the same machine */
    guint64 arch;       /* of sm.arch: 80, 90, 100; 0: not known */
    CollOp op;
    guint32 gpus;
    guint64 bytes;
    const char *program; /* as tables of measurements name it */
    guint32 nccl;        /* coll_nccl_parse; 0: not known, or not NCCL */
    const char *id;      /* a row that is not its own neighbour, or NULL */
} ValidateCell;
/* Adds an error, or puts it in the place of the one with cell->id, which is not NULL here; both times are above 0. */
void validate_errors_put(ValidateErrors *errors, const ValidateCell *cell, double measured, double simulated);
/* FALSE: the row is not a published one of a collective. The strings stay the row's. */
gboolean validate_cell_of(const ValidateRow *row, ValidateCell *cell);

/* Whose errors count: to judge the model, those of the other half alone. */
typedef enum { VALIDATE_NEAR_ALL, VALIDATE_NEAR_TO_JUDGE } ValidateNearUse;
typedef struct {
    guint rows;            /* neighbours; 0: none, and the model stands alone */
    double log_error;      /* what is expected of log(simulated / measured); 0 without neighbours */
    double half_width_pct; /* nine of ten are not further off the corrected time; NaN without neighbours */
} ValidateNear;
ValidateNear validate_near(const ValidateErrors *errors, const ValidateCell *cell, ValidateNearUse use);
double validate_near_time(const ValidateNear *near, double simulated);
/* Those of `rows` that were simulated and have neighbours to judge by, as if these had corrected them; *covered: how
 * many lie within the half-width that was claimed. The copies share the strings of the rows, which must live
 * longer. */
GPtrArray *validate_near_rows(const ValidateErrors *errors, const GPtrArray *rows, guint *covered);

#endif
