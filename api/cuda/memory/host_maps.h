/* What a process has mapped, as the kernel tells it; and which other processes have the same files. */
#ifndef API_CUDA_MEMORY_HOST_MAPS_H
#define API_CUDA_MEMORY_HOST_MAPS_H

#include "api/cuda/context/process.h"

/* A line of /proc/PID/maps. */
typedef struct {
    guint64 from, to;
    char rights[5], device[16];
    guint64 inode;
} HostMapsLine;

/* The line at *text, which goes on behind it; FALSE: that was the last one. */
gboolean host_maps_next(const char **text, HostMapsLine *line);
/* Other live processes have some of the memory mapped that this one has registered. */
gboolean host_held_elsewhere(const Cuda *cuda);

#endif
