/* Fanout's own calls beside the CUDA driver API: running device programs on a stream.
 *
 * A program that uses them includes this header and links with Fanout's libcuda.so.1; everything else of
 * it is plain driver API. Device programs are C functions: see fanout/device.h. */
#ifndef FANOUT_FANOUT_H
#define FANOUT_FANOUT_H

#include <fanout/cuda.h>
#include <fanout/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Queues a kernel on a stream of the current context (NULL: its default stream); returns at once. The
 * kernel's args and name are copied. Results: CUDA_SUCCESS; INVALID_VALUE (no kernel, no program, a grid of 0
 * or more than 65535 CTAs, a CTA of 0 or more than 1024 threads); INVALID_CONTEXT; INVALID_HANDLE (the
 * stream); ILLEGAL_ADDRESS when earlier work of the context faulted. Faults of the kernel itself are seen
 * by the call that waits for it, and in the report. */
FO_API CUresult fo_launch(const FoKernel *kernel, CUstream stream);

/* Simulated time in picoseconds since the start. No time passes. */
FO_API CUresult fo_now_ps(uint64_t *time_ps);

#ifdef __cplusplus
}
#endif
#endif
