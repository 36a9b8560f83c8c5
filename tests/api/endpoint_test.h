/* Short forms for tests of logical endpoints. */
#ifndef TESTS_API_ENDPOINT_TEST_H
#define TESTS_API_ENDPOINT_TEST_H

#include "tests/api/cuda_test.h"

/* Options of a test: endpoints are there, and may be exported. */
#define ENDPOINTS "cuda.endpoints=on cuda.imex_channel=true cuda.driver_version=13050 "

typedef CUlogicalEndpointId Id;

static inline Id reserve_ids(unsigned n)
{
    Id id = 0;
    OK(cuLogicalEndpointIdReserve(&id, n));
    return id;
}

static inline CUlogicalEndpointProp unicast_prop(int device, size_t bytes)
{
    return (CUlogicalEndpointProp){.type = CU_LOGICAL_ENDPOINT_TYPE_UNICAST, .unicast.device = device, .size = bytes};
}

static inline CUlogicalEndpointProp multicast_prop(unsigned n, size_t bytes)
{
    return (CUlogicalEndpointProp){
        .type = CU_LOGICAL_ENDPOINT_TYPE_MULTICAST, .multicast.numDevices = n, .size = bytes};
}

static inline int query(Id id, unsigned n)
{
    int ready = -1;
    OK(cuLogicalEndpointQuery(id, n, &ready));
    return ready;
}

/* Asks until it is ready, at most so long as a fabric manager takes by default. */
static inline void wait_ready(Id id, unsigned n)
{
    int ready = 0;
    for (int i = 0; i < 100000 && !ready; i++)
        ready = query(id, n);
    assert_true(ready);
}

static inline Id unicast(int device, size_t bytes)
{
    CUlogicalEndpointProp prop = unicast_prop(device, bytes);
    Id id = reserve_ids(1);
    OK(cuLogicalEndpointCreate(id, &prop));
    return id;
}

static inline Id multicast(unsigned n, size_t bytes)
{
    CUlogicalEndpointProp prop = multicast_prop(n, bytes);
    Id id = reserve_ids(1);
    OK(cuLogicalEndpointCreate(id, &prop));
    return id;
}

/* Of the devices 0 .. n - 1, ready. */
static inline Id full_multicast(unsigned n, size_t bytes)
{
    Id id = multicast(n, bytes);
    for (unsigned i = 0; i < n; i++)
        OK(cuLogicalEndpointAddDevice(id, (int)i));
    wait_ready(id, 1);
    return id;
}

static inline Id ready_unicast(int device, size_t bytes)
{
    Id id = unicast(device, bytes);
    wait_ready(id, 1);
    return id;
}

static inline CUresult bind_memory(Id id, int device, size_t offset, Handle mem, size_t mem_offset, size_t bytes)
{
    return cuLogicalEndpointBindMem(id, device, offset, mem, mem_offset, bytes, 0);
}

static inline CUfabricCpyOperand pointer(CUdeviceptr at)
{
    return (CUfabricCpyOperand){.type = CU_FABRIC_COPY_OPERAND_TYPE_POINTER, .op.ptr.ptr = at};
}

static inline CUfabricCpyOperand endpoint(Id id, size_t offset)
{
    return (CUfabricCpyOperand){.type = CU_FABRIC_COPY_OPERAND_TYPE_LOGICAL_ENDPOINT,
                                .op.le = {.id = id, .offset = offset}};
}

/* One copy, queued. */
static inline CUresult fabric_copy(CUfabricCpyOperand dst, CUfabricCpyOperand src, size_t bytes, CUstream stream)
{
    CUDA_FABRIC_COPY_BATCH_OP op = {.src = src, .dst = dst, .size = bytes};
    return cuFabricCpyBatchAsync(1, &op, 0, stream);
}

#endif
