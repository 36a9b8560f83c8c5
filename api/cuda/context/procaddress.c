/* cuGetProcAddress, and the answer of functions that are not implemented. */
#include "api/cuda/context/process.h"
#include "api/cuda/symbols.h"

#include <string.h>

int cuda_symbols_stub(unsigned row)
{
    static gint said[1024]; /* one for each row: the log says it once */
    Cuda *cuda = cuda_get();

    g_assert(row < G_N_ELEMENTS(said) && row < cuda_symbols_n);
    if (g_atomic_int_compare_and_exchange(&said[row], 0, 1))
        log_line(cuda->log, LOG_CUDA, LOG_WARN, 0, "%s is not implemented: CUDA_ERROR_NOT_SUPPORTED",
                 cuda_symbols[row].symbol);
    return CUDA_ERROR_NOT_SUPPORTED;
}

int cuda_symbols_know(const char *name)
{
    for (unsigned i = 0; i < cuda_symbols_n; i++)
        if (g_str_equal(cuda_symbols[i].base, name) || g_str_equal(cuda_symbols[i].symbol, name))
            return TRUE;
    return FALSE;
}

/* The newest variant of a base name that `version` has. A version older than the first variant gets
 * the first when that is from 2.0, as every program once had it. *known: some version has it. */
static const CudaSymbol *newest(const char *base, int version, gboolean per_thread, int driver, gboolean *known)
{
    const CudaSymbol *best = NULL;

    for (unsigned i = 0; i < cuda_symbols_n; i++) {
        const CudaSymbol *s = &cuda_symbols[i];
        if (s->version > driver || s->per_thread != per_thread ||
            !(g_str_equal(s->base, base) || (s->suffixed && g_str_equal(s->symbol, base))))
            continue;
        *known = TRUE;
        if (s->version <= version && (!best || s->version >= best->version))
            best = s;
    }
    return best;
}

static CUresult look_up(const char *symbol, void **function, int version, cuuint64_t flags,
                        CUdriverProcAddressQueryResult *status)
{
    const cuuint64_t both = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    int driver = (int)cuda_configured_version(cuda_get());
    const CudaSymbol *found = NULL;
    gboolean known = FALSE;

    CUresult wanted = cuda_fail_now(cuda_get(), "cuGetProcAddress");
    if (wanted != CUDA_SUCCESS)
        return wanted;
    if (!symbol || !function || version > driver || (flags & ~both) != 0 || flags == both)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
        found = newest(symbol, version, TRUE, driver, &known);
    if (!found)
        found = newest(symbol, version, FALSE, driver, &known);
    *function = NULL;
    if (found)
        memcpy(function, &found->function, sizeof *function);
    log_line(cuda_get()->log, LOG_CUDA, LOG_SPEW, 0, "look-up of %s, version %d, flags %u: %s", symbol, version,
             (unsigned)flags, found ? found->symbol : "none");
    *status = found   ? CU_GET_PROC_ADDRESS_SUCCESS
              : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                      : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    CUdriverProcAddressQueryResult found;
    CUresult result = look_up(symbol, function, version, flags, &found);

    if (result == CUDA_SUCCESS && status)
        *status = found;
    return result;
}

/* Without a status to tell, what is not found is an error. source: NVSHMEM's loader relies on it */
#undef cuGetProcAddress
CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags)
{
    CUdriverProcAddressQueryResult found;
    CUresult result = look_up(symbol, function, version, flags, &found);

    if (result == CUDA_SUCCESS && found != CU_GET_PROC_ADDRESS_SUCCESS)
        return CUDA_ERROR_NOT_FOUND;
    return result;
}
