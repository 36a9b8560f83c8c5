#include "model/fabric/usage.h"

#include <math.h>

struct UsageMark {
    SimTime at_ps;
    guint64 *packets, *flits; /* by fabric_link_at()'s numbers */
    SimFine *left;            /* of the packet that is on the wire: how long it still takes */
};

/* The number of a GPU's link. */
static guint32 usage_number(const Fabric *fabric, guint32 gpu, guint32 link, UsageDirection direction)
{
    return (gpu * USAGE_DIRECTIONS + direction) * fabric->links + link;
}

static SimFine usage_left(const Link *link, SimTime now_ps)
{
    const SimFine now = simfine_from_ps(now_ps);
    return link->free_at > now && link->down == LINK_UP ? link->free_at - now : 0;
}

void usage_settle(Fabric *fabric)
{
    const SimTime now_ps = sim_now_ps(fabric->sim);
    for (guint32 i = 0; now_ps > 0 && i < fabric_n_links(fabric); i++)
        link_advance(fabric_link_at(fabric, i), now_ps - 1);
}

UsageMark *usage_mark(const Fabric *fabric)
{
    const guint32 n = fabric_n_links(fabric);
    UsageMark *mark = g_new0(UsageMark, 1);
    mark->at_ps = sim_now_ps(fabric->sim);
    mark->packets = g_new0(guint64, n);
    mark->flits = g_new0(guint64, n);
    mark->left = g_new0(SimFine, n);
    for (guint32 i = 0; i < n; i++) {
        mark->packets[i] = link_packets_total(fabric_link_at(fabric, i));
        mark->flits[i] = link_flits_total(fabric_link_at(fabric, i));
        mark->left[i] = usage_left(fabric_link_at(fabric, i), mark->at_ps);
    }
    return mark;
}

void usage_mark_free(UsageMark *mark)
{
    if (!mark)
        return;
    g_free(mark->packets);
    g_free(mark->flits);
    g_free(mark->left);
    g_free(mark);
}

/* One link since the mark. */
static Usage usage_one(const Fabric *fabric, const UsageMark *since, guint32 i)
{
    const Link *link = fabric_link_at(fabric, i);
    const SimTime now_ps = sim_now_ps(fabric->sim), passed_ps = now_ps - since->at_ps;
    Usage usage = {.packets = link_packets_total(link) - since->packets[i],
                   .flits = link_flits_total(link) - since->flits[i]};
    const double sent = (double)usage.flits * (double)link->flit_time, before = (double)since->left[i],
                 later = (double)usage_left(link, now_ps);
    const double busy_ps = MAX(sent + before - later, 0) / (double)(1u << SIMFINE_SHIFT);
    usage.mean_pct = passed_ps ? 100 * busy_ps / (double)passed_ps : 0;
    usage.min_pct = usage.max_pct = usage.mean_pct;
    return usage;
}

static void usage_sum(Usage *sum, const Usage *one)
{
    sum->packets += one->packets;
    sum->flits += one->flits;
    sum->mean_pct += one->mean_pct;
    sum->min_pct = MIN(sum->min_pct, one->min_pct);
    sum->max_pct = MAX(sum->max_pct, one->max_pct);
}

Usage usage_of(const Fabric *fabric, const UsageMark *since, UsageDirection direction, const guint16 *gpu, guint32 n)
{
    Usage sum = {.min_pct = INFINITY};
    guint32 gpus = gpu ? n : (guint32)fabric->spec.system.gpus;
    for (guint32 g = 0; g < gpus; g++)
        for (guint32 l = 0; l < fabric->links; l++) {
            const Usage one = usage_one(fabric, since, usage_number(fabric, gpu ? gpu[g] : g, l, direction));
            usage_sum(&sum, &one);
        }
    g_assert(gpus > 0);
    sum.mean_pct /= (double)gpus * fabric->links;
    return sum;
}

typedef struct {
    double in_pct, out_pct; /* sums over its ports */
    guint32 ports;
} SwitchUse;

/* A link's two directions at one of its ends. */
static void usage_add_port(SwitchUse *use, double in_pct, double out_pct)
{
    use->in_pct += in_pct;
    use->out_pct += out_pct;
    use->ports++;
}

double usage_of_switch(const Fabric *fabric, const UsageMark *since)
{
    g_autofree SwitchUse *use = g_new0(SwitchUse, fabric->n_switches);
    const guint32 gpu_links = (guint32)fabric->spec.system.gpus * fabric->links;
    double most_pct = 0;
    for (guint32 i = 0; i < gpu_links; i++) {
        const guint32 gpu = i / fabric->links, link = i % fabric->links;
        if (fabric->topology->leaf[i] != TOPOLOGY_NONE)
            usage_add_port(&use[fabric->topology->leaf[i]],
                           usage_one(fabric, since, usage_number(fabric, gpu, link, USAGE_UP)).mean_pct,
                           usage_one(fabric, since, usage_number(fabric, gpu, link, USAGE_DOWN)).mean_pct);
    }
    for (guint32 t = 0; t < fabric->n_trunks; t++) {
        const Trunk *trunk = &g_array_index(fabric->topology->trunks, Trunk, t);
        const double up_pct = usage_one(fabric, since, 2 * gpu_links + 2 * t).mean_pct,
                     down_pct = usage_one(fabric, since, 2 * gpu_links + 2 * t + 1).mean_pct;
        usage_add_port(&use[trunk->leaf], down_pct, up_pct);
        usage_add_port(&use[trunk->spine], up_pct, down_pct);
    }
    for (guint32 s = 0; s < fabric->n_switches; s++)
        if (use[s].ports)
            most_pct = MAX(most_pct, MAX(use[s].in_pct, use[s].out_pct) / use[s].ports);
    return most_pct;
}

