/* NVLink: states, remote ends, speeds; what devices have in common; the fabric that they belong to; their place. */
#include "api/nvml/nvml.h"

#include <string.h>

static const MachineLink *link_of(const Machine *machine, int gpu, unsigned link)
{
    return link < machine->n_links ? &machine->gpus[gpu].links[link] : NULL;
}

NVML nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned link, int *active)
{
    DEVICE_OR_RETURN(machine, gpu, device, active && link < machine->n_links);
    *active = link_of(machine, gpu, link)->up;
    return NVML_SUCCESS;
}

static unsigned version_of(const Machine *machine)
{
    gboolean hopper = machine->model == CUDA_GPU_H100 || machine->model == CUDA_GPU_H200;
    return machine->model == CUDA_GPU_A100 ? 3 : hopper ? 4 : 5;
}
/* By nvmlNvlinkVersion_t: 3.0 is 5, 4.0 is 6, 5.0 is 7 */
NVML nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned link, unsigned *version)
{
    DEVICE_OR_RETURN(machine, gpu, device, version && link < machine->n_links);
    *version = version_of(machine) + 2;
    return NVML_SUCCESS;
}

/* 0 peer access, 1 system memory, 2 peer atomics, 3 system atomics, 4 SLI bridge, 5 valid */
NVML nvmlDeviceGetNvLinkCapability(nvmlDevice_t device, unsigned link, int capability, unsigned *has)
{
    DEVICE_OR_RETURN(machine, gpu, device, has && link < machine->n_links && capability >= 0 && capability <= 5);
    *has = capability == 0 || capability == 2 || capability == 5;
    return NVML_SUCCESS;
}

/* A link that is down has no remote end. */
NVML nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned link, nvmlPciInfo_t *info)
{
    DEVICE_OR_RETURN(machine, gpu, device, info && link < machine->n_links);
    const MachineLink *it = link_of(machine, gpu, link);
    if (!it->up)
        return NVML_ERROR_NOT_SUPPORTED;
    MachinePci pci = machine_switch_pci(it->sw);
    *info = (nvmlPciInfo_t){.domain = pci.domain, .bus = pci.bus, .device = pci.slot};
    nvml_bus_id(info->busIdLegacy, sizeof info->busIdLegacy, &pci, 4);
    nvml_bus_id(info->busId, sizeof info->busId, &pci, 8);
    return NVML_SUCCESS;
}
NVML nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device, unsigned link, nvmlPciInfo_v2_t *info)
{
    nvmlPciInfo_t whole;
    if (!info)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvmlReturn_t result = nvmlDeviceGetNvLinkRemotePciInfo_v2(device, link, &whole);
    if (result != NVML_SUCCESS)
        return result;
    *info = (nvmlPciInfo_v2_t){.domain = whole.domain, .bus = whole.bus, .device = whole.device};
    memcpy(info->busId, whole.busIdLegacy, sizeof info->busId);
    return NVML_SUCCESS;
}
NVML nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned link, int *type)
{
    DEVICE_OR_RETURN(machine, gpu, device, type && link < machine->n_links);
    if (!link_of(machine, gpu, link)->up)
        return NVML_ERROR_NOT_SUPPORTED;
    *type = 2; /* a switch */
    return NVML_SUCCESS;
}
/* Replays and the like are counted by links that have bit errors; programs see them in reports. */
NVML nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t device, unsigned link, int counter, unsigned long long *value)
{
    DEVICE_OR_RETURN(machine, gpu, device, value && link < machine->n_links && counter >= 0 && counter <= 4);
    (void)gpu;
    *value = 0;
    return NVML_SUCCESS;
}

/* ---- values by number. source: NVML_FI_DEV_* of the API reference */

static guint links_up(const Machine *machine, int gpu)
{
    guint n = 0;
    for (guint l = 0; l < machine->n_links; l++)
        n += machine->gpus[gpu].links[l].up;
    return n;
}

