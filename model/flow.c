/* See flow.h. */
#include "model/flow.h"

#define FLOW_UNITS_SECOND (PS_PER_S / FLOW_LINE) /* ps x lines/s in a unit of work */

struct FlowClass {
    FlowUse *use;
    guint32 n;
    guint64 limit;
    guint64 rate;     /* of each flow, lines a second */
    guint64 served;   /* to each flow, since the class was last idle */
    FlowItem *head;   /* by target */
    guint32 count;    /* flows under way */
    guint32 position; /* in net->active */
    gboolean frozen;  /* while solving */
};

/* Who queues at a resource. */
typedef struct {
    guint32 flows, kind;
    guint64 issue_ps; /* of all */
} FlowQueue;

struct FlowNet {
    Sim *sim;
    Event event;   /* the next flow's end, or now: something changed */
    SimTime at_ps; /* to which the classes are served */
    guint64 *capacity;
    FlowShare share;
    gpointer share_user;
    FlowQueue *queue;     /* while solving */
    guint64 *left, *load; /* while solving: what is free, and what the growing flows take of it */
    guint32 resources;
    GHashTable *classes;
    GPtrArray *active;
    guint64 solves;
};

static guint flow_class_hash(gconstpointer key)
{
    const FlowClass *class = key;
    guint64 hash = class->limit;
    for (guint32 i = 0; i < class->n; i++)
        hash = (hash ^ class->use[i].resource ^ (guint64) class->use[i].amount << 32 ^
                (guint64) class->use[i].issue_ps << 12) *
               0x9e3779b97f4a7c15ull;
    return (guint)(hash >> 32);
}

static gboolean flow_class_equal(gconstpointer a, gconstpointer b)
{
    const FlowClass *x = a, *y = b;
    return x->n == y->n && x->limit == y->limit &&
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
    net->left = g_new0(guint64, resources);
    net->load = g_new0(guint64, resources);
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
    g_free(net->load);
    g_free(net);
}

void flow_set_share(FlowNet *net, FlowShare share, gpointer user)
{
    net->share = share;
    net->share_user = user;
}

void flow_set_capacity(FlowNet *net, guint32 resource, guint64 capacity)
{
    g_assert(resource < net->resources && capacity > 0);
    net->capacity[resource] = capacity;
}

FlowClass *flow_class(FlowNet *net, const FlowUse *use, guint32 n, guint64 limit)
{
    FlowClass key = {.use = (FlowUse *)use, .n = n, .limit = limit};
    FlowClass *class = g_hash_table_lookup(net->classes, &key);
    g_assert(limit > 0);
    if (class)
        return class;
    class = g_new0(FlowClass, 1);
    class->use = g_memdup2(use, n * sizeof *use);
    class->n = n;
    class->limit = limit;
    g_hash_table_add(net->classes, class);
    return class;
}

/* ---- rates */

/* What every growing flow can reach before a resource is full or one of them is at its limit. */
static guint64 flow_level(const FlowNet *net)
{
    guint64 level = G_MAXUINT64;
    for (guint32 r = 0; r < net->resources; r++)
        if (net->load[r])
            level = MIN(level, net->left[r] / net->load[r]);
    for (guint i = 0; i < net->active->len; i++) {
        const FlowClass *class = g_ptr_array_index(net->active, i);
        if (!class->frozen)
            level = MIN(level, class->limit);
    }
    return level;
}

static gboolean flow_is_held_up(const FlowNet *net, const FlowClass *class, guint64 level)
{
    if (class->limit <= level)
        return TRUE;
    for (guint32 i = 0; i < class->n; i++)
        if (net->left[class->use[i].resource] / net->load[class->use[i].resource] <= level)
            return TRUE;
    return FALSE;
}

static void flow_freeze(FlowNet *net, FlowClass *class, guint64 level)
{
    class->frozen = TRUE;
    class->rate = MAX(level, 1);
    for (guint32 i = 0; i < class->n; i++) {
        guint32 r = class->use[i].resource;
        guint64 amount = (guint64) class->use[i].amount * class->count;
        net->left[r] -= MIN(amount * level, net->left[r]);
        net->load[r] -= amount;
    }
}

static void flow_queue(FlowNet *net, const FlowClass *class)
{
    for (guint32 u = 0; u < class->n; u++) {
        FlowQueue *queue = &net->queue[class->use[u].resource];
        if (class->use[u].issue_ps == 0)
            continue;
        queue->flows += class->count;
        queue->issue_ps += (guint64) class->use[u].issue_ps * class->count;
        queue->kind = MAX(queue->kind, class->use[u].kind);
    }
}

/* What queues leave of a resource. */
static void flow_share(FlowNet *net, guint32 resource)
{
    const FlowQueue *queue = &net->queue[resource];
    guint32 issue_ps = (guint32)(queue->issue_ps / queue->flows);
    net->left[resource] =
        net->left[resource] / 1000 * net->share(queue->flows, issue_ps, queue->kind, net->share_user);
}

/* Progressive filling. Who is held up is decided for all classes before any of them is taken out.
 */
static void flow_solve(FlowNet *net)
{
    g_autofree FlowClass **held = g_new(FlowClass *, net->active->len + 1);
    guint growing = net->active->len;
    net->solves++;
    memcpy(net->left, net->capacity, net->resources * sizeof *net->left);
    memset(net->load, 0, net->resources * sizeof *net->load);
    memset(net->queue, 0, net->resources * sizeof *net->queue);
    for (guint i = 0; i < net->active->len; i++) {
        FlowClass *class = g_ptr_array_index(net->active, i);
        class->frozen = FALSE;
        for (guint32 u = 0; u < class->n; u++)
            net->load[class->use[u].resource] += (guint64) class->use[u].amount * class->count;
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
        g_assert(n > 0);
        for (guint i = 0; i < n; i++)
            flow_freeze(net, held[i], level);
        growing -= n;
    }
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

void flow_begin(FlowNet *net, FlowClass *class, FlowItem *item, guint64 work)
{
    SimTime now_ps = sim_now_ps(net->sim);
    flow_serve(net, now_ps);
    if (class->count++ == 0) {
        class->served = class->rate = 0;
        class->position = net->active->len;
        g_ptr_array_add(net->active, class);
    }
    item->target = class->served + work;
    FlowItem **at = &class->head;
    while (*at && (*at)->target <= item->target)
        at = &(*at)->next;
    item->next = *at;
    *at = item;
    flow_schedule(net, now_ps);
}

static void flow_deactivate(FlowNet *net, FlowClass *class)
{
    g_ptr_array_remove_index_fast(net->active, class->position);
    if (class->position < net->active->len) {
        FlowClass *moved = g_ptr_array_index(net->active, class->position);
        moved->position = class->position;
    }
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
    if (net->active->len == 0)
        return;
    flow_solve(net);
    flow_schedule(net, MAX(flow_next_end_ps(net, now_ps), now_ps + 1));
}

guint64 flow_solves(const FlowNet *net)
{
    return net->solves;
}
guint64 flow_rate(const FlowClass *class)
{
    return class->rate;
}
