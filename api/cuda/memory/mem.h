/* Device memory that the driver cuts itself: cuMemAlloc and memory pools. */
#ifndef API_CUDA_MEMORY_MEM_H
#define API_CUDA_MEMORY_MEM_H

#include "api/cuda/memory/vmm.h"
#include "api/cuda/stream/submit.h"

#define ALLOC_ALIGNMENT 512u       /* source: addresses that a real driver gives */
#define SLAB_BYTES VMM_GRANULARITY /* small allocations share one */

struct Pool {
    guint64 handle;
    int device;        /* ordinal; -1: host memory */
    gboolean standard; /* a device's default pool: cannot be destroyed */
    CUmemPoolProps props;
    guint64 used_bytes, used_high;
    guint64 reserved_bytes, reserved_high;
    guint64 release_threshold;
    gint reuse[3]; /* the three CU_MEMPOOL_ATTR_REUSE_* */
    guint8 access[CUDA_DEVICES_MAX];
    gboolean destroyed; /* memory of it is still out */
};

/* Memory of `bytes` on a device, mapped and readable and writable for it; a range of kind ALLOC or
 * POOL. */
CUresult device_memory_new(Call *call, RangeKind kind, int device, guint64 bytes, guint32 handle_types, Range **range);
/* Managed memory whose home is a device; the host and all devices may touch it. */
CUresult managed_new(Call *call, int device, guint64 bytes, Range **range);
void memory_free_range(Call *call, Range *range);
Pool *pool_get(Call *call, CUmemoryPool handle);
Pool *pool_default(Call *call, int device);
void pool_forget(Call *call, Range *range); /* its bytes are used no more */
/* Waits for all queued work, as freeing memory does. */
CUresult memory_wait_device(Call *call);

/* Peer access to everything allocated on `home`, now and later. */
void memory_peer_access(Call *call, int home, int accessor, gboolean on);
void memory_context_gone(Call *call, Context *context);
/* The end of stream-ordered frees whose stream has come that far. */
void pool_sweep(Call *call);
/* registered.c: bytes of the program's become a range that kernels reach; the range goes; those that the program has
 * unmapped since go, which is said. */
CUresult host_register(Call *call, const Context *context, guint64 va, guint64 bytes, unsigned int flags);
void host_forget(Call *call, Range *range);
void host_look_at_registered(Call *call);

#endif
