/* What compilers' code hands over before main: fatbinaries, kernels and variables by the addresses of their stand-ins
 * in the host's program; and launches by such addresses. A fatbinary is loaded as a library at its first use. */
#include "api/cudart/runtime.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct Image {
    struct Image *next;
    const void *wrapper;
    CUlibrary library;
    int tried;
    CUresult result;
} Image;

typedef struct Symbol {
    struct Symbol *next;
    Image *image;
    const void *host;
    const char *name;
    int variable, managed;
    CUkernel kernel;
} Symbol;

#define BUCKETS 1024
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Symbol *symbols[BUCKETS];

static unsigned bucket(const void *host) { return (unsigned)((uintptr_t)host >> 4) % BUCKETS; }

__attribute__((visibility("default"))) void **__cudaRegisterFatBinary(void *wrapper)
{
    Image *image = calloc(1, sizeof *image);
    if (image)
        image->wrapper = wrapper;
    return (void **)image;
}
__attribute__((visibility("default"))) void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
__attribute__((visibility("default"))) void __cudaUnregisterFatBinary(void **handle)
{
    Image *image = (Image *)handle;

    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < BUCKETS && image; i++)
        for (Symbol **at = &symbols[i]; *at != NULL;) {
            Symbol *one = *at;
            if (one->image != image) {
                at = &one->next;
                continue;
            }
            *at = one->next;
            free(one);
        }
    pthread_mutex_unlock(&lock);
    if (image && image->library)
        cuLibraryUnload(image->library); /* at exit the driver may have ended before: nothing is lost */
    free(image);
}

static void add(void **handle, const void *host, const char *name, int variable, int managed)
{
    Symbol *one = calloc(1, sizeof *one);

    if (!one || !handle)
        return;
    *one = (Symbol){.image = (Image *)handle, .host = host, .name = name, .variable = variable, .managed = managed};
    pthread_mutex_lock(&lock);
    one->next = symbols[bucket(host)];
    symbols[bucket(host)] = one;
    pthread_mutex_unlock(&lock);
}

