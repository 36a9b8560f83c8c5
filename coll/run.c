/* A collective by itself: a search among algorithms, or one of them, as its library and its fidelity say. */
#include "coll/internal.h"

gboolean coll_run(CollGroup *group, const CollSpec *spec, CollResult *result, GError **error)
{
    if (coll_is_search(spec->algo))
        return coll_run_best(group, spec, result, error);
    CollSpec taken = *spec;
    coll_library_apply(group, &taken);
    return coll_run_fidelity(group, &taken, result, error);
}
