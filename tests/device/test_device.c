/* device: programs do what they say, loops cost what they would cost written out, and undefined
 * behaviour is reported. */
#include "tests/device/device_world.h"

#define LINES 4096u

static guint64 packets_of(const Fabric *fabric)
{
    guint64 packets = 0;
    for (guint32 g = 0; g < fabric->spec.system.gpus; g++)
        for (guint32 l = 0; l < fabric->links; l++)
            packets += link_packets_total(&fabric->gpu[g].up[l]) + link_packets_total(&fabric->gpu[g].down[l]);
    return packets;
}

/* ---- loops */

typedef struct {
    FoLoop loop;
    gboolean bulk;
} LoopArgs;

/* The same grid-stride loop, one statement after the other. */
static void written_out(FoCta *cta, const FoLoop *loop)
{
    FoReg *v[8];
    guint64 n = loop->bytes / loop->width, step = (guint64)fo_ctas(cta) * fo_threads(cta);
    const FoMultimem sum = {.type = FO_F32, .op = FO_ADD, .vec = 4}, st = {.type = FO_F32, .vec = 4};
    for (guint k = 0; k < loop->unroll; k++)
        v[k] = fo_reg(cta, loop->width);
    for (guint64 i = (guint64)fo_cta(cta) * fo_threads(cta); i < n; i += step * loop->unroll) {
        for (guint k = 0; k < loop->unroll && loop->sources; k++) {
            FoAddress at = loop->source[0].base + (i + k * step) * loop->width;
            if (loop->source[0].access == FO_LD)
                fo_ld(cta, v[k], at);
            else
                fo_multimem_ld_reduce(cta, v[k], at, &sum);
        }
        for (guint k = 0; k < loop->unroll; k++) {
            FoAddress at = loop->destination[0].base + (i + k * step) * loop->width;
            if (loop->destinations == 0)
                fo_combine(cta, v[k], v[k], FO_B32, FO_AND);
            else if (loop->destination[0].access == FO_ST)
                fo_st(cta, at, v[k]);
            else
                fo_multimem_st(cta, at, v[k], &st);
        }
    }
}

static void loop_program(FoCta *cta, const void *args)
{
    const LoopArgs *a = args;
    if (a->bulk)
        fo_loop(cta, &a->loop);
    else
        written_out(cta, &a->loop);
}

/* Proves that fo_loop makes the packets of the loop written out (but for acknowledgements, which merge with those that
 * are near in time: 1 % where times differ), and takes its time within 1 % where a turn has one
 * access or its accesses wait for others: reads, writes, copies, and sums in the switch stored to all. Where it has
 * several, it takes less: those written out are sm.warp_issue_ps apart, 21.2 ns, and at most this is saved for each. */
static void test_bulk_is_the_written_out_loop(void **state)
{
    (void)state;
    static const struct {
        guint sources, destinations;
        FoAccess from, to;
        guint ctas, threads, unroll;
    } rows[] = {{1, 0, FO_LD, FO_ST, 2, 256, 8},          {0, 1, FO_LD, FO_ST, 2, 512, 1},
                {1, 1, FO_LD, FO_ST, 4, 256, 4},          {1, 1, FO_LD_REDUCE, FO_MULTIMEM_ST, 2, 512, 2},
                {1, 1, FO_LD, FO_MULTIMEM_ST, 4, 128, 1}, {1, 1, FO_LD_REDUCE, FO_ST, 4, 128, 4}};
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        SimTime took_ps[2];
        guint64 packets[2];
        for (guint bulk = 0; bulk < 2; bulk++) {
            World *world = world_new(WORLD_BYTES);
            LoopArgs args = {.bulk = bulk, .loop = {.bytes = 1u << 20, .width = 16}};
            args.loop.unroll = rows[i].unroll;
            args.loop.sources = rows[i].sources;
            args.loop.destinations = rows[i].destinations;
            args.loop.type = FO_F32;
            args.loop.source[0] = (FoStream){rows[i].from, rows[i].from == FO_LD ? world->va[1] : world->mc_va};
            args.loop.destination[0] = (FoStream){rows[i].to,
                                                  (rows[i].to == FO_ST ? world->va[2] : world->mc_va) + (4u << 20)};
            took_ps[bulk] = world_run(world, loop_program, &args, sizeof args, rows[i].ctas, rows[i].threads);
            packets[bulk] = packets_of(world->fabric);
            assert_int_equal(world->fabric->n_faults, 0);
            world_free(world);
        }
        assert_true(packets[0] > 8192 * 2);
        guint64 more = MAX(packets[0], packets[1]) - MIN(packets[0], packets[1]);
        if (more > (rows[i].unroll > 1 ? packets[0] / 100 : 0))
            fail_msg("row %u: %" G_GUINT64_FORMAT " packets written out, %" G_GUINT64_FORMAT " in bulk", i, packets[0],
                     packets[1]);
        guint accesses = (1u << 20) / 512 * (rows[i].sources + rows[i].destinations); /* of warps */
        guint saved = (accesses - accesses / rows[i].unroll) / (rows[i].ctas * rows[i].threads / WARP_LANES);
        gint64 off_ps = (gint64)took_ps[1] - (gint64)took_ps[0], bound_ps = (gint64)took_ps[0] / 100;
        if (off_ps > bound_ps || off_ps < -bound_ps - saved * 21200)
            fail_msg("row %u: %" G_GUINT64_FORMAT " ps written out, %" G_GUINT64_FORMAT " in bulk", i, took_ps[0],
                     took_ps[1]);
    }
}

