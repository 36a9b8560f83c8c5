/* libnvJitLink.so.12 and .13 of our own: the published interface of NVIDIA's linker at run time, on the driver's linker
 * (cuLink*), so that programs which link PTX by it get an image that Fanout's driver loads.
 *
 * It does what that linker did before link-time optimisation could be asked for from outside (12.3), and says so by its
 * version: clients then hand over PTX. LTO-IR and machine code are refused.
 * source: nvJitLink.h of a toolkit: names, values, options. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fanout/cuda.h>

#pragma GCC visibility push(default)
#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* no header of ours declares them */

enum {
    OK = 0,
    UNKNOWN_OPTION = 1,
    MISSING_ARCH = 2,
    INVALID_INPUT = 3,
    PTX_COMPILE = 4,
    INTERNAL = 6,
    INCOMPATIBLE_OPTIONS = 11,
    WRONG_TYPE = 12,
    LTO_NOT_ENABLED = 18
};
enum {
    INPUT_CUBIN = 1,
    INPUT_PTX,
    INPUT_LTOIR,
    INPUT_FATBIN,
    INPUT_OBJECT,
    INPUT_LIBRARY,
    INPUT_INDEX,
    INPUT_ANY = 10
};

#define LOG_BYTES 8192

typedef struct nvJitLink {
    CUlinkState link;
    CUcontext pushed; /* the context that calls are made in where the thread has none; NULL: not needed */
    void *image;
    size_t bytes;
    void *slots[5]; /* values of the options: the driver's linker writes sizes there at every call */
    char errors[LOG_BYTES], info[LOG_BYTES];
} nvJitLink;

typedef struct {
    __typeof__(&cuInit) init;
    __typeof__(&cuCtxGetCurrent) current;
    __typeof__(&cuCtxPushCurrent) push;
    __typeof__(&cuCtxPopCurrent) pop;
    __typeof__(&cuDevicePrimaryCtxRetain) retain;
    __typeof__(&cuDevicePrimaryCtxRelease) release;
    __typeof__(&cuLinkCreate) create;
    __typeof__(&cuLinkAddData) add_data;
    __typeof__(&cuLinkAddFile) add_file;
    __typeof__(&cuLinkComplete) complete;
    __typeof__(&cuLinkDestroy) destroy;
} Driver;

/* Looked up by name, so that programs which only happen to have this library loaded do not load a driver. */
static int driver_open(Driver *driver)
{
    static const char *const names[] = {"cuInit",
                                        "cuCtxGetCurrent",
                                        "cuCtxPushCurrent_v2",
                                        "cuCtxPopCurrent_v2",
                                        "cuDevicePrimaryCtxRetain",
                                        "cuDevicePrimaryCtxRelease_v2",
                                        "cuLinkCreate_v2",
                                        "cuLinkAddData_v2",
                                        "cuLinkAddFile_v2",
                                        "cuLinkComplete",
                                        "cuLinkDestroy"};
    void **slots = (void **)driver, *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!library || !(slots[i] = dlsym(library, names[i])))
            return 0;
    return driver->init(0) == CUDA_SUCCESS;
}

static void say(nvJitLink *link, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(nvJitLink *link, const char *format, ...)
{
    size_t n = strlen(link->errors);
    va_list args;

    va_start(args, format);
    vsnprintf(link->errors + n, sizeof link->errors - n, format, args);
    va_end(args);
}

/* Calls of the driver's linker need a current context, which this interface does not ask for. */
static int enter(const Driver *driver, nvJitLink *link)
{
    CUcontext now = NULL;

    if (driver->current(&now) == CUDA_SUCCESS && now)
        return 1;
    if (driver->retain(&link->pushed, 0) != CUDA_SUCCESS)
        return 0;
    return driver->push(link->pushed) == CUDA_SUCCESS;
}

static void leave(const Driver *driver, nvJitLink *link)
{
    CUcontext popped;

    if (!link->pushed)
        return;
    driver->pop(&popped);
    driver->release(0);
    link->pushed = NULL;
}

/* Most options say how to compile, which nothing here does; the target must be there, as the published interface
 * wants. */
static int options_result(uint32_t n, const char **options)
{
    int arch = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (!options[i] || options[i][0] != '-')
            return UNKNOWN_OPTION;
        if (strncmp(options[i], "-arch=", 6) == 0)
            arch = 1;
        if (strcmp(options[i], "-lto") == 0 || strcmp(options[i], "-ptx") == 0)
            return INCOMPATIBLE_OPTIONS;
    }
    return arch ? OK : MISSING_ARCH;
}

