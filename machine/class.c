/* See class.h. One row of attributes was read from a real driver (H200, driver 580.159:
 * ../shared/reference/h200/driver.csv); the other models are that row with what differs, from
 * NVIDIA's architecture papers and published deviceQuery output. */
#include "machine/class.h"

#include <fanout/cuda.h>

/* Attributes 1..147 of an H200. source: h200/driver.csv */
static const int h200[] = {
    /*   1 */ 1024,   1024,  1024,       64,        2147483647, 65535,    65535, 49152,
    /*   9 */ 65536,  32,    2147483647, 65536,     1980000,    512,      1,     132,
    /*  17 */ 0,      0,     1,          0,         131072,     131072,   65536, 16384,
    /*  25 */ 16384,  16384, 32768,      32768,     2048,       512,      1,     1,
    /*  33 */ 0,      6,     0,          3201000,   6016,       62914560, 2048,  3,
    /*  41 */ 1,      32768, 2048,       1,         32768,      32768,    8192,  8192,
    /*  49 */ 32768,  0,     32,         32768,     32768,      2046,     32768, 131072,
    /*  57 */ 65536,  16384, 16384,      16384,     32768,      2048,     32768, 32768,
    /*  65 */ 2048,   32768, 32768,      2046,      268435456,  131072,   65000, 2097120,
    /*  73 */ 32768,  32768, 9,          0,         32768,      1,        1,     1,
    /*  81 */ 233472, 65536, 1,          0,         0,          0,        2,     0,
    /*  89 */ 1,      1,     1,          0,         0,          0,        1,     1,
    /*  97 */ 232448, 0,     1,          0,         0,          1,        1,     0,
    /* 105 */ 0,      32,    1,          39321600,  134217728,  1,        1024,  1,
    /* 113 */ 1,      1,     1,          1,         1,          100,      9,     1,
    /* 121 */ 1,      1,     1,          1,         1,          4,        1,     1,
    /* 129 */ 1,      0,     -1,         1,         0,          0,        0,     0,
    /* 137 */ 0,      0,     590680286,  415174878, 1,          1,        0,     1,
    /* 145 */ 1,      0,     0,
};

typedef struct {
    int attribute;
    int value;
} Differs;

#define A(name) CU_DEVICE_ATTRIBUTE_##name
#define NVIDIA_PCI(device) ((int)((device) << 16 | 0x10de))

/* source: NVIDIA A100 architecture paper; deviceQuery of an A100-SXM4-80GB */
static const Differs a100[] = {
    {A(CLOCK_RATE), 1410000},
    {A(MEMORY_CLOCK_RATE), 1593000},
    {A(GLOBAL_MEMORY_BUS_WIDTH), 5120},
    {A(L2_CACHE_SIZE), 41943040},
    {A(ASYNC_ENGINE_COUNT), 3},
    {A(COMPUTE_CAPABILITY_MAJOR), 8},
    {A(COMPUTE_CAPABILITY_MINOR), 0},
    {A(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR), 167936},
    {A(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), 166912},
    {A(MAX_PERSISTING_L2_CACHE_SIZE), 26214400},
    {A(CLUSTER_LAUNCH), 0},
    {A(DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED), 1},
    {A(TENSOR_MAP_ACCESS_SUPPORTED), 0},
    {A(HANDLE_TYPE_FABRIC_SUPPORTED), 0},
    {A(MEMPOOL_SUPPORTED_HANDLE_TYPES), 1},
    {A(MULTICAST_SUPPORTED), 0},
    {A(GPU_PCI_DEVICE_ID), NVIDIA_PCI(0x20b2)},
    {A(GPU_PCI_SUBSYSTEM_ID), NVIDIA_PCI(0x1463)},
    {0, 0},
};
/* source: NVIDIA H100 architecture paper; deviceQuery of an H100 80GB HBM3 */
static const Differs h100[] = {
    {A(MEMORY_CLOCK_RATE), 2619000},
    {A(GLOBAL_MEMORY_BUS_WIDTH), 5120},
    {A(L2_CACHE_SIZE), 52428800},
    {A(MAX_PERSISTING_L2_CACHE_SIZE), 32768000},
    {A(GPU_PCI_DEVICE_ID), NVIDIA_PCI(0x2330)},
    {A(GPU_PCI_SUBSYSTEM_ID), NVIDIA_PCI(0x16c1)},
    {0, 0},
};
/* source: published deviceQuery output of a B200; subsystem number assumed */
#define BLACKWELL                                                                                                      \
    {A(CLOCK_RATE), 1965000}, {A(MEMORY_CLOCK_RATE), 3996000}, {A(GLOBAL_MEMORY_BUS_WIDTH), 8192},                     \
        {A(L2_CACHE_SIZE), 132644864}, {A(MAX_PERSISTING_L2_CACHE_SIZE), 82903040}, {A(COMPUTE_CAPABILITY_MAJOR), 10}, \
    {                                                                                                                  \
        A(COMPUTE_CAPABILITY_MINOR), 0                                                                                 \
    }
