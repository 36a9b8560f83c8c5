/* The CUDA runtime API as libcudart.so.13 of our own has it: types and what its files share.
 * source of names, values and layouts: the published headers of CUDA 13 (driver_types.h, cuda_runtime_api.h and
 * crt/host_runtime.h). Errors have the driver API's numbers. */
#ifndef CUDART_RUNTIME_H
#define CUDART_RUNTIME_H

#include <fanout/cuda.h>

typedef int cudaError_t; /* the driver API's CUresult, by number */
typedef struct { unsigned x, y, z; } dim3;
typedef struct { size_t shared, constant, local; int threads, registers, ptx, binary, cache_ca, dynamic_max, carveout,
                 cluster_must, cluster[3], cluster_policy, non_portable, reserved[16]; } cudaFuncAttributes;
typedef struct { int type, device; void *device_pointer, *host_pointer; long reserved[8]; } cudaPointerAttributes;
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
    int maxThreadsDim[3]; int maxGridSize[3]; size_t totalConstMem; int major; int minor;
    size_t textureAlignment; size_t texturePitchAlignment; int multiProcessorCount; int integrated;
    int canMapHostMemory; int maxTexture1D; int maxTexture1DMipmap; int maxTexture2D[2];
    int maxTexture2DMipmap[2]; int maxTexture2DLinear[3]; int maxTexture2DGather[2]; int maxTexture3D[3];
    int maxTexture3DAlt[3]; int maxTextureCubemap; int maxTexture1DLayered[2]; int maxTexture2DLayered[3];
    int maxTextureCubemapLayered[2]; int maxSurface1D; int maxSurface2D[2]; int maxSurface3D[3];
    int maxSurface1DLayered[2]; int maxSurface2DLayered[3]; int maxSurfaceCubemap;
    int maxSurfaceCubemapLayered[2]; size_t surfaceAlignment; int concurrentKernels; int ECCEnabled;
    int pciBusID; int pciDeviceID; int pciDomainID; int tccDriver; int asyncEngineCount;
    int unifiedAddressing; int memoryBusWidth; int l2CacheSize; int persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor; int streamPrioritiesSupported; int globalL1CacheSupported;
    int localL1CacheSupported; size_t sharedMemPerMultiprocessor; int regsPerMultiprocessor;
    int managedMemory; int isMultiGpuBoard; int multiGpuBoardGroupID; int hostNativeAtomicSupported;
    int pageableMemoryAccess; int concurrentManagedAccess; int computePreemptionSupported;
    int canUseHostPointerForRegisteredMem; int cooperativeLaunch; size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables; int directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor; int accessPolicyMaxWindowSize; size_t reservedSharedMemPerBlock;
    int hostRegisterSupported; int sparseCudaArraySupported; int hostRegisterReadOnlySupported;
    int timelineSemaphoreInteropSupported; int memoryPoolsSupported; int gpuDirectRDMASupported;
    unsigned int gpuDirectRDMAFlushWritesOptions; int gpuDirectRDMAWritesOrdering;
    unsigned int memoryPoolSupportedHandleTypes; int deferredMappingCudaArraySupported;
    int ipcEventSupported; int clusterLaunch; int unifiedFunctionPointers; int deviceNumaConfig;
    int deviceNumaId; int mpsEnabled; int hostNumaId; unsigned int gpuPciDeviceID;
    unsigned int gpuPciSubsystemID; int hostNumaMultinodeIpcSupported; int reserved[56];
} cudaDeviceProp;

enum { MEMCPY_HOST_TO_HOST, MEMCPY_HOST_TO_DEVICE, MEMCPY_DEVICE_TO_HOST, MEMCPY_DEVICE_TO_DEVICE, MEMCPY_DEFAULT };

#define RT __attribute__((visibility("default"))) cudaError_t
#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* programs have the published headers */

/* device.c */
cudaError_t runtime_note(CUresult result); /* remembers an error for cudaGetLastError, and gives it back */
CUresult runtime_open(void);               /* the thread's device is current; a context that the program set stays */
#define NOTE(call) return runtime_note(call)
/* A call that needs a device: opens it first. */
#define CALL(call) do { CUresult opened = runtime_open(); return runtime_note(opened ? opened : (call)); } while (0)

/* register.c */
CUresult runtime_kernel(const void *host, CUkernel *kernel);
CUresult runtime_variable(const void *host, CUdeviceptr *address, size_t *bytes);

#endif
