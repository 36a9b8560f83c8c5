/* Which rank of the job each communicator in an NCCL log belongs to, and the groups they make.
 *
 * Init lines say it: ranks of the job are the ranks of the largest communicator, and a process (with
 * its device, where it drives several) is the same rank in all its communicators. Without them
 * "globalrank" does, which RCCL writes at each call; and without that the order of hosts, devices
 * ("[dev]") and process ids, as launchers number ranks. */
#include <stdlib.h>
#include <string.h>

#include "traces/format/names.h"
#include "traces/format/nccl_log/nccl_log.h"

static LogComm *comm_at(const NcclLog *log, guint i) { return &g_array_index(log->comms, LogComm, i); }

/* The process and device that a communicator is driven from. Caller frees. */
static char *place_of(const LogComm *comm)
{
    return g_strdup_printf("%s/%" G_GINT64_FORMAT, comm->process, comm->device);
}

/* By host (its numbers as numbers), device, process, and the order of appearance. */
static int comm_compare(const void *a, const void *b)
{
    const LogComm *x = *(LogComm *const *)a, *y = *(LogComm *const *)b;
    NameNumbers *nx = names_numbers(x->host), *ny = names_numbers(y->host);
    int order = strcmp(nx->pattern, ny->pattern);
    order = order != 0 ? order : names_compare_values(nx, ny);
    names_numbers_free(nx);
    names_numbers_free(ny);
    order = order != 0 ? order : strcmp(x->host, y->host);
    if (order == 0 && x->device != y->device)
        order = x->device < y->device ? -1 : 1;
    if (order == 0) {
        nx = names_numbers(x->process);
        ny = names_numbers(y->process);
        order = names_compare_values(nx, ny);
        names_numbers_free(nx);
        names_numbers_free(ny);
    }
    return order != 0 ? order : (x > y) - (x < y);
}

/* How often communicators of one id were split, by rank: the least and the most, and how many ranks there are. */
typedef struct {
    guint least, most, members;
} Splits;

static GHashTable *count_splits(const NcclLog *log)
{
    GHashTable *by_id = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    for (guint i = 0; i < log->comms->len; i++) {
        const LogComm *comm = comm_at(log, i);
        Splits *splits = comm->id ? g_hash_table_lookup(by_id, comm->id) : NULL;
        if (comm->id && !splits) {
            splits = g_new0(Splits, 1);
            splits->least = G_MAXUINT;
            g_hash_table_insert(by_id, comm->id, splits);
        }
        if (splits) {
            splits->least = MIN(splits->least, comm->splits);
            splits->most = MAX(splits->most, comm->splits);
            splits->members++;
        }
    }
    return by_id;
}

/* Where the lines do not count the splits, all ranks made the same ones if they made equally many; else some took part
 * in none of a color (NCCL_SPLIT_NOCOLOR), and colors tell them apart, as PyTorch's do. */
void nccl_log_split_ids(NcclLog *log)
{
    for (gboolean any = TRUE; any;) { /* splits of splits: their parents' ids first */
        GHashTable *by_id = count_splits(log);
        any = FALSE;
        for (guint i = 0; i < log->comms->len; i++) {
            LogComm *comm = comm_at(log, i);
            const LogComm *parent = comm->parent > 0 ? comm_at(log, comm->parent - 1) : NULL;
            if (!parent || parent->parent > 0)
                continue;
            const Splits *splits = parent->id ? g_hash_table_lookup(by_id, parent->id) : NULL;
            gboolean alike = splits && splits->least == splits->most && splits->members == parent->n;
            guint64 nth = comm->count != G_MAXUINT64 ? comm->count : alike ? comm->nth : comm->nth_of_color;
            comm->own_id = g_strdup_printf("%s/%" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT, parent->id ? parent->id : "?",
                                           nth, comm->color);
            any = TRUE;
        }
        g_hash_table_destroy(by_id);
        for (guint i = 0; i < log->comms->len; i++) {
            LogComm *comm = comm_at(log, i);
            if (comm->own_id) {
                g_free(comm->id);
                comm->id = g_steal_pointer(&comm->own_id);
                comm->parent = 0;
            }
        }
    }
}

