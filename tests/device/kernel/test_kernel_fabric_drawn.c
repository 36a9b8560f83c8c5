/* Drawn programs of operations on logical endpoints, compared with an untimed oracle, by both engines.
 *
 * A program is up to six operations in turn of every GPU at once. Each GPU has a piece of every place to itself, but
 * for reductions, where all add to one; so what memory must hold does not depend on times. Operations of different
 * turns meet the same places. Sizes, offsets, GPUs, masks, parameters of the engine are drawn.
 *
 * `make check` runs 150; FANOUT_FABRIC_PROGRAMS=20000 as many, from FANOUT_SEED on. */
#include "tests/device/kernel/fabric_kernels.h"

#include <stdlib.h>

#include "sim/rng.h"

#define PLACES (256u << 10) /* data; counters from there on */
#define PIECE FABRIC_MOST   /* a GPU's piece of a place */
#define TURNS 6u

typedef enum { PUT, PUT_ALL, MASKED, COUNTED, ALL_COUNTED, RED, RED_ALL, RED_MAX, GET, PULL, PULL_MAX, KINDS } Kind;
static const char *const kernels[KINDS] = {"put",     "put_all", "put_masked", "put_counted", "put_all_counted", "red",
                                           "red_all", "red_max", "get",        "pull",        "pull_max"};

typedef struct {
    Kind kind;
    guint32 bytes, shift; /* whose neighbour: GPU g acts on g + shift */
    guint64 offset;       /* of GPU 0's piece, or of the one place */
    gboolean apart;
    guint32 counter;
} Turn;

typedef struct {
    guint n, turns;
    Turn turn[TURNS];
    char *sets[4];
    guint32 seed;
} Program;

static gboolean is_all(Kind k)
{
    return k == PUT_ALL || k == ALL_COUNTED || k == RED_ALL || k == PULL || k == PULL_MAX;
}
static gboolean is_red(Kind k) { return k == RED || k == RED_ALL || k == RED_MAX; }
static gboolean is_fetch(Kind k) { return k == GET || k == PULL || k == PULL_MAX; }
static gboolean is_counted(Kind k) { return k == COUNTED || k == ALL_COUNTED; }

static Program draw(guint32 seed)
{
    Rng rng;
    rng_init(&rng, seed, "fabric");
    Program p = {.n = 2 + (guint)rng_below(&rng, 7), .turns = 1 + (guint)rng_below(&rng, TURNS), .seed = seed};
    for (guint t = 0; t < p.turns; t++) {
        Turn *turn = &p.turn[t];
        turn->kind = (Kind)rng_below(&rng, KINDS);
        turn->bytes = 16 * (1 + (guint32)rng_below(&rng, rng_below(&rng, 3) ? 40 : FABRIC_MOST / 16));
        turn->shift = (guint32)rng_below(&rng, p.n);
        turn->apart = !is_red(turn->kind) && turn->kind != PULL && turn->kind != PULL_MAX && turn->kind != GET;
        guint64 room = PLACES - (turn->apart ? p.n * PIECE : PIECE);
        turn->offset = rng_below(&rng, room / 16) * 16;
        turn->counter = PLACES + 256 * (guint32)rng_below(&rng, 8);
    }
    p.sets[0] = g_strdup_printf("gpu.fabric_queue=%u", 1 + (guint)rng_below(&rng, 4));
    p.sets[1] = g_strdup_printf("gpu.fabric_in_flight=%u", 1 + (guint)rng_below(&rng, 100));
    p.sets[2] = g_strdup_printf("gpu.fabric_issue_ps=%u", (guint)rng_below(&rng, 3) * 700);
    return p;
}

/* ---- the oracle: memory of each GPU, and what each fetched */

typedef struct {
    guint8 *memory[8];
    guint32 found[8][FABRIC_MOST / 4];
} Oracle;

static void put(guint8 *to, guint rank, guint32 bytes, gboolean masked)
{
    for (guint32 b = 0; b < bytes; b++) {
        guint32 word = 1000 * rank + b / 4;
        if (!masked || 0x0ff3u >> b % 16 & 1)
            to[b] = (guint8)(word >> 8 * (b % 4));
    }
}

static void reduce(guint8 *to, guint rank, guint32 bytes, gboolean max)
{
    for (guint32 i = 0; i < bytes / 4; i++) {
        guint32 word;
        memcpy(&word, to + 4 * i, 4);
        word += 1000 * rank + i;
        if (!max)
            memcpy(to + 4 * i, &word, 4);
    }
    for (guint32 i = 0; max && i < bytes / 8; i++) {
        guint64 have, mine = (1000 * rank + 2 * i) | (guint64)(1000 * rank + 2 * i + 1) << 32;
        memcpy(&have, to + 8 * i, 8);
        have = MAX(have, mine);
        memcpy(to + 8 * i, &have, 8);
    }
}

static void fetch(Oracle *o, const Program *p, const Turn *turn, guint rank)
{
    for (guint32 i = 0; i < FABRIC_MOST / 4; i++)
        o->found[rank][i] = 1000 * rank + i;
    for (guint32 i = 0; i < turn->bytes / 4; i++) {
        guint32 result = 0, word;
        for (guint g = 0; g < p->n; g++) {
            if (turn->kind == GET && g != (rank + turn->shift) % p->n)
                continue;
            memcpy(&word, o->memory[g] + turn->offset + 4 * i, 4);
            if (turn->kind != PULL_MAX)
                result += word;
            else
                result = g == 0 || (gint32)word > (gint32)result ? word : result;
        }
        o->found[rank][i] = result;
    }
}