/* Proves that a loop with a ragged end moves every byte and none more, and that segments leave gaps. */
static void test_ragged_and_segmented_loops(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    LoopArgs args = {.bulk = TRUE, .loop = {.bytes = 16 * 1000 + 12, .width = 16, .unroll = 4}};
    args.loop.destinations = 1;
    args.loop.destination[0] = (FoStream){FO_ST, world->va[1]};
    for (guint i = 0; i < 4; i++)
        args.loop.fill[i] = 0x01010101u * (i + 1);
    world_run(world, loop_program, &args, sizeof args, 3, 96);
    for (guint i = 0; i < 4003; i++)
        assert_int_equal(word_of(world, 1, i), 0x01010101u * (i % 4 + 1));
    assert_int_equal(word_of(world, 1, 4003), 0);
    args.loop.destination[0].base = world->va[2];
    args.loop.bytes = 96 * 100;
    args.loop.segment = 96;
    args.loop.stride = 256;
    world_run(world, loop_program, &args, sizeof args, 2, 64);
    for (guint i = 0; i < 100 * 64; i++)
        assert_int_equal(word_of(world, 2, i), i % 64 < 24 ? 0x01010101u * (i % 4 + 1) : 0);
    world_free(world);
}

/* ---- operations */

static void atomics_program(FoCta *cta, const void *args)
{
    const FoAddress *at = args;
    FoReg *one = fo_reg(cta, 4), *old = fo_reg(cta, 4), *nine = fo_reg(cta, 4);
    guint32 seen = 0;
    fo_set_u64(cta, one, 1);
    fo_set_u64(cta, nine, 9);
    fo_red(cta, at[0], one, FO_U32, FO_ADD, FO_RELAXED); /* every thread its own word */
    fo_sync(cta);
    FoAddress same[64];
    for (guint t = 0; t < 64; t++)
        same[t] = at[0] + 4096;
    fo_wait(cta);
    fo_only(cta, 0, 1);
    fo_atom(cta, old, at[0], one, FO_U32, FO_ADD, FO_RELAXED);
    fo_get(cta, old, 0, &seen);
    assert_int_equal(seen, 1);
    fo_atom_cas(cta, old, at[0], one, nine, FO_RELAXED); /* holds 2: nothing happens */
    fo_get(cta, old, 0, &seen);
    assert_int_equal(seen, 2);
    fo_atom_exch(cta, old, at[0], nine, FO_RELAXED);
    fo_get(cta, old, 0, &seen);
    assert_int_equal(seen, 2);
    fo_atom_cas(cta, old, at[0], nine, one, FO_RELAXED); /* holds 9: becomes 1 */
    fo_get(cta, old, 0, &seen);
    assert_int_equal(seen, 9);
    fo_all(cta);
    fo_st_at(cta, same, one); /* all threads write one word */
}

