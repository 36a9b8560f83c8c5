/* Binds of memory to multicast objects and logical endpoints: what both have in common. */
#ifndef API_CUDA_MULTICAST_BIND_H
#define API_CUDA_MULTICAST_BIND_H

#include "api/cuda/memory/vmm.h"

#define DEVICE_OF_MEMORY (-1) /* no device is named: the memory's */

typedef struct {
    guint64 handle; /* of the object, or the endpoint's identifier */
    int device;     /* ordinal or DEVICE_OF_MEMORY */
    guint64 offset; /* in the object */
    Phys *phys;
    guint64 memory_offset;
    guint64 bytes;
} Bind;

/* What all calls on an object with memory ask first: support, handle, flags, device. */
CUresult bind_check_head(Call *call, guint64 object, int device, unsigned long long flags, Team **team);
/* Of which sizes and offsets are multiples. */
guint64 bind_alignment(const Cuda *cuda, const Team *team);
CUresult bind_check_sizes(const Cuda *cuda, const Team *team, const Bind *bind);
/* The memory behind an address, which is on that alignment, of cuMemMap or a pool, in one mapping. */
CUresult bind_find_memory(Call *call, Bind *bind, guint64 address, guint64 alignment);
/* Whose copy the memory becomes, as a GPU of the system. INVALID_VALUE: it is not that device's, or not next to it. */
CUresult bind_gpu(const Cuda *cuda, const Bind *bind, guint16 *gpu);
gboolean bind_is_member(Team *team, guint16 gpu);
/* A bind of that GPU takes a part of the range. */
gboolean bind_overlaps(const Cuda *cuda, const Team *team, const TeamBind *b, guint16 gpu, guint64 offset,
                       guint64 bytes);
/* Enters a checked bind of a team that is ready, and tells the fabric. INVALID_VALUE: over another one; OUT_OF_MEMORY,
 * MULTICAST_RESOURCE_FULL: no room. */
CUresult bind_enter(Call *call, Team *team, const Bind *bind, guint16 gpu);

#endif
