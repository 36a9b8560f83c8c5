#include "tests/model/model_test.h"

#include "model/memory/numeric.h"
#include "sim/rng.h"

/* Random traffic of every kind: what is put in comes out once, with the right bytes, and everything the fabric
 * lent out (credits, tags, buffers, data slots, transactions) is back at the end.
 *
 * Memory of each GPU, and of each copy behind the multicast object, in lines of 128 B:
 *   0 ..           read only; random small numbers, so that sums are exact in any order
 *   SLOTS_AT ..    one line for each request that stores
 *   COUNTERS_AT .. one line for each (type, op): reds and atomics of that type and op only
 *
 * With FANOUT_COMPONENT, a shared object, the switches are its (tests/model/test_component.sh). */
#define REQUESTS 300u
#define SLOTS_AT 64u
#define COUNTERS_AT (SLOTS_AT + REQUESTS)
#define LINES (COUNTERS_AT + NUMERIC_TYPES * NUMERIC_OPS)
#define BYTES (LINES * 128u)

static const char *bed_component(void) { return g_getenv("FANOUT_COMPONENT"); }

typedef struct Traffic Traffic;
typedef struct {
    Traffic *traffic;
    Event event;
    GpuRoomWaiter room;
    GpuRequest request;
    guint16 gpu;
    guint32 link;
    guint8 data[DATA_SLOT_BYTES];
    guint8 want[128]; /* of a read */
    guint32 times;
} Request;

struct Traffic {
    Bed bed;
    Rng rng;
    guint32 gpus;
    MemRegion **plain, **member; /* by GPU */
    McObject *object;
    guint8 *want; /* [2 * gpus][BYTES]: plain ones, then members' */
    Request request[REQUESTS];
    GString *log; /* completions, in order: what two runs must agree on */
};

static guint8 *want_line(Traffic *t, gboolean multicast, guint32 gpu, guint32 line)
{
    return t->want + ((gsize)(multicast ? t->gpus : 0) + gpu) * BYTES + line * 128;
}

/* Fills a line with elements of 0 to 3 of a type. */
static void fill_line(Traffic *t, NumericType type, guint8 *line)
{
    guint32 bytes = numeric_element_bytes(type);
    static const NumericType element[] = {
        [NUMERIC_F16X2] = NUMERIC_F16,   [NUMERIC_BF16X2] = NUMERIC_BF16, [NUMERIC_E4M3X2] = NUMERIC_E4M3,
        [NUMERIC_E4M3X4] = NUMERIC_E4M3, [NUMERIC_E5M2X2] = NUMERIC_E5M2, [NUMERIC_E5M2X4] = NUMERIC_E5M2};
    NumericType one = type < G_N_ELEMENTS(element) && element[type] ? element[type] : type;
    for (guint32 i = 0; i < 128; i += bytes)
        numeric_set(one, line + i, (double)rng_below(&t->rng, numeric_type_bytes(type) && bytes > 1 ? 4 : 2));
}

static void on_done(Gpu *gpu, Txn *txn, const guint8 *bytes, SimTime now_ps)
{
    Request *r = txn->owner;
    r->times++;
    assert_int_equal(gpu->id, r->gpu);
    assert_int_equal(txn->state, TXN_OK);
    if (txn->kind == PACKET_READ || txn->kind == PACKET_MC_READ) {
        assert_non_null(bytes);
        assert_memory_equal(bytes, r->want, txn->bytes);
    }
    g_string_append_printf(r->traffic->log, "%u@%" G_GUINT64_FORMAT " ", (guint)txn->tag, now_ps);
}

static void request_send(Request *r, SimTime now_ps)
{
    (void)now_ps;
    Gpu *gpu = &r->traffic->bed.fabric->gpu[r->gpu];
    if (gpu_has_room(gpu, r->link))
        gpu_request(gpu, &r->request, r->link);
    else
        gpu_wait_room(gpu, r->link, &r->room);
}
static void request_on_event(Event *event, SimTime now_ps) { request_send(EVENT_OWNER(event, Request, event), now_ps); }
static void request_on_room(GpuRoomWaiter *waiter, SimTime now_ps)
{
    request_send(EVENT_OWNER(waiter, Request, room), now_ps);
}

/* ---- what a request asks for, and what that will leave in memory */