/* Proves red, atom, exchange and compare-and-swap on another GPU's memory, and stores by address. */
static void test_atomics(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    FoAddress at = world->va[3];
    world_run(world, atomics_program, &at, sizeof at, 1, 64);
    for (guint i = 0; i < 64; i++)
        assert_int_equal(word_of(world, 3, i), 1);
    assert_int_equal(word_of(world, 3, 64), 0);
    assert_int_equal(word_of(world, 3, 1024), 1);
    world_free(world);
}

typedef struct {
    FoAddress data, flag, copy;
} MessageArgs;

static void receiver_program(FoCta *cta, const void *args)
{
    const MessageArgs *a = args;
    FoReg *v = fo_reg(cta, 16);
    fo_poll(cta, a->flag, 8, FO_GE, 1, FO_ACQUIRE);
    fo_sync(cta);
    fo_ld(cta, v, a->data);
    fo_st(cta, a->copy, v);
}

static void sender_program(FoCta *cta, const void *args)
{
    const MessageArgs *a = args;
    FoReg *v = fo_reg(cta, 16), *flag = fo_reg(cta, 8);
    const guint32 words[4] = {7, 8, 9, 10};
    fo_sleep_ps(cta, 5000000);
    fo_set(cta, v, words);
    fo_st(cta, a->data, v);
    fo_fence(cta);
    fo_sync(cta);
    fo_only(cta, 0, 1);
    fo_set_u64(cta, flag, 1);
    fo_st_sys(cta, a->flag, flag, FO_RELAXED);
}

/* Proves that data, fence, flag arrive in this order at a kernel that polls: it reads what was sent, and no
 * sooner than it was sent. */
static void test_message_passing(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    const MessageArgs args = {world->va[1], world->va[1] + (1u << 20), world->va[1] + (2u << 20)};
    const FoKernel receive = {"receive", receiver_program, &args, sizeof args, 1, 128};
    SimTime took_ps = 0;
    assert_non_null(device_launch(world->fabric, 1, world->vas, &receive, note_end, &took_ps, NULL));
    world_run(world, sender_program, &args, sizeof args, 1, 128);
    assert_true(took_ps > 5000000 && took_ps < 10000000);
    for (guint i = 0; i < 128 * 4; i++)
        assert_int_equal(word_of(world, 1, (2u << 20) / 4 + i), 7 + i % 4);
    world_free(world);
}

enum { ACQUIRE_POLL, ACQUIRE_POLL_AT, ACQUIRE_POLL_SEEN, ACQUIRE_POLL_MEMBERS, ACQUIRES };

typedef struct {
    FoAddress at;
    FoOrder order;
    guint which;
} AcquireArgs;

/* One poll, which finds what it wants. */
static void acquire_program(FoCta *cta, const void *args)
{
    const AcquireArgs *a = args;
    FoReg *seen = fo_reg(cta, 4);
    const FoAddress at[2] = {a->at, a->at};
    fo_only(cta, 0, 1);
    switch (a->which) {
    case ACQUIRE_POLL: fo_poll(cta, a->at, 4, FO_EQ, 5, a->order); break;
    case ACQUIRE_POLL_AT: fo_poll_at(cta, at, 1, 4, FO_NE, 3, a->order); break;
    case ACQUIRE_POLL_SEEN: fo_poll_seen(cta, seen, a->at, FO_GE, 4, a->order); break;
    default: fo_poll_members(cta, at, 1, 4, 4, a->order);
    }
    fo_wait(cta);
}

/* Proves that each kind of poll that acquires takes sm.acquire_ps longer than a relaxed one, once. */
static void test_acquires(void **state)
{
    (void)state;
    for (guint which = 0; which < ACQUIRES; which++) {
        SimTime took_ps[2];
        for (guint acquires = 0; acquires < 2; acquires++) {
            World *world = world_new(WORLD_BYTES);
            const AcquireArgs args = {world->va[0], acquires ? FO_ACQUIRE : FO_RELAXED, which};
            world->fabric->spec.sm.acquire_ps = 700000;
            memset(world->region[0]->host, 5, 1);
            took_ps[acquires] = world_run(world, acquire_program, &args, sizeof args, 1, 32);
            world_free(world);
        }
        if (took_ps[1] - took_ps[0] != 700000)
            fail_msg("poll %u takes %" G_GINT64_FORMAT " ps more, not 700,000", which,
                     (gint64)(took_ps[1] - took_ps[0]));
    }
}

