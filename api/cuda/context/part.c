/* See part.h. */
#include "api/cuda/context/part.h"

/* Of the process, as its record is. */
static const CudaPart *parts;
static guint n_parts;

void cuda_parts_enter(const CudaPart *table, guint n)
{
    parts = table;
    n_parts = n;
}

gboolean cuda_parts_know(const char *function)
{
    for (guint i = 0; i < n_parts; i++)
        if (parts[i].knows && parts[i].knows(function))
            return TRUE;
    return FALSE;
}

void cuda_parts_open(Cuda *cuda)
{
    for (guint i = 0; i < n_parts; i++)
        if (parts[i].open)
            parts[i].open(cuda);
}

void cuda_parts_wrong(void)
{
    for (guint i = 0; i < n_parts; i++)
        if (parts[i].wrong)
            parts[i].wrong();
}

void cuda_parts_start(Cuda *cuda, EngineSpec *spec)
{
    for (guint i = 0; i < n_parts; i++)
        if (parts[i].start)
            parts[i].start(cuda, spec);
}

void cuda_parts_close(Cuda *cuda, const char *why)
{
    for (guint i = 0; i < n_parts; i++)
        if (parts[i].close)
            parts[i].close(cuda, why);
}

void cuda_parts_context_gone(Call *call, Context *context)
{
    for (guint i = 0; i < n_parts; i++)
        if (parts[i].context_gone)
            parts[i].context_gone(call, context);
}

void cuda_parts_memory_freed(Call *call, const struct Phys *phys)
{
    for (guint i = 0; i < n_parts; i++)
        if (parts[i].memory_freed)
            parts[i].memory_freed(call, phys);
}

void cuda_parts_before_launch(Call *call)
{
    for (guint i = 0; i < n_parts; i++)
        if (parts[i].before_launch)
            parts[i].before_launch(call);
}
