/* device: a load is made and awaited whether or not anything uses what it brings. */
#include "model/sm/place.h"
#include "tests/device/device_world.h"

typedef enum {
    LOADS_LD,
    LOADS_LD_AT,
    LOADS_LD_SYS,
    LOADS_ATOM,
    LOADS_EXCH,
    LOADS_CAS,
    LOADS_LD_REDUCE,
    LOADS_LOOP,
    LOADS_TWICE,
    LOADS_SOME_WARPS,
    LOADS_SET_BEHIND,
    LOADS_KINDS
} LoadsKind;

typedef struct {
    LoadsKind kind;
    FoAddress at, mc;
} LoadsArgs;

static void loads_program(FoCta *cta, const void *args)
{
    const LoadsArgs *a = args;
    const FoMultimem sum = {.type = FO_U32, .op = FO_ADD};
    FoReg *one = fo_reg(cta, 4), *value = fo_reg(cta, 4);
    FoAddress scattered[64];
    FoLoop loop = {.bytes = 4096, .width = 16, .unroll = 2, .sources = 1, .source[0] = {FO_LD, a->at}};
    for (guint t = 0; t < G_N_ELEMENTS(scattered); t++)
        scattered[t] = a->at + 256 * t;
    fo_set_u64(cta, one, 1);
    switch (a->kind) {
    case LOADS_LD: fo_ld(cta, value, a->at); break;
    case LOADS_LD_AT: fo_ld_at(cta, value, scattered); break;
    case LOADS_LD_SYS: fo_ld_sys(cta, value, a->at, FO_ACQUIRE); break;
    case LOADS_ATOM: fo_atom(cta, value, a->at, one, FO_U32, FO_ADD, FO_RELAXED); break;
    case LOADS_EXCH: fo_atom_exch(cta, value, a->at, one, FO_RELAXED); break;
    case LOADS_CAS:
        fo_only(cta, 0, 1);
        fo_set_u64(cta, value, 0);
        fo_atom_cas(cta, value, a->at, value, one, FO_RELAXED);
        break;
    case LOADS_LD_REDUCE: fo_multimem_ld_reduce(cta, value, a->mc, &sum); break;
    case LOADS_LOOP: fo_loop(cta, &loop); break;
    case LOADS_TWICE:
        fo_ld(cta, value, a->at);
        fo_ld(cta, value, a->at + 4096);
        break;
    case LOADS_SOME_WARPS:
        fo_only(cta, 32, 32);
        fo_ld(cta, value, a->at);
        break;
    default:
        fo_ld(cta, value, a->at);
        fo_only(cta, 0, 32);
        fo_st(cta, a->at + 65536, one);
        break;
    }
}

static void loads_end(const DeviceLaunch *launch, void *user)
{
    *(SimTime *)user = launch->drained_ps - launch->start_ps;
}

static guint64 loads_requests(const World *world, LoadsKind kind)
{
    const OpTable *table = kind == LOADS_LD_REDUCE ? g_ptr_array_index(world->fabric->op_object, world->object->id)
                                                   : &world->fabric->op_remote;
    guint64 count = 0;
    for (guint k = 0; k <= PACKET_MC_READ; k++)
        if (table->kind[k])
            count += table->kind[k]->count;
    return count;
}

/* Proves for every kind of load and atomic that a CTA whose program never looks at its value ends well, not before
 * the answer is back, that the requests were made, and that an atomic changed memory. */
