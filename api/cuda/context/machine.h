/* What libcuda.so.1 tells libnvidia-ml.so.1 of the process: the simulated machine, and what this process uses of it.
 * Not for programs: no installed header declares these. */
#ifndef API_CUDA_CONTEXT_MACHINE_H
#define API_CUDA_CONTEXT_MACHINE_H

#include "api/machine/machine.h"

/* Of the options that this process runs under, which are loaded when need be; nothing is simulated for it. Made once
 * and never freed. NULL: the options are wrong, which was said in the log. */
const Machine *fo_machine(void);
/* Bytes of a GPU's memory that this process uses, and whether it has a context there. */
guint64 fo_machine_used(guint gpu, gboolean *context);

/* What the fabric manager does now, as that GPU has it. */
CudaFmState fo_machine_manager(guint gpu);

#endif