__attribute__((visibility("default"))) void __cudaRegisterFunction(void **handle, const char *host, char *device,
                                                                   const char *name, int limit, void *tid, void *bid,
                                                                   void *block, void *grid, int *warp)
{
    (void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    add(handle, host, name, 0, 0);
}
__attribute__((visibility("default"))) void __cudaRegisterVar(void **handle, char *host, char *device, const char *name,
                                                              int external, size_t bytes, int constant, int global)
{
    (void)device, (void)external, (void)bytes, (void)constant, (void)global;
    add(handle, host, name, 1, 0);
}
/* The host's stand-in is a pointer to the variable, which is filled in when the image is loaded. */
__attribute__((visibility("default"))) void __cudaRegisterManagedVar(void **handle, void **host, char *device,
                                                                     const char *name, int external, size_t bytes,
                                                                     int constant, int global)
{
    (void)device, (void)external, (void)bytes, (void)constant, (void)global;
    add(handle, host, name, 1, 1);
}

/* Under the lock. */
static CUresult load(Image *image)
{
    if (!image->tried) {
        image->tried = 1;
        image->result = cuLibraryLoadData(&image->library, image->wrapper, NULL, NULL, 0, NULL, NULL, 0);
    }
    return image->result;
}

/* Code that touches managed variables calls this before: their stand-ins get the addresses. */
__attribute__((visibility("default"))) char __cudaInitModule(void **handle)
{
    Image *image = (Image *)handle;

    if (!image || runtime_open() != CUDA_SUCCESS)
        return 0;
    pthread_mutex_lock(&lock);
    CUresult result = load(image);
    for (unsigned i = 0; i < BUCKETS && result == CUDA_SUCCESS; i++)
        for (Symbol *one = symbols[i]; one != NULL; one = one->next) {
            CUdeviceptr at;
            if (one->image == image && one->managed &&
                cuLibraryGetManaged(&at, NULL, image->library, one->name) == CUDA_SUCCESS)
                *(void **)(uintptr_t)one->host = (void *)(uintptr_t)at;
        }
    pthread_mutex_unlock(&lock);
    return result == CUDA_SUCCESS;
}

static Symbol *find(const void *host, int variable)
{
    for (Symbol *one = symbols[bucket(host)]; one != NULL; one = one->next)
        if (one->host == host && one->variable == variable)
            return one;
    return NULL;
}

/* Why this thread's last kernel was not to be had: compiled programs launch what they did not get. */
static _Thread_local CUresult not_had;

CUresult runtime_kernel(const void *host, CUkernel *kernel)
{
    pthread_mutex_lock(&lock);
    Symbol *one = find(host, 0);
    CUresult result = !one ? (CUresult)98 /* cudaErrorInvalidDeviceFunction */ : load(one->image);
    if (result == CUDA_SUCCESS && !one->kernel)
        result = cuLibraryGetKernel(&one->kernel, one->image->library, one->name);
    if (result == CUDA_SUCCESS)
        *kernel = one->kernel;
    pthread_mutex_unlock(&lock);
    not_had = result;
    return result;
}

CUresult runtime_variable(const void *host, CUdeviceptr *address, size_t *bytes)
{
    pthread_mutex_lock(&lock);
    Symbol *one = find(host, 1);
    CUresult result = !one ? (CUresult)13 /* cudaErrorInvalidSymbol */ : load(one->image);
    if (result == CUDA_SUCCESS)
        result = cuLibraryGetGlobal(address, bytes, one->image->library, one->name);
    pthread_mutex_unlock(&lock);
    return result;
}

/* ---- launches */

#define NESTED_MAX 16 /* configurations pushed and not popped */
static _Thread_local struct {
    int n;
    struct {
        dim3 grid, block;
        size_t shared;
        CUstream stream;
    } at[NESTED_MAX];
} pushed;

__attribute__((visibility("default"))) unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                                                            CUstream stream)
{
    if (pushed.n == NESTED_MAX)
        return 1;
    pushed.at[pushed.n].grid = grid;
    pushed.at[pushed.n].block = block;
    pushed.at[pushed.n].shared = shared;
    pushed.at[pushed.n++].stream = stream;
    return 0;
}
RT __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    if (pushed.n == 0)
        NOTE((CUresult)52); /* cudaErrorMissingConfiguration */
    pushed.n--;
    *grid = pushed.at[pushed.n].grid;
    *block = pushed.at[pushed.n].block;
    *shared = pushed.at[pushed.n].shared;
    *(CUstream *)stream = pushed.at[pushed.n].stream;
    return 0;
}

