/* sm: what SMs get of the ports when all that store do so as fast as they can, as h100b/dev_h100_gpc.csv and
 * dev_h100_push.csv measured it on an H100: halves of the GPU share the links evenly, CPCs a half, SMs a CPC.
 * Every expected value is what the links carry, divided by hand. */
#include "tests/test.h"

#include <math.h>
#include <string.h>

#include "device/device.h"
#include "device/launch_time.h"
#include "model/presets/preset.h"
#include "model/sm/place.h"

#define ARRAY_BYTES (2u << 20) /* of an SM: at 50 GB/s more than END_PS */
#define BEGIN_PS 15000000
#define END_PS 40000000
#define GPCS 8u

typedef struct {
    FoAddress to;
    const guint8 *sms; /* by GPC: so many of its SMs store, */
    gboolean load;     /* or load */
} Args;

static gboolean is_chosen(const FabricSpec *spec, const guint8 *sms, guint32 sm)
{
    SmPlace place = place_of(spec, sm);
    guint32 tpc = place.tpc - (place.gpc == 0 ? (guint32)spec->sm.first_tpcs : 0);
    return !place.first && tpc < (sms[place.gpc] + 1u) / 2 && (sms[place.gpc] > 1 || sm < 70);
}

static void program(FoCta *cta, const void *args)
{
    const Args *a = args;
    guint32 sm = cta->cta->sm->id;
    FoLoop loop = {.bytes = ARRAY_BYTES, .width = 16, .unroll = 4, .step = fo_threads(cta)};
    const FoAddress array = a->to + (FoAddress)sm * ARRAY_BYTES;
    loop.sources = a->load;
    loop.destinations = !a->load;
    if (a->load)
        loop.source[0] = (FoStream){FO_LD, array};
    else
        loop.destination[0] = (FoStream){FO_ST, array};
    if (is_chosen(&cta->launch->fabric->spec, a->sms, sm))
        fo_loop(cta, &loop);
}

/* So many SMs of each GPC store to GPU 1, or load from it: what each gets, and the mean of a GPC's, GB/s. */
static void run(const guint8 *sms, gboolean load, double *mean, double *rate)
{
    FabricSpec spec = {0};
    const SimSpec how = {.seed = 1};
    ParamSet *set = param_set_new();
    device_params(set, &spec);
    assert_true(preset_load(set, "dgx-h100", NULL));
    Sim *sim = sim_new(&how, NULL);
    Fabric *fabric = fabric_new(sim, &spec, FALSE, NULL);
    Vas *vas = vas_new(fabric->memory, (guint32)spec.system.gpus);
    guint64 bytes = spec.sm.count * ARRAY_BYTES;
    MemRegion *region = memory_region_new(fabric->memory, 1, bytes, NULL);
    FoAddress to = vas_choose(vas, bytes, 1u << 21);
    vas_set_access(vas_map(vas, to, bytes, region, NULL, 0), 0, VAS_ACCESS_READWRITE);
    Args args = {.to = to, .sms = sms, .load = load};
    guint32 of[GPCS] = {0};
    const FoKernel kernel = {"stores", program, &args, sizeof args, (guint)spec.sm.count, 1024};
    assert_non_null(device_launch(fabric, 0, vas, &kernel, NULL, NULL, NULL));
    sim_run(sim, BEGIN_PS);
    for (guint32 s = 0; s < spec.sm.count; s++)
        rate[s] = -(double)fabric->gpu[0].sm[s].packets;
    sim_run(sim, END_PS);
    for (guint32 s = 0; s < spec.sm.count; s++)
        rate[s] = (rate[s] + (double)fabric->gpu[0].sm[s].packets) * LINE_BYTES * 1000 / (END_PS - BEGIN_PS);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    memset(mean, 0, GPCS * sizeof *mean);
    for (guint32 s = 0; s < spec.sm.count; s++) {
        guint32 gpc = place_of(&spec, s).gpc;
        mean[gpc] += rate[s];
        of[gpc] += rate[s] > 0;
    }
    for (guint32 g = 0; g < GPCS; g++) {
        assert_int_equal(of[g], sms[g]);
        mean[g] /= MAX(of[g], 1);
    }
    vas_free(vas);
    fabric_free(fabric);
    sim_free(sim);
    param_set_free(set);
}

static double links_GBps(const double *mean, const guint8 *sms)
{
    double sum = 0;
    for (guint32 g = 0; g < GPCS; g++)
        sum += mean[g] * sms[g];
    return sum;
}

#define assert_within(got, right, part)                                                                                \
    do {                                                                                                               \
        if (fabs((got) / (right)-1) > (part))                                                                          \
            fail_msg("%.2f GB/s, should be %.2f", (got), (right));                                                     \
    } while (0)
#define assert_about(got, right) assert_within(got, right, 0.03)

/* Proves that of three GPCs the one alone in its half gets half of what the links carry, and that three of one
 * half get a third each: measured 23.5, 11.6, 11.8 and 15.4, 15.5, 15.7 GB/s an SM of eight. */
static void test_halves(void **state)
{
    static const guint8 apart[GPCS] = {8, 8, 8}, together[GPCS] = {0, 8, 8, 8};
    double mean[GPCS], rate[1024];
    (void)state;
    run(apart, FALSE, mean, rate);
    assert_about(links_GBps(mean, apart), 375.0);
    assert_about(mean[0], 375.0 / 2 / 8);
    assert_about(mean[1], 375.0 / 2 / 16);
    assert_about(mean[2], 375.0 / 2 / 16);
    run(together, FALSE, mean, rate);
    assert_about(links_GBps(mean, together), 375.0);
    for (guint32 g = 1; g < 4; g++)
        assert_about(mean[g], 375.0 / 24);
}

