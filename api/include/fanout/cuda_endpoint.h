/* Logical endpoints, cliques and fabric copies: what CUDA 13.3 to 13.5 brought for fabrics.
 *
 * A logical endpoint is memory behind a number that is the same on all GPUs of the process: of one device (unicast),
 * or of every device of a team (multicast). Kernels (PTX fabric.*) and cuFabricCpyBatchAsync write to it and read from
 * it by number and offset, without an address of that memory. Programs say -DFANOUT_CUDA_VERSION=13050 to have these
 * names, and run with cuda.driver_version=13050, on a GPU that has endpoints (cuda.gpu=vr200, or cuda.endpoints=on).
 * Source: the toolkit's ABI of 13.5 (checked by tests/api/test_cuda_abi.sh where one is installed). */
#ifndef FANOUT_CUDA_ENDPOINT_H
#define FANOUT_CUDA_ENDPOINT_H

#include <fanout/cuda_types.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#if FANOUT_CUDA_VERSION >= 13030
typedef cuuint32_t CUlogicalEndpointId; /* below 65536; 0 is never given out */

/* Bits of CUlogicalEndpointProp.ipcHandleTypes. */
typedef enum CUlogicalEndpointIpcHandleType_enum {
    CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_NONE = 0,
    CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_FABRIC = 1, /* a CUlogicalEndpointFabricHandle */
} CUlogicalEndpointIpcHandleType;

typedef struct CUlogicalEndpointFabricHandle_st {
    unsigned char data[CU_IPC_HANDLE_SIZE];
} CUlogicalEndpointFabricHandle;

typedef enum CUlogicalEndpointType_enum {
    CU_LOGICAL_ENDPOINT_TYPE_INVALID = 0,
    CU_LOGICAL_ENDPOINT_TYPE_UNICAST = 1,
    CU_LOGICAL_ENDPOINT_TYPE_MULTICAST = 2,
} CUlogicalEndpointType;

/* Bits of CUlogicalEndpointProp.flags. */
typedef enum CUlogicalEndpointFlag_enum {
    CU_LOGICAL_ENDPOINT_FLAG_NONE = 0,
    CU_LOGICAL_ENDPOINT_FLAG_COUNTED_OPS = 1, /* counted operations are going to be used on it */
} CUlogicalEndpointFlag;

typedef struct CUlogicalEndpointProp_struct {
    CUlogicalEndpointType type;
    union {
        struct {
            CUdevice device; /* whose memory it is */
        } unicast;
        struct {
            unsigned int numDevices; /* of its team */
        } multicast;
    };
    unsigned long long size; /* bytes that every device binds at most */
    unsigned int ipcHandleTypes;
    unsigned int flags;
} CUlogicalEndpointProp;

/* Of the twelve: NOT_INITIALIZED before cuInit; NOT_SUPPORTED where no device has endpoints; INVALID_VALUE for an
 * identifier that was not reserved, for a NULL result, for flags that are not 0, and for a device that is none (the
 * pages list no INVALID_DEVICE, but for cuLogicalEndpointAddDevice). Offsets and sizes are in bytes, and multiples of
 * the bind alignment. */

/* *first: the lowest of count identifiers in a row that are this process's from now on. INVALID_VALUE: count is 0.
 * OUT_OF_MEMORY: there are not so many in a row. */
CUresult cuLogicalEndpointIdReserve(CUlogicalEndpointId *first, cuuint32_t count);
/* Gives back identifiers, all of them reserved, whether by one call or by several, and without an endpoint now. */
CUresult cuLogicalEndpointIdRelease(CUlogicalEndpointId first, cuuint32_t count);
/* id: a reserved identifier without an endpoint, which names the new one. prop->type: unicast, of prop->unicast.device,
 * or multicast, of prop->multicast.numDevices devices that are added next (1 with cuda.multicast_single_member alone);
 * ->size: not 0, at most maxSize; ->ipcHandleTypes: 0, or FABRIC for one that is exported; ->flags: 0 or COUNTED_OPS.
 * NOT_PERMITTED: fabric handles without an IMEX channel (cuda.imex_channel). */
CUresult cuLogicalEndpointCreate(CUlogicalEndpointId id, const CUlogicalEndpointProp *prop);
/* device: one more member of a multicast endpoint's team, for good. INVALID_VALUE: the endpoint is unicast, the device
 * is a member already, or the team is complete. INVALID_DEVICE: no such device, or it is of another clique than the
 * members (cuda.clique_gpus, cuda.clique_check). */
CUresult cuLogicalEndpointAddDevice(CUlogicalEndpointId id, CUdevice device);
/* id leads nowhere from now on, and may be released. What this process has bound is unbound; with the last identifier
 * of all processes the endpoint goes. */
CUresult cuLogicalEndpointDestroy(CUlogicalEndpointId id);
/* Binds memory of device: what is written to the endpoint from offset on lands there. address: of cuMemMap'ed memory
 * or of cuMemAllocAsync, on a multiple of the alignment, with bytes behind it in one mapping; device memory is the
 * device's own, host memory of the NUMA node next to it; of a multicast endpoint the device is a member, of a unicast
 * one its owner. INVALID_VALUE: any of that is not so, cuLogicalEndpointQuery has not said to this process that the
 * endpoint is ready, the endpoint is an imported unicast one, it may be exported and the memory may not, or something
 * of the device is bound there already (cuda.overlapping_binds). OUT_OF_MEMORY: an endpoint takes no more binds. */
CUresult cuLogicalEndpointBindAddr(CUlogicalEndpointId id, CUdevice device, cuuint64_t offset, void *address,
                                   cuuint64_t bytes, unsigned long long flags);
