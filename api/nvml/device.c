/* Devices: how they are found, what they are, their memory, and the processes on them. All GPUs of the machine, in the
 * order of their PCI addresses, whatever CUDA_VISIBLE_DEVICES says. */
#include "api/nvml/nvml.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

NVML nvmlDeviceGetCount_v2(unsigned *count)
{
    const Machine *machine = nvml_machine();
    if (!machine)
        return NVML_ERROR_UNINITIALIZED;
    if (!count)
        return NVML_ERROR_INVALID_ARGUMENT;
    *count = machine->n_gpus;
    return NVML_SUCCESS;
}
NVML nvmlDeviceGetCount(unsigned *count) { return nvmlDeviceGetCount_v2(count); }

NVML nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device)
{
    const Machine *machine = nvml_machine();
    if (!machine)
        return NVML_ERROR_UNINITIALIZED;
    if (!device || index >= machine->n_gpus)
        return NVML_ERROR_INVALID_ARGUMENT;
    *device = &machine->gpus[index];
    return NVML_SUCCESS;
}
NVML nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t *device)
{
    return nvmlDeviceGetHandleByIndex_v2(index, device);
}

void nvml_bus_id(char *text, size_t bytes, const MachinePci *pci, int digits)
{
    snprintf(text, bytes, "%0*X:%02X:%02X.0", digits, pci->domain, pci->bus, pci->slot);
}

/* Programs write the domain with four digits or eight, in either case, and may leave the function out. */
NVML nvmlDeviceGetHandleByPciBusId_v2(const char *id, nvmlDevice_t *device)
{
    const Machine *machine = nvml_machine();
    unsigned domain = 0, bus, slot, function = 0;
    if (!machine)
        return NVML_ERROR_UNINITIALIZED;
    if (!id || !device)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
        domain = 0;
        if (sscanf(id, "%x:%x.%x", &bus, &slot, &function) < 2)
            return NVML_ERROR_INVALID_ARGUMENT;
    }
    for (guint g = 0; g < machine->n_gpus && function == 0; g++) {
        const MachinePci *pci = &machine->gpus[g].pci;
        if (pci->domain == domain && pci->bus == bus && pci->slot == slot) {
            *device = &machine->gpus[g];
            return NVML_SUCCESS;
        }
    }
    return NVML_ERROR_NOT_FOUND;
}
NVML nvmlDeviceGetHandleByPciBusId(const char *id, nvmlDevice_t *device)
{
    return nvmlDeviceGetHandleByPciBusId_v2(id, device);
}

