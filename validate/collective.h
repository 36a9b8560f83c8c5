/* Inside of validate: rows that name a collective. collective.c tells what is asked, timing.c runs it. */
#ifndef VALIDATE_COLLECTIVE_H
#define VALIDATE_COLLECTIVE_H

#include "coll/coll.h"
#include "device/launch_time.h"
#include "validate/validate.h"

typedef struct {
    CollSpec coll;
    guint32 n;
    LaunchMeasured launch; /* what the row's time has beside the kernel */
    guint64 framework_ps;  /* of a framework, instead of that: where it calls NCCL */
    gboolean unregistered; /* classic NCCL's NVLS copies through its own buffers */
} CollRequest;

/* GError: an operation, algorithm, protocol or launch class that is not known. */
gboolean validate_collective_request(const FabricSpec *spec, const ValidateRow *row, CollRequest *request,
                                     GError **error);
/* Link crossings of a row, if it is simulated in full. */
guint64 validate_collective_crossings(const ValidateRow *row);
/* Rows of one text may share a memo, and are worth it; to be freed. */
char *validate_collective_key(const ValidateRow *row);

/* Times of runs on one system and setup. */
typedef struct ValidateMemo ValidateMemo;
ValidateMemo *validate_memo_new(void);
void validate_memo_free(ValidateMemo *memo);
/* Sets simulated, extrapolated and check_pct. Rows that run in full are best run before larger ones, which are then
 * extrapolated from them. GError as above, or the collective's own. */
gboolean validate_collective(const ValidateSetup *setup, const FabricSpec *spec, ValidateMemo *memo, ValidateRow *row,
                             GError **error);

#endif
