/* See machine.h. */
#include "cli/machine.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "machine/wire/tray.h"

Machine *cli_machine(const char *system, const Options *options, gint tray, GError **error)
{
    ParamSet *params = param_set_new();
    CudaSpec spec;
    FabricSpec fabric;
    Machine *machine = NULL;

    memset(&spec, 0, sizeof spec);
    memset(&fabric, 0, sizeof fabric);
    if (cuda_spec_load(params, &spec, &fabric, system, options->config, options->sets, error))
        machine = machine_new(&spec, &fabric, system, tray, error);
    param_set_free(params);
    return machine;
}

static Column column(const char *key, const char *head, const char *text)
{
    return (Column){.key = key, .head = head, .unit = "", .type = CELL_TEXT, .text = text};
}

void cli_machine_table(const Machine *machine, Report *report)
{
    guint n = machine->n_gpus;
    Column *columns = report_keep(report, g_new0(Column, n + 4));
    guint at = 0;

    columns[at++] = column("gpu", "", "the GPU of this row");
    for (guint g = 0; g < n; g++)
        columns[at++] = column(report_keep(report, g_strdup_printf("gpu%u", g)),
                               report_keep(report, g_strdup_printf("GPU%u", g)), "how it reaches this GPU");
    columns[at++] = column("pci", "PCI address", "domain:bus:device.function");
    columns[at] = (Column){.key = "numa", .head = "NUMA node", .unit = "", .type = CELL_U64, .text = "of the host"};
    Table *table = report_add_table(report, "rows", "", columns, 0);
    for (guint a = 0; a < n; a++) {
        const MachinePci *pci = &machine->gpus[a].pci;
        g_autofree char *name = g_strdup_printf("GPU%u", a);
        g_autofree char *address = g_strdup_printf("%04x:%02x:%02x.0", pci->domain, pci->bus, pci->slot);
        table_text(table, name);
        for (guint b = 0; b < n; b++) {
            g_autofree char *way = g_strdup_printf("NV%u", machine_links_between(machine, a, b));
            table_text(table, a == b ? "X" : way);
        }
        table_text(table, address);
        table_u64(table, machine->gpus[a].numa);
    }
    report_add_note(report, "X: itself; NV#: by so many NVLinks, through NVSwitches");
}

/* What says to the programs that there are trays. */
static gboolean trays_begin(const Machine *machine, GError **error)
{
    g_autofree char *gpus = g_strdup_printf("%u", machine->tray_gpus);

    if (machine->tray_gpus == 0) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--trays: system '%s' has one host; gb200-nvl72 has several, and --set cuda.tray_gpus=N makes some "
                    "of N GPUs each",
                    machine->system);
        return FALSE;
    }
    g_setenv(TRAYS_ENV, gpus, TRUE);
    return TRUE;
}

gboolean cli_machine_topology(const char *system, const Options *options, gboolean trays, GError **error)
{
    Machine *machine = cli_machine(system, options, trays ? 0 : -1, error);
    g_unsetenv(TRAYS_ENV);
    if (!machine || (trays && !trays_begin(machine, error))) {
        machine_free(machine);
        return FALSE;
    }
    g_autofree char *xml = machine_topology_xml(machine);
    gsize bytes = strlen(xml);
    int fd = memfd_create("fanout-topology", MFD_CLOEXEC);
    machine_free(machine);
    if (fd < 0 || write(fd, xml, bytes) != (gssize)bytes) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_FILE, "the topology file cannot be written: %s", g_strerror(errno));
        return FALSE;
    }
    g_autofree char *path = g_strdup_printf("/proc/%ld/fd/%d", (long)getpid(), fd);
    g_setenv("NCCL_TOPO_FILE", path, FALSE);
    return TRUE;
}
