/* Operations on logical endpoints, by kernels of 2, 8 and 72 GPUs at once: what they do, told by hand-written sums. */
#include "tests/device/kernel/fabric_kernels.h"

#define SIZE 1024u /* bytes of each operation */
#define WORDS (SIZE / 4)

typedef struct {
    const char *preset;
    guint gpus;
} Shape;
static const Shape shapes[] = {{"dgx-h100", 2}, {"dgx-h100", 8}, {"gb200-nvl72", 72}};

static guint32 begins(guint rank, guint word) { return 1000 * rank + word; } /* shared memory of that GPU's kernel */

/* The sum of what all kernels have at that word. */
static guint32 sum(guint gpus, guint word)
{
    guint32 total = 0;
    for (guint g = 0; g < gpus; g++)
        total += begins(g, word);
    return total;
}

/* One kernel on each GPU; `to` NULL: each acts on its neighbour's endpoint. Nothing must have been reported. */
static void run_all(FabricWorld *w, const char *kernel, FabricArgs args, const guint32 *to, gboolean apart)
{
    Ended ended[72] = {0};
    for (guint g = 0; g < w->n; g++) {
        FabricArgs own = args;
        own.endpoint = to ? *to : FABRIC_UNICAST + (g + 1) % w->n;
        own.offset += apart ? (guint64)g * SIZE : 0;
        own.own = w->va[g];
        own.rank = g;
        fabric_start(w, g, kernel, &own, &ended[g]);
    }
    assert_int_equal(sim_run(w->sim, SIMTIME_NEVER), SIM_IDLE);
    for (guint g = 0; g < w->n; g++) {
        if (!ended[g].done || ended[g].fault != PTX_FAULT_NONE)
            fail_msg("%s on GPU %u: %s", kernel, g, ended[g].text);
        g_free(ended[g].text);
        assert_int_equal(*fabric_words(w, g, FABRIC_REPORT), 0);
    }
}

static FabricArgs of(guint64 offset, guint32 tx) { return (FabricArgs){.bytes = SIZE, .offset = offset, .tx = tx}; }

static const guint32 all = FABRIC_ALL, first = FABRIC_UNICAST;

/* Proves that a put lands at its neighbour alone, one with .multimem at all GPUs, and that a mask chooses bytes: of
 * each 16, 0 and 1 and 4 to 11 (0x0ff3). */
static void check_puts(FabricWorld *w)
{
    run_all(w, "put", of(0, SIZE / 16), NULL, TRUE);
    run_all(w, "put_all", of(128u << 10, SIZE / 16), &all, TRUE);
    run_all(w, "put_masked", of(208u << 10, SIZE / 16), NULL, FALSE);
    run_all(w, "put_all_masked", of(210u << 10, SIZE / 16), &all, FALSE);
    for (guint g = 0; g < w->n; g++) {
        guint from = (g + w->n - 1) % w->n;
        for (guint h = 0; h < w->n; h++)
            for (guint i = 0; i < WORDS; i++) {
                assert_int_equal(fabric_words(w, g, h * SIZE)[i], h == from ? begins(from, i) : 0);
                assert_int_equal(fabric_words(w, g, (128u << 10) + h * SIZE)[i], begins(h, i));
            }
        for (guint i = 0; i < WORDS; i++) {
            guint32 whole = begins(from, i), want = i % 4 == 0 ? whole & 0xffff : i % 4 == 3 ? 0 : whole;
            assert_int_equal(fabric_words(w, g, 208u << 10)[i], want);
            guint32 masked = fabric_words(w, g, 210u << 10)[i]; /* all wrote there: one of them was last */
            assert_true(i % 4 != 3 || masked == 0);
            assert_true(i % 4 != 0 || masked >> 16 == 0);
        }
    }
}

/* Proves that counters of destinations count bytes: of a put to a neighbour those that came from there, of one to all
 * those of every GPU; of reductions likewise. */
static void check_counters(FabricWorld *w)
{
    FabricArgs args = of(0, SIZE / 16);
    args.counter = 300u << 10;
    run_all(w, "put_counted", args, NULL, TRUE);
    args.counter = 301u << 10;
    run_all(w, "put_all_counted", args, &all, TRUE);
    args.offset = 360u << 10;
    args.counter = 302u << 10;
    run_all(w, "red_counted", args, &first, FALSE);
    args.offset = 362u << 10;
    args.counter = 303u << 10;
    run_all(w, "red_all_counted", args, &all, FALSE);
    for (guint g = 0; g < w->n; g++) {
        assert_int_equal(*(guint64 *)(void *)fabric_words(w, g, 300u << 10), SIZE);
        assert_int_equal(*(guint64 *)(void *)fabric_words(w, g, 301u << 10), (guint64)w->n * SIZE);
        assert_int_equal(*(guint64 *)(void *)fabric_words(w, g, 302u << 10), g == 0 ? (guint64)w->n * SIZE : 0);
        assert_int_equal(*(guint64 *)(void *)fabric_words(w, g, 303u << 10), (guint64)w->n * SIZE);
        for (guint i = 0; i < WORDS; i++) {
            assert_int_equal(fabric_words(w, g, 360u << 10)[i], g == 0 ? sum(w->n, i) : 0);
            assert_int_equal(fabric_words(w, g, 362u << 10)[i], sum(w->n, i));
        }
    }
}

/* Proves that reductions of all GPUs to one place, and to that place of all, have the sum of what all brought, and the
 * largest of it. */
