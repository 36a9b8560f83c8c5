/* Device addresses of a process: reserved ranges, and what lies behind each mapped one.
 *
 * Every reserved byte is a real PROT_NONE reservation of the host's address space, so that a stray
 * host access faults as it would on a real machine and no host object ever has such an address. */
#ifndef API_CUDA_MEMORY_RANGE_H
#define API_CUDA_MEMORY_RANGE_H

#include "api/cuda/memory/phys.h"

struct Team;

typedef enum {
    RANGE_VMM,        /* cuMemMap */
    RANGE_ALLOC,      /* cuMemAlloc: a piece of a slab, or a memory of its own */
    RANGE_POOL,       /* cuMemAllocAsync */
    RANGE_HOST,       /* cuMemHostAlloc: its device address is its host address */
    RANGE_REGISTERED, /* cuMemHostRegister */
} RangeKind;

typedef struct {
    guint64 va;
    guint64 bytes;
} Reservation;

/* What the program said about managed memory, for those who ask. */
typedef struct {
    CUmemLocation preferred, prefetched; /* type INVALID: never said */
    gboolean read_mostly, accessed_by_host;
    guint8 *accessed_by; /* by ordinal; stands behind the range */
} Advice;

typedef struct Range {
    guint64 va;
    guint64 bytes;
    RangeKind kind;
    Phys *phys;        /* holds a reference; NULL for multicast and registered memory */
    guint64 offset;    /* of va in phys or team */
    guint32 region;    /* of registered memory, which has no phys: the engine's number; else 0 */
    struct Team *team; /* holds a reference: a multicast mapping */
    guint64 handle;    /* pinned: RANGE_VMM */
    int device;        /* ordinal of the home device; -1: host memory */
    guint64 context;   /* id of the context it was allocated in; 0: none */
    guint64 buffer_id;
    guint32 flags;      /* of host allocations */
    gboolean of_module; /* of a module's variables, of kernels' malloc, or an array's: not cuMemFree's to free */
    guint32 opened;     /* of another process's memory: how often cuIpcOpenMemHandle was called; 0: it is own memory */
    gboolean managed;
    guint64 asked_bytes; /* of managed memory */
    Advice advice;       /* the same */
    gboolean sync_memops;
    gboolean freed; /* cuMemFreeAsync was called */
    Pool *pool;
    struct Slab *slab;    /* that it is a piece of */
    guint32 end_event;    /* of a freed one: the engine's event behind its last use */
    gboolean host_mapped; /* the bytes themselves stand at va in the host's space */
    guint8 host_access;   /* CUmemAccess_flags of the host */
    guint8 *access;       /* CUmemAccess_flags by ordinal; stands behind the range */
} Range;

typedef struct Ranges {
    GTree *reserved; /* guint64 -> Reservation */
    GTree *mapped;   /* guint64 -> Range */
    guint64 next_va; /* where the next reservation is tried */
} Ranges;

Ranges *ranges_new(void);
/* A copy of `as`, without rights for any of that many devices. Inserted, it belongs to the table. */
Range *range_new(const Range *as, guint devices);

/* Reserves address space from the host; 0: there is none. hint may be 0: then addresses follow each
 * other from a fixed one on, the same in every run, as far as the host has them free. */
guint64 range_reserve(Ranges *ranges, guint64 bytes, guint64 alignment, guint64 hint);
void range_release(guint64 va, guint64 bytes);

Reservation *reservation_find(Ranges *ranges, guint64 va);     /* that holds va, or NULL */
Range *range_find(Ranges *ranges, guint64 va);                 /* that holds va, or NULL */
Range *range_next(Ranges *ranges, guint64 va);                 /* the first that begins at va or later */
gboolean range_any(Ranges *ranges, guint64 va, guint64 bytes); /* something is mapped in there */
void range_insert(Ranges *ranges, Range *range);
void range_remove(Ranges *ranges, Range *range); /* frees it; the references are the caller's */
/* [va, va + bytes) is exactly a row of whole VMM mappings side by side. */
gboolean range_whole(Ranges *ranges, guint64 va, guint64 bytes);

#endif
