/* api/device: a load is made and awaited whether or not anything uses what it brings. */
#include "tests/api/device_world.h"

typedef enum {
    LOADS_LD, LOADS_LD_AT, LOADS_LD_SYS, LOADS_ATOM, LOADS_EXCH, LOADS_CAS, LOADS_LD_REDUCE, LOADS_LOOP,
    LOADS_TWICE, LOADS_SOME_WARPS, LOADS_SET_BEHIND, LOADS_KINDS
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
    const OpTable *table = kind == LOADS_LD_REDUCE
                               ? g_ptr_array_index(world->fabric->op_object, world->object->id)
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_vectors),
                                       cmocka_unit_test(test_values_that_nothing_uses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