static void plan_store(Traffic *t, Request *r, guint32 index, guint32 home)
{
    gboolean multicast = r->request.kind == PACKET_MC_WRITE;
    guint32 first = (guint32)rng_below(&t->rng, 32), words = 1 + (guint32)rng_below(&t->rng, 32 - first);
    guint32 mask = rng_below(&t->rng, 2) ? GPU_ALL_WORDS : (guint32)rng_next(&t->rng) | 1u;
    for (guint32 i = 0; i < 128; i++)
        r->data[i] = (guint8)rng_next(&t->rng);
    r->request.offset = (SLOTS_AT + index) * 128 + first * 4;
    r->request.bytes = (guint16)(words * 4);
    r->request.word_mask = mask;
    for (guint32 g = multicast ? 0 : home; g < (multicast ? t->gpus : home + 1); g++)
        for (guint32 w = 0; w < words; w++)
            if (mask >> w & 1)
                memcpy(want_line(t, multicast, g, SLOTS_AT + index) + (first + w) * 4, r->data + w * 4, 4);
}

static void plan_red(Traffic *t, Request *r, guint32 home)
{
    gboolean multicast = r->request.kind == PACKET_MC_RED;
    do {
        r->request.type = (guint8)rng_below(&t->rng, NUMERIC_TYPES);
        r->request.op = (guint8)rng_below(&t->rng, NUMERIC_OPS);
    } while (!numeric_allows(r->request.type, r->request.op) || numeric_element_bytes(r->request.type) == 1);
    guint32 line = COUNTERS_AT + r->request.type * NUMERIC_OPS + r->request.op;
    fill_line(t, r->request.type, r->data);
    guint32 half = (guint32)rng_below(&t->rng, 3); /* all, first half, second half */
    r->request.offset = line * 128 + (half == 2 ? 64 : 0);
    r->request.bytes = half ? 64 : 128;
    for (guint32 g = multicast ? 0 : home; g < (multicast ? t->gpus : home + 1); g++)
        numeric_apply(r->request.type, r->request.op, want_line(t, multicast, g, line) + r->request.offset % 128,
                      r->data, r->request.bytes);
}

static void plan_read(Traffic *t, Request *r, guint32 home)
{
    guint32 line = (guint32)rng_below(&t->rng, SLOTS_AT), first = (guint32)rng_below(&t->rng, 4) * 32;
    r->request.offset = line * 128 + first;
    r->request.bytes = (guint16)(128 - first);
    r->request.data = NULL;
    if (r->request.kind == PACKET_READ) {
        memcpy(r->want, want_line(t, FALSE, home, line) + first, r->request.bytes);
        return;
    }
    do { /* the line's type was chosen when it was filled */
        r->request.type = (guint8)(line % NUMERIC_TYPES);
        r->request.op = (guint8)rng_below(&t->rng, NUMERIC_OPS);
    } while (!numeric_allows(r->request.type, r->request.op));
    memcpy(r->want, want_line(t, TRUE, 0, line) + first, r->request.bytes);
    for (guint32 g = 1; g < t->gpus; g++)
        numeric_apply(r->request.type, r->request.op, r->want, want_line(t, TRUE, g, line) + first, r->request.bytes);
}

static void plan_request(Traffic *t, guint32 index)
{
    Request *r = &t->request[index];
    *r = (Request){.traffic = t, .gpu = (guint16)rng_below(&t->rng, t->gpus)};
    guint32 home = (guint32)rng_below(&t->rng, t->gpus);
    r->request = (GpuRequest){.kind = (PacketKind)rng_below(&t->rng, PACKET_MC_READ + 1),
                              .word_mask = GPU_ALL_WORDS,
                              .data = r->data,
                              .done = on_done,
                              .owner = r,
                              .tag = index};
    if (r->request.kind >= PACKET_MC_WRITE)
        r->request.object = t->object;
    else
        r->request.region = t->plain[home];
    if (r->request.kind == PACKET_WRITE || r->request.kind == PACKET_MC_WRITE)
        plan_store(t, r, index, home);
    else if (r->request.kind == PACKET_READ || r->request.kind == PACKET_MC_READ)
        plan_read(t, r, home);
    else
        plan_red(t, r, home);
    r->link = gpu_link_of(&t->bed.fabric->gpu[r->gpu], &r->request);
    r->room.fire = request_on_room;
    event_init(&r->event, request_on_event);
    sim_at(t->bed.sim, &r->event, rng_below(&t->rng, 400000), EVENT_PRIORITY_DEVICE);
}

