/* [policy] of a system, resolved to functions (model/shared/policy.h says what they decide). */
#ifndef MODEL_SHARED_POLICIES_H
#define MODEL_SHARED_POLICIES_H

#include "model/shared/policy.h"
#include "model/shared/spec.h"

/* Each function NULL: the built-in way that the stages go without asking. */
typedef struct {
    unsigned (*arbitrate)(const FoPort *port);
    unsigned weight[2];
    unsigned (*first_member)(unsigned port, unsigned members, uint64_t sequence);
    unsigned (*root)(unsigned link, unsigned team, unsigned spines);
    unsigned (*link)(uint64_t chunk, unsigned links);
} Policies;

/* GError: PARAM_ERROR: a library that does not load or has another version, a name that is none, with what would be
 * right. A library stays loaded until the process ends. */
gboolean policies_resolve(const PolicySpec *spec, Policies *policies, GError **error);

/* The place among a team's members, of whom there are some, of the one whose replica leaves first. */
static inline unsigned policies_first_member(const Policies *policies, unsigned port, unsigned members,
                                             uint64_t sequence)
{
    return policies->first_member && members ? policies->first_member(port, members, sequence) % members : 0;
}

#endif
