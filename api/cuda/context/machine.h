/* What libcuda.so.1 tells libnvidia-ml.so.1 of the process: the simulated machine, and what this process uses of it.
 * Not for programs: no installed header declares these. */
#ifndef API_CUDA_CONTEXT_MACHINE_H
#define API_CUDA_CONTEXT_MACHINE_H

#include "machine/machine.h"

/* Of the options that this process runs under, which are loaded when need be; nothing is simulated for it. Made once
 * and never freed. NULL: the options are wrong, which was said in the log. */
const Machine *fo_machine(void);
/* Bytes of a GPU's memory in use: of all processes of the machine, below `fanout exec`; else of this one. */
guint64 fo_machine_used(guint gpu);
typedef struct {
    guint32 pid;
    guint64 bytes; /* of the GPU's memory that it has taken */
} MachineProcess;
/* The processes that have a context on that GPU, by number: of the machine, or this one alone. g_array_unref. */
GArray *fo_machine_processes(guint gpu);

/* What the fabric manager does now, as that GPU has it. */
CudaFmState fo_machine_manager(guint gpu);

#endif