static void check_reductions(FabricWorld *w)
{
    run_all(w, "red", of(320u << 10, SIZE / 16), &first, FALSE);
    run_all(w, "red_all", of(336u << 10, SIZE / 16), &all, FALSE);
    run_all(w, "red_max", of(340u << 10, SIZE / 16), &first, FALSE);
    for (guint g = 0; g < w->n; g++)
        for (guint i = 0; i < WORDS; i++) {
            assert_int_equal(fabric_words(w, g, 320u << 10)[i], g == 0 ? sum(w->n, i) : 0);
            assert_int_equal(fabric_words(w, g, 336u << 10)[i], sum(w->n, i));
            assert_int_equal(fabric_words(w, g, 340u << 10)[i], g == 0 ? begins(w->n - 1, i) : 0);
        }
}

/* Proves that a get brings its neighbour's bytes, and a pull reduction the sum, or the largest, of all GPUs'. */
static void check_fetches(FabricWorld *w)
{
    for (guint g = 0; g < w->n; g++)
        for (guint i = 0; i < WORDS; i++)
            fabric_words(w, g, 400u << 10)[i] = g % 5 * 7 + i;
    run_all(w, "get", of(400u << 10, SIZE), NULL, FALSE);
    for (guint g = 0; g < w->n; g++)
        for (guint i = 0; i < FABRIC_MOST / 4; i++)
            assert_int_equal(fabric_words(w, g, FABRIC_FOUND)[i],
                             i < WORDS ? (g + 1) % w->n % 5 * 7 + i : begins(g, i));
    guint32 total = 0, most = 0;
    for (guint g = 0; g < w->n; g++) {
        total += g % 5 * 7;
        most = MAX(most, g % 5 * 7);
    }
    run_all(w, "pull", of(400u << 10, SIZE), &all, FALSE);
    for (guint g = 0; g < w->n; g++)
        for (guint i = 0; i < FABRIC_MOST / 4; i++)
            assert_int_equal(fabric_words(w, g, FABRIC_FOUND)[i], i < WORDS ? total + w->n * i : begins(g, i));
    run_all(w, "pull_max", of(400u << 10, SIZE), &all, FALSE);
    for (guint g = 0; g < w->n; g++)
        for (guint i = 0; i < WORDS; i++)
            assert_int_equal(fabric_words(w, g, FABRIC_FOUND)[i], most + i);
}

/* Proves that atomics of all GPUs on one word are one after the other: the old values that they got are the sums of
 * some order; and that of compare-and-swaps of a zero one alone finds it, and the word is that one's. Operands lie at
 * byte 4 of their block, as the word does in its 16 bytes of memory: words 9 (and 13, cas) of shared memory. */
static void check_atomics(FabricWorld *w)
{
    guint64 olds = 0, squares = 0, wants = 0, winners = 0;
    run_all(w, "atom", of((440u << 10) + 4, 1), &first, FALSE);
    assert_int_equal(fabric_words(w, 0, 440u << 10)[1], sum(w->n, 9));
    for (guint g = 0; g < w->n; g++) { /* sum of old * own + own^2 / 2 is the same for each order */
        guint64 old = fabric_words(w, g, FABRIC_FOUND)[1], own = begins(g, 9);
        olds += 2 * old * own;
        squares += own * own;
        assert_int_equal(fabric_words(w, g, FABRIC_FOUND)[0], 0);
        assert_int_equal(fabric_words(w, g, FABRIC_FOUND)[4], begins(g, 4));
    }
    wants = (guint64)sum(w->n, 9) * sum(w->n, 9);
    assert_int_equal(olds + squares, wants);
    fabric_words(w, 0, 450u << 10)[1] = begins(1, 9);
    run_all(w, "atom_cas", of((450u << 10) + 4, 1), &first, FALSE);
    for (guint g = 0; g < w->n; g++)
        winners += fabric_words(w, g, FABRIC_FOUND)[1] == begins(g, 9);
    assert_int_equal(winners, 1); /* GPU 1's alone, which compares with 1009 */
    assert_int_equal(fabric_words(w, 0, 450u << 10)[1], begins(1, 13));
    run_all(w, "atom_exch", of(460u << 10, 1), &first, FALSE);
    guint seen = 0;
    for (guint g = 0; g < w->n; g++)
        for (guint i = 0; i < 4; i++) /* 16 bytes go together */
            seen += fabric_words(w, g, FABRIC_FOUND)[i] == 0;
    assert_int_equal(seen, 4);
}

static void run_shape(const Shape *shape, gboolean reference)
{
    const SimSpec sim = {.seed = 1, .engine = reference ? SIM_ENGINE_REFERENCE : SIM_ENGINE_FAST};
    FabricWorld *w = fabric_world_new(shape->preset, shape->gpus, sim, NULL);
    check_puts(w);
    check_reductions(w);
    check_counters(w);
    check_fetches(w);
    check_atomics(w);
    for (guint g = 0; g < w->n; g++)
        assert_true(gpu_is_quiet(&w->fabric->gpu[g]));
    fabric_world_free(w);
}

/* Proves that all operations do on two GPUs of a DGX what they should. */
static void test_two(void **state)
{
    (void)state;
    run_shape(&shapes[0], FALSE);
}
/* Proves that all operations do on all of them what they should. */
static void test_eight(void **state)
{
    (void)state;
    run_shape(&shapes[1], FALSE);
}
/* Proves that all operations do on the 72 GPUs of a rack what they should. */
static void test_rack(void **state)
{
    (void)state;
    run_shape(&shapes[2], FALSE);
}
/* Proves that all operations do with the reference engine what they should. */
static void test_eight_reference(void **state)
{
    (void)state;
    run_shape(&shapes[1], TRUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two), cmocka_unit_test(test_eight),
                                       cmocka_unit_test(test_rack), cmocka_unit_test(test_eight_reference)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
