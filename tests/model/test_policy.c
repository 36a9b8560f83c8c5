/* Policies by name: each decides as it says, and what is none is refused. That both engines agree under all of them is
 * proved on drawn loads by test_engines; a shared object is loaded in tests/cli/test_policy.sh. */
#include "tests/model/link_ends.h"

#include <stdio.h>

#include "coll/coll.h"
#include "model/link/down.h"

/* ---- arbiters */

typedef struct {
    Event event;
    Link *link;
    Packet packet;
} Joining;

static void joining_on_event(Event *event, SimTime now_ps)
{
    Joining *joining = EVENT_OWNER(event, Joining, event);
    (void)now_ps;
    link_push(joining->link, joining->packet, 0);
}

/* While request 0 is on the wire, requests and responses 1 to 6 join, one each 100 ps, in that order of channels;
 * *order is in which they leave. */
static void policy_leave(const char *arbiter, guint order[6])
{
    static const PacketKind kinds[] = {PACKET_WRITE, PACKET_WRITE,    PACKET_READ_RSP,
                                       PACKET_WRITE, PACKET_READ_RSP, PACKET_READ_RSP};
    Ends ends;
    Joining joining[G_N_ELEMENTS(kinds)];
    Policies policies;
    PolicySpec spec = {.arbiter = (char *)arbiter, .request_weight = 1, .response_weight = 2};
    assert_true(policies_resolve(&spec, &policies, NULL));
    ends_open(&ends, 16000, 1024);
    link_set_policies(&ends.link, &policies);
    link_push(&ends.link, packet_of(PACKET_WRITE, 0, 9), 0);
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        joining[i].link = &ends.link;
        joining[i].packet = packet_of(kinds[i], i + 1, 9);
        event_init(&joining[i].event, joining_on_event);
        sim_at(ends.sim, &joining[i].event, 100 * (i + 1), EVENT_PRIORITY_FABRIC);
    }
    assert_int_equal(sim_run(ends.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(ends.n, 7);
    for (guint i = 0; i < 6; i++)
        order[i] = ends.got[i + 1].txn;
    ends_close(&ends);
}

/* Proves that the next packet is the one that each arbiter names: in turn; by age; two responses for each request. */
static void test_arbiters(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        guint order[6];
    } wanted[] = {
        {"round_robin", {3, 1, 5, 2, 6, 4}}, {"oldest_first", {1, 2, 3, 4, 5, 6}}, {"weighted", {3, 5, 1, 6, 2, 4}}};
    for (gsize i = 0; i < G_N_ELEMENTS(wanted); i++) {
        guint order[6];
        policy_leave(wanted[i].name, order);
        for (guint k = 0; k < 6; k++)
            if (order[k] != wanted[i].order[k])
                fail_msg("%s: packet %u leaves in place %u, not %u", wanted[i].name, order[k], k, wanted[i].order[k]);
    }
}

/* ---- replication */

typedef struct {
    Bed bed;
    guint16 gpu[16];
    guint n;
} Seen;

/* A replica goes on the wire to "gpu2.link0.down". */
static void seen_probe(void *user, const ProbeEvent *event)
{
    Seen *seen = user;
    unsigned gpu, link;
    if (event->stage == PROBE_WIRE && event->packet->kind == PACKET_MC_WRITE &&
        g_str_has_suffix(event->path, ".down") && sscanf(event->path, "gpu%u.link%u", &gpu, &link) == 2 &&
        seen->n < G_N_ELEMENTS(seen->gpu))
        seen->gpu[seen->n++] = (guint16)gpu;
}

static void policy_replicate(const char *set, guint16 src, guint stores, const guint16 *wanted)
{
    Seen seen = {0};
    MemRegion *region[4];
    const char *const sets[] = {"multicast.round_directives=1", "multicast.rounds=4", set, NULL};
    bed_open(&seen.bed, "teach-4gpu", sets, &(SimSpec){.seed = 1, .engine = SIM_ENGINE_REFERENCE});
    fabric_observe(seen.bed.fabric, seen_probe, &seen);
    McObject *object = bed_team(&seen.bed, 4, 4096, region);
    for (guint i = 0; i < stores; i++) {
        GpuRequest store = {.kind = PACKET_MC_WRITE, .object = object, .offset = 0, .bytes = 128};
        Answer answer = {0};
        bed_send(&seen.bed, src, &store, &answer);
        sim_run(seen.bed.sim, SIMTIME_NEVER);
    }
    assert_int_equal(seen.n, 4 * stores);
    for (guint i = 0; i < seen.n; i++)
        if (seen.gpu[i] != wanted[i])
            fail_msg("%s: replica %u goes to GPU %u, not %u", set, i, seen.gpu[i], wanted[i]);
    bed_close(&seen.bed);
}

