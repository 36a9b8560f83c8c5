/* The CUDA driver API as Fanout's libcuda.so.1 implements it: for building without a toolkit.
 *
 * Names, signatures and values are the published ABI's. Where a plain name stands for a newer variant,
 * it is a macro, as in NVIDIA's header (cuMemAlloc is cuMemAlloc_v2). Every other name of the API is
 * exported by the library too and answers CUDA_ERROR_NOT_SUPPORTED. docs/cuda.md lists what each call
 * checks, in which order, and which choice was made where the documentation leaves one open.
 *
 * All functions answer CUDA_ERROR_NOT_INITIALIZED before cuInit and in a forked child, and
 * CUDA_ERROR_DEINITIALIZED during process exit; on any error outputs are untouched unless said. */
#ifndef FANOUT_CUDA_H
#define FANOUT_CUDA_H

#include <fanout/cuda_types.h>
#include <fanout/cuda_names.h>
#include <fanout/cuda_array.h>
#include <fanout/cuda_graph.h>
#include <fanout/cuda_tensor.h>
#include <fanout/cuda_endpoint.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Start, errors, look-up of functions. `flags` of cuInit is 0. */
CUresult cuInit(unsigned int flags);
CUresult cuDriverGetVersion(int *version);
CUresult cuGetErrorName(CUresult error, const char **text); /* unknown: INVALID_VALUE and *text NULL */
CUresult cuGetErrorString(CUresult error, const char **text);
#undef cuGetProcAddress
CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags);
CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status);
#define cuGetProcAddress cuGetProcAddress_v2
CUresult cuGetExportTable(const void **table, const CUuuid *id); /* always NOT_FOUND: private tables */

/* Devices. */
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGetName(char *name, int bytes, CUdevice device);
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device);
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device);
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device);
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device);
CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *bus_id);
CUresult cuDeviceGetPCIBusId(char *bus_id, int bytes, CUdevice device);
CUresult cuDeviceGetProperties(CUdevprop *properties, CUdevice device);
CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device);
CUresult cuDeviceCanAccessPeer(int *can_access, CUdevice device, CUdevice peer);
CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice source, CUdevice destination);
CUresult cuDeviceGetExecAffinitySupport(int *supported, CUexecAffinityType type, CUdevice device);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags);
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active);
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device);

/* Contexts: one current per host thread, on a stack. */
CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *affinities, int n, unsigned int flags,
                        CUdevice device);
CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params, unsigned int flags, CUdevice device);
CUresult cuCtxDestroy_v2(CUcontext context);
CUresult cuCtxPushCurrent_v2(CUcontext context);
CUresult cuCtxPopCurrent_v2(CUcontext *context);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuCtxGetCurrent(CUcontext *context);
CUresult cuCtxGetDevice(CUdevice *device);
CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext context);
CUresult cuCtxGetFlags(unsigned int *flags);
CUresult cuCtxSetFlags(unsigned int flags);
CUresult cuCtxGetId(CUcontext context, unsigned long long *id);
CUresult cuCtxSynchronize(void);
CUresult cuCtxSynchronize_v2(CUcontext context);
CUresult cuCtxGetApiVersion(CUcontext context, unsigned int *version);
CUresult cuCtxGetLimit(size_t *value, CUlimit limit);
CUresult cuCtxSetLimit(CUlimit limit, size_t value);
CUresult cuCtxGetCacheConfig(CUfunc_cache *config);
CUresult cuCtxSetCacheConfig(CUfunc_cache config);
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest);
CUresult cuCtxResetPersistingL2Cache(void);
CUresult cuCtxAttach(CUcontext *context, unsigned int flags);
CUresult cuCtxDetach(CUcontext context);
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags);
CUresult cuCtxDisablePeerAccess(CUcontext peer);

/* Virtual memory management. Handles count references: cuMemCreate, import and retain give one each,
 * cuMemRelease takes one back. Sizes and addresses are multiples of the granularity. */
CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option);
CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop,
                     unsigned long long flags);
CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr hint,
                             unsigned long long flags);
CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes);
CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags);
CUresult cuMemUnmap(CUdeviceptr address, size_t bytes);
CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *desc, size_t n);
CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address);
CUresult cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags);
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shareable,
                                        CUmemAllocationHandleType type);
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle);
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address);

/* Multicast objects. Binds and cuMemMap of an object wait until its team is complete, without a lock and across
 * processes; the fabric manager then takes simulated time to set it up.
 *
 * * Of all eight: NOT_INITIALIZED before cuInit; NOT_SUPPORTED where no device has multicast; INVALID_VALUE for a
 * handle that is no live multicast object, for a NULL result and for flags that are not 0; INVALID_DEVICE for an
 * ordinal that is no device. An object is freed by cuMemRelease, and lives on while it is mapped. Sizes and offsets
 * are in bytes, and multiples of the minimum granularity. What else a call answers stands with it; docs/cuda.md has
 * the choices. */

/* *granularity: bytes of which sizes and offsets are multiples: those that are possible
 * (CU_MULTICAST_GRANULARITY_MINIMUM, 2 MiB) or those that are fast (_RECOMMENDED; 512 MiB for objects from that size
 * on). prop: as for cuMulticastCreate, and checked like there; its size may be any but 0. option: which of the two. */
CUresult cuMulticastGetGranularity(size_t *granularity, const CUmulticastObjectProp *prop,
                                   CUmulticastGranularity_flags option);
/* *object: the handle of a new object, with one reference. prop->numDevices: devices of its team, at least 2 (1 with
 * cuda.multicast_single_member), at most those of the system; ->size: bytes that every member binds, a multiple of the
 * minimum granularity; ->handleTypes: how it may be exported, POSIX_FILE_DESCRIPTOR or FABRIC or both or 0; ->flags: 0.
 * NOT_PERMITTED: fabric handles without an IMEX channel. */
CUresult cuMulticastCreate(CUmemGenericAllocationHandle *object, const CUmulticastObjectProp *prop);
/* device: one more member of object's team, by its ordinal in this process; each process adds its own. Before any
 * memory is bound. INVALID_VALUE: it is a member already, the team is complete, or the fabric manager was restarted
 * without a reset of the GPUs. INVALID_DEVICE: it is of another clique than the members (cuda.clique_gpus; with
 * cuda.clique_check=later binds and maps say it). The call that completes the team lets the fabric manager begin. */
CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle object, CUdevice device);
/* Binds memory of a member: what is written to object from object_offset on lands there. memory: a handle of
 * cuMemCreate (or an imported one), whose device is the member meant; memory_offset: where in it the binding begins;
 * bytes: its length, within both. Waits until the team is complete. INVALID_DEVICE, at once: the memory's device is no
 * member (yet). INVALID_VALUE: it is host memory, cannot be shared although the object can, or overlaps a binding of
 * the same member (cuda.overlapping_binds). SYSTEM_NOT_READY: the fabric manager took longer than cuda.fm_timeout_us;
 * the call may be tried again. OUT_OF_MEMORY: the switches have no multicast ID left. The binding keeps the memory. On
 * GPUs of SM 10.7 (cuda.gpu=vr200) memory_offset may be any multiple of 256: then the binding takes one granule of the
 * object more, and MULTICAST_RESOURCE_FULL that the GPU has room for no other (cuda.multicast_unaligned_binds). */
CUresult cuMulticastBindMem(CUmemGenericAllocationHandle object, size_t object_offset,
                            CUmemGenericAllocationHandle memory, size_t memory_offset, size_t bytes,
                            unsigned long long flags);
/* The same for a member that is named: device, whose memory (on it, or of a NUMA node of the host) it is to be. */
CUresult cuMulticastBindMem_v2(CUmemGenericAllocationHandle object, CUdevice device, size_t object_offset,
                               CUmemGenericAllocationHandle memory, size_t memory_offset, size_t bytes,
                               unsigned long long flags);
