/* Random device programs on every preset, with faults and odd settings, under both engines and on one to three cores,
 * leave in memory what an oracle without time says.
 *
 *     FANOUT_PROGRAMS=20000  how many (500); FANOUT_PROGRAM_SEED=1  the first one's seed
 *     FANOUT_PROGRAM_TRACE=1 prints each before it runs
 *
 * A program that fails is made smaller and printed, with what repeats it. */
#include "tests/test.h"

#include <stdlib.h>

#include "tests/random/program.h"

#define SECONDS 60u

static guint64 variable(const char *name, guint64 usual)
{
    const char *text = g_getenv(name);
    return text ? g_ascii_strtoull(text, NULL, 10) : usual;
}

static guint64 first_seed(void) { return variable("FANOUT_PROGRAM_SEED", 1); }

static void complain(Program *program, ProgramEnd end, const char *text)
{
    guint steps = program->step->len;
    program_shrink(program, end, SECONDS);
    g_autofree char *listing = program_text(program), *last = NULL;
    guint64 end_ps;
    program_run_apart(program, SECONDS, &end_ps, &last);
    fail_msg("%s; of %u steps these are left: %s\n%s\nFANOUT_PROGRAMS=1 FANOUT_PROGRAM_SEED=%" G_GUINT64_FORMAT
             " repeats it",
             text, steps, listing, last, program->seed);
}

/* The same program under both engines takes the same time. */
static void both_engines(Program *program, guint64 end_ps)
{
    g_autofree char *text = NULL;
    guint64 other_ps;
    program->cores = 1;
    program->engine = program->engine == SIM_ENGINE_FAST ? SIM_ENGINE_REFERENCE : SIM_ENGINE_FAST;
    ProgramEnd end = program_run_apart(program, SECONDS, &other_ps, &text);
    if (end != PROGRAM_GOOD)
        complain(program, end, text);
    if (other_ps != end_ps) {
        g_autofree char *listing = program_text(program);
        fail_msg("one engine ends at %" G_GUINT64_FORMAT " ps, the other at %" G_GUINT64_FORMAT " ps: %s", end_ps,
                 other_ps, listing);
    }
}

/* Proves that random programs do what they say: loads, stores, atomics, multimem, loops, lines, fences and messages. */
static void test_programs(void **state)
{
    guint64 refused = 0, steps = 0, n = variable("FANOUT_PROGRAMS", 500), begin = first_seed();
    (void)state;
    for (guint64 seed = begin; seed < begin + n; seed++) {
        Program *program = program_draw(seed, NULL);
        g_autofree char *text = NULL;
        guint64 end_ps;
        if (variable("FANOUT_PROGRAM_TRACE", 0)) {
            g_autofree char *listing = program_text(program);
            print_message("%s\n", listing);
        }
        ProgramEnd end = program_run_apart(program, SECONDS, &end_ps, &text);
        if (end != PROGRAM_GOOD && end != PROGRAM_REFUSED)
            complain(program, end, text);
        refused += end == PROGRAM_REFUSED;
        steps += program->step->len;
        if (end == PROGRAM_GOOD && seed % 4 == 0)
            both_engines(program, end_ps);
        program_free(program);
    }
    print_message("%" G_GUINT64_FORMAT " programs, %" G_GUINT64_FORMAT " steps, %" G_GUINT64_FORMAT " refused\n", n,
                  steps, refused);
    assert_true(refused * 20 <= n);
}

/* Proves that the test sees a wrong byte: other values stored are another image. */
static void test_notices(void **state)
{
    guint found = 0;
    (void)state;
    for (guint64 seed = 1; seed <= 4; seed++) {
        Program *program = program_draw(seed, "dgx-h100");
        Image *image = image_new(program), *other = image_new(program);
        oracle_run(program, 0, image);
        for (guint i = 0; i < program->step->len; i++)
            g_array_index(program->step, Step, i).value[0] ^= 1;
        oracle_run(program, 0, other);
        for (guint32 g = 0; g < program->gpus; g++)
            for (guint32 m = 0; m < 2; m++)
                found += memcmp(image->bytes[g][m], other->bytes[g][m], PROGRAM_BYTES) != 0;
        image_free(image);
        image_free(other);
        program_free(program);
    }
    assert_true(found > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs), cmocka_unit_test(test_notices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
