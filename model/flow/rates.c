/* See rates.h. */
#include "model/flow/internal.h"

#define FLOW_UNITS_SECOND (PS_PER_S / FLOW_LINE) /* ps x lines/s in a unit of work */

static guint flow_class_hash(gconstpointer key)
{
    const FlowClass *class = key;
    guint64 hash = class->limit ^ (guint64) class->weight << 32;
    for (guint32 i = 0; i < class->n; i++)
        hash = (hash ^ class->use[i].resource ^ (guint64) class->use[i].amount << 32 ^
                (guint64) class->use[i].issue_ps << 12) *
               0x9e3779b97f4a7c15ull;
    return (guint)(hash >> 32);
}

static gboolean flow_class_equal(gconstpointer a, gconstpointer b)
{
    const FlowClass *x = a, *y = b;
    return x->n == y->n && x->limit == y->limit && x->weight == y->weight &&
           memcmp(x->use, y->use, x->n * sizeof *x->use) == 0;
}

static void flow_class_free(gpointer data)
{
    FlowClass *class = data;
    g_free(class->use);
    g_free(class->place);
    g_free(class);
}

static void flow_on_event(Event *event, SimTime now_ps);

FlowNet *flow_new(Sim *sim, guint32 resources)
{
    FlowNet *net = g_new0(FlowNet, 1);
    net->sim = sim;
    net->resources = resources;
    net->resource = g_new0(FlowResource, resources);
    for (guint32 r = 0; r < resources; r++)
        net->resource[r].users = g_array_new(FALSE, FALSE, sizeof(FlowUser));
    net->used = g_array_new(FALSE, FALSE, sizeof(guint32));
    net->by_full = g_array_new(FALSE, FALSE, sizeof(FlowNext));
    net->classes = g_hash_table_new_full(flow_class_hash, flow_class_equal, flow_class_free, NULL);
    net->active = g_ptr_array_new();
    net->passed = g_ptr_array_new();
    event_init(&net->event, flow_on_event);
    return net;
}

void flow_free(FlowNet *net)
{
    sim_cancel(net->sim, &net->event);
    g_hash_table_destroy(net->classes);
    g_ptr_array_free(net->active, TRUE);
    g_ptr_array_free(net->passed, TRUE);
    for (guint32 r = 0; r < net->resources; r++)
        g_array_free(net->resource[r].users, TRUE);
    g_free(net->resource);
    g_array_free(net->used, TRUE);
    g_array_free(net->by_full, TRUE);
    g_free(net);
}

void flow_set_share(FlowNet *net, FlowShare share, SimTime (*solved)(gpointer user), gpointer user)
{
    net->share = share;
    net->solved = solved;
    net->share_user = user;
}

guint64 flow_capacity(const FlowNet *net, guint32 resource) { return net->resource[resource].capacity; }

void flow_set_capacity(FlowNet *net, guint32 resource, guint64 capacity)
{
    g_assert(resource < net->resources && capacity > 0);
    net->resource[resource].capacity = net->resource[resource].left = capacity;
}

static FlowClass *flow_class_weighted(FlowNet *net, const FlowUse *use, guint32 n, guint64 limit, guint32 weight)
{
    FlowClass key = {.use = (FlowUse *)use, .n = n, .limit = limit, .weight = weight};
    FlowClass *class = g_hash_table_lookup(net->classes, &key);
    g_assert(limit > 0 && weight > 0);
    if (class)
        return class;
    class = g_new0(FlowClass, 1);
    class->use = g_memdup2(use, n * sizeof *use);
    class->place = g_new(guint32, n);
    class->n = class->first = class->turns = n;
    for (guint32 u = n; u-- > 0;) {
        if (use[u].way == FLOW_TURNS)
            class->turns = u;
        if (use[u].issue_ps) {
            class->first = u;
            class->last = MAX(class->last, u + 1);
        }
    }
    class->limit = limit;
    class->weight = weight;
    g_hash_table_add(net->classes, class);
    return class;
}

FlowClass *flow_class(FlowNet *net, const FlowUse *use, guint32 n, guint64 limit)
{
    return flow_class_weighted(net, use, n, limit, FLOW_WEIGHT);
}