/* -maxrregcount=38: the one that matters here, since it says how many CTAs fit. */
static unsigned registers_max(uint32_t n, const char **options)
{
    unsigned registers = 0;

    for (uint32_t i = 0; i < n; i++)
        if (strncmp(options[i], "-maxrregcount=", 14) == 0)
            registers = (unsigned)strtoul(options[i] + 14, NULL, 10);
    return registers;
}

static int driver_result(nvJitLink *link, CUresult result)
{
    switch (result) {
    case CUDA_SUCCESS: return OK;
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION: return PTX_COMPILE;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_FILE_NOT_FOUND: return INVALID_INPUT;
    case CUDA_ERROR_NO_BINARY_FOR_GPU: return WRONG_TYPE;
    default: say(link, "the driver's linker answers %d\n", (int)result); return INTERNAL;
    }
}

int nvJitLinkCreate(nvJitLink **handle, uint32_t n, const char **options)
{
    CUjit_option jit[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                          CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_MAX_REGISTERS};
    Driver driver;

    if (!handle || (n > 0 && !options))
        return INVALID_INPUT;
    *handle = NULL;
    int result = options_result(n, options);
    if (result != OK)
        return result;
    nvJitLink *link = calloc(1, sizeof *link);
    if (!link || !driver_open(&driver) || !enter(&driver, link)) {
        free(link);
        return INTERNAL;
    }
    link->slots[0] = link->errors;
    link->slots[2] = link->info;
    link->slots[1] = link->slots[3] = (void *)(uintptr_t)LOG_BYTES;
    unsigned registers = registers_max(n, options);
    link->slots[4] = (void *)(uintptr_t)registers;
    result = driver_result(link, driver.create(registers ? 5 : 4, jit, link->slots, &link->link));
    leave(&driver, link);
    if (result == OK)
        *handle = link;
    else
        free(link);
    return result;
}

int nvJitLinkDestroy(nvJitLink **handle)
{
    Driver driver;

    if (!handle || !*handle)
        return INVALID_INPUT;
    if (driver_open(&driver))
        driver.destroy((*handle)->link);
    free(*handle);
    *handle = NULL;
    return OK;
}

/* FALSE: nothing here takes that kind; the log says why. */
static int kind_of(nvJitLink *link, int type, CUjitInputType *kind)
{
    switch (type) {
    case INPUT_PTX: *kind = CU_JIT_INPUT_PTX; return 1;
    case INPUT_CUBIN: *kind = CU_JIT_INPUT_CUBIN; return 1;
    case INPUT_FATBIN:
    case INPUT_ANY: /* the driver's linker looks at the bytes, whatever the kind */
        *kind = CU_JIT_INPUT_FATBINARY;
        return 1;
    case INPUT_OBJECT: *kind = CU_JIT_INPUT_OBJECT; return 1;
    case INPUT_LIBRARY: *kind = CU_JIT_INPUT_LIBRARY; return 1;
    case INPUT_LTOIR: say(link, "LTO-IR is not linked here: hand over PTX\n"); return 0;
    default: say(link, "inputs of type %d are not linked here\n", type); return 0;
    }
}

int nvJitLinkAddData(nvJitLink *link, int type, const void *data, size_t bytes, const char *name)
{
    CUjitInputType kind;
    Driver driver;

    if (!link || !data || bytes == 0)
        return INVALID_INPUT;
    if (!kind_of(link, type, &kind))
        return type == INPUT_LTOIR ? LTO_NOT_ENABLED : WRONG_TYPE;
    if (!driver_open(&driver) || !enter(&driver, link))
        return INTERNAL;
    int result = driver_result(link, driver.add_data(link->link, kind, (void *)data, bytes, name, 0, NULL, NULL));
    leave(&driver, link);
    return result;
}

