/* What the files of the multicast family share. */
#ifndef API_CUDA_MULTICAST_MULTICAST_H
#define API_CUDA_MULTICAST_MULTICAST_H

#include "api/cuda/memory/vmm.h"

gboolean multicast_supported(const Cuda *cuda, const CudaDevice *device);
gboolean multicast_anywhere(const Cuda *cuda); /* else the whole family answers NOT_SUPPORTED */

#endif