/* ---- one run */

/* Parameters small enough that everything that can run out does, now and then. */
static void choose_knobs(Rng *rng, char **sets)
{
    guint n = 0;
#define KNOB(key, ...)                                                                                                 \
    do {                                                                                                               \
        static const guint values[] = {__VA_ARGS__};                                                                   \
        sets[n++] = g_strdup_printf(key "=%u", values[rng_below(rng, G_N_ELEMENTS(values))]);                          \
    } while (0)
    KNOB("link.credits_switch_flits", 32, 48, 1024);
    KNOB("link.credits_gpu_flits", 32, 64, 4096);
    KNOB("link.error_ppb", 0, 0, 20000000);
    KNOB("switch.multicast_tags", 1, 3, 128);
    KNOB("switch.reduction_tags", 1, 2, 128);
    KNOB("switch.reduction_buffer_bytes", 1024, 2048, 65536);
    KNOB("switch.done_merge_max", 1, 4);
    KNOB("multicast.directives", 8, 4, 64);
    KNOB("gpu.source_queue_packets", 1, 4, 128);
    KNOB("gpu.response_queue_packets", 1, 2, 512);
    KNOB("gpu.ack_merge_max", 1, 2, 4);
    sets[n++] = g_strdup(rng_below(rng, 2) ? "switch.reduction_hold=hold" : "switch.reduction_hold=accumulate");
    sets[n++] = g_strdup(rng_below(rng, 2) ? "switch.reduction_order=rank" : "switch.reduction_order=arrival");
    sets[n++] = g_strdup(rng_below(rng, 2) ? "gpu.ack_flush_on_read=true" : "gpu.ack_flush_on_read=false");
#undef KNOB
}

static void traffic_memory(Traffic *t)
{
    t->plain = g_new(MemRegion *, t->gpus);
    t->member = g_new(MemRegion *, t->gpus);
    t->want = g_malloc0((gsize)2 * t->gpus * BYTES);
    t->object = bed_team(&t->bed, t->gpus, BYTES, t->member);
    for (guint32 g = 0; g < t->gpus; g++) {
        t->plain[g] = bed_region(&t->bed, (guint16)g, BYTES);
        memory_set_cached(t->bed.fabric->memory, t->plain[g], rng_below(&t->rng, 3) > 0);
        memory_set_cached(t->bed.fabric->memory, t->member[g], rng_below(&t->rng, 3) > 0);
        for (guint32 line = 0; line < SLOTS_AT; line++) {
            fill_line(t, (NumericType)(line % NUMERIC_TYPES), want_line(t, FALSE, g, line));
            fill_line(t, (NumericType)(line % NUMERIC_TYPES), want_line(t, TRUE, g, line));
        }
        memcpy(t->plain[g]->host, want_line(t, FALSE, g, 0), BYTES);
        memcpy(t->member[g]->host, want_line(t, TRUE, g, 0), BYTES);
    }
}

static void check_counts(Traffic *t)
{
    Fabric *fabric = t->bed.fabric;
    guint64 remote = 0, local = 0, multicast = 0, sent = 0, sent_local = 0, served = 0, requests = 0, replicas = 0,
            answers = 0;
    for (guint i = 0; i < REQUESTS; i++) {
        const Request *r = &t->request[i];
        assert_int_equal(r->times, 1);
        multicast += r->request.object != NULL;
        local += r->link == GPU_LINK_LOCAL;
    }
    remote = REQUESTS - local - multicast;
    for (guint32 g = 0; g < t->gpus; g++) {
        sent += fabric->gpu[g].requests;
        sent_local += fabric->gpu[g].local_requests;
        served += fabric->gpu[g].served;
    }
    for (guint32 s = 0; s < fabric->n_switches; s++) {
        requests += fabric->sw[s].multicast_requests;
        replicas += fabric->sw[s].replicated;
        answers += fabric->sw[s].reduced;
    }
    assert_true(sent == remote + multicast);
    assert_true(sent_local == local);
    if (bed_component())
        replicas = requests = answers = multicast * t->gpus; /* the built-in switch counted none */
    else
        assert_true(requests == multicast && answers == multicast);
    assert_true(replicas == multicast * t->gpus); /* injected x replicas ... */
    assert_true(served == remote + replicas);     /* ... = delivered */
    assert_true(fabric_is_quiet(fabric));         /* credits, tags, buffers, data slots at home */
    assert_int_equal(fabric->n_faults, 0);
}