/* The same for memory by its handle (cuMemCreate, or imported), from memory_offset on. */
CUresult cuLogicalEndpointBindMem(CUlogicalEndpointId id, CUdevice device, cuuint64_t offset,
                                  CUmemGenericAllocationHandle memory, cuuint64_t memory_offset, cuuint64_t bytes,
                                  unsigned long long flags);
/* Ends what device has bound from offset on: one bind, or several that lie side by side, whose lengths add up to bytes.
 * INVALID_VALUE, and nothing is unbound: no bind begins at offset, one is cut, or there are gaps. */
CUresult cuLogicalEndpointUnbind(CUlogicalEndpointId id, CUdevice device, cuuint64_t offset, cuuint64_t bytes);
/* *handle: a CUlogicalEndpointFabricHandle, 64 bytes for other processes. type: FABRIC, which the endpoint was created
 * with. NOT_SUPPORTED: the endpoint was imported. */
CUresult cuLogicalEndpointExport(void *handle, CUlogicalEndpointId id, CUlogicalEndpointIpcHandleType type);
/* id, reserved and without an endpoint, leads to the one of *handle. INVALID_VALUE: no such handle, or its endpoint was
 * destroyed. NOT_PERMITTED: no IMEX channel. NOT_SUPPORTED: a multicast endpoint where no device has multicast. */
CUresult cuLogicalEndpointImport(CUlogicalEndpointId id, const void *handle, CUlogicalEndpointIpcHandleType type);
/* *alignment: bytes of which sizes and offsets are multiples (cuda.endpoint_align_bytes); *max_bytes: the longest
 * endpoint (cuda.endpoint_max_bytes). prop: as for cuLogicalEndpointCreate; its size may be anything. */
CUresult cuLogicalEndpointGetLimits(cuuint64_t *alignment, cuuint64_t *max_bytes, const CUlogicalEndpointProp *prop);
/* *ready: 1 if count endpoints from id on are set up: their devices were added, and the fabric manager has answered
 * (cuda.fm_latency_us); else 0. Never waits, but lets the time of a query pass where the answer is 0. SYSTEM_NOT_READY:
 * the manager has not answered for cuda.fm_timeout_us. ILLEGAL_STATE: it is not there, or no device of this process can
 * reach the endpoint (another clique). OUT_OF_MEMORY: the switches have no entry left. */
CUresult cuLogicalEndpointQuery(CUlogicalEndpointId id, cuuint32_t count, int *ready);
#endif

#if FANOUT_CUDA_VERSION >= 13040
typedef enum CUcliqueType_enum {
    CU_CLIQUE_TYPE_UNICAST_POINTER = 0,
    CU_CLIQUE_TYPE_MULTICAST_POINTER = 1,
    CU_CLIQUE_TYPE_UNICAST_LOGICAL_ENDPOINT = 2,
    CU_CLIQUE_TYPE_MULTICAST_LOGICAL_ENDPOINT = 3,
} CUcliqueType;

typedef struct CUcliqueInfo_st {
    CUcliqueType type;
    unsigned int id;
} CUcliqueInfo;

/* Cliques: devices of one have each other's memory by that means. All three: NOT_SUPPORTED for a device without a
 * fabric that has handles (attribute 128), INVALID_VALUE for one that is none and for NULL. */

/* *uuid: of the devices that one fabric manager joins; all zero for a machine of one host, as NVML says it. */
CUresult cuDeviceGetFabricClusterUuid(CUuuid *uuid, CUdevice device);
/* *count: cliques that the device is in, one a type that it has. */
CUresult cuDeviceGetCliqueCount(size_t *count, CUdevice device);
/* cliques: room for *count of them, in the order of their types; *count: how many were written. */
CUresult cuDeviceGetCliqueInfo(CUcliqueInfo *cliques, size_t *count, CUdevice device);
#endif

#if FANOUT_CUDA_VERSION >= 13050
typedef enum CUfabricCpyOperandType_enum {
    CU_FABRIC_COPY_OPERAND_TYPE_POINTER = 1,
    CU_FABRIC_COPY_OPERAND_TYPE_LOGICAL_ENDPOINT = 2,
    CU_FABRIC_COPY_OPERAND_TYPE_MAX = 0x7fffffff,
} CUfabricCpyOperandType;

typedef struct CUfabricCpyOperand_st {
    CUfabricCpyOperandType type;
    union {
        struct {
            CUdeviceptr ptr;
            CUmemLocation locHint; /* without effect: managed memory does not move */
        } ptr;
        struct {
            CUlogicalEndpointId id;
            cuuint64_t offset;
        } le;
    } op;
} CUfabricCpyOperand;

typedef struct CUDA_FABRIC_COPY_BATCH_OP_st {
    CUfabricCpyOperand src;
    CUfabricCpyOperand dst;
    size_t size;        /* 0: nothing, but its operands are checked */
    unsigned int flags; /* 0 */
} CUDA_FABRIC_COPY_BATCH_OP;

/* Queues n copies in a stream; each between two pointers, or between a pointer that is local and an endpoint. All or
 * nothing: every one is checked before the first is queued. Local: on the stream's device, or in host memory.
 * INVALID_VALUE: n is 0, the list is NULL, flags are not 0, the legacy default stream, an operand of no known type,
 * two endpoints, no local pointer, a read from a multicast endpoint, an endpoint that is not ready or shorter than its
 * range. NOT_SUPPORTED: the device has no endpoints. What is not bound when the copy runs is a fault of the context
 * that names the endpoint. */
CUresult cuFabricCpyBatchAsync(size_t n, CUDA_FABRIC_COPY_BATCH_OP *list, unsigned long long flags, CUstream stream);
#endif

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
