/* Logical endpoints of the front end: the identifiers of this process, and what each leads to.
 *
 * An endpoint is a Team (api/cuda/multicast/team.h), as a multicast object is: properties, devices and binds stand in a
 * page that all its processes share, and every process tells its engine. A unicast one has a team of its owner alone.
 * What is this process's own is the identifier, and whether it has asked if the endpoint is ready. The engine has the
 * same table for kernels and copies (model/memory/endpoint.h). */
#ifndef API_CUDA_ENDPOINT_ENDPOINT_H
#define API_CUDA_ENDPOINT_ENDPOINT_H

#include <fanout/cuda_endpoint.h>

#include "api/cuda/context/ctx.h"
#include "api/cuda/multicast/bind.h"

typedef struct {
    gboolean reserved;
    gboolean imported;
    gboolean ready; /* cuLogicalEndpointQuery said so */
    Team *team;     /* holds a reference; NULL: no endpoint */
} Endpoint;

/* What the whole family asks first: NOT_SUPPORTED where no device has endpoints. */
CUresult endpoint_supported(const Cuda *cuda);
/* The entry of an endpoint; NULL after a diagnostic: the identifier was not reserved, or has none. */
Endpoint *endpoint_find(Call *call, CUlogicalEndpointId id);
/* A reserved identifier without an endpoint; NULL after a diagnostic. */
Endpoint *endpoint_room(Call *call, CUlogicalEndpointId id);
/* The entry leads to the team from now on; takes the caller's reference. */
void endpoint_enter(Call *call, CUlogicalEndpointId id, Team *team, gboolean imported);
/* The engine's entry, as this process's is now. */
void endpoint_tell(Call *call, CUlogicalEndpointId id);
/* Properties as all calls that take them check them; *team gets the size of the team, *kind what it is. The size of the
 * endpoint is not looked at. */
CUresult endpoint_check(Call *call, const CUlogicalEndpointProp *prop, EngineObjectKind *kind, guint *team);

/* The engine's requests of a list of fabric copies, one each, without a stream. *requests: those of before, in whose
 * place they come; untouched on an error. */
CUresult fabric_copy_prepare(Call *call, const CUDA_FABRIC_COPY_BATCH_OP *list, size_t n, unsigned long long flags,
                             const Context *context, GArray *requests);

#endif
