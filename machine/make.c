/* See machine.h: a machine is made from the parameters of the fabric, and written as NCCL's topology file. */
#include "machine/class.h"
#include "machine/machine.h"
#include "model/fabric/fault.h"
#include "model/fabric/topology.h"

static void machine_wire(Machine *machine, const FabricSpec *fabric, const Topology *topology, guint first)
{
    g_autofree guint16 *ports = g_new0(guint16, topology_switches(topology));

    for (guint g = 0; g < topology->gpus; g++)
        for (guint l = 0; l < topology->links; l++) {
            guint16 sw = topology->leaf[(gsize)g * topology->links + l];
            MachineLink link = {.sw = sw};
            if (sw != TOPOLOGY_NONE) {
                link.port = ports[sw]++;
                link.up = !fault_takes_link(&fabric->fault, g, l, sw);
            }
            if (g >= first && g - first < machine->n_gpus)
                machine->gpus[g - first].links[l] = link;
        }
}

Machine *machine_new(const CudaSpec *spec, const FabricSpec *fabric, const char *system, gint tray, GError **error)
{
    Topology *topology = topology_new(fabric, error);
    if (!topology)
        return NULL;
    Machine *machine = g_new0(Machine, 1);
    machine->system = g_strdup(system);
    machine->model = (CudaGpu)spec->gpu;
    machine->n_gpus = MIN(topology->gpus, spec->devices != 0 ? (guint)spec->devices : VAS_GPUS_MAX);
    machine->tray_gpus = cuda_spec_tray_gpus(spec);
    machine->clique_gpus = (guint)spec->clique_gpus;
    machine->tray = tray >= 0 ? (guint)tray : 0;
    const guint first = tray >= 0 ? MIN(machine->tray * machine->tray_gpus, topology->gpus) : 0;
    if (tray >= 0)
        machine->n_gpus = MIN(MIN(machine->n_gpus, machine->tray_gpus), topology->gpus - first);
    machine->n_links = topology->links;
    machine->n_switches = topology_switches(topology);
    machine->memory_bytes = spec->memory_bytes != 0 ? spec->memory_bytes : cuda_class(machine->model)->memory_bytes;
    machine->sms = (guint32)fabric->sm.count;
    machine->link_MBps = (guint32)fabric->link.rate_MBps;
    machine->host_MBps = (guint32)fabric->system.host_MBps;
    machine->driver_version = spec->driver_version;
    machine->gpus = g_new0(MachineGpu, machine->n_gpus);
    for (guint g = 0; g < machine->n_gpus; g++) {
        MachineGpu *gpu = &machine->gpus[g];
        gpu->pci.domain = (guint32)machine_attribute(machine, g, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
        gpu->pci.bus = (guint32)machine_attribute(machine, g, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
        gpu->pci.slot = (guint32)machine_attribute(machine, g, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
        gpu->gpu = first + g;
        gpu->numa = g * MACHINE_NUMA_NODES / (tray >= 0 ? machine->tray_gpus : topology->gpus);
        machine_uuid(&gpu->uuid, system, first + g);
        gpu->links = g_new0(MachineLink, machine->n_links);
    }
    machine_wire(machine, fabric, topology, first);
    topology_free(topology);
    return machine;
}

/* ---- NCCL's topology file: hosts as they are built. source of the form: NCCL's reader (src/graph/xml.cc of its
 * public source), and the files that NCCL_TOPO_DUMP_FILE writes. */

/* Vendor, family and model of the CPUs that the systems are sold with: NCCL's choices depend on them.
 * source: DGX user guides: EPYC 7742 (A100), Xeon 8480C (H100, H200), Xeon 8570 (B200); Grace (GB200) */
static void machine_cpu(GString *xml, const Machine *machine, guint numa)
{
    const char *arch = machine_is_rack(machine) ? "arm64" : "x86_64";
    const char *vendor = machine->model == CUDA_GPU_A100 ? "AuthenticAMD" : "GenuineIntel";
    guint family = machine->model == CUDA_GPU_A100 ? 143 : 6;
    guint model = machine->model == CUDA_GPU_A100 ? 49 : machine->model == CUDA_GPU_B200 ? 207 : 143;

    g_string_append_printf(xml, "  <cpu numaid=\"%u\" affinity=\"\" arch=\"%s\"", numa, arch);
    if (!machine_is_rack(machine))
        g_string_append_printf(xml, " vendor=\"%s\" familyid=\"%u\" modelid=\"%u\"", vendor, family, model);
    g_string_append(xml, ">\n");
}

static void machine_nvlinks(GString *xml, const Machine *machine, const MachineGpu *gpu)
{
    for (guint sw = 0; sw < machine->n_switches; sw++) {
        MachinePci at = machine_switch_pci(sw);
        guint n = 0;
        for (guint l = 0; l < machine->n_links; l++)
            n += gpu->links[l].up && gpu->links[l].sw == sw;
        if (n > 0)
            g_string_append_printf(xml,
                                   "        <nvlink target=\"%04x:%02x:%02x.0\" count=\"%u\" tclass=\"0x068000\"/>\n",
                                   at.domain, at.bus, at.slot, n);
    }
}

static void machine_gpu_xml(GString *xml, const Machine *machine, guint g)
{
    const MachineGpu *gpu = &machine->gpus[g];
    guint id = (guint)machine_attribute(machine, g, CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID);
    guint subsystem = (guint)machine_attribute(machine, g, CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID);
    int sm = machine_attribute(machine, g, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
             machine_attribute(machine, g, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);

    g_string_append_printf(xml,
                           "    <pci busid=\"%04x:%02x:%02x.0\" class=\"0x030200\" vendor=\"0x%04x\" device=\"0x%04x\" "
                           "subsystem_vendor=\"0x%04x\" subsystem_device=\"0x%04x\" link_speed=\"%s\" "
                           "link_width=\"16\">\n      <gpu dev=\"%u\" sm=\"%d\">\n",
                           gpu->pci.domain, gpu->pci.bus, gpu->pci.slot, id & 0xffff, id >> 16, subsystem & 0xffff,
                           subsystem >> 16, machine->model == CUDA_GPU_A100 ? "16.0 GT/s PCIe" : "32.0 GT/s PCIe", g,
                           sm);
    machine_nvlinks(xml, machine, gpu);
    if (machine_is_rack(machine))
        g_string_append_printf(xml, "        <c2c bw=\"%u\" count=\"1\"/>\n", machine->host_MBps);
    g_string_append(xml, "      </gpu>\n    </pci>\n");
}

char *machine_topology_xml(const Machine *machine)
{
    GString *xml = g_string_new("<system version=\"1\">\n");

    for (guint numa = 0; numa < MACHINE_NUMA_NODES; numa++) {
        machine_cpu(xml, machine, numa);
        for (guint g = 0; g < machine->n_gpus; g++)
            if (machine->gpus[g].numa == numa)
                machine_gpu_xml(xml, machine, g);
        g_string_append(xml, "  </cpu>\n");
    }
    g_string_append(xml, "</system>\n");
    return g_string_free(xml, FALSE);
}