int nvJitLinkAddFile(nvJitLink *link, int type, const char *path)
{
    CUjitInputType kind;
    Driver driver;

    if (!link || !path)
        return INVALID_INPUT;
    if (!kind_of(link, type, &kind))
        return type == INPUT_LTOIR ? LTO_NOT_ENABLED : WRONG_TYPE;
    if (!driver_open(&driver) || !enter(&driver, link))
        return INTERNAL;
    int result = driver_result(link, driver.add_file(link->link, kind, path, 0, NULL, NULL));
    leave(&driver, link);
    return result;
}

int nvJitLinkComplete(nvJitLink *link)
{
    Driver driver;

    if (!link)
        return INVALID_INPUT;
    if (!driver_open(&driver) || !enter(&driver, link))
        return INTERNAL;
    int result = driver_result(link, driver.complete(link->link, &link->image, &link->bytes));
    leave(&driver, link);
    return result;
}

int nvJitLinkGetLinkedCubinSize(nvJitLink *link, size_t *bytes)
{
    if (!link || !bytes || !link->image)
        return INVALID_INPUT;
    *bytes = link->bytes;
    return OK;
}

int nvJitLinkGetLinkedCubin(nvJitLink *link, void *image)
{
    if (!link || !image || !link->image)
        return INVALID_INPUT;
    memcpy(image, link->image, link->bytes);
    return OK;
}

/* Only with link-time optimisation, as published. */
int nvJitLinkGetLinkedPtxSize(nvJitLink *link, size_t *bytes)
{
    return link && bytes ? LTO_NOT_ENABLED : INVALID_INPUT;
}
int nvJitLinkGetLinkedPtx(nvJitLink *link, char *text) { return link && text ? LTO_NOT_ENABLED : INVALID_INPUT; }

static int log_bytes(const char *log, size_t *bytes)
{
    if (!bytes)
        return INVALID_INPUT;
    *bytes = log[0] != '\0' ? strlen(log) + 1 : 0;
    return OK;
}

static int log_text(const char *log, char *text)
{
    if (!text)
        return INVALID_INPUT;
    if (log[0] != '\0')
        memcpy(text, log, strlen(log) + 1);
    return OK;
}

int nvJitLinkGetErrorLogSize(nvJitLink *link, size_t *bytes)
{
    return link ? log_bytes(link->errors, bytes) : INVALID_INPUT;
}
int nvJitLinkGetErrorLog(nvJitLink *link, char *text) { return link ? log_text(link->errors, text) : INVALID_INPUT; }
int nvJitLinkGetInfoLogSize(nvJitLink *link, size_t *bytes)
{
    return link ? log_bytes(link->info, bytes) : INVALID_INPUT;
}
int nvJitLinkGetInfoLog(nvJitLink *link, char *text) { return link ? log_text(link->info, text) : INVALID_INPUT; }

int nvJitLinkVersion(unsigned int *major, unsigned int *minor)
{
    if (!major || !minor)
        return INVALID_INPUT;
    *major = 12;
    *minor = 2;
    return OK;
}

/* The names that the header's inline functions call. */
#define ALIAS(name, version)                                                                                           \
    extern __typeof__(nvJitLink##name) __nvJitLink##name##_##version __attribute__((alias("nvJitLink" #name)));
#define ALIASES(version)                                                                                               \
    ALIAS(Create, version)                                                                                             \
    ALIAS(Destroy, version)                                                                                            \
    ALIAS(AddData, version)                                                                                            \
    ALIAS(AddFile, version)                                                                                            \
    ALIAS(Complete, version)                                                                                           \
    ALIAS(GetLinkedCubinSize, version)                                                                                 \
    ALIAS(GetLinkedCubin, version)                                                                                     \
    ALIAS(GetLinkedPtxSize, version)                                                                                   \
    ALIAS(GetLinkedPtx, version)                                                                                       \
    ALIAS(GetErrorLogSize, version)                                                                                    \
    ALIAS(GetErrorLog, version) ALIAS(GetInfoLogSize, version) ALIAS(GetInfoLog, version)
#ifdef NVJITLINK_12
ALIASES(12_0)
ALIASES(12_1) ALIASES(12_2) ALIASES(12_3) ALIASES(12_4) ALIASES(12_5) ALIASES(12_6) ALIASES(12_8) ALIASES(12_9)
#else
ALIASES(13_0) ALIASES(13_1) ALIASES(13_2) ALIASES(13_3) ALIASES(13_4) ALIASES(13_5)
#endif
