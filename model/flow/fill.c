/* Max-min fair rates by progressive filling: see rates.h.
 *
 * All classes' rates grow with one level until something holds the level up: a resource that is full, for all who are
 * held up there, or a class at its own limit. Resources wait in a heap by the level at which they will be full, which
 * only rises when others are held up elsewhere or by their own limits. So each class and each of its uses is looked at
 * a few times, however many levels there are. */
#include "model/flow/internal.h"

/* ---- the heap, least level first; what is equal goes by number */

static gboolean fill_before(const FlowNext *a, const FlowNext *b)
{
    return a->level < b->level || (a->level == b->level && a->number < b->number);
}

static void fill_sift(FlowNext *heap, guint n, guint i)
{
    FlowNext moved = heap[i];
    for (guint c = 2 * i + 1; c < n; c = 2 * i + 1) {
        c += c + 1 < n && fill_before(&heap[c + 1], &heap[c]);
        if (!fill_before(&heap[c], &moved))
            break;
        heap[i] = heap[c];
        i = c;
    }
    heap[i] = moved;
}

static FlowNext *fill_first(const GArray *heap) { return heap->len ? &g_array_index(heap, FlowNext, 0) : NULL; }

static void fill_drop(GArray *heap)
{
    *fill_first(heap) = g_array_index(heap, FlowNext, heap->len - 1);
    g_array_set_size(heap, heap->len - 1);
    if (heap->len > 1)
        fill_sift(fill_first(heap), heap->len, 0);
}

/* ---- one filling */

/* A flow's rate at a level, which is that of weight FLOW_WEIGHT. */
static guint64 fill_at(const FlowClass *class, guint64 level) { return level * class->grows / FLOW_WEIGHT; }

static guint64 fill_full(const FlowResource *resource)
{
    return resource->load ? resource->left * FLOW_WEIGHT / resource->load : G_MAXUINT64;
}

static gboolean fill_is_held(const FlowResource *resource, const FlowUse *use)
{
    return use->way == FLOW_HELD || use->way == FLOW_TURNS || (use->way == FLOW_BEHIND && resource->held);
}

static void fill_freeze(FlowNet *net, FlowClass *class, guint64 level)
{
    class->frozen = TRUE;
    class->rate = MAX(MIN(fill_at(class, level), class->limit), 1);
    for (guint32 i = 0; i < class->n; i++) {
        FlowResource *resource = &net->resource[class->use[i].resource];
        guint64 amount = (guint64) class->use[i].amount * class->count;
        resource->left -= MIN(amount * class->rate, resource->left);
        resource->load -= MIN(amount * class->grows, resource->load);
    }
}

/* All who are held up there and have reached their own limit by then, or all; how many. */
static guint fill_stop(FlowNet *net, const FlowResource *resource, guint64 level, gboolean all)
{
    guint stopped = 0;
    for (guint i = 0; i < resource->users->len; i++) {
        const FlowUser *user = &g_array_index(resource->users, FlowUser, i);
        FlowClass *class = user->class;
        if (class->frozen || !(all || class->most <= level) || !fill_is_held(resource, &class->use[user->use]))
            continue;
        fill_freeze(net, class, MIN(level, class->most));
        class->stopped = (guint32)(resource - net->resource);
        stopped++;
    }
    return stopped;
}

/* What queues leave of a resource. */
static guint64 fill_share(const FlowNet *net, guint32 r)
{
    const FlowResource *resource = &net->resource[r];
    guint64 issue_ps = 0;
    guint32 flows = 0, most = 0, kind = 0;
    for (guint i = 0; i < resource->users->len; i++) {
        const FlowUser *user = &g_array_index(resource->users, FlowUser, i);
        const FlowUse *use = &user->class->use[user->use];
        if (use->issue_ps == 0)
            continue;
        flows += user->class->count;
        issue_ps += (guint64)use->issue_ps * user->class->count;
        if (user->class->count > most) {
            most = user->class->count;
            kind = use->kind;
        }
    }
    guint32 share = net->share(r, flows, (guint32)(issue_ps / flows), kind, net->share_user);
    return resource->capacity / FLOW_ALL * share;
}

static void fill_begin(FlowNet *net)
{
    for (guint i = 0; i < net->used->len; i++) {
        guint32 r = g_array_index(net->used, guint32, i);
        FlowResource *resource = &net->resource[r];
        resource->load = 0;
        resource->left = resource->queues && net->share ? fill_share(net, r) : resource->capacity;
    }
    for (guint i = 0; i < net->active->len; i++) {
        FlowClass *class = g_ptr_array_index(net->active, i);
        class->most = (class->limit * FLOW_WEIGHT + class->grows - 1) / class->grows;
        class->frozen = FALSE;
        for (guint32 u = 0; u < class->n; u++)
            net->resource[class->use[u].resource].load += (guint64) class->use[u].amount * class->count * class->grows;
    }
    g_array_set_size(net->by_full, 0);
    for (guint i = 0; i < net->used->len; i++) {
        guint32 r = g_array_index(net->used, guint32, i);
        FlowNext next = {fill_full(&net->resource[r]), r};
        if (net->resource[r].held)
            g_array_append_val(net->by_full, next);
    }
    for (guint i = net->by_full->len / 2; i-- > 0;)
        fill_sift(fill_first(net->by_full), net->by_full->len, i);
}

static void flow_fill(FlowNet *net)
{
    guint growing = net->active->len;
    fill_begin(net);
    while (growing && net->by_full->len) {
        FlowNext *first = fill_first(net->by_full);
        FlowResource *resource = &net->resource[first->number];
        growing -= fill_stop(net, resource, first->level, FALSE);
        guint64 level = fill_full(resource);
        if (level > first->level) { /* since they or others stopped before */
            first->level = level;
            fill_sift(first, net->by_full->len, 0);
            continue;
        }
        growing -= fill_stop(net, resource, first->level, TRUE);
        resource->load = 0; /* a flow that rides along goes on */
        fill_drop(net->by_full);
    }
    for (guint i = 0; growing && i < net->active->len; i++) { /* held up nowhere */
        FlowClass *class = g_ptr_array_index(net->active, i);
        if (!class->frozen)
            fill_freeze(net, class, class->most);
    }
}

/* It queues where all is used: there weights count. */
static gboolean flow_is_weighed(const FlowNet *net, const FlowClass *class)
{
    if (class->weight == FLOW_WEIGHT)
        return FALSE;
    if (class->turns < class->n && class->stopped == class->use[class->turns].resource)
        return TRUE;
    for (guint32 u = class->first; u < class->last; u++)
        if (class->use[u].issue_ps && flow_is_full(net, class->use[u].resource))
            return TRUE;
    return FALSE;
}

static void flow_grows(FlowClass *class)
{
    class->grows = FLOW_WEIGHT;
    class->stopped = G_MAXUINT32;
}

void flow_solve(FlowNet *net)
{
    guint weighed = 0;
    for (guint i = 0; i < net->active->len; i++)
        flow_grows(g_ptr_array_index(net->active, i));
    flow_fill(net);
    for (guint i = 0; i < net->active->len; i++) {
        FlowClass *class = g_ptr_array_index(net->active, i);
        if (!flow_is_weighed(net, class))
            continue;
        class->grows = class->weight;
        weighed++;
    }
    if (weighed)
        flow_fill(net);
}