/* The same for memory that is mapped: address, on a multiple of the granularity, with bytes behind it, of one or more
 * neighbouring mappings of cuMemMap, or of cuMemAllocAsync; all on one device, which is the member meant. */
CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle object, size_t object_offset, CUdeviceptr address,
                             size_t bytes, unsigned long long flags);
/* The same for a member that is named by device. */
CUresult cuMulticastBindAddr_v2(CUmemGenericAllocationHandle object, CUdevice device, size_t object_offset,
                                CUdeviceptr address, size_t bytes, unsigned long long flags);
/* Ends what device bound at object_offset, of exactly so many bytes (cuda.unbind_mismatch=by-offset: whatever was bound
 * there). INVALID_DEVICE: it is no member. INVALID_VALUE: nothing is bound so, or its memory was freed meanwhile
 * (cuda.freed_bind). Returns when no write through object can reach the memory any more. The handle may have been
 * released while object is mapped (cuda.unbind_released). */
CUresult cuMulticastUnbind(CUmemGenericAllocationHandle object, CUdevice device, size_t object_offset, size_t bytes);

/* Memory that is not virtual memory management's. These need a current context. */
CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes);
CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes);
CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                            unsigned int element_bytes);
CUresult cuMemFree_v2(CUdeviceptr address);
/* Memory of cuMemAlloc for other processes of this machine; any address in it names all of it. INVALID_VALUE: no such
 * memory, or a handle whose process or memory is gone; INVALID_CONTEXT: opened by its own process. What a
 * context opens again has the address that it had, and is closed as often. `flags`: 0 or
 * CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS. */
CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address);
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *address, CUipcMemHandle handle, unsigned int flags);
CUresult cuIpcCloseMemHandle(CUdeviceptr address);
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address);
CUresult cuMemAllocHost_v2(void **address, size_t bytes);
CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned int flags);
CUresult cuMemFreeHost(void *address);
CUresult cuMemHostRegister_v2(void *address, size_t bytes, unsigned int flags);
CUresult cuMemHostUnregister(void *address);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *host, unsigned int flags);
CUresult cuMemHostGetFlags(unsigned int *flags, void *host);
CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address);
CUresult cuPointerGetAttributes(unsigned int n, CUpointer_attribute *attributes, void **data, CUdeviceptr address);
CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr address);

/* Managed memory: one address for the host and all devices. Its home is the device that was current; pages do not
 * migrate, and advice and prefetches change no time. */
CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned int flags);
CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned int flags,
                               CUstream stream);
CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location);
CUresult cuMemRangeGetAttribute(void *data, size_t data_bytes, CUmem_range_attribute attribute, CUdeviceptr address,
                                size_t bytes);
CUresult cuMemRangeGetAttributes(void **data, size_t *data_bytes, CUmem_range_attribute *attributes, size_t n,
                                 CUdeviceptr address, size_t bytes);
#if FANOUT_CUDA_VERSION >= 13040
/* locations: where each stretch of summary bytes of a range is, of managed memory or of pageable host memory that is
 * not registered; the last may be shorter. INVALID_VALUE: other memory, summary 0 or beyond the range, sampling beyond
 * it. Managed memory is at the device it was allocated on, and does not move. */
CUresult cuMemGetLocationInfo(CUdeviceptr address, size_t bytes, size_t summary, size_t sampling,
                              CUmemLocation *locations);
#endif
CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t bytes, unsigned int flags);

/* Stream-ordered memory: the other documented source of memory that cuMulticastBindAddr takes. */
CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream);
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream);
CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties);
CUresult cuMemPoolDestroy(CUmemoryPool pool);
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep_bytes);
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value);
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value);
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t n);
CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device);
CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device);
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool);

/* Copies and fills. Those without a stream return when the bytes are there; with one, when the work is
 * queued. A destination in a multicast mapping reaches every bound copy. */
