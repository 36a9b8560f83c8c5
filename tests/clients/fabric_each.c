/* Every operation on logical endpoints, one kernel each, on endpoints that the driver made: puts, gets, reductions,
 * pull reductions and atomics, masked, counted and to all, and where GPUs have them (SM 10.7) those on boxes of a
 * tensor. All ranks do the same operation at once; then each compares what its memory, its counter and its shared
 * memory must have. Every operation has a place of its own. Its shared memory begins as 1000 * rank + i
 * (fabric_operations.h). */
#include "tests/clients/endpoint_ranks.h"
#include "tests/device/kernel/fabric_operations.h"

#define SIZE 1024u /* bytes of an operation */
#define WORDS (SIZE / 4)
#define PLACE (80u << 10)      /* of one operation: SIZE bytes of each of 72 ranks, or one for all of them */
#define COUNTERS (1900u << 10) /* one of 256 bytes an operation */

typedef enum { NEIGHBOUR, FIRST, TEAM } Whose; /* endpoint: the next rank's, rank 0's, the team's */
typedef struct Step Step;
struct Step {
    const char *kernel;
    Whose to;
    int apart;            /* rank r's part of the place begins at r * SIZE */
    unsigned within, tx;  /* bytes from there on; transactions that the mbarrier expects */
    unsigned long counts; /* 1: the destination counts the bytes */
    void (*begin)(const Ranks *me, int r, size_t place); /* what memory has before; NULL: zeros */
    void (*look)(const Ranks *me, int r, const Step *step, size_t place, CUdeviceptr found);
    unsigned long tally; /* what all ranks have added up then */
};

static uint32_t begins(int rank, unsigned i) { return (uint32_t)rank * 1000 + i; }
static uint32_t other(int rank, unsigned i) { return (uint32_t)(rank % 5) * 7 + i; } /* what is fetched */
static int before(const Ranks *me, int r) { return (r + me->ranks - 1) % me->ranks; }
static CUdeviceptr memory_of(const Ranks *me, int r, Whose to) { return to == TEAM ? me->shared[r] : me->own[r]; }

static void add(const Ranks *me, unsigned long n) { __atomic_fetch_add(&me->world->tally, n, __ATOMIC_SEQ_CST); }

static uint32_t sum(const Ranks *me, unsigned i)
{
    return (uint32_t)me->ranks * i + 500u * (uint32_t)me->ranks * (uint32_t)(me->ranks - 1);
}

/* Of each 16 bytes 0, 1 and 4 to 11 (mask 0x0ff3). */
static uint32_t masked(uint32_t word, unsigned i) { return i % 4 == 0 ? word & 0xffff : i % 4 == 3 ? 0 : word; }

/* A put: the place of the rank before has its words, or of all ranks if all put there, and nothing else. */
static void look_put(const Ranks *me, int r, const Step *step, size_t place, CUdeviceptr found)
{
    const int mask = strstr(step->kernel, "masked") != NULL;
    uint32_t *want = malloc((size_t)me->ranks * SIZE), *next = want;

    (void)found;
    for (int from = 0; from < me->ranks; from++)
        for (unsigned i = 0; i < WORDS; i++) {
            uint32_t word = step->to == TEAM || from == before(me, r) ? begins(from, i) : 0;
            *next++ = mask ? masked(word, i) : word;
        }
    compare(me, memory_of(me, r, step->to) + place, want, (unsigned)me->ranks * WORDS);
    free(want);
}

/* A reduction: the sum of what all brought, or the words of the last rank, which has the largest; at rank 0, or at
 * all. */
static void look_red(const Ranks *me, int r, const Step *step, size_t place, CUdeviceptr found)
{
    const int largest = strcmp(step->kernel, "red_max") == 0;
    uint32_t want[WORDS];

    (void)found;
    for (unsigned i = 0; i < WORDS; i++)
        want[i] = step->to == FIRST && r != 0 ? 0 : largest ? begins(me->ranks - 1, i) : sum(me, i);
    compare(me, memory_of(me, r, step->to) + place, want, WORDS);
}

