/* NVML as libnvidia-ml.so.1 has it: types, and what its files share.
 * source of names, values and layouts: NVIDIA's published NVML API reference, and nvidia-ml-py (structures by field).
 */
#ifndef API_NVML_NVML_H
#define API_NVML_NVML_H

#include "api/cuda/context/machine.h"

typedef enum {
    NVML_SUCCESS = 0,
    NVML_ERROR_UNINITIALIZED = 1,
    NVML_ERROR_INVALID_ARGUMENT = 2,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_NOT_FOUND = 6,
    NVML_ERROR_INSUFFICIENT_SIZE = 7,
    NVML_ERROR_DRIVER_NOT_LOADED = 9,
    NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
    NVML_ERROR_UNKNOWN = 999,
} nvmlReturn_t;

typedef const MachineGpu *nvmlDevice_t;

/* Of nvmlDeviceGetPciInfo_v3; version 2 of the function ends after `reserved`. */
typedef struct {
    char busIdLegacy[16];
    unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
    char busId[32];
} nvmlPciInfo_t;
typedef struct {
    char busId[16];
    unsigned domain, bus, device, pciDeviceId, pciSubSystemId, reserved[4];
} nvmlPciInfo_v2_t;
typedef struct {
    unsigned version, domain, bus, device, pciDeviceId, pciSubSystemId, baseClass, subClass;
    char busId[32];
} nvmlPciInfoExt_t;

typedef struct {
    unsigned long long total, free, used;
} nvmlMemory_t;
typedef struct {
    unsigned version;
    unsigned long long total, reserved, free, used;
} nvmlMemory_v2_t;
typedef struct {
    unsigned pid;
    unsigned long long used;
    unsigned gpuInstanceId, computeInstanceId;
} nvmlProcessInfo_t;
typedef struct {
    unsigned pid;
    unsigned long long used;
} nvmlProcessInfo_v1_t;

typedef union {
    double dVal;
    unsigned uiVal;
    unsigned long long ullVal;
} nvmlValue_t;
typedef struct {
    unsigned fieldId, scopeId;
    long long timestamp, latencyUsec;
    int valueType; /* 1: unsigned int, 3: unsigned long long */
    nvmlReturn_t nvmlReturn;
    nvmlValue_t value;
} nvmlFieldValue_t;

typedef struct {
    unsigned char clusterUuid[16];
    nvmlReturn_t status;
    unsigned cliqueId;
    unsigned char state;
} nvmlGpuFabricInfo_t;
typedef struct {
    unsigned version;
    unsigned char clusterUuid[16];
    nvmlReturn_t status;
    unsigned cliqueId;
    unsigned char state;
    unsigned healthMask;
    unsigned char healthSummary; /* of version 3 */
} nvmlGpuFabricInfoV_t;

/* Of versions 1 and 2, which differ in the names of fields alone. */
typedef struct {
    unsigned version;
    unsigned char ibGuid[16], chassisSerialNumber[16], slotNumber, trayIndex, hostId, peerType, moduleId;
} nvmlPlatformInfo_t;

typedef struct {
    unsigned environment, ccFeature, devToolsMode;
} nvmlConfComputeSystemState_t;
typedef struct {
    unsigned version, environment, ccFeature, devToolsMode, multiGpuMode;
} nvmlConfComputeSettings_t;

/* The version word of a structure: its bytes, and the version in the highest byte. */
#define NVML_VERSION(bytes, version) ((unsigned)((bytes) | ((unsigned)(version) << 24)))

#define NVML __attribute__((visibility("default"))) nvmlReturn_t
#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* programs have the published header */

/* library.c */
/* The machine between nvmlInit and nvmlShutdown; else NULL. */
const Machine *nvml_machine(void);
/* The number of a device, or -1: none of this machine, or NVML is not initialized. */
int nvml_index(nvmlDevice_t device);

/* What opens each function on a device. `sound`: the other arguments are. */
#define DEVICE_OR_RETURN(machine, gpu, device, sound)                                                                  \
    const Machine *machine = nvml_machine();                                                                           \
    if (!machine)                                                                                                      \
        return NVML_ERROR_UNINITIALIZED;                                                                               \
    const int gpu = nvml_index(device);                                                                                \
    if (gpu < 0 || !(sound))                                                                                           \
    return NVML_ERROR_INVALID_ARGUMENT

/* device.c */
/* "0000:1B:00.0", or with the eight digits of the domain that version 3 writes. */
void nvml_bus_id(char *text, size_t bytes, const MachinePci *pci, int digits);
/* Copies text; NVML_ERROR_INSUFFICIENT_SIZE where it does not fit. */
nvmlReturn_t nvml_text(char *to, unsigned bytes, const char *from);

#endif