/* Over all trunks. */
static Usage usage_of_trunks(const Fabric *fabric, const UsageMark *since, UsageDirection direction)
{
    Usage sum = {.min_pct = INFINITY};
    const guint32 first = fabric_n_links(fabric) - 2 * fabric->n_trunks;
    for (guint32 t = 0; t < fabric->n_trunks; t++) {
        const Usage one = usage_one(fabric, since, first + 2 * t + direction);
        usage_sum(&sum, &one);
    }
    sum.mean_pct /= fabric->n_trunks;
    return sum;
}

/* ---- tables */

static const char *const direction_names[] = {"up", "down"}, *const trunk_names[] = {"trunk up", "trunk down"};

static const Column link_columns[] = {
    COLUMN_TEXT(direction, "direction", "up: GPU to switch; down: switch to GPU; trunk up: leaf to spine; trunk down"),
    COLUMN_FIXED(mean_pct, "mean", "%", 1, "share of the time in which a link carried flits"),
    COLUMN_FIXED(min_pct, "least", "%", 1, "of the link that carried least"),
    COLUMN_FIXED(max_pct, "most", "%", 1, "of the link that carried most"),
    COLUMN_U64(packets, "packets", "", "over all links"),
    COLUMN_U64(flits, "flits", "16 B", "over all links, headers included"),
    COLUMN_END,
};

static const Column link_row_columns[] = {
    COLUMN_TEXT(link, "link", "gpu0.link3.up; a trunk: leaf0.port9.up"),
    COLUMN_FIXED(utilisation_pct, "busy", "%", 2, "share of the time in which it carried flits"),
    COLUMN_U64(packets, "packets", "", "sent"),
    COLUMN_U64(flits, "flits", "16 B", "sent, headers included"),
    COLUMN_END,
};

static void usage_add_direction(Table *table, const char *name, const Usage *usage)
{
    table_text(table, name);
    table_fixed(table, usage->mean_pct);
    table_fixed(table, usage->min_pct);
    table_fixed(table, usage->max_pct);
    table_u64(table, usage->packets);
    table_u64(table, usage->flits);
}

static void usage_add_row(const Fabric *fabric, const UsageMark *since, guint32 i, Table *table)
{
    const Usage usage = usage_one(fabric, since, i);
    table_text(table, fabric_link_at(fabric, i)->path);
    table_fixed(table, usage.mean_pct);
    table_u64(table, usage.packets);
    table_u64(table, usage.flits);
}

void usage_add_links(const Fabric *fabric, const UsageMark *since, Report *report)
{
    Table *table = report_add_table(report, "links", "links", link_columns, 0);
    for (int d = 0; d < USAGE_DIRECTIONS; d++) {
        const Usage usage = usage_of(fabric, since, (UsageDirection)d, NULL, 0);
        usage_add_direction(table, direction_names[d], &usage);
    }
    for (int d = 0; fabric->n_trunks && d < USAGE_DIRECTIONS; d++) {
        const Usage usage = usage_of_trunks(fabric, since, (UsageDirection)d);
        usage_add_direction(table, trunk_names[d], &usage);
    }
    table = report_add_table(report, "link_rows", "each link", link_row_columns, TABLE_NO_TEXT);
    for (guint32 g = 0; g < fabric->spec.system.gpus; g++)
        for (guint32 l = 0; l < fabric->links; l++)
            for (int d = 0; d < USAGE_DIRECTIONS; d++)
                usage_add_row(fabric, since, usage_number(fabric, g, l, (UsageDirection)d), table);
    for (guint32 i = fabric_n_links(fabric) - 2 * fabric->n_trunks; i < fabric_n_links(fabric); i++)
        usage_add_row(fabric, since, i, table);
}

static const Column operation_columns[] = {
    COLUMN_TEXT(target, "target", "the GPU's own memory, other GPUs, or a multicast object"),
    COLUMN_TEXT(op, "op", "what was asked"),
    COLUMN_U64(count, "count", "", "requests, of one packet each"),
    COLUMN_U64(bytes, "bytes", "", "that they touched"),
    COLUMN_FIXED(latency_min_ns, "min", "ns", 1, "latency: request at the SM to answer at the SM"),
    COLUMN_FIXED(latency_p50_ns, "p50", "ns", 1, "median latency"),
    COLUMN_FIXED(latency_p99_ns, "p99", "ns", 1, "of a hundred, the slowest but one"),
    COLUMN_FIXED(latency_max_ns, "max", "ns", 1, "the slowest"),
    COLUMN_FIXED(GBps, "rate", "GB/s", 2, "bytes over the time from the first request to the last answer"),
    COLUMN_END,
};

