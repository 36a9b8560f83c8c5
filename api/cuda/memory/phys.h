/* Physical memory of the front end: what cuMemCreate makes, what cuMemAlloc cuts its pieces from.
 *
 * Bytes live in one sparse memfd, so that a shareable handle is simply another descriptor of it.
 * One page behind the bytes says what the memory is, for importers. In one process the same memory
 * is one Phys however often it is imported (its identity is the memfd's inode). */
#ifndef API_CUDA_MEMORY_PHYS_H
#define API_CUDA_MEMORY_PHYS_H

#include "api/cuda/context/process.h"
#include "api/cuda/memory/robust_lock.h"
#include "api/cuda/memory/shared_file.h"

#define SHARE_PAGE_BYTES 4096
#define PHYS_GRAIN_BYTES ((guint64)2 << 20) /* what can be shared comes in */
#define PHYS_MAGIC 0x304d454d4f4e4146ull    /* "FANOMEM0" */

typedef struct {
    guint64 magic;
    guint64 bytes;
    gint32 location_type;
    gint32 location_id; /* GPU of the system, or NUMA node */
    guint32 handle_types;
    guint8 compression, rdma;
    guint16 usage;
    guint32 tray, unused; /* the host that it was made on */
} PhysPage;

#define PHYS_HOLDERS_MAX 512

/* The page behind the bytes, as all processes that know the memory see it. */
typedef struct {
    PhysPage page;
    pthread_mutex_t lock;          /* of read-modify-writes: robust, process-shared */
    gint mapped;                   /* atomic: it was mapped at some time */
    gint holder[PHYS_HOLDERS_MAX]; /* atomic: processes in which a handle or a mapping lives; 0:
                                      free */
} PhysShared;

typedef struct Phys {
    PhysPage page;
    guint64 identity[2]; /* st_dev, st_ino: the key */
    int fd;
    guint32 region; /* the engine's number */
    guint32 refs;   /* handles' objects, mappings, binds */
    guint32 uses;   /* of those, handles' objects and mappings: what the user frees */
    PhysShared *shared;
    gboolean imported;
    guint64 charged; /* bytes taken from the device's memory by this process */
} Phys;

GHashTable *phys_table_new(void);
/* New memory with one reference: OUT_OF_MEMORY when the device or the host has none. */
CUresult phys_new(Call *call, const PhysPage *page, Phys **phys);
/* The memory behind a descriptor, with one reference more. INVALID_VALUE: not such memory. */
CUresult phys_import(Call *call, int fd, Phys **phys);
void phys_ref(Phys *phys);
void phys_unref(Call *call, Phys *phys);
/* A handle or a mapping begins or ends to use it. When the last one of all processes ends, the user
 * has freed the memory: binds of it are detached (CudaPart.memory_freed). */
void phys_use(Phys *phys, gboolean mapping);
void phys_unuse(Call *call, Phys *phys);
/* Another process that lives has a handle or a mapping of it. */
gboolean phys_held_elsewhere(const Phys *phys);
gboolean phys_is_device(const Phys *phys);

guint identity_hash(gconstpointer identity);
gboolean identity_equal(gconstpointer a, gconstpointer b);

#endif