/* Ranks by the communicator of the largest number of ranks that has Init lines. */
static void ranks_by_init(NcclLog *log, const char *world_id)
{
    GHashTable *rank_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < log->comms->len; i++) {
        LogComm *comm = comm_at(log, i);
        if (comm->id && strcmp(comm->id, world_id) == 0) {
            comm->job_rank = comm->rank;
            g_hash_table_insert(rank_of, place_of(comm), GUINT_TO_POINTER((guint)comm->rank + 1));
        }
    }
    for (guint i = 0; i < log->comms->len; i++) {
        LogComm *comm = comm_at(log, i);
        char *place = place_of(comm);
        guint rank = GPOINTER_TO_UINT(g_hash_table_lookup(rank_of, place));
        comm->job_rank = comm->job_rank >= 0 ? comm->job_rank : (gint64)rank - 1;
        g_free(place);
    }
    g_hash_table_destroy(rank_of);
}

/* Ranks by the order of places; of one host alone by devices, where each is there once. `why`: no communicator that
 * has Init lines says them. */
static void ranks_by_order(NcclLog *log, guint32 world, const char *why)
{
    guint n = log->comms->len, places = 0;
    LogComm **sorted = g_new(LogComm *, n + 1);
    gboolean devices = TRUE, shared = FALSE;
    for (guint i = 0; i < n; i++)
        sorted[i] = comm_at(log, i);
    qsort(sorted, n, sizeof(LogComm *), comm_compare);
    char *last = NULL;
    for (guint i = 0; i < n; i++) {
        char *place = place_of(sorted[i]);
        gboolean same = last && strcmp(last, place) == 0;
        places += !same;
        shared |= same;
        devices &= sorted[i]->device >= 0 && sorted[i]->device < world &&
                   strcmp(sorted[i]->host, sorted[0]->host) == 0 &&
                   (i == 0 || same || sorted[i]->device != sorted[i - 1]->device);
        sorted[i]->job_rank = places - 1;
        g_free(last);
        last = place;
    }
    g_free(last);
    for (guint i = 0; i < n && devices; i++)
        sorted[i]->job_rank = sorted[i]->device;
    g_free(sorted);
    if (shared) {
        trace_note(log->reader->trace,
                   "%s: %s: the communicators of one process and device are taken for "
                   "those of one rank",
                   log->reader->trace->name, why);
    }
    trace_note(log->reader->trace, "%s: %s: ranks are in the order of %s", log->reader->trace->name, why,
               devices ? "devices" : "hosts, devices and process ids");
}

static guint32 count_places(const NcclLog *log)
{
    GHashTable *seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < log->comms->len; i++)
        g_hash_table_add(seen, place_of(comm_at(log, i)));
    guint32 n = g_hash_table_size(seen);
    g_hash_table_destroy(seen);
    return n;
}

static guint count_ranks(const NcclLog *log)
{
    GHashTable *seen = g_hash_table_new(g_direct_hash, g_direct_equal);
    for (guint i = 0; i < log->comms->len; i++) {
        const LogComm *comm = comm_at(log, i);
        if (comm->job_rank >= 0 && (comm->calls > 0 || comm->id))
            g_hash_table_add(seen, GINT_TO_POINTER((gint)comm->job_rank));
    }
    guint n = g_hash_table_size(seen);
    g_hash_table_destroy(seen);
    return n;
}

static gboolean too_small(const NcclLog *log, guint32 world, gint64 places, GError **error)
{
    const char *name = log->reader->trace->name;
    if (world == 0) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE,
                    "%s: says nowhere how many ranks there are; log with "
                    "NCCL_DEBUG_SUBSYS=INIT,COLL, or give --world N",
                    name);
    } else {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE,
                    "%s: has calls of %" G_GINT64_FORMAT
                    " processes or devices, but no communicator of more than %u ranks; log with "
                    "NCCL_DEBUG_SUBSYS=INIT,COLL, or give --world N",
                    name, places, world);
    }
    return FALSE;
}