static void test_values_that_nothing_uses(void **state)
{
    (void)state;
    static const guint expected[LOADS_KINDS] = {2, 64, 2, 2, 2, 1, 2, 32, 4, 1, 3};
    for (guint kind = 0; kind < LOADS_KINDS; kind++) {
        World *world = world_new(WORLD_BYTES);
        const LoadsArgs args = {(LoadsKind)kind, world->va[1], world->mc_va};
        const FoKernel kernel = {"loads", loads_program, &args, sizeof args, 1, 64};
        SimTime took_ps = 0;
        assert_non_null(device_launch(world->fabric, 0, world->vas, &kernel, loads_end, &took_ps, NULL));
        assert_int_equal(sim_run(world->sim, SIMTIME_NEVER), SIM_IDLE);
        if (took_ps < 4 * world->spec.link.flight_ps)
            fail_msg("kind %u: ended after %" G_GUINT64_FORMAT " ps, before its answer can be back", kind, took_ps);
        if (loads_requests(world, (LoadsKind)kind) != expected[kind])
            fail_msg("kind %u: %" G_GUINT64_FORMAT " requests, not %u", kind, loads_requests(world, (LoadsKind)kind),
                     expected[kind]);
        assert_int_equal(word_of(world, 1, 0), kind >= LOADS_ATOM && kind <= LOADS_CAS);
        assert_int_equal(world->fabric->n_faults, 0);
        world_free(world);
    }
}

static void vectors_program(FoCta *cta, const void *args)
{
    const FoAddress *at = args;
    const float floats[4] = {1, 2, 3, 4};
    const guint16 halves[4] = {0x4000, 0x3c00, 0x4200, 0xc000}; /* 2, 1, 3, -2 */
    FoReg *f = fo_reg(cta, 16), *old = fo_reg(cta, 16), *h = fo_reg(cta, 8);
    fo_only(cta, 0, 2);
    fo_set(cta, f, floats);
    fo_set(cta, h, halves);
    fo_red(cta, *at, f, FO_F32, FO_ADD, FO_RELAXED);
    fo_fence(cta);
    fo_atom(cta, old, *at, f, FO_F32, FO_ADD, FO_RELAXED);
    fo_st(cta, *at + 256, old);
    fo_red(cta, *at + 512, h, FO_F16X2, FO_ADD, FO_RELAXED);
    fo_fence(cta);
    fo_red(cta, *at + 512, h, FO_F16, FO_MAX, FO_RELEASE);
    fo_red(cta, *at + 512, h, FO_F16X2, FO_ADD, FO_RELEASE);
}

/* Proves that vectors of atomics, which PTX has of f32, f16 and bf16, act on each element, and give back what stood
 * there. */
static void test_vectors(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    FoAddress at = world->va[1];
    world_run(world, vectors_program, &at, sizeof at, 1, 32);
    assert_int_equal(world->fabric->n_faults, 0);
    const float *now = (const float *)(const void *)world->region[1]->host, *old = now + 64;
    const guint16 *halves = (const guint16 *)(const void *)(now + 128);
    static const guint16 sums[4] = {0x4400, 0x4000, 0x4600, 0xc400}; /* 4, 2, 6, -4 */
    for (guint i = 0; i < 8; i++) {
        assert_true(now[i] == (float)(2 * (i % 4 + 1)) && old[i] == (float)(i % 4 + 1));
        assert_int_equal(halves[i], sums[i % 4]);
    }
    assert_true(now[8] == 0 && halves[8] == 0);
    world_free(world);
}

typedef struct {
    FoAddress from, to, lines;
} LinesArgs;

static void lines_program(FoCta *cta, const void *args)
{
    const LinesArgs *a = args;
    FoLl ll = {.kind = FO_LL128, .bytes = 232, .n_to = 1, .to = {a->lines}, .input = a->from, .to_flag = 7};
    fo_ll(cta, &ll);
    ll = (FoLl){.kind = FO_LL128, .bytes = 232, .n_from = 1, .from = {a->lines}, .output = a->to, .from_flag = 7};
    fo_ll(cta, &ll);
}

/* Proves that lines of LL128 move as many bytes as they are told to, which end inside a thread's 16 B, and that lines
 * that would not lie in one line of memory are reported. */
static void test_lines(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    LinesArgs args = {world->va[1], world->va[2], world->va[0] + 1024};
    memset(world->region[1]->host, 0x5a, 512);
    world_run(world, lines_program, &args, sizeof args, 1, 32);
    assert_int_equal(world->fabric->n_faults, 0);
    for (guint i = 0; i < 512; i++)
        assert_int_equal(world->region[2]->host[i], i < 232 ? 0x5a : 0);
    args.lines += 16;
    world_run(world, lines_program, &args, sizeof args, 1, 32);
    assert_int_equal(world->fabric->n_faults, 2);
    world_free(world);
}