FlowClass *flow_class_like(FlowNet *net, FlowClass *class, guint64 limit, guint32 weight)
{
    if (limit == class->limit && weight == class->weight)
        return class;
    return flow_class_weighted(net, class->use, class->n, limit, weight);
}

/* ---- progress */

static void flow_serve(FlowNet *net, SimTime now_ps)
{
    SimTime past_ps = now_ps - net->at_ps;
    net->at_ps = now_ps;
    if (past_ps == 0)
        return;
    for (guint i = 0; i < net->active->len; i++) {
        FlowClass *class = g_ptr_array_index(net->active, i);
        class->served += flow_part(class->rate, past_ps, FLOW_UNITS_SECOND);
    }
}

static void flow_schedule(FlowNet *net, SimTime at_ps)
{
    if (event_is_pending(&net->event) && net->event.time_ps == at_ps)
        return;
    sim_cancel(net->sim, &net->event);
    sim_at(net->sim, &net->event, at_ps, EVENT_PRIORITY_LAST);
}

static void flow_join(FlowNet *net, FlowClass *class, guint32 u)
{
    guint32 r = class->use[u].resource;
    FlowResource *resource = &net->resource[r];
    FlowUser user = {class, u};
    if (resource->users->len == 0) {
        resource->position = net->used->len;
        g_array_append_val(net->used, r);
    }
    class->place[u] = resource->users->len;
    g_array_append_val(resource->users, user);
    resource->held += class->use[u].way == FLOW_HELD;
    resource->queues += class->use[u].issue_ps > 0;
}

static void flow_leave(FlowNet *net, const FlowClass *class, guint32 u)
{
    FlowResource *resource = &net->resource[class->use[u].resource];
    guint32 place = class->place[u];
    g_array_remove_index_fast(resource->users, place);
    if (place < resource->users->len) {
        const FlowUser *moved = &g_array_index(resource->users, FlowUser, place);
        moved->class->place[moved->use] = place;
    }
    resource->held -= class->use[u].way == FLOW_HELD;
    resource->queues -= class->use[u].issue_ps > 0;
    if (resource->users->len)
        return;
    resource->left = resource->capacity;
    g_array_remove_index_fast(net->used, resource->position);
    if (resource->position < net->used->len)
        net->resource[g_array_index(net->used, guint32, resource->position)].position = resource->position;
}

static void flow_activate(FlowNet *net, FlowClass *class)
{
    class->served = class->rate = 0;
    class->position = net->active->len;
    g_ptr_array_add(net->active, class);
    for (guint32 u = 0; u < class->n; u++)
        flow_join(net, class, u);
}

static void flow_place(FlowClass *class, FlowItem *item)
{
    FlowItem **at = &class->head;
    while (*at && (*at)->target <= item->target)
        at = &(*at)->next;
    item->next = *at;
    *at = item;
}

/* All are served up to now. work: until its target. */
static void flow_enter(FlowNet *net, FlowClass *class, FlowItem *item, guint64 work)
{
    if (class->count++ == 0)
        flow_activate(net, class);
    item->class = class;
    item->target = class->served + work;
    flow_place(class, item);
    net->changed = TRUE;
    flow_schedule(net, net->at_ps);
}

void flow_begin(FlowNet *net, FlowClass *class, FlowItem *item, guint64 work)
{
    g_assert(item->rest <= work);
    flow_serve(net, sim_now_ps(net->sim));
    flow_enter(net, class, item, work - item->rest);
}

guint64 flow_rate(const FlowItem *item) { return item->class->rate; }

guint64 flow_left(const FlowNet *net, const FlowItem *item)
{
    guint64 more = flow_part(item->class->rate, sim_now_ps(net->sim) - net->at_ps, FLOW_UNITS_SECOND);
    guint64 served = item->class->served + more;
    return item->target - MIN(served, item->target) + item->rest;
}

static void flow_deactivate(FlowNet *net, FlowClass *class)
{
    g_ptr_array_remove_index_fast(net->active, class->position);
    if (class->position < net->active->len) {
        FlowClass *moved = g_ptr_array_index(net->active, class->position);
        moved->position = class->position;
    }
    for (guint32 u = 0; u < class->n; u++)
        flow_leave(net, class, u);
}

