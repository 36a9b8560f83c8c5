/* See flow.h. */
#include "model/flow.h"

#define FLOW_UNITS_SECOND (PS_PER_S / FLOW_LINE) /* ps x lines/s in a unit of work */

struct FlowClass {
    FlowUse *use;
    guint32 n, first, last; /* those that queue are among first to last - 1 */
    guint64 limit;
    guint32 weight;
    guint32 grows;    /* while solving: with this weight, */
    guint64 most;     /* and to this level, that of its limit */
    guint64 rate;     /* of each flow, lines a second */
    guint64 served;   /* to each flow, since the class was last idle */
    FlowItem *head;   /* by target */
    guint32 count;    /* flows under way */
    guint32 position; /* in net->active */
    gboolean frozen;  /* while solving */
};

/* Who queues at a resource. */
typedef struct {
    guint32 flows, kind, most; /* most: of one class, whose kind it is */
    guint64 issue_ps; /* of all */
} FlowQueue;

struct FlowNet {
    Sim *sim;
    Event event;   /* the next flow's end, or now: something changed */
    SimTime at_ps; /* to which the classes are served */
    guint64 *capacity;
    FlowShare share;
    void (*solved)(gpointer user);
    gpointer share_user;
    FlowQueue *queue;     /* while solving */
    guint64 *left, *load, *full; /* while solving: what is free, what flows take, and at which level that is all */
    guint32 resources;
    GHashTable *classes;
    GPtrArray *active;
};

static guint flow_class_hash(gconstpointer key)
{
    const FlowClass *class = key;
    guint64 hash = class->limit ^ (guint64)class->weight << 32;
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
    g_free(class);
}

static void flow_on_event(Event *event, SimTime now_ps);

FlowNet *flow_new(Sim *sim, guint32 resources)
{
    FlowNet *net = g_new0(FlowNet, 1);
    net->sim = sim;
    net->resources = resources;
    net->capacity = g_new0(guint64, resources);
    net->queue = g_new0(FlowQueue, resources);
    net->left = g_new0(guint64, 3 * (gsize)resources);
    net->load = net->left + resources;
    net->full = net->load + resources;
    net->classes = g_hash_table_new_full(flow_class_hash, flow_class_equal, flow_class_free, NULL);
    net->active = g_ptr_array_new();
    event_init(&net->event, flow_on_event);
    return net;
}

void flow_free(FlowNet *net)
{
    sim_cancel(net->sim, &net->event);
    g_hash_table_destroy(net->classes);
    g_ptr_array_free(net->active, TRUE);
    g_free(net->capacity);
    g_free(net->queue);
    g_free(net->left);
    g_free(net);
}

void flow_set_share(FlowNet *net, FlowShare share, void (*solved)(gpointer user), gpointer user)
{
    net->share = share;
    net->solved = solved;
    net->share_user = user;
}