typedef struct {
    FoAddress counter, to;
    SimTime *at; /* when the second and the third poll were over */
} SeenArgs;

/* Warps 0 and 1 poll and copy by themselves; warp 2 counts. */
static void seen_program(FoCta *cta, const void *args)
{
    const SeenArgs *a = args;
    FoReg *seen = fo_reg(cta, 8), *count = fo_reg(cta, 8);
    const FoLoop loop = {.bytes = 1024,
                         .width = 16,
                         .unroll = 1,
                         .step = 64,
                         .destinations = 1,
                         .destination[0] = {FO_ST, a->to},
                         .fill = {1, 2, 3, 4}};
    fo_only(cta, 64, 1);
    fo_set_u64(cta, count, 7);
    fo_st_sys_at(cta, &a->counter, count, FO_RELAXED);
    fo_only(cta, 0, 1);
    fo_poll_seen(cta, seen, a->counter, FO_GE, 3, FO_RELAXED);
    fo_wait(cta);
    a->at[0] = fo_time_ps(cta);
    fo_poll_seen(cta, seen, a->counter, FO_GE, 7, FO_RELAXED); /* known */
    fo_wait(cta);
    a->at[1] = fo_time_ps(cta);
    fo_only(cta, 0, 64);
    fo_sync_active(cta, 1);
    fo_loop(cta, &loop);
    fo_all(cta);
}

/* Proves that a poll that remembers takes no time when what it saw is enough, and that a barrier and a loop of some
 * warps are theirs alone. */
static void test_some_warps(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    SimTime at[2] = {0};
    const SeenArgs args = {world->va[0], world->va[0] + (1u << 20), at};
    world_run(world, seen_program, &args, sizeof args, 1, 96);
    assert_true(at[0] > 0 && at[1] == at[0]);
    for (guint i = 0; i < 256; i++)
        assert_int_equal(word_of(world, 0, (1u << 20) / 4 + i), 1 + i % 4);
    assert_int_equal(word_of(world, 0, (1u << 20) / 4 + 256), 0);
    world_free(world);
}

static void sum_program(FoCta *cta, const void *args)
{
    const FoAddress *mc = args;
    const FoMultimem sum = {.type = FO_U32, .op = FO_ADD}, red = {.type = FO_U32, .op = FO_ADD};
    FoReg *one = fo_reg(cta, 4), *total = fo_reg(cta, 4);
    guint32 value = 0;
    fo_set_u64(cta, one, 5);
    fo_multimem_red(cta, *mc, one, &red); /* +5 in each of the four copies */
    fo_fence(cta);
    fo_multimem_ld_reduce(cta, total, *mc, &sum);
    fo_get(cta, total, 31, &value);
    assert_int_equal(value, 20);
}

/* Proves that multimem.red adds at every member and multimem.ld_reduce sums what the members hold. */
static void test_multimem(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    world_run(world, sum_program, &world->mc_va, sizeof world->mc_va, 1, 32);
    for (guint g = 0; g < 4; g++)
        assert_int_equal(word_of(world, g, 31), 5);
    assert_int_equal(world->fabric->n_faults, 0);
    world_free(world);
}

/* ---- reports */

typedef struct {
    FoAddress at;
    int what;
} FaultArgs;

static void fault_program(FoCta *cta, const void *args)
{
    const FaultArgs *a = args;
    const FoMultimem st = {.type = FO_F32}, bad = {.type = FO_S64, .op = FO_ADD};
    FoReg *v = fo_reg(cta, 4), *w = fo_reg(cta, 8);
    fo_set_u64(cta, v, 1);
    fo_set_u64(cta, w, 1);
    switch (a->what) {
    case 0: fo_st(cta, a->at, v); break;
    case 1: fo_multimem_st(cta, a->at, v, &st); break;
    case 2: fo_multimem_red(cta, a->at, w, &bad); break;
    default: fo_ld(cta, v, a->at); break;
    }
}

/* Proves that each undefined access is reported with kind, GPU, program, CTA, address and time, and has
 * no effect. */
