/* The fabric manager's state: of the machine below `fanout exec`, else what the configuration says. See process.h. */
#include "api/cuda/context/process.h"

#include "machine/wire/client.h"

CudaFmState cuda_manager_of(const MachinePage *page, int gpu)
{
    CudaFmState state = (CudaFmState)__atomic_load_n(&page->manager, __ATOMIC_ACQUIRE);

    if (state != CUDA_FM_OK || gpu < 0)
        return state;
    guint32 era = __atomic_load_n(&page->manager_era, __ATOMIC_RELAXED);
    return __atomic_load_n(&page->gpu_era[gpu], __ATOMIC_RELAXED) == era ? CUDA_FM_OK : CUDA_FM_RESTARTED;
}

CudaFmState cuda_manager(const Cuda *cuda, int gpu)
{
    const MachinePage *page = cuda->engine ? wire_page(cuda->engine) : NULL;

    return page ? cuda_manager_of(page, gpu) : (CudaFmState)cuda->spec.fm_state;
}

guint32 cuda_manager_era(const Cuda *cuda)
{
    const MachinePage *page = cuda->engine ? wire_page(cuda->engine) : NULL;

    return page ? __atomic_load_n(&page->manager_era, __ATOMIC_RELAXED) : 0;
}

guint64 cuda_manager_since_ps(const Cuda *cuda)
{
    const MachinePage *page = cuda->engine ? wire_page(cuda->engine) : NULL;

    return page ? __atomic_load_n(&page->manager_since_ps, __ATOMIC_RELAXED) : 0;
}