/* Proves that replicas of one request leave in the order that each policy names, one a round. */
static void test_replication(void **state)
{
    (void)state;
    policy_replicate("policy.replication=in_order", 1, 1, (const guint16[]){0, 1, 2, 3});
    policy_replicate("policy.replication=requester", 1, 1, (const guint16[]){2, 3, 0, 1});
    policy_replicate("policy.replication=requester", 3, 1, (const guint16[]){0, 1, 2, 3});
    policy_replicate("policy.replication=rotating", 1, 2, (const guint16[]){1, 2, 3, 0, 2, 3, 0, 1});
}

/* ---- reduction: roots over two levels */

static void policy_roots(const char *set, guint64 reduced[2])
{
    Bed bed;
    GError *error = NULL;
    CollResult result = {0};
    bed_open(&bed, "teach-4gpu",
             (const char *const[]){"system.gpus=8", "topology.kind=two_level", "topology.leaf_gpus=4",
                                   "topology.spines=2", "topology.trunks=1", set, NULL},
             NULL);
    CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
    spec.algo = COLL_NVLS;
    spec.bytes = 8 * 4096;
    spec.check = TRUE;
    CollGroup *group = coll_group_new(bed.fabric, NULL, 8, &error);
    if (!group || !coll_run(group, &spec, &result, &error))
        fail_msg("%s", error->message);
    assert_int_equal(result.check, COLL_VERIFIED);
    assert_true(fabric_is_quiet(bed.fabric));
    reduced[0] = reduced[1] = 0;
    for (guint32 s = 0, spine = 0; s < bed.fabric->n_switches; s++)
        if (bed.fabric->sw[s].spine)
            reduced[spine++ % 2] += bed.fabric->sw[s].reduced;
    coll_group_free(group);
    bed_close(&bed);
}

/* Proves that sums meet in all spines in turn, or in the first one of each leaf alone; they are right either way. */
static void test_reduction(void **state)
{
    (void)state;
    guint64 rotating[2], first[2];
    policy_roots("policy.reduction=rotating", rotating);
    policy_roots("policy.reduction=first", first);
    assert_true(rotating[0] > 0 && rotating[1] > 0);
    assert_true(first[0] > 0 && first[1] == 0);
    assert_true(first[0] == rotating[0] + rotating[1]);
}

/* ---- hash */

/* Proves that chunks go to the links that each function names, and that every link gets its share. */
static void test_hash(void **state)
{
    (void)state;
    static const char *const sets[] = {"policy.hash=modulo", "policy.hash=mixed"};
    for (guint i = 0; i < G_N_ELEMENTS(sets); i++) {
        Bed bed;
        guint count[18] = {0};
        bed_open(&bed, "dgx-h100", (const char *const[]){sets[i], NULL}, NULL);
        for (guint64 chunk = 0; chunk < 18000; chunk++) {
            guint32 link = hash_link(&bed.fabric->hash, chunk * 256 + 255, 0);
            assert_true(i == 1 || link == chunk % 18);
            assert_int_equal(hash_link(&bed.fabric->hash, chunk * 256, 5), (link + 5) % 18);
            count[link]++;
        }
        for (guint l = 0; l < 18; l++)
            assert_in_range(count[l], 850, 1150);
        bed_close(&bed);
    }
}

/* ---- names */

/* Proves that an unknown name is refused with what was meant, also one of another kind. */
static void test_names(void **state)
{
    (void)state;
    static const struct {
        PolicySpec spec;
        const char *text;
    } wrong[] = {
        {{.arbiter = (char *)"oldest_frist"},
         "[policy] arbiter: 'oldest_frist' is unknown; did you mean 'oldest_first'?"},
        {{.hash = (char *)"weighted"}, "[policy] hash: 'weighted' is unknown; known are measured, modulo, mixed"},
        {{.library = (char *)"gone.so"},
         "[policy] library: ./gone.so: cannot open shared object file: No such file or directory"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(wrong); i++) {
        Policies policies;
        g_autoptr(GError) error = NULL;
        assert_false(policies_resolve(&wrong[i].spec, &policies, &error));
        assert_string_equal(error->message, wrong[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_arbiters), cmocka_unit_test(test_replication),
                                       cmocka_unit_test(test_reduction), cmocka_unit_test(test_hash),
                                       cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