static void test_undefined_behaviour_is_reported(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES / 2);
    const struct {
        FaultArgs args;
        FaultKind kind;
    } rows[] = {{{world->mc_va, 0}, FAULT_PLAIN_ON_MULTICAST},
                {{world->va[1], 1}, FAULT_MULTIMEM_ON_UNICAST},
                {{world->mc_va + WORLD_BYTES / 2, 1}, FAULT_UNBOUND},
                {{world->mc_va, 2}, FAULT_ILLEGAL_FORM},
                {{world->mc_va + 2, 1}, FAULT_ILLEGAL_FORM},
                {{world->va[0] + 2, 3}, FAULT_MISALIGNED},
                {{0x1000, 3}, FAULT_UNMAPPED}};
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        guint64 before = world->fabric->n_faults;
        world_run(world, fault_program, &rows[i].args, sizeof rows[i].args, 1, 32);
        assert_true(world->fabric->n_faults > before);
        const FabricFault *fault = &g_array_index(world->fabric->faults, FabricFault, before);
        if (fault->kind != rows[i].kind)
            fail_msg("row %u: %s", i, fault_kind_text(fault->kind));
        assert_int_equal(fault->gpu, 0);
        assert_int_equal(fault->cta, 0);
        assert_true(fault->time_ps > 0);
        if (fault->kind == FAULT_ILLEGAL_FORM)
            assert_non_null(strstr(fault->text, "PTX ISA"));
        if (fault->kind != FAULT_UNBOUND) {
            assert_string_equal(fault->who, "test");
            assert_true(fault->va == rows[i].args.at);
        }
    }
    assert_int_equal(word_of(world, 1, 0), 0);
    world_free(world);
}

/* ---- launches */

static void alive_program(FoCta *cta, const void *args)
{
    const FoAddress *flag = args;
    FoReg *one = fo_reg(cta, 4);
    fo_set_u64(cta, one, 1);
    fo_only(cta, 0, 1);
    fo_red(cta, *flag, one, FO_U32, FO_ADD, FO_RELAXED);
    fo_poll(cta, *flag, 4, FO_GE, fo_ctas(cta), FO_RELAXED); /* all CTAs must be there at once */
    fo_wait(cta);
}

/* Proves that 2,000 CTAs live at once, and that a grid larger than the GPU runs in waves. */
static void test_many_ctas(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    world_run(world, alive_program, &world->va[0], sizeof world->va[0], 2000, 32);
    assert_int_equal(word_of(world, 0, 0), 2000);
    LoopArgs args = {.bulk = TRUE, .loop = {.bytes = 1u << 20, .width = 16, .unroll = 1, .destinations = 1}};
    args.loop.destination[0] = (FoStream){FO_ST, world->va[1]};
    args.loop.fill[0] = 3;
    world_run(world, loop_program, &args, sizeof args, 20000, 32);
    assert_int_equal(word_of(world, 1, 4), 3);
    world_free(world);
}

static void empty_program(FoCta *cta, const void *args)
{
    (void)cta;
    (void)args;
}

/* Proves that impossible grids are refused with what would be right. */
static void test_impossible_grids(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    const guint grids[][2] = {{0, 32}, {65536, 32}, {1, 0}, {1, 1025}};
    for (guint i = 0; i < G_N_ELEMENTS(grids); i++) {
        const FoKernel kernel = {"k", alive_program, NULL, 0, grids[i][0], grids[i][1]};
        GError *error = NULL;
        assert_null(device_launch(world->fabric, 0, world->vas, &kernel, NULL, NULL, &error));
        assert_non_null(strstr(error->message, "1 to 65535"));
        g_error_free(error);
    }
    const guint largest[][2] = {{65535, 1}, {1, 1024}}; /* what "1 to 65535" and "1 to 1024" say is possible */
    for (guint i = 0; i < G_N_ELEMENTS(largest); i++)
        world_run(world, empty_program, NULL, 0, largest[i][0], largest[i][1]);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bulk_is_the_written_out_loop),
        cmocka_unit_test(test_ragged_and_segmented_loops),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_message_passing),
        cmocka_unit_test(test_acquires),
        cmocka_unit_test(test_some_warps),
        cmocka_unit_test(test_multimem),
        cmocka_unit_test(test_undefined_behaviour_is_reported),
        cmocka_unit_test(test_many_ctas),
        cmocka_unit_test(test_impossible_grids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
