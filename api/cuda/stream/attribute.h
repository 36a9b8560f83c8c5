/* Values of attributes that streams and launches share, and what a device takes of them. */
#ifndef API_CUDA_STREAM_ATTRIBUTE_H
#define API_CUDA_STREAM_ATTRIBUTE_H

#include "api/cuda/context/ctx.h"

/* The rules of a window of the L2, of a map of domains and of a domain, for launches as for streams. */
gboolean attribute_window_fits(const Cuda *cuda, int device, const CUaccessPolicyWindow *window);
gboolean attribute_domains_fit(const Cuda *cuda, int device, const CUlaunchMemSyncDomainMap *domains);
gboolean attribute_domain_fits(CUlaunchMemSyncDomain domain);

#endif