/* A shape that cannot be has a code of its own here. */
static CUresult launch(CUkernel kernel, dim3 grid, dim3 block, void **args, size_t shared, CUstream stream)
{
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0 ||
        (unsigned long long)block.x * block.y * block.z > 1024 || shared > 0xffffffffu)
        return (CUresult)9; /* cudaErrorInvalidConfiguration */
    if (!kernel && not_had != CUDA_SUCCESS)
        return not_had;
    return cuLaunchKernel((CUfunction)kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, (unsigned)shared,
                          stream, args, NULL);
}
RT __cudaGetKernel(CUkernel *kernel, const void *host)
{
    *kernel = NULL;
    CALL(runtime_kernel(host, kernel));
}
RT __cudaLaunchKernel(CUkernel kernel, dim3 grid, dim3 block, void **args, size_t shared, CUstream stream)
{
    CALL(launch(kernel, grid, block, args, shared, stream));
}
static CUresult launch_host(const void *host, dim3 grid, dim3 block, void **args, size_t shared, CUstream stream)
{
    CUkernel kernel;
    CUresult result = runtime_kernel(host, &kernel);
    return result == CUDA_SUCCESS ? launch(kernel, grid, block, args, shared, stream) : result;
}
RT cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **args, size_t shared, CUstream stream)
{
    CALL(launch_host(host, grid, block, args, shared, stream));
}
static CUresult driver_config(const cudaLaunchConfig *c, const void *host, CUkernel *kernel, CUlaunchConfig *config)
{
    if (!c)
        return CUDA_ERROR_INVALID_VALUE;
    *config = (CUlaunchConfig){c->grid.x,  c->grid.y,           c->grid.z, c->block.x, c->block.y,
                               c->block.z, (unsigned)c->shared, c->stream, c->attrs,   c->n};
    return runtime_kernel(host, kernel);
}
static CUresult launch_config(const cudaLaunchConfig *c, const void *host, void **args)
{
    CUlaunchConfig config;
    CUkernel kernel;
    CUresult result = driver_config(c, host, &kernel, &config);
    return result == CUDA_SUCCESS ? cuLaunchKernelEx(&config, (CUfunction)kernel, args, NULL) : result;
}
static CUresult clusters(int *n, const void *host, const cudaLaunchConfig *c,
                         CUresult (*asked)(int *n, CUfunction kernel, const CUlaunchConfig *config))
{
    CUlaunchConfig config;
    CUkernel kernel;
    CUresult result = driver_config(c, host, &kernel, &config);
    return result == CUDA_SUCCESS ? asked(n, (CUfunction)kernel, &config) : result;
}
RT cudaOccupancyMaxActiveClusters(int *n, const void *host, const cudaLaunchConfig *config)
{
    CALL(clusters(n, host, config, cuOccupancyMaxActiveClusters));
}
RT cudaOccupancyMaxPotentialClusterSize(int *size, const void *host, const cudaLaunchConfig *config)
{
    CALL(clusters(size, host, config, cuOccupancyMaxPotentialClusterSize));
}
RT cudaLaunchKernelExC(const cudaLaunchConfig *config, const void *host, void **args)
{
    CALL(launch_config(config, host, args));
}
static CUresult cooperative(const void *host, dim3 g, dim3 b, void **args, size_t shared, CUstream stream)
{
    CUkernel kernel;
    CUresult result = runtime_kernel(host, &kernel);
    return result ? result
                  : cuLaunchCooperativeKernel((CUfunction)kernel, g.x, g.y, g.z, b.x, b.y, b.z, (unsigned)shared,
                                              stream, args);
}
RT cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **args, size_t shared, CUstream stream)
{
    CALL(cooperative(host, grid, block, args, shared, stream));
}

/* ---- functions */

static CUresult function_of(const void *host, CUfunction *function)
{
    CUkernel kernel;
    CUresult result = runtime_kernel(host, &kernel);
    return result == CUDA_SUCCESS ? cuKernelGetFunction(function, kernel) : result;
}
RT cudaGetFuncBySymbol(CUfunction *function, const void *host) { CALL(function_of(host, function)); }

static CUresult attributes(cudaFuncAttributes *a, const void *host)
{
    enum { RUNTIME_ATTRIBUTES = 16 }; /* that the runtime's structure has; the driver may know more */
    CUfunction f;
    int v[RUNTIME_ATTRIBUTES];
    CUresult result = a ? function_of(host, &f) : CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < RUNTIME_ATTRIBUTES && result == CUDA_SUCCESS; i++)
        result = cuFuncGetAttribute(&v[i], (CUfunction_attribute)i, f);
    if (result == CUDA_SUCCESS)
        *a = (cudaFuncAttributes){(size_t)v[1], (size_t)v[2], (size_t)v[3], v[0], v[4],  v[5],
                                  v[6],         v[7],         v[8],         v[9], v[10], {v[11], v[12], v[13]},
                                  v[15],        v[14],        {0}};
    return result;
}
RT cudaFuncGetAttributes(cudaFuncAttributes *a, const void *host) { CALL(attributes(a, host)); }

static CUresult set_attribute(const void *host, int attribute, int value)
{
    CUfunction f;
    CUresult result = function_of(host, &f);
    return result == CUDA_SUCCESS ? cuFuncSetAttribute(f, (CUfunction_attribute)attribute, value) : result;
}
RT cudaFuncSetAttribute(const void *host, int attribute, int value) { CALL(set_attribute(host, attribute, value)); }

static CUresult occupancy(int *n, const void *host, int threads, size_t shared, unsigned flags)
{
    CUfunction f;
    CUresult result = function_of(host, &f);
    return result ? result : cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(n, f, threads, shared, flags);
}
RT cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *host, int threads, size_t shared,
                                                          unsigned flags)
{
    CALL(occupancy(n, host, threads, shared, flags));
}
RT cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *host, int threads, size_t shared)
{
    CALL(occupancy(n, host, threads, shared, 0));
}