static void uuid_text(char text[64], const CUuuid *uuid)
{
    const guint8 *b = (const guint8 *)uuid->bytes;
    snprintf(text, 64, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2],
             b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

NVML nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
    const Machine *machine = nvml_machine();
    char text[64];
    if (!machine)
        return NVML_ERROR_UNINITIALIZED;
    if (!uuid || !device)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (guint g = 0; g < machine->n_gpus; g++) {
        uuid_text(text, &machine->gpus[g].uuid);
        if (strcasecmp(text, uuid) == 0) {
            *device = &machine->gpus[g];
            return NVML_SUCCESS;
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

NVML nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned bytes)
{
    DEVICE_OR_RETURN(machine, gpu, device, name != NULL);
    return nvml_text(name, bytes, machine_gpu_name(machine));
}
NVML nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned bytes)
{
    char text[64];
    DEVICE_OR_RETURN(machine, gpu, device, uuid != NULL);
    uuid_text(text, &machine->gpus[gpu].uuid);
    return nvml_text(uuid, bytes, text);
}

/* Functions of one number. */
#define NUMBER(function, value)                                                                                        \
    NVML function(nvmlDevice_t device, unsigned *number)                                                               \
    {                                                                                                                  \
        DEVICE_OR_RETURN(machine, gpu, device, number != NULL);                                                        \
        (void)machine;                                                                                                 \
        *number = (unsigned)(value);                                                                                   \
        return NVML_SUCCESS;                                                                                           \
    }
#define ATTRIBUTE(name) machine_attribute(machine, (guint)gpu, CU_DEVICE_ATTRIBUTE_##name)

NUMBER(nvmlDeviceGetIndex, gpu)
NUMBER(nvmlDeviceGetMinorNumber, gpu)
NUMBER(nvmlDeviceGetModuleId, gpu + 1)
NUMBER(nvmlDeviceGetNumaNodeId, machine->gpus[gpu].numa)
NUMBER(nvmlDeviceGetBrand, 14) /* NVIDIA */
NUMBER(nvmlDeviceGetComputeMode, 0)
NUMBER(nvmlDeviceGetPersistenceMode, 1)
NUMBER(nvmlDeviceGetMultiGpuBoard, 0)
NUMBER(nvmlDeviceGetBoardId, machine->gpus[gpu].pci.bus << 8)
NUMBER(nvmlDeviceGetMaxMigDeviceCount, 0)
NUMBER(nvmlDeviceIsMigDeviceHandle, 0)
NUMBER(nvmlDeviceGetMemoryBusWidth, ATTRIBUTE(GLOBAL_MEMORY_BUS_WIDTH))
/* 7: Ampere, 9: Hopper, 10: Blackwell */
NUMBER(nvmlDeviceGetArchitecture, ATTRIBUTE(COMPUTE_CAPABILITY_MAJOR) == 8 ? 7 : ATTRIBUTE(COMPUTE_CAPABILITY_MAJOR))
/* 64 lanes of f32 an SM on sm_80, 128 since */
NUMBER(nvmlDeviceGetNumGpuCores,
       ATTRIBUTE(MULTIPROCESSOR_COUNT) * (ATTRIBUTE(COMPUTE_CAPABILITY_MAJOR) == 8 ? 64 : 128))
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, machine->model == CUDA_GPU_A100 ? 4 : 5)
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, machine->model == CUDA_GPU_A100 ? 4 : 5)
NUMBER(nvmlDeviceGetGpuMaxPcieLinkGeneration, machine->model == CUDA_GPU_A100 ? 4 : 5)
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, 16)
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, 16)
NUMBER(nvmlDeviceGetPcieSpeed, machine->model == CUDA_GPU_A100 ? 16000 : 32000)
NUMBER(nvmlDeviceGetPcieLinkMaxSpeed, machine->model == CUDA_GPU_A100 ? 4 : 5) /* codes for 16 and 32 GT/s */

NVML nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor)
{
    DEVICE_OR_RETURN(machine, gpu, device, major && minor);
    *major = ATTRIBUTE(COMPUTE_CAPABILITY_MAJOR);
    *minor = ATTRIBUTE(COMPUTE_CAPABILITY_MINOR);
    return NVML_SUCCESS;
}

/* Clocks do not change during a run: type 2 is the memory's, 0, 1 and 3 the chip's. */
NVML nvmlDeviceGetClockInfo(nvmlDevice_t device, int type, unsigned *mhz)
{
    DEVICE_OR_RETURN(machine, gpu, device, mhz && type >= 0 && type <= 3);
    *mhz = (unsigned)(type == 2 ? ATTRIBUTE(MEMORY_CLOCK_RATE) : ATTRIBUTE(CLOCK_RATE)) / 1000;
    return NVML_SUCCESS;
}
NVML nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, int type, unsigned *mhz)
{
    return nvmlDeviceGetClockInfo(device, type, mhz);
}
NVML nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned *now, unsigned *pending)
{
    DEVICE_OR_RETURN(machine, gpu, device, now && pending);
    (void)machine;
    *now = *pending = 0;
    return NVML_SUCCESS;
}
NVML nvmlDeviceGetEccMode(nvmlDevice_t device, unsigned *now, unsigned *pending)
{
    DEVICE_OR_RETURN(machine, gpu, device, now && pending);
    *now = *pending = (unsigned)ATTRIBUTE(ECC_ENABLED);
    return NVML_SUCCESS;
}

/* ---- PCI */

