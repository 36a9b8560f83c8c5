/* Errors on demand: `cuda.fail` names calls of the driver API and the codes that they answer, so
 * that a program's handling of every documented error can be tried, also of those that no simulated
 * machine brings about.
 *
 *     cuda.fail=cuMemMap:NOT_PERMITTED,cuMulticastBindMem:SYSTEM_NOT_READY:3
 *
 * A number behind the code says which call of that function fails, the first is 1; without it every
 * one does. A failing call does nothing else. A name without suffix (_v2, _ptsz) means all variants
 * that the list does not name themselves. */
#ifndef MACHINE_FAIL_H
#define MACHINE_FAIL_H

#include <glib.h>

#include <fanout/cuda.h>

typedef struct CudaFails CudaFails;

/* GError (PARAM_ERROR): not of that shape, or no such code; says what would be right. Empty text
 * gives an empty list. */
CudaFails *cuda_fails_new(const char *text, GError **error);
void cuda_fails_free(CudaFails *fails); /* NULL is fine */
/* The first call of the list that `known` does not know, or NULL. */
const char *cuda_fails_unknown(const CudaFails *fails, gboolean (*known)(const char *call));
/* What this call of a function is to answer; CUDA_SUCCESS: nothing in particular. Counts it. */
CUresult cuda_fails_take(CudaFails *fails, const char *function);

/* The code of "CUDA_ERROR_NOT_PERMITTED" or "NOT_PERMITTED"; CUDA_SUCCESS: there is none. */
CUresult cuda_error_code(const char *name);
const char *cuda_error_name(CUresult error); /* "CUDA_ERROR_NOT_PERMITTED"; NULL: no such code */
const char *cuda_error_text(CUresult error); /* "operation not permitted"; the same */
/* "cuMemAlloc" of "cuMemAlloc_v2_ptsz". Caller frees. */
char *cuda_fail_base(const char *function);

#endif
