/* Random programs, straight and branching, against a reference that shares no code with the executor. 150 of them in
 * `make check`, FANOUT_PTX_PROGRAMS of them (20,000) in `make check-ptx`. */
#include "tests/test.h"

#include "tests/ptx/flat_host.h"
#include "tests/ptx/reference.h"

typedef struct {
    guint64 slots, out, counters;
} Param;

static void fill(guint64 seed, RefThread *threads)
{
    guint64 x = seed * 2 + 1;
    for (guint i = 0; i < REF_THREADS; i++)
        for (guint b = 0; b < REF_SLOT; b++) {
            x = x * G_GUINT64_CONSTANT(6364136223846793005) + G_GUINT64_CONSTANT(1442695040888963407);
            guint8 byte = (guint8)(x >> 56);
            threads[i].global[b] = b % 4 > 1 && byte < 100 ? 0 : byte; /* small numbers too */
        }
}

static void compare(guint64 seed, const char *what, const guint8 *is, const guint8 *right, gsize bytes, guint thread,
                    const char *text)
{
    for (gsize b = 0; b < bytes; b++)
        if (is[b] != right[b]) {
            const guint32 *a = (const guint32 *)(const void *)(is + b / 4 * 4);
            guint32 wanted;
            memcpy(&wanted, right + b / 4 * 4, 4);
            fail_msg("program %" G_GUINT64_FORMAT ", thread %u: word %u of its %s is %08x, not %08x\n%s", seed, thread,
                     (guint)(b / 4), what, *a, wanted, text);
        }
}

static void run_program(guint64 seed, gboolean late)
{
    static RefThread threads[REF_THREADS];
    guint32 counters[REF_COUNTERS] = {0};
    GError *error = NULL;
    RefProgram *program = ref_draw(seed);
    g_autofree char *text = ref_print(program);
    Flat *flat = flat_new(256 << 10);
    Param param = {flat_alloc(flat, REF_THREADS * REF_SLOT), flat_alloc(flat, REF_THREADS * REF_OUT),
                   flat_alloc(flat, sizeof counters)};
    flat->late = late;
    fill(seed, threads);
    for (guint i = 0; i < REF_THREADS; i++)
        memcpy(flat_at(flat, param.slots + i * REF_SLOT), threads[i].global, REF_SLOT);
    FlatModule *loaded = flat_load(flat, "random.ptx", text, -1, &error);
    if (!loaded || !flat_launch(loaded, "k", 1, REF_THREADS, 0, &param, &error))
        fail_msg("program %" G_GUINT64_FORMAT ": %s\n%s", seed, error->message, text);
    ref_run(program, threads, counters);
    for (guint i = 0; i < REF_THREADS; i++) {
        guint8 out[REF_OUT];
        ref_out(&threads[i], out);
        compare(seed, "registers", flat_at(flat, param.out + i * REF_OUT), out, REF_OUT, i, text);
        compare(seed, "memory", flat_at(flat, param.slots + i * REF_SLOT), threads[i].global, REF_SLOT, i, text);
    }
    compare(seed, "counters", flat_at(flat, param.counters), (const guint8 *)counters, sizeof counters, 0, text);
    flat_unload(loaded);
    flat_free(flat);
    ref_free(program);
}

/* Proves that the executor, the order that it gives instructions and the registers that it shares change nothing that a
 * program computes. */
static void test_random(void **state)
{
    (void)state;
    const char *wanted = g_getenv("FANOUT_PTX_PROGRAMS"), *first = g_getenv("FANOUT_PTX_FIRST");
    guint64 n = wanted ? g_ascii_strtoull(wanted, NULL, 10) : 150, from = first ? g_ascii_strtoull(first, NULL, 10) : 0;
    for (guint64 seed = from; seed < from + n; seed++)
        run_program(seed, seed % 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
