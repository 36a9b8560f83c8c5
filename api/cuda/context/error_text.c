/* cuGetErrorName and cuGetErrorString: what the machine's table of result codes (machine/error.c) says of one. */
#include "machine/fail.h"

static CUresult error_give(const char *found, const char **text)
{
    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    *text = found;
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult error, const char **text) { return error_give(cuda_error_name(error), text); }
CUresult cuGetErrorString(CUresult error, const char **text) { return error_give(cuda_error_text(error), text); }
