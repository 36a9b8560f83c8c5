/* See sure.h. */
#include "cli/advise/sure.h"

#include <math.h>

/* Of one algorithm's two times only the noise is unsure: so far apart nine of ten of it are, in percent. */
#define SURE_SAME_PCT (VALIDATE_NINE_OF_TEN_SD * M_SQRT2 * VALIDATE_NEAR_NOISE_SD * 100)

/* Whose rows an algorithm's are among the measured ones. */
static const char *sure_program(const AdvisePlan *plan, CollAlgo algo)
{
    if (coll_library_is_framework(plan->spec.library) && !coll_algo_is_nccl(algo))
        return coll_library_names[plan->spec.library];
    return coll_algo_family(algo) == COLL_OF_SYMMETRIC_MEMORY ? "nccl-sym"
           : coll_algo_is_nccl(algo)                          ? "nccl"
                                                              : "kernel";
}

static ValidateNear sure_near(const ValidateErrors *errors, const System *system, const AdvisePlan *plan, guint64 bytes,
                              CollAlgo algo)
{
    const char *program = sure_program(plan, algo);
    const guint32 nccl = plan->spec.nccl ? plan->spec.nccl : coll_nccl_newest();
    const ValidateCell cell = {.preset = system->name,
                               .arch = system->spec.sm.arch,
                               .op = plan->spec.op,
                               .gpus = plan->gpus,
                               .bytes = bytes,
                               .program = program,
                               .nccl = g_str_has_prefix(program, "nccl") ? nccl : 0};
    return validate_near(errors, &cell, VALIDATE_NEAR_ALL);
}

AdviseSure advise_sure(const ValidateErrors *errors, const System *system, const AdvisePlan *plan, guint64 bytes,
                       const CollResult *best, const CollResult *own)
{
    const gboolean same = best->algo == own->algo && best->proto == own->proto; /* they err alike */
    const ValidateNear of_best = sure_near(errors, system, plan, bytes, best->algo);
    const ValidateNear of_own = sure_near(errors, system, plan, bytes, own->algo);
    if (of_best.rows == 0 || of_own.rows == 0)
        return (AdviseSure){NAN, NAN};
    const double longer = validate_near_time(&of_own, (double)own->time_ps) /
                          validate_near_time(&of_best, (double)best->time_ps);
    return (AdviseSure){(longer - 1) * 100,
                        same ? SURE_SAME_PCT : hypot(of_best.half_width_pct, of_own.half_width_pct)};
}