static nvmlReturn_t field(const Machine *machine, int gpu, const nvmlFieldValue_t *f, unsigned *value)
{
    const MachineLink *link = link_of(machine, gpu, f->scopeId);

    switch (f->fieldId) {
    case 90: /* NVLINK_SPEED_MBPS_COMMON */ *value = machine->link_MBps; return NVML_SUCCESS;
    case 91: /* NVLINK_LINK_COUNT */ *value = machine->n_links; return NVML_SUCCESS;
    case 146: /* NVLINK_REMOTE_NVLINK_ID */
        if (!link || !link->up)
            return NVML_ERROR_NOT_SUPPORTED;
        *value = link->port;
        return NVML_SUCCESS;
    case 147: /* NVSWITCH_CONNECTED_LINK_COUNT */ *value = links_up(machine, gpu); return NVML_SUCCESS;
    case 164: /* NVLINK_GET_SPEED */
        if (!link)
            return NVML_ERROR_INVALID_ARGUMENT;
        *value = link->up ? machine->link_MBps : 0;
        return NVML_SUCCESS;
    case 165: /* NVLINK_GET_STATE */
        if (!link)
            return NVML_ERROR_INVALID_ARGUMENT;
        *value = link->up;
        return NVML_SUCCESS;
    case 166: /* NVLINK_GET_VERSION */ *value = version_of(machine) + 2; return NVML_SUCCESS;
    case 170: /* C2C_LINK_COUNT */ *value = machine_is_rack(machine) ? 1 : 0; return NVML_SUCCESS;
    case 171: /* C2C_LINK_GET_STATUS */
    case 172: /* C2C_LINK_GET_MAX_BW */
        if (!machine_is_rack(machine) || f->scopeId != 0)
            return NVML_ERROR_NOT_SUPPORTED;
        *value = f->fieldId == 171 ? 1 : machine->host_MBps;
        return NVML_SUCCESS;
    default: return NVML_ERROR_NOT_SUPPORTED;
    }
}

/* Time stamps are 0: the host's clock is not read. */
NVML nvmlDeviceGetFieldValues(nvmlDevice_t device, int n, nvmlFieldValue_t *fields)
{
    DEVICE_OR_RETURN(machine, gpu, device, n > 0 && fields);
    for (int i = 0; i < n; i++) {
        unsigned value = 0;
        fields[i].nvmlReturn = field(machine, gpu, &fields[i], &value);
        fields[i].timestamp = 0;
        fields[i].latencyUsec = 0;
        fields[i].valueType = 1;
        fields[i].value.ullVal = 0;
        fields[i].value.uiVal = value;
    }
    return NVML_SUCCESS;
}

/* ---- two devices */

/* 0 reads, 1 writes, 2 NVLink, 3 atomics, 4 over PCI; answers 0: fine, 5: not supported */
NVML nvmlDeviceGetP2PStatus(nvmlDevice_t device, nvmlDevice_t other, int index, int *status)
{
    DEVICE_OR_RETURN(machine, gpu, device, status && nvml_index(other) >= 0 && index >= 0 && index <= 4);
    int peer = nvml_index(other);
    *status = peer == gpu || (index <= 3 && machine_links_between(machine, (guint)gpu, (guint)peer) > 0) ? 0 : 5;
    return NVML_SUCCESS;
}
/* What two GPUs share on the way over PCI: each has a bridge of its own. 0 one board, 40 one socket, 50 the machine. */
NVML nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device, nvmlDevice_t other, int *level)
{
    DEVICE_OR_RETURN(machine, gpu, device, level && nvml_index(other) >= 0);
    int peer = nvml_index(other);
    *level = peer == gpu ? 0 : machine->gpus[gpu].numa == machine->gpus[peer].numa ? 40 : 50;
    return NVML_SUCCESS;
}
/* The GPUs at that level, all others that are nearer left out. */
NVML nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device, int level, unsigned *count, nvmlDevice_t *devices)
{
    DEVICE_OR_RETURN(machine, gpu, device, count && level >= 0 && level <= 50);
    unsigned room = *count, n = 0;
    for (guint g = 0; g < machine->n_gpus; g++) {
        int at;
        nvmlDeviceGetTopologyCommonAncestor(device, &machine->gpus[g], &at);
        if ((int)g == gpu || at != level)
            continue;
        if (n < room && devices)
            devices[n] = &machine->gpus[g];
        n++;
    }
    *count = n;
    return n > room && room > 0 ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}
NVML nvmlDeviceOnSameBoard(nvmlDevice_t device, nvmlDevice_t other, int *same)
{
    DEVICE_OR_RETURN(machine, gpu, device, same && nvml_index(other) >= 0);
    (void)machine;
    *same = gpu == nvml_index(other);
    return NVML_SUCCESS;
}

