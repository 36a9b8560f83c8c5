/* Start and end, errors, versions: NVML counts its initializations. */
#include "api/nvml/nvml.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static gint users; /* atomic: nvmlInit calls without their nvmlShutdown */

const Machine *nvml_machine(void) { return g_atomic_int_get(&users) > 0 ? fo_machine() : NULL; }

int nvml_index(nvmlDevice_t device)
{
    const Machine *machine = nvml_machine();

    for (guint g = 0; machine && g < machine->n_gpus; g++)
        if (device == &machine->gpus[g])
            return (int)g;
    return -1;
}

NVML nvmlInit_v2(void)
{
    if (!fo_machine())
        return NVML_ERROR_DRIVER_NOT_LOADED; /* the log says which option is wrong */
    g_atomic_int_inc(&users);
    return NVML_SUCCESS;
}
NVML nvmlInit(void) { return nvmlInit_v2(); }
NVML nvmlInitWithFlags(unsigned flags)
{
    (void)flags; /* no GPUs, no attaching, by force: nothing of it makes a difference here */
    return nvmlInit_v2();
}
NVML nvmlShutdown(void)
{
    for (gint now = g_atomic_int_get(&users); now > 0; now = g_atomic_int_get(&users))
        if (g_atomic_int_compare_and_exchange(&users, now, now - 1))
            return NVML_SUCCESS;
    return NVML_ERROR_UNINITIALIZED;
}

__attribute__((visibility("default"))) const char *nvmlErrorString(nvmlReturn_t error)
{
    switch (error) {
    case NVML_SUCCESS: return "Success";
    case NVML_ERROR_UNINITIALIZED: return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT: return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED: return "Not Supported";
    case NVML_ERROR_NOT_FOUND: return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE: return "Insufficient Size";
    case NVML_ERROR_DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case NVML_ERROR_ARGUMENT_VERSION_MISMATCH: return "Argument version mismatch";
    default: return "Unknown Error";
    }
}

nvmlReturn_t nvml_text(char *to, unsigned bytes, const char *from)
{
    if (!to)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (strlen(from) >= bytes)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    g_strlcpy(to, from, bytes);
    return NVML_SUCCESS;
}

/* The first driver that has each CUDA version. source: release notes of the CUDA toolkit, table of drivers */
static const char *driver_of(guint64 cuda)
{
    static const struct {
        guint64 cuda;
        const char *driver;
    } rows[] = {{13020, "595.45.04"}, {13010, "590.44.01"}, {13000, "580.65.06"}, {12090, "575.51.03"},
                {12080, "570.86.10"}, {12060, "560.28.03"}, {12050, "555.42.02"}, {12040, "550.54.14"},
                {12030, "545.23.06"}, {12020, "535.54.03"}};

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        if (cuda >= rows[i].cuda)
            return rows[i].driver;
    return "530.30.02"; /* 12.1 */
}

NVML nvmlSystemGetDriverVersion(char *text, unsigned bytes)
{
    const Machine *machine = nvml_machine();
    return !machine ? NVML_ERROR_UNINITIALIZED : nvml_text(text, bytes, driver_of(machine->driver_version));
}
NVML nvmlSystemGetNVMLVersion(char *text, unsigned bytes)
{
    const Machine *machine = nvml_machine();
    if (!machine)
        return NVML_ERROR_UNINITIALIZED;
    g_autofree char *version = g_strdup_printf("%u.%s", (unsigned)(machine->driver_version / 1000),
                                               driver_of(machine->driver_version));
    return nvml_text(text, bytes, version);
}
/* Both work before nvmlInit, as the real ones. */
NVML nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    return !version                                      ? NVML_ERROR_INVALID_ARGUMENT
           : cuDriverGetVersion(version) != CUDA_SUCCESS ? NVML_ERROR_UNKNOWN
                                                         : NVML_SUCCESS;
}
NVML nvmlSystemGetCudaDriverVersion(int *version) { return nvmlSystemGetCudaDriverVersion_v2(version); }

NVML nvmlSystemGetProcessName(unsigned pid, char *name, unsigned bytes)
{
    char path[64], text[1024];

    if (!nvml_machine())
        return NVML_ERROR_UNINITIALIZED;
    if (!name || bytes == 0)
        return NVML_ERROR_INVALID_ARGUMENT;
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return NVML_ERROR_NOT_FOUND;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0'; /* the first argument ends itself */
    g_strlcpy(name, text, bytes);
    return NVML_SUCCESS;
}

/* Confidential computing is off. */
NVML nvmlSystemGetConfComputeState(nvmlConfComputeSystemState_t *state)
{
    if (!nvml_machine())
        return NVML_ERROR_UNINITIALIZED;
    if (!state)
        return NVML_ERROR_INVALID_ARGUMENT;
    memset(state, 0, sizeof *state);
    return NVML_SUCCESS;
}
NVML nvmlSystemGetConfComputeSettings(nvmlConfComputeSettings_t *settings)
{
    if (!nvml_machine())
        return NVML_ERROR_UNINITIALIZED;
    if (!settings)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (settings->version != NVML_VERSION(sizeof *settings, 1))
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    *settings = (nvmlConfComputeSettings_t){.version = settings->version};
    return NVML_SUCCESS;
}

NVML nvmlUnitGetCount(unsigned *count)
{
    if (!nvml_machine())
        return NVML_ERROR_UNINITIALIZED;
    if (!count)
        return NVML_ERROR_INVALID_ARGUMENT;
    *count = 0;
    return NVML_SUCCESS;
}
