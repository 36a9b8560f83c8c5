/* What system management sees of a simulated system: GPUs by PCI address, NVSwitches, and where each link leads.
 *
 * libnvidia-ml.so.1, `fanout systems --topo` and the topology file of `fanout exec` all read this one description,
 * which is made from the same parameters as the simulated fabric, so that they never disagree with it or each other. */
#ifndef MACHINE_MACHINE_H
#define MACHINE_MACHINE_H

#include <fanout/cuda.h>
#include <glib.h>

#include "machine/spec.h"

#define MACHINE_NUMA_NODES 2 /* of the simulated host; the first half of the GPUs hangs on node 0 */

typedef struct {
    guint32 domain, bus, slot;
} MachinePci;

typedef struct {
    guint16 sw, port; /* the switch that the link goes to, and the number of the link there */
    gboolean up;      /* FALSE: wired to nothing, or down by [fault] */
} MachineLink;

typedef struct {
    guint gpu; /* its number in the system: with trays, that in its host is another */
    MachinePci pci;
    guint numa;
    CUuuid uuid;
    MachineLink *links; /* Machine.n_links of them */
} MachineGpu;

typedef struct Machine {
    char *system; /* as -s names it */
    CudaGpu model;
    guint n_gpus, n_links, n_switches;
    guint tray;        /* which host of several it is; 0 */
    guint tray_gpus;   /* of one host of the system; 0: it has one */
    guint clique_gpus; /* of a clique; 0: all are one */
    MachineGpu *gpus;
    guint64 memory_bytes; /* of a GPU */
    guint32 sms;          /* of a GPU */
    guint32 link_MBps;    /* of one link, one direction */
    guint32 host_MBps;    /* of a GPU's link to the host, one direction */
    guint64 driver_version;
} Machine;

/* Of options that cuda_spec_load() accepted. `system`: the name that -s was given. tray: the host that it is to be,
 * with its GPUs alone; -1: all of the system is one host. NULL (GError, PARAM_ERROR): the wiring is impossible. Free
 * with machine_free(). */
Machine *machine_new(const CudaSpec *spec, const FabricSpec *fabric, const char *system, gint tray, GError **error);
void machine_free(Machine *machine);

/* One identity per GPU of a system, the same in every process. */
#define MACHINE_CLUSTER 0xffffu /* the fabric's own, in place of a GPU */
void machine_uuid(CUuuid *uuid, const char *system, guint gpu);
/* Of the switch: PCI addresses as a DGX H100 has them, one after the other. */
MachinePci machine_switch_pci(guint sw);
/* Links of both GPUs that lead to a common switch port; 0: the GPUs cannot reach each other, or are one. */
guint machine_links_between(const Machine *machine, guint a, guint b);
/* The GPU's attribute as the driver has it; 0 where there is none. */
int machine_attribute(const Machine *machine, guint gpu, CUdevice_attribute attribute);
const char *machine_gpu_name(const Machine *machine);
/* Whether the GPUs are linked beyond one host (GB200 and its kin): they then belong to a fabric cluster. */
gboolean machine_is_rack(const Machine *machine);

/* The system in the XML that NCCL reads by NCCL_TOPO_FILE. To be freed. */
char *machine_topology_xml(const Machine *machine);

#endif
