/* Start and version. */
#include "api/cuda/context/process.h"

CUresult cuInit(unsigned int flags)
{
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = cuda_fail_now(cuda_get(), "cuInit");
    return result == CUDA_SUCCESS ? cuda_start(cuda_get()) : result;
}

/* Works before cuInit, as the real one; the configured version is known once the system is loaded.
 */
CUresult cuDriverGetVersion(int *version)
{
    Cuda *cuda = cuda_get();

    if (version == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (cuda_exiting())
        return CUDA_ERROR_DEINITIALIZED;
    *version = (int)cuda_configured_version(cuda);
    return CUDA_SUCCESS;
}

/* Private tables: libcudart's integrity check lives there and is not answered. */
CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    if (table == NULL || id == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *table = NULL;
    return CUDA_ERROR_NOT_FOUND;
}
