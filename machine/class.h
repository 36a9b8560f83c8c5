/* Models of GPU as the driver describes them: names, memory, attributes by number. */
#ifndef MACHINE_CLASS_H
#define MACHINE_CLASS_H

#include <glib.h>

#include "machine/spec.h"

struct CudaClass {
    const char *name;     /* cuDeviceGetName */
    guint64 memory_bytes; /* cuDeviceTotalMem */
    guint8 pci_bus;       /* of the first GPU; the others follow */
    guint8 pci_slot;      /* PCI device number of the first GPU */
    guint8 pci_bus_step;  /* buses between GPUs, or 0: they differ in the slot */
};

const struct CudaClass *cuda_class(CudaGpu gpu);
/* The value of an attribute for a GPU of this model (its number in the system decides the PCI
 * address); FALSE: no such attribute in API version `version`. What the simulated GPU decides instead is not known
 * here: programs are answered by cuda_device_attribute(), libnvidia-ml.so.1 by machine_attribute(). */
gboolean cuda_class_attribute(const struct CudaClass *kind, guint16 gpu, int attribute, int version, int *value);

#endif