/* Node numbers of the simulated host, whose processors the process does not run on: the sets of CPUs that NVML also
 * gives are not supported. */
static nvmlReturn_t node_set(nvmlDevice_t device, unsigned n, unsigned long *set)
{
    DEVICE_OR_RETURN(machine, gpu, device, set && n > 0);
    memset(set, 0, n * sizeof *set);
    set[0] = 1ul << machine->gpus[gpu].numa;
    return NVML_SUCCESS;
}
NVML nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned n, unsigned long *set, int scope)
{
    (void)scope; /* node or socket: they are one here */
    return node_set(device, n, set);
}

/* ---- the fabric: state 1 not started, 3 completed */

static void fabric_of(const Machine *machine, int gpu, nvmlGpuFabricInfoV_t *info)
{
    const CudaFmState manager = fo_machine_manager(machine->gpus[gpu].gpu);
    gboolean started = manager == CUDA_FM_OK || manager == CUDA_FM_BROKEN || manager == CUDA_FM_STOPPED;
    gboolean whole = links_up(machine, gpu) == machine->n_links;

    info->state = started ? 3 : 1;
    info->status = manager == CUDA_FM_BROKEN ? NVML_ERROR_UNKNOWN : NVML_SUCCESS;
    info->cliqueId = machine->clique_gpus != 0 ? machine->gpus[gpu].gpu / machine->clique_gpus : 0;
    memset(info->clusterUuid, 0, sizeof info->clusterUuid);
    if (started && machine_is_rack(machine)) { /* else the cluster is one host, and its identity zero */
        CUuuid uuid;
        machine_uuid(&uuid, machine->system, MACHINE_CLUSTER);
        memcpy(info->clusterUuid, uuid.bytes, sizeof info->clusterUuid);
    }
    info->healthMask = whole ? 2 : 1; /* bandwidth is degraded: 2 false, 1 true */
    info->healthSummary = whole ? 1 : 3;
}
NVML nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t *info)
{
    nvmlGpuFabricInfoV_t all;
    DEVICE_OR_RETURN(machine, gpu, device, info != NULL);
    fabric_of(machine, gpu, &all);
    memcpy(info->clusterUuid, all.clusterUuid, sizeof info->clusterUuid);
    info->status = all.status;
    info->cliqueId = all.cliqueId;
    info->state = all.state;
    return NVML_SUCCESS;
}
NVML nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, nvmlGpuFabricInfoV_t *info)
{
    nvmlGpuFabricInfoV_t all;
    const size_t short_bytes = G_STRUCT_OFFSET(nvmlGpuFabricInfoV_t, healthSummary);
    DEVICE_OR_RETURN(machine, gpu, device, info != NULL);
    size_t bytes = info->version == NVML_VERSION(sizeof *info, 3)  ? sizeof *info
                   : info->version == NVML_VERSION(short_bytes, 2) ? short_bytes
                                                                   : 0;
    if (bytes == 0)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    memset(&all, 0, sizeof all);
    all.version = info->version;
    fabric_of(machine, gpu, &all);
    memcpy(info, &all, bytes);
    return NVML_SUCCESS;
}

/* Where the GPU stands, which GPUs before Blackwell do not know. The simulated system is one chassis,
 * whose serial number is made from the system's name; there is no InfiniBand, whose identity is zero. */
NVML nvmlDeviceGetPlatformInfo(nvmlDevice_t device, nvmlPlatformInfo_t *info)
{
    DEVICE_OR_RETURN(machine, gpu, device, info != NULL);
    if (machine_attribute(machine, (guint)gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) < 10)
        return NVML_ERROR_NOT_SUPPORTED;
    if (info->version != NVML_VERSION(sizeof *info, 1) && info->version != NVML_VERSION(sizeof *info, 2))
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvmlPlatformInfo_t all = {.version = info->version,
                              .slotNumber = 1,
                              .hostId = 1,
                              .trayIndex = (guchar)machine->tray,
                              .moduleId = (guchar)(gpu + 1)};
    CUuuid uuid;
    machine_uuid(&uuid, machine->system, 0xffff);
    for (int i = 0; i < 13; i++) /* as long as Blackwell's are */
        all.chassisSerialNumber[i] = (guchar)('0' + (guchar)uuid.bytes[i] % 10);
    all.peerType = 1; /* NVLink leads to a switch */
    *info = all;
    return NVML_SUCCESS;
}