static const Differs b200[] = {
    BLACKWELL,
    {A(GPU_PCI_DEVICE_ID), NVIDIA_PCI(0x2901)},
    {A(GPU_PCI_SUBSYSTEM_ID), NVIDIA_PCI(0x1999)},
    {0, 0},
};
/* source: as B200; Grace shares its page tables with the GPU over NVLink-C2C */
static const Differs gb200[] = {
    BLACKWELL,
    {A(GPU_PCI_DEVICE_ID), NVIDIA_PCI(0x2941)},
    {A(GPU_PCI_SUBSYSTEM_ID), NVIDIA_PCI(0x2046)},
    {A(HOST_NATIVE_ATOMIC_SUPPORTED), 1},
    {A(PAGEABLE_MEMORY_ACCESS), 1},
    {A(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES), 1},
    {A(DIRECT_MANAGED_MEM_ACCESS_FROM_HOST), 1},
    {A(NUMA_CONFIG), 1},
    {A(NUMA_ID), 1},
    {A(HOST_NUMA_MULTINODE_IPC_SUPPORTED), 1},
    {0, 0},
};

/* assumed: the successor of the GB200 as announced (288 GB of HBM4; SM 10.7 by NVIDIA's compiler), else as it */
static const Differs vr200[] = {
    BLACKWELL,
    {A(COMPUTE_CAPABILITY_MINOR), 7},
    {A(GPU_PCI_DEVICE_ID), NVIDIA_PCI(0x3000)},
    {A(GPU_PCI_SUBSYSTEM_ID), NVIDIA_PCI(0x2100)},
    {A(HOST_NATIVE_ATOMIC_SUPPORTED), 1},
    {A(PAGEABLE_MEMORY_ACCESS), 1},
    {A(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES), 1},
    {A(DIRECT_MANAGED_MEM_ACCESS_FROM_HOST), 1},
    {A(NUMA_CONFIG), 1},
    {A(NUMA_ID), 1},
    {A(HOST_NUMA_MULTINODE_IPC_SUPPORTED), 1},
    {0, 0},
};

/* Attributes from 148 on, by the version of the API that brought them. What the simulated machine decides (endpoints)
 * is 0 here. source: the toolkits' headers of 13.2 to 13.5; values assumed */