static void begin_other(const Ranks *me, int r, size_t place)
{
    uint32_t words[WORDS];

    for (unsigned i = 0; i < WORDS; i++)
        words[i] = other(r, i);
    CHECK(cuMemcpyHtoD(me->own[r] + place, words, sizeof words));
    CHECK(cuMemcpyHtoD(me->shared[r] + place, words, sizeof words));
}

/* What was fetched: the neighbour's words, or the sum or the largest of all; behind it shared memory is as it was. */
static void look_found(const Ranks *me, int r, const Step *step, size_t place, CUdeviceptr found)
{
    uint32_t want[FABRIC_MOST / 4], total = 0, most = 0;

    (void)place;
    for (int q = 0; q < me->ranks; q++) {
        total += other(q, 0);
        most = most > other(q, 0) ? most : other(q, 0);
    }
    for (unsigned i = 0; i < FABRIC_MOST / 4; i++)
        if (i >= WORDS)
            want[i] = begins(r, i);
        else if (strcmp(step->kernel, "get") == 0)
            want[i] = other((r + 1) % me->ranks, i);
        else
            want[i] = strcmp(step->kernel, "pull") == 0 ? total + (uint32_t)me->ranks * i : most + i;
    compare(me, found, want, FABRIC_MOST / 4);
}

/* Additions to one word of rank 0, of word 9 of each rank's shared memory, come one after the other: the old values
 * that they found are the sums of some order. For each order 2 * old * own + own^2, added up, is the square of the
 * sum. */
static void look_atom(const Ranks *me, int r, const Step *step, size_t place, CUdeviceptr found)
{
    const unsigned long old = word_at(found + 4), own = begins(r, 9);
    const uint32_t want[4] = {0, sum(me, 9), 0, 0};

    (void)step;
    add(me, 2 * old * own + own * own);
    if (r == 0) {
        compare(me, me->own[0] + place, want, 4);
        add(me, 0 - (unsigned long)sum(me, 9) * sum(me, 9));
    }
}

/* Of compare-and-swaps of all ranks with word 9 of their shared memory, the one that has what memory has finds it: rank
 * 1's; its word 13 is there then. */
static void begin_cas(const Ranks *me, int r, size_t place)
{
    const uint32_t word = begins(1, 9);

    CHECK(cuMemcpyHtoD(me->own[r] + place + 4, &word, sizeof word));
}

static void look_cas(const Ranks *me, int r, const Step *step, size_t place, CUdeviceptr found)
{
    const uint32_t want[4] = {0, begins(1, 13), 0, 0};

    (void)step;
    add(me, word_at(found + 4) == begins(r, 9));
    if (r == 0)
        compare(me, me->own[0] + place, want, 4);
}

/* Exchanges of 16 bytes: the first of all ranks finds the four zeros, and no other finds one of them. */
static void look_exchange(const Ranks *me, int r, const Step *step, size_t place, CUdeviceptr found)
{
    (void)me, (void)r, (void)step, (void)place;
    for (unsigned i = 0; i < 4; i++)
        add(me, word_at(found + 4 * i) == 0);
}

static const Step steps[] = {
    {"put", NEIGHBOUR, 1, 0, SIZE / 16, 0, NULL, look_put, 0},
    {"put_masked", NEIGHBOUR, 1, 0, SIZE / 16, 0, NULL, look_put, 0},
    {"put_counted", NEIGHBOUR, 1, 0, SIZE / 16, 1, NULL, look_put, 0},
    {"put_all", TEAM, 1, 0, SIZE / 16, 0, NULL, look_put, 0},
    {"put_all_masked", TEAM, 1, 0, SIZE / 16, 0, NULL, look_put, 0},
    {"put_all_counted", TEAM, 1, 0, SIZE / 16, 1, NULL, look_put, 0},
    {"red", FIRST, 0, 0, SIZE / 16, 0, NULL, look_red, 0},
    {"red_max", FIRST, 0, 0, SIZE / 16, 0, NULL, look_red, 0},
    {"red_counted", FIRST, 0, 0, SIZE / 16, 1, NULL, look_red, 0},
    {"red_all", TEAM, 0, 0, SIZE / 16, 0, NULL, look_red, 0},
    {"red_all_counted", TEAM, 0, 0, SIZE / 16, 1, NULL, look_red, 0},
    {"get", NEIGHBOUR, 0, 0, SIZE, 0, begin_other, look_found, 0},
    {"pull", TEAM, 0, 0, SIZE, 0, begin_other, look_found, 0},
    {"pull_max", TEAM, 0, 0, SIZE, 0, begin_other, look_found, 0},
    {"atom", FIRST, 0, 4, 1, 0, NULL, look_atom, 0},
    {"atom_cas", FIRST, 0, 4, 1, 0, begin_cas, look_cas, 1},
    {"atom_exch", FIRST, 0, 0, 1, 0, NULL, look_exchange, 4},
};
#define STEPS (sizeof steps / sizeof *steps)