/* Proves that CPCs share a half evenly, whatever number of SMs they have. Two SMs of GPC 0, one CPC, beside three
 * GPCs of three CPCs are a tenth of their half: 9.4 GB/s each where the others get 7.0, and the other half's 32
 * SMs 5.9; measured 9.6, 7.1 and 5.8. By SM it would be 7.2 for all of the first half. A queue in order that is
 * alone in its CPC waits for ports that others fill, so that CPCs are up to a tenth off. */
static void test_cpcs(void **state)
{
    static const guint8 sms[GPCS] = {2, 8, 8, 8, 8, 8, 8, 8};
    double mean[GPCS], rate[1024];
    (void)state;
    run(sms, FALSE, mean, rate);
    assert_about(2 * mean[0] + 8 * (mean[4] + mean[5] + mean[6]), 375.0 / 2);
    assert_about(8 * (mean[1] + mean[2] + mean[3] + mean[7]), 375.0 / 2);
    assert_within(mean[0], 375.0 / 2 / 10 / 2, 0.1);
    for (guint32 g = 1; g < GPCS; g++)
        assert_within(mean[g], g >= 4 && g < 7 ? 375.0 / 2 / 10 * 3 / 8 : 375.0 / 2 / 32, 0.1);
}

/* Proves the same of the SMs of one GPC: of its four TPCs two are in one CPC, whose four SMs get half of what the
 * others' two get; with 64 SMs, 3.9 and 7.8 GB/s. */
static void test_sms(void **state)
{
    static const guint8 sms[GPCS] = {8, 8, 8, 8, 8, 8, 8, 8};
    const FabricSpec spec = {.sm = {.count = 132, .tpc_sms = 2, .gpcs = 8, .first_tpcs = 4}};
    double mean[GPCS], rate[1024];
    (void)state;
    run(sms, FALSE, mean, rate);
    assert_about(links_GBps(mean, sms), 375.0);
    for (guint32 s = 0; s < 132; s++)
        if (rate[s] > 0 && place_of(&spec, s).gpc == 1)
            assert_within(rate[s], place_of(&spec, s).queue % GPC_CPCS == 0 ? 375.0 / 24 / 4 : 375.0 / 24 / 2, 0.1);
}

/* Proves that loads share by SM what stores share by CPC: two SMs of GPC 0, a CPC of its own, get as much as those of
 * the other CPCs of their half, of which some have four; measured 7.2 and 7.2 GB/s, and 5.9 in the other half, since
 * halves share half and half when so many load. Three GPCs get as much each, wherever they stand (measured 15.6 to
 * 15.8). */
static void test_loads(void **state)
{
    static const guint8 sms[GPCS] = {2, 8, 8, 8, 8, 8, 8, 8}, three[GPCS] = {8, 8, 8};
    double mean[GPCS], rate[1024];
    (void)state;
    run(sms, TRUE, mean, rate);
    assert_about(links_GBps(mean, sms), 378.0);
    for (guint32 g = 0; g < GPCS; g++)
        assert_within(mean[g], g == 0 || (g >= 4 && g < 7) ? 378.0 / 2 / 26 : 378.0 / 2 / 32, 0.04);
    run(three, TRUE, mean, rate);
    for (guint32 g = 0; g < 3; g++)
        assert_about(mean[g], 378.0 / 24);
}

/* Proves where SMs stand: of 66 TPCs GPC 0 has eight, of which four get a grid's first eight CTAs, GPCs 6 and 7
 * nine, and each GPC deals its TPCs to its CPCs in turn; and that clusters of four take none of those four. */
static void test_places(void **state)
{
    const FabricSpec spec = {.gpu = {.half_gpcs = 142}, .sm = {.count = 132, .tpc_sms = 2, .gpcs = 8, .first_tpcs = 4}};
    guint32 of[GPCS] = {0}, in[GPCS * GPC_CPCS] = {0};
    (void)state;
    for (guint32 s = 0; s < 132; s++) {
        SmPlace place = place_of(&spec, s);
        of[place.gpc]++;
        in[place.queue]++;
        assert_int_equal(place.first, s < 8);
        assert_int_equal(place.queue, place.gpc * 3 + place.tpc % 3);
    }
    for (guint32 g = 0; g < GPCS; g++) {
        assert_int_equal(of[g], g < 6 ? 16 : 18);
        assert_int_equal(in[3 * g + 2], g < 6 ? 4 : 6);
        assert_int_equal(place_half(&spec, 3 * g), g == 1 || g == 2 || g == 3 || g == 7);
        assert_int_equal(place_of(&spec, 8 + g).gpc, g);
    }
    assert_int_equal(place_cta_queue(&spec, 0, 4), 1);     /* the fifth TPC of GPC 0 */
    assert_int_equal(place_cta_queue(&spec, 4, 4), 3);     /* the first of GPC 1 */
    assert_int_equal(place_parts(&spec, 16, 4, 1), 2 * 2); /* two CPCs of one GPC, and another half that stores */
    assert_int_equal(place_parts(&spec, 16, 4, 3), 6 * 2); /* two each of three GPCs */
    assert_int_equal(place_parts(&spec, 8, 1, 0), 3);      /* the first eight CTAs: one GPC, one half */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_halves), cmocka_unit_test(test_cpcs),
                                       cmocka_unit_test(test_sms), cmocka_unit_test(test_loads),
                                       cmocka_unit_test(test_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
