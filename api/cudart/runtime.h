/* The CUDA runtime API as libcudart.so.12 and .13 of our own have it (CUDART_12: the former): types and what its files
 * share.
 * source of names, values and layouts: the published headers of CUDA 12.9 and 13.0 (driver_types.h,
 * cuda_runtime_api.h, crt/host_runtime.h). Errors have the driver API's numbers. */
#ifndef API_CUDART_RUNTIME_H
#define API_CUDART_RUNTIME_H

#include <fanout/cuda.h>

typedef int cudaError_t; /* the driver API's CUresult, by number */
typedef struct {
    unsigned x, y, z;
} dim3;
/* clang-format off */
typedef struct { size_t shared, constant, local; int threads, registers, ptx, binary, cache_ca, dynamic_max, carveout,
                 cluster_must, cluster[3], cluster_policy, non_portable, reserved[16]; } cudaFuncAttributes;
#ifdef CUDART_12
#define CUDART_NUMBER 12090
#define IN_12(field) field;
#define V2(name) name##_v2 /* what 13 has under the plain name, where 12 has an older form too */
#define V3(name) name##_v3
typedef struct { int type, device; void *device_pointer, *host_pointer; } cudaPointerAttributes;
#else
#define CUDART_NUMBER 13000
#define IN_12(field)
#define V2(name) name
#define V3(name) name
typedef struct { int type, device; void *device_pointer, *host_pointer; long reserved[8]; } cudaPointerAttributes;
#endif
typedef struct {
    dim3 grid, block;
    size_t shared;
    CUstream stream;
    CUlaunchAttribute *attrs;
    unsigned n;
} cudaLaunchConfig;
typedef struct {
    char name[256]; CUuuid uuid; char luid[8]; unsigned int luidDeviceNodeMask; size_t totalGlobalMem;
    size_t sharedMemPerBlock; int regsPerBlock; int warpSize; size_t memPitch; int maxThreadsPerBlock;
    int maxThreadsDim[3]; int maxGridSize[3]; IN_12(int clockRate) size_t totalConstMem; int major; int minor;
    size_t textureAlignment; size_t texturePitchAlignment; IN_12(int deviceOverlap) int multiProcessorCount;
    IN_12(int kernelExecTimeoutEnabled) int integrated;
    int canMapHostMemory; IN_12(int computeMode) int maxTexture1D; int maxTexture1DMipmap; IN_12(int maxTexture1DLinear)
     int maxTexture2D[2];
    int maxTexture2DMipmap[2]; int maxTexture2DLinear[3]; int maxTexture2DGather[2]; int maxTexture3D[3];
    int maxTexture3DAlt[3]; int maxTextureCubemap; int maxTexture1DLayered[2]; int maxTexture2DLayered[3];
    int maxTextureCubemapLayered[2]; int maxSurface1D; int maxSurface2D[2]; int maxSurface3D[3];
    int maxSurface1DLayered[2]; int maxSurface2DLayered[3]; int maxSurfaceCubemap;
    int maxSurfaceCubemapLayered[2]; size_t surfaceAlignment; int concurrentKernels; int ECCEnabled;
    int pciBusID; int pciDeviceID; int pciDomainID; int tccDriver; int asyncEngineCount;
    int unifiedAddressing; IN_12(int memoryClockRate) int memoryBusWidth; int l2CacheSize; int persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor; int streamPrioritiesSupported; int globalL1CacheSupported;
    int localL1CacheSupported; size_t sharedMemPerMultiprocessor; int regsPerMultiprocessor;
    int managedMemory; int isMultiGpuBoard; int multiGpuBoardGroupID; int hostNativeAtomicSupported;
    IN_12(int singleToDoublePrecisionPerfRatio)
    int pageableMemoryAccess; int concurrentManagedAccess; int computePreemptionSupported;
    int canUseHostPointerForRegisteredMem; int cooperativeLaunch; IN_12(int cooperativeMultiDeviceLaunch)
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables; int directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor; int accessPolicyMaxWindowSize; size_t reservedSharedMemPerBlock;
    int hostRegisterSupported; int sparseCudaArraySupported; int hostRegisterReadOnlySupported;
    int timelineSemaphoreInteropSupported; int memoryPoolsSupported; int gpuDirectRDMASupported;
    unsigned int gpuDirectRDMAFlushWritesOptions; int gpuDirectRDMAWritesOrdering;
    unsigned int memoryPoolSupportedHandleTypes; int deferredMappingCudaArraySupported;
    int ipcEventSupported; int clusterLaunch; int unifiedFunctionPointers;
#ifdef CUDART_12
    int reserved[63];
#else
    int deviceNumaConfig; int deviceNumaId; int mpsEnabled; int hostNumaId; unsigned int gpuPciDeviceID;
    unsigned int gpuPciSubsystemID; int hostNumaMultinodeIpcSupported; int reserved[56];
#endif
} cudaDeviceProp;
/* clang-format on */
#ifdef CUDART_12
_Static_assert(sizeof(cudaDeviceProp) == 1032 && __builtin_offsetof(cudaDeviceProp, l2CacheSize) == 616, "12.9");
#else
_Static_assert(sizeof(cudaDeviceProp) == 1008 && __builtin_offsetof(cudaDeviceProp, l2CacheSize) == 596, "13.0");
#endif

enum { MEMCPY_HOST_TO_HOST, MEMCPY_HOST_TO_DEVICE, MEMCPY_DEVICE_TO_HOST, MEMCPY_DEVICE_TO_DEVICE, MEMCPY_DEFAULT };

#define RT __attribute__((visibility("default"))) cudaError_t
#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* programs have the published headers */

/* device.c */
cudaError_t runtime_note(CUresult result); /* remembers an error for cudaGetLastError, and gives it back */
CUresult runtime_open(void);               /* the thread's device is current; a context that the program set stays */
/* attribute.c: a call that is not supported: says so the first time. */
cudaError_t runtime_missing(const char *name, int *said);
#define NOTE(call) return runtime_note(call)
/* A call that needs a device: opens it first. */
#define CALL(call)                                                                                                     \
    do {                                                                                                               \
        CUresult opened = runtime_open();                                                                              \
        return runtime_note(opened ? opened : (call));                                                                 \
    } while (0)

/* register.c */
CUresult runtime_kernel(const void *host, CUkernel *kernel);
CUresult runtime_variable(const void *host, CUdeviceptr *address, size_t *bytes);

#endif