static CUlogicalEndpointId endpoint_of(const Ranks *me, int r, Whose to)
{
    return to == TEAM ? team_of(me) : me->id + (to == FIRST ? 0 : (unsigned)((r + 1) % me->ranks));
}

static void launch(const Ranks *me, int r, const Step *step, size_t k, CUfunction kernel, CUdeviceptr found)
{
    FabricArgs args = {.endpoint = endpoint_of(me, r, step->to),
                       .bytes = SIZE,
                       .offset = k * PLACE + (step->apart ? (size_t)r * SIZE : 0) + step->within,
                       .counter = COUNTERS + 256 * k,
                       .own = found,
                       .rank = (uint32_t)r,
                       .tx = step->tx};
    void *arguments[] = {&args.endpoint, &args.bytes, &args.offset, &args.counter, &args.own, &args.rank, &args.tx};

    use_rank(me, r);
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, arguments, 0));
}

/* The counter: of the neighbour, of rank 0 for all ranks, of all for all ranks. Nothing was reported. */
static void look(const Ranks *me, int r, const Step *step, size_t k, CUdeviceptr found)
{
    const unsigned long times = step->to == NEIGHBOUR ? 1 : step->to == TEAM || r == 0 ? (unsigned long)me->ranks : 0;
    const uint32_t counter[2] = {(uint32_t)(step->counts * times * SIZE), 0}, report = 0;

    use_rank(me, r);
    step->look(me, r, step, k * PLACE, found + FABRIC_FOUND);
    compare(me, memory_of(me, r, step->to) + COUNTERS + 256 * k, counter, 2);
    compare(me, found + FABRIC_REPORT, &report, 1);
}

typedef struct {
    CUfunction kernel[STEPS];
    CUdeviceptr found;
} Gpu;

static void load(const Ranks *me, int r, const char *text, Gpu *gpu)
{
    CUmodule module;

    use_rank(me, r);
    CHECK(cuMemAlloc(&gpu->found, MIB));
    CHECK(cuModuleLoadData(&module, text));
    for (size_t k = 0; k < STEPS; k++) {
        CHECK(cuModuleGetFunction(&gpu->kernel[k], module, steps[k].kernel));
        if (steps[k].begin)
            steps[k].begin(me, r, k * PLACE);
    }
}

static void do_step(const Ranks *me, const Gpu *gpu, size_t k)
{
    const Step *step = &steps[k];

    for (int r = me->first; r < me->last; r++)
        launch(me, r, step, k, gpu[r].kernel[k], gpu[r].found);
    for (int r = me->first; r < me->last; r++) {
        use_rank(me, r);
        CHECK(cuCtxSynchronize());
    }
    meet(me);
    for (int r = me->first; r < me->last; r++)
        look(me, r, step, k, gpu[r].found);
    meet(me);
    if (me->first == 0 && me->world->tally != step->tally) {
        printf("%s: what its ranks found adds up to %lu, not to %lu\n", step->kernel, me->world->tally, step->tally);
        me->world->wrong++;
    }
    if (me->first == 0)
        me->world->tally = 0;
    meet(me);
}

static void work(const Ranks *me)
{
    Gpu *gpu = calloc(RANKS_MAX, sizeof *gpu);
    char *text = fabric_text();

    for (int r = me->first; r < me->last; r++)
        load(me, r, text, &gpu[r]);
    meet(me); /* nobody acts before all have their memory ready */
    for (size_t k = 0; k < STEPS; k++)
        do_step(me, gpu, k);
    free(text);
    free(gpu);
}

int main(int argc, char **argv) { return run_program(argc, argv, work); }