void flow_set_capacity(FlowNet *net, guint32 resource, guint64 capacity)
{
    g_assert(resource < net->resources && capacity > 0);
    net->capacity[resource] = capacity;
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
    class->n = class->first = n;
    for (guint32 u = n; u-- > 0;)
        if (use[u].issue_ps) {
            class->first = u;
            class->last = MAX(class->last, u + 1);
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

/* ---- rates */

/* A flow's rate at a level, which is that of weight FLOW_WEIGHT. */
static guint64 flow_at(const FlowClass *class, guint64 level) { return level * class->grows / FLOW_WEIGHT; }

/* What growing flows can reach before a resource is full or one of them is at its limit. */
static guint64 flow_level(FlowNet *net)
{
    guint64 level = G_MAXUINT64;
    for (guint32 r = 0; r < net->resources; r++) {
        net->full[r] = net->load[r] ? net->left[r] * FLOW_WEIGHT / net->load[r] : G_MAXUINT64;
        level = MIN(level, net->full[r]);
    }
    for (guint i = 0; i < net->active->len; i++) {
        const FlowClass *class = g_ptr_array_index(net->active, i);
        if (!class->frozen)
            level = MIN(level, class->most);
    }
    return level;
}

static gboolean flow_is_held_up(const FlowNet *net, const FlowClass *class, guint64 level)
{
    if (class->most <= level)
        return TRUE;
    for (guint32 i = 0; i < class->n; i++)
        if (net->full[class->use[i].resource] <= level && !class->use[i].rides)
            return TRUE;
    return FALSE;
}

static void flow_freeze(FlowNet *net, FlowClass *class, guint64 level)
{
    class->frozen = TRUE;
    class->rate = MAX(MIN(flow_at(class, level), class->limit), 1);
    for (guint32 i = 0; i < class->n; i++) {
        guint32 r = class->use[i].resource;
        guint64 amount = (guint64) class->use[i].amount * class->count;
        net->left[r] -= MIN(amount * class->rate, net->left[r]);
        net->load[r] -= MIN(amount * class->grows, net->load[r]);
    }
}

/* Whoever rides goes on. */
static void flow_close(FlowNet *net, guint64 level)
{
    for (guint32 r = 0; r < net->resources; r++)
        if (net->full[r] <= level)
            net->load[r] = 0;
}

static void flow_queue(FlowNet *net, const FlowClass *class)
{
    for (guint32 u = class->first; u < class->last; u++) {
        FlowQueue *queue = &net->queue[class->use[u].resource];
        if (class->use[u].issue_ps == 0)
            continue;
        queue->flows += class->count;
        queue->issue_ps += (guint64) class->use[u].issue_ps * class->count;
        if (class->count > queue->most) {
            queue->most = class->count;
            queue->kind = class->use[u].kind;
        }
    }
}

/* What queues leave of a resource. */
static void flow_share(FlowNet *net, guint32 r)
{
    const FlowQueue *queue = &net->queue[r];
    guint32 issue_ps = (guint32)(queue->issue_ps / queue->flows);
    net->left[r] = net->left[r] / FLOW_ALL * net->share(r, queue->flows, issue_ps, queue->kind, net->share_user);
}

/* Progressive filling. Who is held up is decided for all classes before any of them is taken out.
 */
static void flow_fill(FlowNet *net)
{
    g_autofree FlowClass **held = g_new(FlowClass *, net->active->len + 1);
    guint growing = net->active->len;
    memcpy(net->left, net->capacity, net->resources * sizeof *net->left);
    memset(net->load, 0, net->resources * sizeof *net->load);
    memset(net->queue, 0, net->resources * sizeof *net->queue);
    for (guint i = 0; i < net->active->len; i++) {
        FlowClass *class = g_ptr_array_index(net->active, i);
        class->frozen = FALSE;
        class->most = (class->limit * FLOW_WEIGHT + class->grows - 1) / class->grows;
        for (guint32 u = 0; u < class->n; u++)
            net->load[class->use[u].resource] += (guint64) class->use[u].amount * class->count * class->grows;
        if (net->share)
            flow_queue(net, class);
    }
    for (guint32 r = 0; r < net->resources; r++)
        if (net->queue[r].flows)
            flow_share(net, r);
    while (growing) {
        guint64 level = flow_level(net);
        guint n = 0;
        for (guint i = 0; i < net->active->len; i++) {
            FlowClass *class = g_ptr_array_index(net->active, i);
            if (!class->frozen && flow_is_held_up(net, class, level))
                held[n++] = class;
        }
        for (guint i = 0; i < n; i++)
            flow_freeze(net, held[i], level);
        flow_close(net, level);
        growing -= n;
    }
}

/* It queues where all is used: there weights count. */
static gboolean flow_is_weighed(const FlowNet *net, const FlowClass *class)
{
    for (guint32 u = class->first; class->weight != FLOW_WEIGHT && u < class->last; u++)
        if (class->use[u].issue_ps && flow_is_full(net, class->use[u].resource))
            return TRUE;
    return FALSE;
}

static void flow_solve(FlowNet *net)
{
    guint weighed = 0;
    for (guint i = 0; i < net->active->len; i++)
        ((FlowClass *)g_ptr_array_index(net->active, i))->grows = FLOW_WEIGHT;
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

/* ---- progress */

static void flow_serve(FlowNet *net, SimTime now_ps)
{
    SimTime past_ps = now_ps - net->at_ps;
    net->at_ps = now_ps;
    if (past_ps == 0)
        return;
    for (guint i = 0; i < net->active->len; i++) {
        FlowClass *class = g_ptr_array_index(net->active, i);
        class->served += (guint64)((__uint128_t) class->rate * past_ps / FLOW_UNITS_SECOND);
    }
}

static void flow_schedule(FlowNet *net, SimTime at_ps)
{
    if (event_is_pending(&net->event) && net->event.time_ps == at_ps)
        return;
    sim_cancel(net->sim, &net->event);
    sim_at(net->sim, &net->event, at_ps, EVENT_PRIORITY_LAST);
}

/* All are served up to now. */
static void flow_enter(FlowNet *net, FlowClass *class, FlowItem *item, guint64 work)
{
    if (class->count++ == 0) {
        class->served = class->rate = 0;
        class->position = net->active->len;
        g_ptr_array_add(net->active, class);
    }
    item->class = class;
    item->target = class->served + work;
    FlowItem **at = &class->head;
    while (*at && (*at)->target <= item->target)
        at = &(*at)->next;
    item->next = *at;
    *at = item;
    flow_schedule(net, net->at_ps);
}

void flow_begin(FlowNet *net, FlowClass *class, FlowItem *item, guint64 work)
{
    flow_serve(net, sim_now_ps(net->sim));
    flow_enter(net, class, item, work);
}

static void flow_deactivate(FlowNet *net, FlowClass *class)
{
    g_ptr_array_remove_index_fast(net->active, class->position);
    if (class->position < net->active->len) {
        FlowClass *moved = g_ptr_array_index(net->active, class->position);
        moved->position = class->position;
    }
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

/* Everybody who is through, in the order of the active classes. */
static FlowItem *flow_take_done(FlowNet *net)
{
    FlowItem *done = NULL, **tail = &done;
    for (guint i = 0; i < net->active->len;) {
        FlowClass *class = g_ptr_array_index(net->active, i);
        while (class->head && class->head->target <= class->served) {
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

static SimTime flow_next_end_ps(const FlowNet *net, SimTime now_ps)
{
    SimTime next_ps = SIMTIME_NEVER;
    for (guint i = 0; i < net->active->len; i++) {
        const FlowClass *class = g_ptr_array_index(net->active, i);
        __uint128_t left = (__uint128_t)(class->head->target - class->served) * FLOW_UNITS_SECOND;
        next_ps = MIN(next_ps, now_ps + (SimTime)((left + class->rate - 1) / class->rate));
    }
    return next_ps;
}

static void flow_on_event(Event *event, SimTime now_ps)
{
    FlowNet *net = EVENT_OWNER(event, FlowNet, event);
    flow_serve(net, now_ps);
    for (FlowItem *item = flow_take_done(net); item;) {
        FlowItem *next = item->next;
        item->done(item, now_ps); /* may begin others */
        item = next;
    }
    flow_solve(net);
    if (net->solved)
        net->solved(net->share_user);
    if (net->active->len)
        flow_schedule(net, MAX(flow_next_end_ps(net, now_ps), now_ps + 1));
}

gboolean flow_is_full(const FlowNet *net, guint32 resource)
{
    return net->left[resource] < net->capacity[resource] / 200; /* what rounding leaves */
}