static void act(Oracle *o, const Program *p, const Turn *turn)
{
    for (guint g = 0; g < p->n; g++) {
        if (is_fetch(turn->kind)) {
            fetch(o, p, turn, g);
            continue;
        }
        guint64 at = turn->offset + (turn->apart ? g * PIECE : 0);
        for (guint to = 0; to < p->n; to++) {
            guint one = is_red(turn->kind) ? turn->shift : (g + turn->shift) % p->n;
            guint64 count;
            if (!is_all(turn->kind) && to != one)
                continue;
            if (is_red(turn->kind))
                reduce(o->memory[to] + at, g, turn->bytes, turn->kind == RED_MAX);
            else
                put(o->memory[to] + at, g, turn->bytes, turn->kind == MASKED);
            memcpy(&count, o->memory[to] + turn->counter, 8);
            count += is_counted(turn->kind) ? turn->bytes : 0;
            memcpy(o->memory[to] + turn->counter, &count, 8);
        }
    }
}

/* ---- the run */

static void run_turn(FabricWorld *w, const Turn *turn, GString *told)
{
    Ended ended[8] = {0};
    for (guint g = 0; g < w->n; g++) {
        const FabricArgs args = {.endpoint = is_all(turn->kind)   ? FABRIC_ALL
                                             : is_red(turn->kind) ? FABRIC_UNICAST + turn->shift
                                                                  : FABRIC_UNICAST + (g + turn->shift) % w->n,
                                 .bytes = turn->bytes,
                                 .offset = turn->offset + (turn->apart ? g * PIECE : 0),
                                 .counter = turn->counter,
                                 .own = w->va[g],
                                 .rank = g,
                                 .tx = is_fetch(turn->kind) ? turn->bytes : turn->bytes / 16};
        fabric_start(w, g, kernels[turn->kind], &args, &ended[g]);
    }
    assert_int_equal(sim_run(w->sim, SIMTIME_NEVER), SIM_IDLE);
    for (guint g = 0; g < w->n; g++) {
        if (!ended[g].done || ended[g].fault != PTX_FAULT_NONE)
            fail_msg("%s on GPU %u: %s", kernels[turn->kind], g, ended[g].text);
        assert_int_equal(*fabric_words(w, g, FABRIC_REPORT), 0);
        g_string_append_printf(told, "%s %u: %" G_GUINT64_FORMAT " ps\n", kernels[turn->kind], g, ended[g].took_ps);
        g_free(ended[g].text);
    }
}

static char *run(const Program *p, Oracle *oracle, gboolean reference)
{
    GString *told = g_string_new(NULL);
    const SimSpec sim = {.seed = 1, .engine = reference ? SIM_ENGINE_REFERENCE : SIM_ENGINE_FAST};
    FabricWorld *w = fabric_world_new("dgx-h100", p->n, sim, (const char *const *)p->sets);
    for (guint t = 0; t < p->turns; t++) {
        run_turn(w, &p->turn[t], told);
        if (oracle)
            act(oracle, p, &p->turn[t]);
        for (guint g = 0; oracle && g < p->n; g++) {
            if (memcmp(w->region[g]->host, oracle->memory[g], PLACES + 4096) != 0)
                fail_msg("seed %u, turn %u, %s: memory of GPU %u is not what it should be", p->seed, t,
                         kernels[p->turn[t].kind], g);
            if (is_fetch(p->turn[t].kind) &&
                memcmp(fabric_words(w, g, FABRIC_FOUND), oracle->found[g], FABRIC_MOST) != 0)
                fail_msg("seed %u, turn %u, %s: GPU %u fetched something else", p->seed, t, kernels[p->turn[t].kind],
                         g);
        }
    }
    for (guint g = 0; g < p->n; g++)
        g_string_append_printf(told, "%u: %" G_GUINT64_FORMAT " packets, %" G_GUINT64_FORMAT " refused\n", g,
                               w->fabric->gpu[g].fabric_packets, w->fabric->gpu[g].fabric_refused);
    fabric_world_free(w);
    return g_string_free(told, FALSE);
}

static guint64 from_environment(const char *name, guint64 otherwise)
{
    const char *text = g_getenv(name);
    return text ? g_ascii_strtoull(text, NULL, 10) : otherwise;
}

/* Proves that memory, counters and what is fetched are what an untimed oracle says, after every operation of drawn
 * programs, and that both engines give the same times and counts (of every fourth program). */
static void test_drawn(void **state)
{
    guint64 first = from_environment("FANOUT_SEED", 1), n = from_environment("FANOUT_FABRIC_PROGRAMS", 150);
    (void)state;
    for (guint64 s = first; s < first + n; s++) {
        Program p = draw((guint32)s);
        Oracle *oracle = g_new0(Oracle, 1);
        for (guint g = 0; g < p.n; g++)
            oracle->memory[g] = g_malloc0(FABRIC_BYTES);
        g_autofree char *fast = run(&p, oracle, FALSE);
        if (s % 4 == 0) {
            g_autofree char *slow = run(&p, NULL, TRUE);
            assert_string_equal(fast, slow);
        }
        for (guint g = 0; g < p.n; g++)
            g_free(oracle->memory[g]);
        for (guint i = 0; i < G_N_ELEMENTS(p.sets); i++)
            g_free(p.sets[i]);
        g_free(oracle);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_drawn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