typedef struct {
    FoAddress from, to, lines;
    guint32 element;
} ElementArgs;

static void elements_program(FoCta *cta, const void *args)
{
    const ElementArgs *a = args;
    FoLl ll = {.kind = FO_LL, .bytes = 16376, .n_to = 1, .to = {a->lines}, .input = a->from, .to_flag = 7};
    fo_ll(cta, &ll);
    ll = (FoLl){.kind = FO_LL,
                .bytes = 16376,
                .n_from = 1,
                .from = {a->lines},
                .output = a->to,
                .from_flag = 7,
                .element = a->element};
    fo_ll(cta, &ll);
}

/* Proves that lines of LL bring the same bytes whatever the size of the elements that they are stored by, that smaller
 * elements take longer, and that single bytes take what two of them do. */
static void test_elements(void **state)
{
    (void)state;
    static const guint32 elements[] = {8, 4, 0, 2, 1};
    SimTime took_ps[G_N_ELEMENTS(elements)];
    for (guint32 e = 0; e < G_N_ELEMENTS(elements); e++) {
        World *world = world_new(WORLD_BYTES);
        guint8 *from = world->region[1]->host, *to = world->region[0]->host;
        ElementArgs args = {world->va[1], world->va[0], world->va[0] + 65536, elements[e]};
        for (guint32 i = 0; i < 16384; i++)
            from[i] = (guint8)(i * 7 + i / 256);
        took_ps[e] = world_run(world, elements_program, &args, sizeof args, 1, 512);
        assert_int_equal(world->fabric->n_faults, 0);
        assert_memory_equal(from, to, 16376);
        assert_int_equal(to[16376] | to[16377] | to[16383], 0);
        world_free(world);
    }
    assert_true(took_ps[0] < took_ps[1] && took_ps[1] < took_ps[3]);
    assert_int_equal(took_ps[1], took_ps[2]);
    assert_int_equal(took_ps[3], took_ps[4]);
}

static void lamport_program(FoCta *cta, const void *args)
{
    const LinesArgs *a = args;
    FoExchange exchange = {.bytes = 60,
                           .ranks = 2,
                           .n_to = 2,
                           .n_in = 2,
                           .lamport = TRUE,
                           .from = a->lines,
                           .from_stride = 128,
                           .output = a->to,
                           .type = FO_F32,
                           .op = FO_ADD};
    FoAddress to[2] = {a->lines, a->lines + 128}, input[2] = {a->from, a->from + 64};
    exchange.to = to;
    exchange.input = input;
    fo_exchange(cta, &exchange);
}

/* Proves that an exchange whose data is its own flag takes words that would say "nothing here yet" for 0 instead of
 * waiting for them for ever, stores the sum, and leaves the memory empty for the next one. */
static void test_lamport(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    LinesArgs args = {world->va[1], world->va[2], world->va[0] + 1024};
    float *from = (float *)(void *)world->region[1]->host;
    const float *to = (const float *)(const void *)world->region[2]->host;
    guint32 *lines = (guint32 *)(void *)(world->region[0]->host + 1024);
    for (guint i = 0; i < 64; i++)
        lines[i] = FO_LAMPORT_EMPTY;
    for (guint i = 0; i < 16; i++) {
        from[i] = i % 3 ? (float)i : -0.0f;
        from[16 + i] = i % 2 ? 100 : -0.0f;
    }
    world_run(world, lamport_program, &args, sizeof args, 1, 32);
    assert_int_equal(world->fabric->n_faults, 0);
    for (guint i = 0; i < 15; i++)
        assert_true(to[i] == (float)(i % 3 ? i : 0) + (float)(i % 2 ? 100 : 0));
    for (guint i = 0; i < 64; i++)
        assert_int_equal(lines[i], FO_LAMPORT_EMPTY);
    world_free(world);
}

typedef struct {
    guint32 *gpc;
} PlaceArgs;

