/* Groups of ranks: one for each name and list, found by both. */
#include <string.h>

#include "traces/record/record.h"

static void group_free(gpointer data)
{
    RecordGroup *group = data;
    g_free(group->name);
    g_free(group->ranks);
    g_free(group->order);
    g_free(group);
}

static guint group_hash(gconstpointer key)
{
    const RecordGroup *group = key;
    guint hash = g_str_hash(group->name) ^ group->n;
    for (guint32 i = 0; i < group->n; i++)
        hash = (hash ^ group->ranks[i]) * 16777619u;
    return hash;
}

static gboolean group_equal(gconstpointer a, gconstpointer b)
{
    const RecordGroup *x = a, *y = b;
    return x->n == y->n && strcmp(x->name, y->name) == 0 &&
           (x->n == 0 || memcmp(x->ranks, y->ranks, x->n * sizeof(guint32)) == 0);
}

static gint order_compare(gconstpointer a, gconstpointer b, gpointer ranks)
{
    const guint32 *r = ranks;
    guint32 x = r[*(const guint32 *)a], y = r[*(const guint32 *)b];
    return (x > y) - (x < y);
}

static void group_order(RecordGroup *group)
{
    gboolean ascend = TRUE;
    for (guint32 i = 1; i < group->n && ascend; i++)
        ascend = group->ranks[i] > group->ranks[i - 1];
    if (ascend)
        return;
    group->order = g_new(guint32, group->n);
    for (guint32 i = 0; i < group->n; i++)
        group->order[i] = i;
    g_qsort_with_data(group->order, group->n, sizeof(guint32), order_compare, group->ranks);
    for (guint32 i = 1; i < group->n; i++)
        group->names_rank_twice |= group->ranks[group->order[i]] == group->ranks[group->order[i - 1]];
}

guint32 record_group_place(const RecordGroup *group, guint32 rank)
{
    guint32 low = 0, high = group->n;
    while (low < high) {
        guint32 middle = low + (high - low) / 2;
        guint32 place = group->order ? group->order[middle] : middle;
        if (group->ranks[place] == rank)
            return place;
        if (group->ranks[place] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return RECORD_NO_PLACE;
}

guint32 trace_group(Trace *trace, const char *name, const guint32 *ranks, guint32 n)
{
    char *valid = g_utf8_make_valid(name, -1);
    RecordGroup key = {.name = valid, .n = n, .ranks = (guint32 *)ranks};
    gpointer found;
    if (g_hash_table_lookup_extended(trace->group_index, &key, NULL, &found)) {
        g_free(valid);
        return GPOINTER_TO_UINT(found);
    }
    if (trace->groups->len > 0 && trace->members + n > RECORD_MEMBERS_MAX) {
        trace->too_many_members = TRUE;
        g_free(valid);
        return 0;
    }
    RecordGroup *group = g_new0(RecordGroup, 1);
    group->name = valid;
    group->n = n;
    group->ranks = g_memdup2(ranks, n * sizeof(guint32));
    group_order(group);
    trace->members += n;
    g_ptr_array_add(trace->groups, group);
    g_hash_table_insert(trace->group_index, group, GUINT_TO_POINTER(trace->groups->len - 1));
    return trace->groups->len - 1;
}

guint32 trace_group_world(Trace *trace, guint32 n)
{
    if (trace->world_group != RECORD_NO_GROUP && trace_group_at(trace, trace->world_group)->n == n)
        return trace->world_group;
    guint32 *ranks = g_new(guint32, n);
    for (guint32 i = 0; i < n; i++)
        ranks[i] = i;
    trace->world_group = trace_group(trace, "world", ranks, n);
    g_free(ranks);
    return trace->world_group;
}

void record_groups_init(Trace *trace)
{
    trace->groups = g_ptr_array_new_with_free_func(group_free);
    trace->group_index = g_hash_table_new(group_hash, group_equal);
    trace->world_group = RECORD_NO_GROUP;
}
