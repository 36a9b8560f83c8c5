/* How sure an advice is: what a choice costs when both times are corrected by the measured rows near them. */
#ifndef CLI_ADVISE_SURE_H
#define CLI_ADVISE_SURE_H

#include "cli/advise/args.h"
#include "cli/system.h"
#include "validate/error_model.h"

typedef struct {
    double loss_pct;       /* how much longer the program's own choice takes; NaN: one of the two has no neighbour */
    double half_width_pct; /* of that: nine of ten like it are not further off */
} AdviseSure;
AdviseSure advise_sure(const ValidateErrors *errors, const System *system, const AdvisePlan *plan, guint64 bytes,
                       const CollResult *best, const CollResult *own);

#endif