static void place_program(FoCta *cta, const void *args)
{
    const PlaceArgs *a = args;
    a->gpc[fo_cta(cta)] = place_of(&cta->launch->fabric->spec, cta->cta->sm->id).gpc;
}

/* Runs so many CTAs in clusters of so many: how many GPCs had some, and the most that one had. */
static guint32 place_run(guint32 ctas, guint32 cluster, guint32 *gpc, guint32 *most)
{
    World *world = world_new(WORLD_BYTES);
    PlaceArgs args = {gpc};
    const FoKernel kernel = {"place", place_program, &args, sizeof args, ctas, 1024};
    guint32 of[8] = {0}, gpcs = 0;
    device_launch_cluster(device_launch(world->fabric, 0, world->vas, &kernel, NULL, NULL, NULL), cluster);
    assert_int_equal(sim_run(world->sim, SIMTIME_NEVER), SIM_IDLE);
    *most = 0;
    for (guint32 c = 0; c < ctas; c++) {
        gpcs += of[gpc[c]]++ == 0;
        *most = MAX(*most, of[gpc[c]]);
    }
    world_free(world);
    return gpcs;
}

/* Proves that the CTAs of a cluster run in one GPC and clusters in different ones, that all of more CTAs than the GPU
 * holds at once run, and that a grid that does not come out even has no clusters. */
static void test_clusters(void **state)
{
    (void)state;
    guint32 gpc[400], most;
    assert_int_equal(place_run(24, 0, gpc, &most), 8);
    assert_int_equal(most, 10); /* a grid's first eight CTAs, then one in each GPC, twice */
    for (guint32 c = 0; c < 24; c++)
        assert_int_equal(gpc[c], c < 8 ? 0 : c % 8);
    assert_int_equal(place_run(24, 4, gpc, &most), 6);
    assert_int_equal(most, 4);
    for (guint32 c = 0; c < 24; c++)
        assert_int_equal(gpc[c], gpc[c / 4 * 4]);
    assert_int_equal(place_run(22, 4, gpc, &most), 8);
    assert_int_equal(place_run(400, 4, gpc, &most), 8);
    for (guint32 c = 0; c < 400; c++)
        assert_int_equal(gpc[c], gpc[c / 4 * 4]);
}

typedef struct {
    FoAddress flag, to;
} AheadArgs;

/* Warp 0 waits for a flag before it stores 128 times; warp 1, which comes later in the program, sets it. */
static void ahead_program(FoCta *cta, const void *args)
{
    const AheadArgs *a = args;
    FoReg *one = fo_reg(cta, 4);
    fo_set_u64(cta, one, 1);
    fo_only(cta, 0, 32);
    fo_poll(cta, a->flag, 4, FO_GE, 1, FO_ACQUIRE);
    for (guint i = 0; i < 128; i++)
        fo_st(cta, a->to + 128 * i, one);
    fo_only(cta, 32, 1);
    fo_st_sys(cta, a->flag - 128, one, FO_RELEASE);
}

/* Proves that what warps do is not held up by the queue of one that waits: a warp whose operations come behind more
 * than a hundred of another's sets the flag that this one waits for. */
static void test_warps_that_wait_hold_up_no_others(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    const AheadArgs args = {world->va[0] + 4096, world->va[0] + 65536};
    SimTime took_ps = world_run(world, ahead_program, &args, sizeof args, 1, 64);
    const guint32 *stored = (const guint32 *)(const void *)(world->region[0]->host + 65536);
    assert_true(took_ps > 0);
    assert_int_equal(world->fabric->n_faults, 0);
    for (guint i = 0; i < 128; i++)
        assert_int_equal(stored[32 * i], 1);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines),
                                       cmocka_unit_test(test_vectors),
                                       cmocka_unit_test(test_values_that_nothing_uses),
                                       cmocka_unit_test(test_elements),
                                       cmocka_unit_test(test_lamport),
                                       cmocka_unit_test(test_clusters),
                                       cmocka_unit_test(test_warps_that_wait_hold_up_no_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
