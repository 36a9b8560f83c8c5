#include "sim/stat.h"
#include "sim/hist.h"

#include "sim/engine/sim.h"

#include <string.h>

G_STATIC_ASSERT(HIST_SUB == 1 << HIST_SUB_SHIFT);

/* ---- histograms ---- Values below 16 have a bucket each; above, 16 buckets share a power of two.
 * Values beyond the last power (2^48) count into the last bucket. */

void hist_init(Hist *hist)
{
    memset(hist, 0, sizeof *hist);
    hist->min = G_MAXUINT64;
}

guint64 hist_bucket_first(guint bucket)
{
    return bucket < HIST_SUB ? bucket : (guint64)(bucket % HIST_SUB + HIST_SUB) << (bucket / HIST_SUB - 1);
}

/* The middle of a bucket. */
static guint64 value_of(guint index)
{
    return index < HIST_SUB ? index : hist_bucket_first(index) + ((guint64)1 << (index / HIST_SUB - 1)) / 2;
}

void hist_merge(Hist *into, const Hist *from)
{
    if (from->count == 0)
        return;
    into->min = into->count == 0 ? from->min : MIN(into->min, from->min);
    into->max = MAX(into->max, from->max);
    into->count += from->count;
    into->sum += from->sum;
    for (guint i = 0; i < HIST_BUCKETS; i++)
        into->bucket[i] += from->bucket[i];
}

guint64 hist_percentile(const Hist *hist, guint per_mille)
{
    g_assert(per_mille <= 1000);
    guint64 rank = (guint64)(((unsigned __int128)hist->count * per_mille + 999) / 1000);
    guint64 seen = 0;

    if (hist->count == 0)
        return 0;
    if (rank <= 1)
        return hist->min;
    if (rank >= hist->count)
        return hist->max;
    for (guint i = 0; i < HIST_BUCKETS; i++) {
        seen += hist->bucket[i];
        if (seen >= rank)
            return CLAMP(value_of(i), hist->min, hist->max);
    }
    return hist->max;
}

/* ---- the registry ---- */

typedef struct {
    char *path;
    const StatRow *rows;
    void *unit;
} Entry;

struct StatRegistry {
    GArray *entries;
};

static void entry_clear(gpointer entry) { g_free(((Entry *)entry)->path); }

StatRegistry *stat_registry_new(void)
{
    StatRegistry *registry = g_new0(StatRegistry, 1);
    registry->entries = g_array_new(FALSE, FALSE, sizeof(Entry));
    g_array_set_clear_func(registry->entries, entry_clear);
    return registry;
}

void stat_registry_free(StatRegistry *registry)
{
    if (registry) {
        g_array_unref(registry->entries);
        g_free(registry);
    }
}

void stat_add(StatRegistry *registry, const char *path, const StatRow *rows, void *unit)
{
    Entry entry = {g_strdup(path), rows, unit};
    g_array_append_val(registry->entries, entry);
}

void stat_visit(const StatRegistry *registry, StatVisit visit, void *user)
{
    for (guint i = 0; i < registry->entries->len; i++) {
        const Entry *entry = &g_array_index(registry->entries, Entry, i);
        for (const StatRow *row = entry->rows; row->name != NULL; row++) {
            guint64 now = row->read ? row->read(entry->unit) : 0;
            visit(entry->path, row, row->read ? &now : G_STRUCT_MEMBER_P(entry->unit, row->offset), user);
        }
    }
}

guint stat_list(const StatRegistry *registry, guint first, StatList list, void *user)
{
    for (; first < registry->entries->len; first++) {
        const Entry *entry = &g_array_index(registry->entries, Entry, first);
        for (const StatRow *row = entry->rows; row->name != NULL; row++)
            if (row->type != STAT_HIST_T)
                list(entry->path, row, entry->unit, user);
    }
    return first;
}

static void trace_row(const char *path, const StatRow *row, const void *value, void *user)
{
    if (row->type == STAT_HIST_T || row->read)
        return;
    g_autofree char *name = g_strdup_printf("%s.%s", path, row->name);
    sim_trace_u64(user, name, value, 64);
}

void stat_trace(const StatRegistry *registry, struct Sim *sim) { stat_visit(registry, trace_row, sim); }
