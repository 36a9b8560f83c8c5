/* Parts of the front end: what the process record asks of files that stand above it.
 *
 * The record (process.h) and contexts are made, started and ended here, below everything that the driver API does; what
 * each part does then is a row of the table in parts.c, which enters it before the program's first call. */
#ifndef API_CUDA_CONTEXT_PART_H
#define API_CUDA_CONTEXT_PART_H

#include "api/cuda/context/ctx.h"

struct Phys; /* api/cuda/memory/phys.h */

/* NULL: nothing to do. All but `knows`, `wrong` and `close` are called with the record's lock, if it is there yet. */
typedef struct {
    void (*open)(Cuda *cuda);                                  /* the record is made, at the first call */
    gboolean (*knows)(const char *function);                   /* it is one of the driver API */
    void (*wrong)(void);                                       /* options are wrong */
    void (*start)(Cuda *cuda, EngineSpec *spec);               /* cuInit: what the engine is to know of the part */
    void (*close)(Cuda *cuda, const char *why);                /* the process ends, by exit() or _exit() */
    void (*context_gone)(Call *call, Context *context);        /* frees what belongs to the context */
    void (*memory_freed)(Call *call, const struct Phys *phys); /* by the user, in all processes */
    void (*before_launch)(Call *call);                         /* a kernel is about to be queued */
} CudaPart;

/* Before the first call; the table lives as long as the process. */
void cuda_parts_enter(const CudaPart *parts, guint n);

void cuda_parts_open(Cuda *cuda);
gboolean cuda_parts_know(const char *function);
void cuda_parts_wrong(void);
void cuda_parts_start(Cuda *cuda, EngineSpec *spec);
void cuda_parts_close(Cuda *cuda, const char *why);
void cuda_parts_context_gone(Call *call, Context *context);
void cuda_parts_memory_freed(Call *call, const struct Phys *phys);
void cuda_parts_before_launch(Call *call);

#endif