NVML nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *info)
{
    DEVICE_OR_RETURN(machine, gpu, device, info != NULL);
    const MachinePci *pci = &machine->gpus[gpu].pci;
    *info = (nvmlPciInfo_t){.domain = pci->domain,
                            .bus = pci->bus,
                            .device = pci->slot,
                            .pciDeviceId = (unsigned)ATTRIBUTE(GPU_PCI_DEVICE_ID),
                            .pciSubSystemId = (unsigned)ATTRIBUTE(GPU_PCI_SUBSYSTEM_ID)};
    nvml_bus_id(info->busIdLegacy, sizeof info->busIdLegacy, pci, 4);
    nvml_bus_id(info->busId, sizeof info->busId, pci, 8);
    return NVML_SUCCESS;
}
NVML nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_v2_t *info)
{
    nvmlPciInfo_t whole;
    if (!info)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvmlReturn_t result = nvmlDeviceGetPciInfo_v3(device, &whole);
    if (result != NVML_SUCCESS)
        return result;
    *info = (nvmlPciInfo_v2_t){.domain = whole.domain,
                               .bus = whole.bus,
                               .device = whole.device,
                               .pciDeviceId = whole.pciDeviceId,
                               .pciSubSystemId = whole.pciSubSystemId};
    memcpy(info->busId, whole.busIdLegacy, sizeof info->busId);
    return NVML_SUCCESS;
}
NVML nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_v2_t *info) { return nvmlDeviceGetPciInfo_v2(device, info); }

NVML nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t *info)
{
    DEVICE_OR_RETURN(machine, gpu, device, info != NULL);
    const MachinePci *pci = &machine->gpus[gpu].pci;
    /* NCCL hands over a structure whose text has 16 bytes; it says so by its version word */
    gboolean is_short = info->version == NVML_VERSION(sizeof *info - 16, 1);
    if (!is_short && info->version != NVML_VERSION(sizeof *info, 1))
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    info->domain = pci->domain;
    info->bus = pci->bus;
    info->device = pci->slot;
    info->pciDeviceId = (unsigned)ATTRIBUTE(GPU_PCI_DEVICE_ID);
    info->pciSubSystemId = (unsigned)ATTRIBUTE(GPU_PCI_SUBSYSTEM_ID);
    info->baseClass = 3; /* display */
    info->subClass = 2;  /* 3D */
    nvml_bus_id(info->busId, is_short ? 16 : 32, pci, is_short ? 4 : 8);
    return NVML_SUCCESS;
}

/* ---- memory and processes: of all of the job, which the owner of the machine knows */

NVML nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
    DEVICE_OR_RETURN(machine, gpu, device, memory != NULL);
    memory->total = machine->memory_bytes;
    memory->used = fo_machine_used(machine->gpus[gpu].gpu);
    memory->free = memory->total - MIN(memory->used, memory->total);
    return NVML_SUCCESS;
}
NVML nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
    nvmlMemory_t plain;
    if (!memory)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (memory->version != NVML_VERSION(sizeof *memory, 2))
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvmlReturn_t result = nvmlDeviceGetMemoryInfo(device, &plain);
    if (result != NVML_SUCCESS)
        return result;
    memory->total = plain.total;
    memory->reserved = 0;
    memory->used = plain.used;
    memory->free = plain.free;
    return NVML_SUCCESS;
}

/* How many there are; writes them where there is room for all. */
static nvmlReturn_t processes(nvmlDevice_t device, unsigned *count, void *infos, size_t bytes)
{
    DEVICE_OR_RETURN(machine, gpu, device, count != NULL);
    g_autoptr(GArray) found = fo_machine_processes(machine->gpus[gpu].gpu);
    unsigned room = *count;
    *count = found->len;
    if (*count > room)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    if (*count > 0 && !infos)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (guint i = 0; i < found->len; i++) {
        const MachineProcess *process = &g_array_index(found, MachineProcess, i);
        nvmlProcessInfo_t info = {process->pid, process->bytes, ~0u, ~0u};
        memcpy((char *)infos + i * bytes, &info, bytes);
    }
    return NVML_SUCCESS;
}
NVML nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_v1_t *infos)
{
    return processes(device, count, infos, sizeof *infos);
}
NVML nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_t *infos)
{
    return processes(device, count, infos, sizeof *infos);
}
NVML nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_t *infos)
{
    return processes(device, count, infos, sizeof *infos);
}
/* None draws, and none uses MPS. */
#define NO_PROCESSES(function)                                                                                         \
    NVML function(nvmlDevice_t device, unsigned *count, void *infos)                                                   \
    {                                                                                                                  \
        DEVICE_OR_RETURN(machine, gpu, device, count != NULL);                                                         \
        (void)machine, (void)infos;                                                                                    \
        *count = 0;                                                                                                    \
        return NVML_SUCCESS;                                                                                           \
    }
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v2)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3)