static const struct {
    int attribute, version, value;
} newer[] = {
    {A(ATOMIC_REDUCTION_SUPPORTED), 13020, 1},
    {A(LOCALITY_DOMAIN_COUNT), 13040, 1},
    {A(MAX_OVERSIZED_SHARED_MEMORY_PER_BLOCK), 13040, 0},
    {A(D3D12_CIG_STREAMS_SUPPORTED), 13030, 0},
    {A(DMA_BUF_MMAP_SUPPORTED), 13030, 0},
    {A(LOGICAL_ENDPOINT_UNICAST_SUPPORTED), 13030, 0},
    {A(LOGICAL_ENDPOINT_MULTICAST_SUPPORTED), 13030, 0},
    {A(LOGICAL_ENDPOINT_COUNTED_OPS_SUPPORTED), 13030, 0},
    {A(LOGICAL_ENDPOINT_UNICAST_ACCESS_ON_OWNER_DEVICE_SUPPORTED), 13030, 0},
    {A(LOCALITY_DOMAIN_MULTIPROCESSOR_COUNT), 13040, 132},
    {A(LOGICAL_ENDPOINT_SUPPORTED_HANDLE_TYPES), 13040, 0},
    {A(VULKAN_CIG_STREAMS_SUPPORTED), 13050, 0},
    {A(TENSOR_MAP_LARGE_TENSOR_MIN_SIZE), 13050, 0},
    {A(GPU_DIRECT_RDMA_WITH_LOCALIZED_MEMORY_SUPPORTED), 13040, 0},
};

/* memory: h200 from h200/driver.csv; the others from published deviceQuery output.
 * PCI: as on the measured machine for the H200; the buses of a DGX otherwise are not told apart. */
static const struct {
    struct CudaClass kind;
    const Differs *differs;
} classes[CUDA_GPUS] = {
    [CUDA_GPU_A100] = {{"NVIDIA A100-SXM4-80GB", 85094825984, 7, 0, 8}, a100},
    [CUDA_GPU_H100] = {{"NVIDIA H100 80GB HBM3", 84942979072, 27, 0, 16}, h100},
    [CUDA_GPU_H200] = {{"NVIDIA H200", 150109880320, 0, 6, 0}, NULL},
    [CUDA_GPU_B200] = {{"NVIDIA B200", 191513559040, 27, 0, 16}, b200},
    [CUDA_GPU_GB200] = {{"NVIDIA GB200", 198050840576, 1, 0, 1}, gb200},
    [CUDA_GPU_VR200] = {{"NVIDIA VR200", 297076260864, 1, 0, 1}, vr200},
};

const struct CudaClass *cuda_class(CudaGpu gpu)
{
    g_assert(gpu < CUDA_GPUS);
    return &classes[gpu].kind;
}

static const Differs *differs_of(const struct CudaClass *kind)
{
    for (guint i = 0; i < CUDA_GPUS; i++)
        if (kind == &classes[i].kind)
            return classes[i].differs;
    g_assert_not_reached();
}

static gboolean pci_attribute(const struct CudaClass *kind, guint16 gpu, int attribute, int *value)
{
    switch (attribute) {
    case A(PCI_BUS_ID): *value = (kind->pci_bus + gpu * kind->pci_bus_step) & 255; return TRUE;
    case A(PCI_DEVICE_ID): *value = kind->pci_bus_step != 0 ? kind->pci_slot : kind->pci_slot + gpu; return TRUE;
    case A(PCI_DOMAIN_ID): *value = (kind->pci_bus + gpu * kind->pci_bus_step) >> 8; return TRUE;
    default: return FALSE;
    }
}

gboolean cuda_class_attribute(const struct CudaClass *kind, guint16 gpu, int attribute, int version, int *value)
{
    for (guint i = 0; i < G_N_ELEMENTS(newer); i++) {
        if (newer[i].attribute != attribute || version < newer[i].version)
            continue;
        *value = newer[i].value;
        return TRUE;
    }
    if (attribute < 1 || attribute > (int)G_N_ELEMENTS(h200))
        return FALSE;
    if (pci_attribute(kind, gpu, attribute, value))
        return TRUE;
    *value = h200[attribute - 1];
    for (const Differs *d = differs_of(kind); d && d->attribute != 0; d++)
        if (d->attribute == attribute)
            *value = d->value;
    return TRUE;
}
