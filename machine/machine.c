/* See machine.h: what can be asked of a machine. Knows no parameters of the fabric, so that libnvidia-ml.so.1 has it
 * without the simulator. */
#include "machine/machine.h"

#include <string.h>

#include "machine/class.h"

void machine_uuid(CUuuid *uuid, const char *system, guint gpu)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_MD5);
    g_autofree char *text = g_strdup_printf("fanout/%s/gpu%u", system, gpu);
    guint8 digest[16];
    gsize n = sizeof digest;

    g_checksum_update(sum, (const guchar *)text, -1);
    g_checksum_get_digest(sum, digest, &n);
    memcpy(uuid->bytes, digest, sizeof digest);
}

/* source: NCCL's topology files of DGX H100 systems: switches at 0000:05:00.0 and on */
MachinePci machine_switch_pci(guint sw)
{
    return (MachinePci){.domain = (5 + sw) >> 8, .bus = (5 + sw) & 255, .slot = 0};
}

int machine_attribute(const Machine *machine, guint gpu, CUdevice_attribute attribute)
{
    int value = 0;
    if (attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
        return (int)machine->sms;
    cuda_class_attribute(cuda_class(machine->model), (guint16)gpu, attribute, (int)machine->driver_version, &value);
    return value;
}

const char *machine_gpu_name(const Machine *machine) { return cuda_class(machine->model)->name; }

gboolean machine_is_rack(const Machine *machine) { return cuda_gpu_is_of_rack(machine->model); }

void machine_free(Machine *machine)
{
    if (!machine)
        return;
    for (guint g = 0; g < machine->n_gpus; g++)
        g_free(machine->gpus[g].links);
    g_free(machine->gpus);
    g_free(machine->system);
    g_free(machine);
}

guint machine_links_between(const Machine *machine, guint a, guint b)
{
    guint n = 0;
    for (guint l = 0; a != b && l < machine->n_links; l++)
        n += machine->gpus[a].links[l].up && machine->gpus[b].links[l].up;
    return n;
}