static void usage_add_table(const OpTable *ops, const char *target, Table *table)
{
    for (int k = 0; k <= PACKET_MC_READ; k++) {
        const OpStats *stats = ops->kind[k];
        if (!stats || stats->count == 0)
            continue;
        const Hist *hist = &stats->latency_ps;
        SimTime passed_ps = stats->last_ps - stats->first_ps;
        table_text(table, target);
        table_text(table, packet_kind_name((PacketKind)k));
        table_u64(table, stats->count);
        table_u64(table, stats->bytes);
        table_fixed(table, (double)hist->min / PS_PER_NS);
        table_fixed(table, (double)hist_percentile(hist, 500) / PS_PER_NS);
        table_fixed(table, (double)hist_percentile(hist, 990) / PS_PER_NS);
        table_fixed(table, (double)hist->max / PS_PER_NS);
        /* bytes a picosecond are TB/s */
        table_fixed(table, passed_ps ? (double)stats->bytes * 1000 / (double)passed_ps : NAN);
    }
}

void usage_add_operations(const Fabric *fabric, Report *report)
{
    Table *table = report_add_table(report, "operations", "operations", operation_columns, 0);
    usage_add_table(&fabric->op_local, "own memory", table);
    usage_add_table(&fabric->op_remote, "other GPUs", table);
    for (guint i = 1; i < fabric->op_object->len; i++) {
        char *target = g_strdup_printf("multicast %u", i);
        usage_add_table(g_ptr_array_index(fabric->op_object, i), target, table);
        g_free(target);
    }
}

static const Column switch_columns[] = {
    COLUMN_TEXT(name, "switch", "which"),
    COLUMN_U64(multicast_requests, "multicast", "requests", "that it replicated"),
    COLUMN_U64(replicas, "replicas", "packets", "that it made of them"),
    COLUMN_U64(tag_stalls, "tag", "stalls", "requests that found no tag free at their port"),
    COLUMN_U64(buffer_stalls, "buffer", "stalls", "ld_reduce requests that found no room for operands"),
    COLUMN_U64(round_stalls, "round", "stalls", "requests behind a replication under way"),
    COLUMN_END,
};

static const Column level_columns[] = {
    COLUMN_TEXT(level, "level", "leaves: switches that GPUs are wired to; spines: those above them"),
    COLUMN_U64(switches, "switches", "", "of that level"),
    COLUMN_U64(multicast_requests, "multicast", "requests", "that they replicated, all together"),
    COLUMN_U64(replicas, "replicas", "packets", "that they made of them"),
    COLUMN_U64(tag_stalls, "tag", "stalls", "requests that found no tag free at their port"),
    COLUMN_U64(buffer_stalls, "buffer", "stalls", "ld_reduce requests that found no room for operands"),
    COLUMN_U64(round_stalls, "round", "stalls", "requests behind a replication under way"),
    COLUMN_END,
};

/* The columns of numbers, of switches [first, end) together. */
static void usage_add_sums(const Fabric *fabric, guint32 first, guint32 end, Table *table)
{
    guint64 multicast = 0, replicas = 0, tag = 0, buffer = 0, rounds = 0;
    for (guint32 s = first; s < end; s++) {
        const Switch *sw = &fabric->sw[s];
        multicast += sw->multicast_requests;
        replicas += sw->replicated;
        for (guint32 p = 0; p < sw->ports; p++) {
            tag += sw->port[p].stalls_tag;
            buffer += sw->port[p].stalls_buffer;
            rounds += sw->port[p].stalls_rounds;
        }
    }
    table_u64(table, multicast);
    table_u64(table, replicas);
    table_u64(table, tag);
    table_u64(table, buffer);
    table_u64(table, rounds);
}

static void usage_add_level(const Fabric *fabric, const char *name, guint32 first, guint32 end, Table *table)
{
    table_text(table, name);
    table_u64(table, end - first);
    usage_add_sums(fabric, first, end, table);
}

void usage_add_switches(const Fabric *fabric, Report *report)
{
    const guint32 leaves = fabric->topology->leaves, all = fabric->n_switches;
    if (all > leaves) {
        Table *levels = report_add_table(report, "switch_levels", "levels of switches", level_columns, 0);
        usage_add_level(fabric, "leaves", 0, leaves, levels);
        usage_add_level(fabric, "spines", leaves, all, levels);
    }
    Table *table = report_add_table(report, "switches", "switches", switch_columns,
                                    all > USAGE_SWITCHES_TEXT ? TABLE_NO_TEXT : 0);
    for (guint32 s = 0; s < all; s++) {
        table_text(table, fabric->sw[s].path);
        usage_add_sums(fabric, s, s + 1, table);
    }
}