void flow_change(FlowNet *net, FlowItem *item, FlowClass *class)
{
    FlowClass *before = item->class;
    if (!before || before == class)
        return;
    flow_serve(net, sim_now_ps(net->sim));
    FlowItem **at = &before->head;
    while (*at != item)
        at = &(*at)->next;
    *at = item->next;
    if (--before->count == 0)
        flow_deactivate(net, before);
    flow_enter(net, class, item, item->target - MIN(before->served, item->target));
}

/* It goes on with its rest. */
static void flow_pass(FlowNet *net, FlowClass *class)
{
    FlowItem *item = class->head;
    class->head = item->next;
    item->target += item->rest;
    item->rest = 0;
    flow_place(class, item);
    g_ptr_array_add(net->passed, item);
}

/* Everybody who is through, in the order of the active classes. */
static FlowItem *flow_take_done(FlowNet *net)
{
    FlowItem *done = NULL, **tail = &done;
    for (guint i = 0; i < net->active->len;) {
        FlowClass *class = g_ptr_array_index(net->active, i);
        while (class->head && class->head->target <= class->served) {
            if (class->head->rest) {
                flow_pass(net, class);
                continue;
            }
            net->changed = TRUE;
            *tail = class->head;
            class->head = class->head->next;
            (*tail)->next = NULL;
            (*tail)->class = NULL;
            tail = &(*tail)->next;
            class->count--;
        }
        if (class->count)
            i++;
        else
            flow_deactivate(net, class);
    }
    return done;
}

/* Of the flow of a class that is through first. */
static SimTime flow_left_ps(const FlowClass *class)
{
    guint64 left = class->head->target - class->served;
    if (left > (G_MAXUINT64 - class->rate) / FLOW_UNITS_SECOND)
        return (SimTime)(((__uint128_t)left * FLOW_UNITS_SECOND + class->rate - 1) / class->rate);
    return (left * FLOW_UNITS_SECOND + class->rate - 1) / class->rate;
}

static SimTime flow_next_end_ps(const FlowNet *net, SimTime now_ps)
{
    SimTime next_ps = SIMTIME_NEVER;
    for (guint i = 0; i < net->active->len; i++) {
        const FlowClass *class = g_ptr_array_index(net->active, i);
        next_ps = MIN(next_ps, now_ps + flow_left_ps(class));
    }
    return next_ps;
}

static void flow_on_event(Event *event, SimTime now_ps)
{
    FlowNet *net = EVENT_OWNER(event, FlowNet, event);
    flow_serve(net, now_ps);
    FlowItem *done = flow_take_done(net);
    for (guint i = 0; i < net->passed->len; i++) {
        FlowItem *item = g_ptr_array_index(net->passed, i);
        item->passed(item, now_ps);
    }
    g_ptr_array_set_size(net->passed, 0);
    for (FlowItem *item = done; item;) {
        FlowItem *next = item->next;
        item->done(item, now_ps); /* may begin others */
        item = next;
    }
    if (net->changed || now_ps >= net->again_ps)
        do {
            net->changed = FALSE;
            flow_solve(net);
            net->again_ps = net->solved ? net->solved(net->share_user) : SIMTIME_NEVER;
        } while (net->changed);
    if (net->active->len)
        flow_schedule(net, MAX(MIN(flow_next_end_ps(net, now_ps), net->again_ps), now_ps + 1));
}

void flow_see(const FlowNet *net, FlowSeen seen, gpointer user)
{
    for (guint i = 0; i < net->active->len; i++) {
        const FlowClass *class = g_ptr_array_index(net->active, i);
        seen(class->use, class->n, class->rate * class->count, user);
    }
}

gboolean flow_is_behind(const FlowNet *net, guint32 resource) { return !net->resource[resource].held; }

gboolean flow_is_full(const FlowNet *net, guint32 resource)
{
    return net->resource[resource].left < net->resource[resource].capacity / 200; /* what rounding leaves */
}