CUresult cuMemcpy(CUdeviceptr destination, CUdeviceptr source, size_t bytes);
CUresult cuMemcpyHtoD_v2(CUdeviceptr destination, const void *source, size_t bytes);
CUresult cuMemcpyDtoH_v2(void *destination, CUdeviceptr source, size_t bytes);
CUresult cuMemcpyDtoD_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes);
CUresult cuMemcpyPeer(CUdeviceptr destination, CUcontext destination_context, CUdeviceptr source,
                      CUcontext source_context, size_t bytes);
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *copy);
CUresult cuMemcpyAsync(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void *source, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoHAsync_v2(void *destination, CUdeviceptr source, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream);
CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t n,
                               CUmemcpyAttributes *attributes, size_t *first, size_t n_attributes, CUstream stream);
CUresult cuMemcpyPeerAsync(CUdeviceptr destination, CUcontext destination_context, CUdeviceptr source,
                           CUcontext source_context, size_t bytes, CUstream stream);
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream);
CUresult cuMemsetD8_v2(CUdeviceptr destination, unsigned char value, size_t n);
CUresult cuMemsetD16_v2(CUdeviceptr destination, unsigned short value, size_t n);
CUresult cuMemsetD32_v2(CUdeviceptr destination, unsigned int value, size_t n);
CUresult cuMemsetD8Async(CUdeviceptr destination, unsigned char value, size_t n, CUstream stream);
CUresult cuMemsetD16Async(CUdeviceptr destination, unsigned short value, size_t n, CUstream stream);
CUresult cuMemsetD32Async(CUdeviceptr destination, unsigned int value, size_t n, CUstream stream);
CUresult cuMemsetD2D8_v2(CUdeviceptr destination, size_t pitch, unsigned char value, size_t width, size_t height);
CUresult cuMemsetD2D32_v2(CUdeviceptr destination, size_t pitch, unsigned int value, size_t width, size_t height);

/* Streams: queues of work; NULL is the default stream. */
CUresult cuStreamCreate(CUstream *stream, unsigned int flags);
CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority);
CUresult cuStreamDestroy_v2(CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamQuery(CUstream stream);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags);
CUresult cuStreamGetFlags(CUstream stream, unsigned int *flags);
CUresult cuStreamGetPriority(CUstream stream, int *priority);
CUresult cuStreamGetCtx(CUstream stream, CUcontext *context);
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *context, CUgreenCtx *green);
CUresult cuStreamGetId(CUstream stream, unsigned long long *id);
CUresult cuStreamGetDevice(CUstream stream, CUdevice *device);
/* Attributes of streams are kept and given back, and change neither results nor simulated times (docs/cuda.md). */
CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID attribute, const CUstreamAttrValue *value);
CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue *value);
CUresult cuStreamCopyAttributes(CUstream to, CUstream from); /* of one context */
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status);
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *user, unsigned int flags);
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *user);
#if FANOUT_CUDA_VERSION >= 13020
CUresult cuLaunchHostFunc_v2(CUstream stream, CUhostFn function, void *user, unsigned int sync_mode);
#endif
CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int n, CUstreamBatchMemOpParams *operations,
                               unsigned int flags);
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags);
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags);
CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags);
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags);

/* Events: points in streams; their times are simulated time.
 *
 * Those made with CU_EVENT_INTERPROCESS, which wants CU_EVENT_DISABLE_TIMING too, can be opened by other processes of
 * this machine: all record it, wait for it and ask about it, each in its own simulated time. INVALID_HANDLE: an event
 * made without the flag (or opened here), or a handle whose process or event is gone; INVALID_CONTEXT: it is of the
 * process that opens it. */
CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event);
CUresult cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle handle);
CUresult cuEventCreate(CUevent *event, unsigned int flags);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags);
CUresult cuEventQuery(CUevent event);
CUresult cuEventSynchronize(CUevent event);
CUresult cuEventDestroy_v2(CUevent event);
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);
CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