static void add_stat(const char *path, const StatRow *row, const void *value, void *user)
{
    if (row->type != STAT_HIST_T && *(const guint64 *)value)
        g_string_append_printf(user, "\n%s.%s %" G_GUINT64_FORMAT, path, row->name, *(const guint64 *)value);
}

/* Runs one seed; the caller frees what it logged. */
static char *run_seed(const char *system, guint64 seed, SimCalendar calendar)
{
    Traffic *t = g_new0(Traffic, 1);
    char *sets[32] = {NULL};
    rng_init(&t->rng, seed, "traffic");
    choose_knobs(&t->rng, sets);
    if (bed_component())
        sets[g_strv_length(sets)] = g_strconcat("switch.component=", bed_component(), NULL);
    SimSpec spec = {.seed = seed, .calendar = calendar};
    bed_open(&t->bed, system, (const char *const *)sets, &spec);
    t->gpus = (guint32)t->bed.spec.system.gpus;
    t->log = g_string_new(NULL);
    traffic_memory(t);
    for (guint32 i = 0; i < REQUESTS; i++)
        plan_request(t, i);
    SimStatus status = sim_run(t->bed.sim, SIMTIME_NEVER);
    if (status != SIM_IDLE) {
        g_auto(GStrv) waiters = sim_waiters(t->bed.sim);
        g_autofree char *text = g_strjoinv("\n", waiters), *knobs = g_strjoinv(" ", sets);
        fail_msg("seed %" G_GUINT64_FORMAT " ended %d with %s:\n%s", seed, status, knobs, text);
    }
    check_counts(t);
    for (guint32 g = 0; g < t->gpus; g++) {
        assert_memory_equal(t->plain[g]->host, want_line(t, FALSE, g, 0), BYTES);
        assert_memory_equal(t->member[g]->host, want_line(t, TRUE, g, 0), BYTES);
    }
    stat_visit(t->bed.fabric->stats, add_stat, t->log);
    bed_close(&t->bed);
    g_free(t->plain);
    g_free(t->member);
    g_free(t->want);
    for (guint i = 0; sets[i]; i++)
        g_free(sets[i]);
    char *log = g_string_free(t->log, FALSE);
    g_free(t);
    return log;
}

/* Proves conservation and right bytes over 80 seeds of a small system whose buffers run out all the time. */
static void test_small_system(void **state)
{
    (void)state;
    for (guint64 seed = 1; seed <= 80; seed++)
        g_free(run_seed("teach-4gpu", seed, SIM_CALENDAR_WHEEL));
}

/* Proves the same over 20 seeds of a full-size system. */
static void test_full_system(void **state)
{
    (void)state;
    for (guint64 seed = 101; seed <= 120; seed++)
        g_free(run_seed("dgx-h100", seed, SIM_CALENDAR_WHEEL));
}

/* Proves that completions come in the same order at the same picosecond, and all statistics are equal, when a seed is
 * run again, and on the reference calendar; and that another seed differs. */
static void test_same_again(void **state)
{
    (void)state;
    g_autofree char *before = NULL;
    for (guint64 seed = 1; seed <= 12; seed++) {
        g_autofree char *one = run_seed("teach-4gpu", seed, SIM_CALENDAR_WHEEL);
        g_autofree char *again = run_seed("teach-4gpu", seed, SIM_CALENDAR_WHEEL);
        g_autofree char *slow = run_seed("teach-4gpu", seed, SIM_CALENDAR_SYSTEMC);
        assert_string_equal(one, again);
        if (!bed_component()) /* SystemC orders what processes of its own do at one picosecond */
            assert_string_equal(one, slow);
        assert_true(g_strcmp0(one, before) != 0);
        g_free(before);
        before = g_steal_pointer(&one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_system), /* first: a component's modules are made for the first system */
        cmocka_unit_test(test_small_system),
        cmocka_unit_test(test_same_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
