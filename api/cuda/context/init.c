/* Start and version. */
#include "api/cuda/context/process.h"

#include <dlfcn.h>
#include <string.h>

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

    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    if (cuda_exiting())
        return CUDA_ERROR_DEINITIALIZED;
    *version = (int)cuda_configured_version(cuda);
    return CUDA_SUCCESS;
}

/* Who asks for private tables is NVIDIA's runtime, which gives up without them: its user is told once, whichever error
 * the runtime makes of it. */
static void tell_runtime(Cuda *cuda, const void *caller)
{
    Dl_info info = {0};

    if (!g_atomic_int_compare_and_exchange(&cuda->told_runtime, 0, 1))
        return;
    const char *object = dladdr(caller, &info) != 0 && info.dli_fname ? info.dli_fname : "this program";
    const char *slash = strrchr(object, '/');
    gboolean shared = g_str_has_prefix(slash ? slash + 1 : object, "libcudart");
    log_line(cuda->log, LOG_CUDA, LOG_WARN, 0,
             shared
                 ? "%s is NVIDIA's CUDA runtime, which accepts no driver but NVIDIA's: `fanout exec` puts Fanout's in "
                   "its place, or, where the program asks for a name of its own, --library NAME=PATH does"
                 : "%s has NVIDIA's CUDA runtime linked into it, which accepts no driver but NVIDIA's: build it with "
                   "the shared runtime (nvcc -cudart shared), in whose place `fanout exec` puts Fanout's",
             object);
}

/* Private tables: libcudart's integrity check lives there and is not answered. */
CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    if (!table || !id)
        return CUDA_ERROR_INVALID_VALUE;
    *table = NULL;
    tell_runtime(cuda_get(), __builtin_return_address(0));
    return CUDA_ERROR_NOT_FOUND;
}