gboolean nccl_log_ranks(NcclLog *log, GError **error)
{
    guint32 world = 0, said = 0;
    const char *world_id = NULL;
    gboolean global = log->comms->len > 0;
    gint64 most = -1;
    nccl_log_split_ids(log);
    for (guint i = 0; i < log->comms->len; i++) {
        LogComm *comm = comm_at(log, i);
        comm->job_rank = -1;
        if (comm->id && comm->n > world) {
            world = comm->n;
            world_id = comm->id;
        }
        said = MAX(said, comm->nranks);
        global &= comm->global >= 0;
        most = MAX(most, comm->global);
    }
    guint32 places = world_id ? count_places(log) : 0;
    if (world_id && places > world) { /* groups alone, as of programs that make none of all ranks before they use it */
        world = places;
        ranks_by_order(log, world, "no communicator has all processes");
    } else if (world_id) {
        ranks_by_init(log, world_id);
    } else if (global) {
        world = MAX(said, log->reader->spec->world);
        for (guint i = 0; i < log->comms->len; i++)
            comm_at(log, i)->job_rank = comm_at(log, i)->global;
        world = MAX(world, (guint32)most + 1);
    } else {
        world = MAX(said, log->reader->spec->world);
        ranks_by_order(log, world, "no Init lines");
        for (guint i = 0; i < log->comms->len; i++)
            most = MAX(most, comm_at(log, i)->job_rank);
    }
    if (!world_id && log->calls->len > 0 && (world == 0 || most >= (gint64)world))
        return too_small(log, world, most + 1, error);
    log->reader->trace->replicate = count_ranks(log) == 1 && world > 1;
    return reader_set_world(log->reader, MAX(world, 1), error);
}

/* The ranks of a communicator by the Init lines of all its processes; FALSE: they are not all there.
 */
static gboolean init_ranks(const NcclLog *log, const LogComm *comm, guint32 *ranks, guint32 *found)
{
    *found = 0;
    memset(ranks, 0xff, comm->n * sizeof(guint32));
    for (guint i = 0; i < log->comms->len; i++) {
        const LogComm *other = comm_at(log, i);
        if (other->id && strcmp(other->id, comm->id) == 0 && other->n == comm->n && other->job_rank >= 0 &&
            ranks[other->rank] == G_MAXUINT32) {
            ranks[other->rank] = other->job_rank;
            (*found)++;
        }
    }
    return *found == comm->n;
}

static gboolean ascend_from_0(const guint32 *ranks, guint32 n)
{
    gboolean ascend = TRUE;
    for (guint32 i = 0; i < n && ascend; i++)
        ascend = ranks[i] == i;
    return ascend;
}

const char *nccl_log_group(NcclLog *log, LogComm *comm, guint32 *group)
{
    Trace *trace = log->reader->trace;
    guint32 n = comm->n > 0 ? comm->n : comm->nranks > 0 ? comm->nranks : trace->world;
    if (!comm->grouped) {
        comm->grouped = TRUE;
        comm->group = RECORD_NO_GROUP;
        guint32 found = 0, *ranks = g_new(guint32, n);
        gboolean known = comm->id && init_ranks(log, comm, ranks, &found);
        if (known && !(n == trace->world && ascend_from_0(ranks, n))) {
            comm->group = trace_group(trace, comm->id, ranks, n);
        } else if (n == trace->world) {
            comm->group = trace_group_world(trace, n);
        } else if (!comm->id) {
            comm->wrong = g_strdup_printf("communicator of %u ranks without an Init line; log with "
                                          "NCCL_DEBUG_SUBSYS=INIT,COLL",
                                          n);
        } else {
            comm->wrong = g_strdup_printf("communicator %s has %u ranks, but the log has Init lines "
                                          "of %u of them; give the logs of all processes",
                                          comm->id, n, found);
        }
        g_free(ranks);
    }
    *group = comm->group;
    return comm->wrong;
}
