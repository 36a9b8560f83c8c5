/* Proves that no drawn call of libfanout's interface ends the program, hangs, or leaves something half done: absurd
 * arguments of every function, calls from callbacks, calls of a second thread, several simulators, and closing in the
 * middle. Each call that is refused has a code with a name and words and changes nothing; each placed thing is told of
 * once, and by the end of a run that had no end set; a clock never goes back.
 *
 * An input is a program of calls that its number draws (tests/fuzz.h has the variables); `make fuzz` runs it long, and
 * FUZZ_ONLY tells what is placed and run, a line each. */
#include "tests/fuzz.h"

#include <fanout/sim.h>

#define SIMS 3u
#define CALLS 60u
#define USERS 4096u

#define HOLDS(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what))                                                                                                   \
            g_error("line %d: does not hold: %s", __LINE__, #what);                                                    \
    } while (0)

typedef struct Program Program;
typedef struct {
    Program *program;
    FoSim *sim;
    gboolean good;    /* it was opened */
    gboolean endless; /* holds something that would take minutes: it runs for a moment each time */
    gboolean stopped; /* since its run began */
    guint placed, told;
    guint64 now_ps;
    FoSimMemory memories; /* the largest number */
} Slot;
typedef struct {
    Slot *slot;
    gboolean is_event, told;
} User;
struct Program {
    Rng rng;
    Slot slot[SIMS];
    guint calls; /* that may still be made */
    guint users;
    User user[USERS]; /* of what was placed */
    gboolean is_running, tells;
};

#define TELL(p, ...) (void)((p)->tells && fprintf(stderr, __VA_ARGS__))

static guint64 below(Program *p, guint64 bound) { return rng_below(&p->rng, bound); }

/* ---- values: right ones, ones at the edge, absurd ones */

static guint64 draw_number(Program *p)
{
    static const guint64 edge[] = {0,
                                   1,
                                   2,
                                   3,
                                   4,
                                   15,
                                   16,
                                   17,
                                   255,
                                   65535,
                                   65536,
                                   G_MAXUINT32,
                                   1ull << 32,
                                   1ull << 36,
                                   (1ull << 36) + 1,
                                   1ull << 63,
                                   G_MAXUINT64 - 15,
                                   G_MAXUINT64 - 1,
                                   G_MAXUINT64};
    return below(p, 3) ? edge[below(p, G_N_ELEMENTS(edge))] : rng_next(&p->rng) >> below(p, 64);
}

/* Right, and long: minutes. Such is placed from outside alone, so that the run behind it can be given an end. */
static gboolean is_long(guint64 bytes) { return bytes > 1u << 20 && bytes <= 1ull << 36; }

/* Of what is placed: mostly small, as simulating it is to take a moment. */
static guint64 draw_bytes(Program *p)
{
    static const guint64 usual[] = {4, 8, 16, 64, 128, 512, 516, 4096, 65536};
    const guint64 absurd = draw_number(p);
    return below(p, 6) || (p->is_running && is_long(absurd)) ? usual[below(p, G_N_ELEMENTS(usual))] : absurd;
}

/* The same of CTAs, of which a thousand take longer than the rest together. */
static guint32 draw_ctas(Program *p)
{
    const guint32 absurd = (guint32)draw_number(p);
    return below(p, 4) || (p->is_running && absurd <= 65535) ? (guint32)below(p, 40) : absurd;
}

static guint32 draw_gpu(Program *p) { return below(p, 8) ? (guint32)below(p, 4) : (guint32)draw_number(p); }

static guint64 draw_time(Program *p, const Slot *slot)
{
    return below(p, 6) ? slot->now_ps + below(p, 3000000) : draw_number(p);
}

static const char *draw_word(Program *p, const char *const *words, guint n)
{
    static const char *const absurd[] = {"", "\xff\xfe", "%s%n%s", "ring,tree", "a name that nothing has", "-1", "\n"};
    return !below(p, 12) ? absurd[below(p, G_N_ELEMENTS(absurd))] : words[below(p, n)];
}

/* A NULL-ended word of every kind of system, right or not. */
static const char *draw_set(Program *p)
{
    static const char *const sets[] = {"link.flight_ps=1us",
                                       "link.flight_ps=-1",
                                       "link.rate_MBps=11775",
                                       "=",
                                       "x",
                                       "link.flight_ps=",
                                       "system.gpus=99999999999",
                                       "gpu.l2_bytes=0",
                                       "link.=1",
                                       "switch.multicast_slots=0",
                                       "system.gpus=2",
                                       "sm.count=1"};
    return draw_word(p, sets, G_N_ELEMENTS(sets));
}

/* ---- what is told */

static void draw_calls(Program *p, guint n);

static void on_told(User *user, FoSim *sim)
{
    Slot *slot = user->slot;
    Program *p = slot->program;
    HOLDS(slot->sim == sim);
    HOLDS(!user->told);
    HOLDS(p->is_running);
    HOLDS(fo_sim_now_ps(sim) >= slot->now_ps);
    slot->now_ps = fo_sim_now_ps(sim);
    user->told = TRUE;
    slot->told++;
    if (!below(p, 3))
        draw_calls(p, 1 + (guint)below(p, 3));
}

static void on_done(FoSim *sim, const FoSimDone *done, void *data)
{
    HOLDS((guint)done->error < FO_SIM_ERRORS);
    HOLDS(done->begin_ps <= done->end_ps && done->end_ps == fo_sim_now_ps(sim));
    HOLDS(done->error == FO_SIM_OK || done->text);
    on_told(data, sim);
}

static void on_event(FoSim *sim, void *data) { on_told(data, sim); }

static User *user_new(Program *p, Slot *slot, gboolean is_event)
{
    User *user = &p->user[p->users];
    *user = (User){slot, is_event, FALSE};
    return user;
}

/* A code with a name, and words where it is no good one; what was placed is remembered. */
static void after(Program *p, Slot *slot, FoSimError error, gboolean placed)
{
    HOLDS((guint)error < FO_SIM_ERRORS);
    HOLDS(g_str_has_prefix(fo_sim_error_name(error), "FO_SIM_"));
    HOLDS(error == FO_SIM_OK || fo_sim_error_text(slot->sim)[0] != '\0');
    HOLDS(slot->good || !slot->sim || error != FO_SIM_OK);
    if (placed && error == FO_SIM_OK) {
        p->users++;
        slot->placed++;
    }
}

/* ---- calls */

static void call_schedule(Program *p, Slot *slot)
{
    const gboolean none = !below(p, 10);
    User *user = user_new(p, slot, TRUE);
    after(p, slot, fo_sim_schedule(slot->sim, draw_time(p, slot), none ? NULL : on_event, user), TRUE);
}

static void call_message(Program *p, Slot *slot)
{
    const FoSimMessage message = {draw_gpu(p), draw_gpu(p), draw_bytes(p), below(p, 4) ? below(p, 3) : draw_number(p)};
    const FoSimMessage *given = below(p, 20) ? &message : NULL;
    const guint64 at_ps = draw_time(p, slot);
    User *user = user_new(p, slot, FALSE);
    const gboolean receive = below(p, 2);
    TELL(p, "%s at %" G_GUINT64_FORMAT ": %u to %u, %" G_GUINT64_FORMAT " bytes\n", receive ? "receive" : "send", at_ps,
         message.from, message.to, message.bytes);
    const FoSimError error = receive ? fo_sim_recv(slot->sim, at_ps, given, on_done, user)
                                     : fo_sim_send(slot->sim, at_ps, given, on_done, user);
    if (error == FO_SIM_OK && is_long(message.bytes) && !receive)
        slot->endless = TRUE;
    after(p, slot, error, TRUE);
}

static void call_memory(Program *p, Slot *slot)
{
    FoSimMemory memory = 77;
    const gboolean none = !below(p, 10);
    const FoSimError error = fo_sim_memory(slot->sim, draw_gpu(p), draw_bytes(p), none ? NULL : &memory);
    after(p, slot, error, FALSE);
    HOLDS(none || (memory != 0) == (error == FO_SIM_OK));
    if (error == FO_SIM_OK)
        slot->memories = memory;
}

static void draw_gpus(Program *p, guint32 gpus[8], guint32 *n)
{
    *n = below(p, 8) ? 2 + (guint32)below(p, 3) : (guint32)draw_number(p);
    for (guint32 i = 0; i < 8; i++)
        gpus[i] = below(p, 12) ? i % 4 : draw_gpu(p);
    if (*n > 8 && *n <= 1024) /* what is read may not lie behind the array: that is the program's own fault */
        *n = 8;
}

static void call_team(Program *p, Slot *slot)
{
    guint32 gpus[8], n;
    FoSimMemory team = 77, member[8];
    draw_gpus(p, gpus, &n);
    const gboolean none = !below(p, 10);
    const FoSimError error = fo_sim_team(slot->sim, below(p, 20) ? gpus : NULL, n, draw_bytes(p), none ? NULL : &team,
                                         below(p, 2) ? member : NULL);
    after(p, slot, error, FALSE);
    HOLDS(none || (team != 0) == (error == FO_SIM_OK));
    if (error == FO_SIM_OK)
        slot->memories = team;
}

static FoSimMemory draw_memory(Program *p, const Slot *slot)
{
    return below(p, 10) ? (FoSimMemory)below(p, slot->memories + 2ull) : (FoSimMemory)draw_number(p);
}

static void call_contents(Program *p, Slot *slot)
{
    guint8 bytes[64] = {1, 2, 3};
    void *data = below(p, 10) ? bytes : NULL;
    const gsize n = below(p, 4) ? below(p, sizeof bytes + 1) : (gsize)draw_number(p);
    const guint64 offset = below(p, 2) ? below(p, 64) : draw_number(p);
    const FoSimMemory memory = draw_memory(p, slot);
    if (n > sizeof bytes && offset + n < 1ull << 37) /* as above: data has 64 bytes */
        return;
    after(p, slot,
          below(p, 2) ? fo_sim_write(slot->sim, memory, offset, data, n)
                      : fo_sim_read(slot->sim, memory, offset, data, n),
          FALSE);
}

static void call_place(Program *p, Slot *slot)
{
    FoSimAccess access = {.operation = (FoSimOperation)below(p, FO_SIM_OPERATIONS + 1),
                          .gpu = draw_gpu(p),
                          .memory = draw_memory(p, slot),
                          .to_memory = draw_memory(p, slot),
                          .offset = below(p, 2) ? 0 : draw_bytes(p),
                          .to_offset = below(p, 2) ? 0 : draw_bytes(p),
                          .bytes = draw_bytes(p),
                          .type = (FoSimType)below(p, FO_SIM_TYPES + 1)};
    if (!below(p, 20))
        access.operation = (FoSimOperation)draw_number(p);
    if (!below(p, 20))
        access.type = (FoSimType)draw_number(p);
    if (!below(p, 4))
        access.ctas = draw_ctas(p);
    if (!below(p, 4))
        access.threads = below(p, 4) ? 32 * (guint32)below(p, 34) : (guint32)draw_number(p);
    for (guint i = 0; i < sizeof access.value; i++)
        access.value[i] = (guint8)rng_next(&p->rng);
    User *user = user_new(p, slot, FALSE);
    const guint64 at_ps = draw_time(p, slot);
    TELL(p, "place at %" G_GUINT64_FORMAT ": %d of GPU %u, %" G_GUINT64_FORMAT " bytes, %u CTAs of %u\n", at_ps,
         (int)access.operation, access.gpu, access.bytes, access.ctas, access.threads);
    const FoSimError error = fo_sim_place(slot->sim, at_ps, below(p, 30) ? &access : NULL, on_done, user);
    if (error == FO_SIM_OK && (is_long(access.bytes) || access.ctas > 40))
        slot->endless = TRUE;
    after(p, slot, error, TRUE);
}

static void call_coll(Program *p, Slot *slot)
{
    static const char *const ops[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
                                      "all_to_all", "sendrecv",   "gather",         "scatter",   "barrier"};
    static const char *const algos[] = {"ring", "tree", "nvls",    "nvls_buffered", "oneshot",  "twoshot", "lamport",
                                        "best", "auto", "unicast", "direct",        "endpoint", "pull",    "pullred"};
    static const char *const protos[] = {"simple", "ll", "ll128"}, *const types[] = {"f32",  "f16", "bf16", "f64",
                                                                                     "e4m3", "u32", "s32",  "u64"};
    guint32 gpus[8], n;
    draw_gpus(p, gpus, &n);
    FoSimCollective coll = {.op = draw_word(p, ops, G_N_ELEMENTS(ops)), .bytes = draw_bytes(p)};
    if (below(p, 3))
        coll.algo = draw_word(p, algos, G_N_ELEMENTS(algos));
    if (!below(p, 3))
        coll.proto = draw_word(p, protos, G_N_ELEMENTS(protos));
    if (!below(p, 3))
        coll.type = draw_word(p, types, G_N_ELEMENTS(types));
    if (!below(p, 3))
        coll.gpus = gpus, coll.n = n;
    if (!below(p, 4))
        coll.root = draw_gpu(p);
    if (!below(p, 8))
        coll.ctas = draw_ctas(p), coll.threads = (guint32)draw_number(p);
    if (fo_sim_gpus(slot->sim) > 8 && !is_long(coll.bytes)) /* each of 72 may store to each other one */
        coll.bytes = MIN(coll.bytes, 1024);
    coll.check = !below(p, 3);
    if (!below(p, 30))
        coll.op = NULL;
    User *user = user_new(p, slot, FALSE);
    const guint64 at_ps = draw_time(p, slot);
    TELL(p, "collective at %" G_GUINT64_FORMAT ": %s %s %s, %" G_GUINT64_FORMAT " bytes, %u CTAs of %u\n", at_ps,
         coll.op, coll.algo ? coll.algo : "-", coll.type ? coll.type : "-", coll.bytes, coll.ctas, coll.threads);
    const FoSimError error = fo_sim_coll(slot->sim, at_ps, below(p, 30) ? &coll : NULL, on_done, user);
    if (error == FO_SIM_OK && (is_long(coll.bytes) || coll.ctas > 40))
        slot->endless = TRUE;
    after(p, slot, error, TRUE);
}

static void call_results(Program *p, Slot *slot)
{
    const FoSimParameter *parameters;
    FoSimStatistics now;
    size_t n;
    switch (below(p, 4)) {
    case 0: after(p, slot, fo_sim_parameters(slot->sim, below(p, 8) ? &parameters : NULL, &n), FALSE); break;
    case 1: {
        const gsize bytes = below(p, 2) ? sizeof now : below(p, sizeof now + 1);
        const FoSimError error = fo_sim_statistics(slot->sim, below(p, 8) ? &now : NULL, bytes);
        after(p, slot, error, FALSE);
        if (error == FO_SIM_OK && bytes == sizeof now)
            HOLDS(now.done <= now.placed && now.failed <= now.done && now.now_ps >= slot->now_ps);
        break;
    }
    case 2: {
        const char *report = fo_sim_report(slot->sim);
        HOLDS((report != NULL) == slot->good);
        HOLDS(!report || strstr(report, "\"fanout/1\""));
        break;
    }
    default:
        HOLDS((fo_sim_gpus(slot->sim) > 0) == slot->good);
        HOLDS(fo_sim_error_name((FoSimError)draw_number(p))[0] != '\0');
        (void)fo_sim_system((unsigned)draw_number(p));
    }
}

static void call_run(Program *p, Slot *slot)
{
    const gboolean whole = !slot->endless && below(p, 2);
    const guint64 until_ps = whole ? FO_SIM_FOREVER : slot->now_ps + below(p, slot->endless ? 300000 : 5000000);
    const gboolean inner = p->is_running;
    TELL(p, "run %td until %" G_GUINT64_FORMAT "%s\n", slot - p->slot, until_ps, inner ? " within" : "");
    p->is_running = TRUE;
    slot->stopped = inner ? slot->stopped : FALSE;
    const FoSimError error = fo_sim_run(slot->sim, until_ps);
    p->is_running = inner;
    after(p, slot, error, FALSE);
    if (!slot->good)
        return;
    HOLDS(inner ? error == FO_SIM_ERROR_BUSY || error == FO_SIM_ERROR_TIME
                : error == FO_SIM_OK || error == FO_SIM_ERROR_STUCK);
    HOLDS(fo_sim_now_ps(slot->sim) >= slot->now_ps);
    slot->now_ps = fo_sim_now_ps(slot->sim);
    if (whole && !inner && !slot->stopped && error == FO_SIM_OK)
        HOLDS(slot->told == slot->placed);
}

static void call_stop(Program *p, Slot *slot)
{
    const FoSimError error = fo_sim_stop(slot->sim);
    after(p, slot, error, FALSE);
    slot->stopped = TRUE;
}

static void call_close(Program *p, Slot *slot)
{
    const FoSimError error = fo_sim_close(slot->sim);
    if (p->is_running && slot->sim) {
        HOLDS(error == FO_SIM_ERROR_BUSY);
        return;
    }
    HOLDS(error == FO_SIM_OK);
    *slot = (Slot){.program = p};
}

static void call_open(Program *p, Slot *slot)
{
    static const char *const systems[] = {"teach-4gpu", "teach-4gpu", "teach-4gpu", "teach-4gpu", "teach-4gpu",
                                          "dgx-h100",   "no.ini",     "/",          "gb200-nvl72"};
    const char *sets[3] = {below(p, 3) ? NULL : draw_set(p), draw_set(p), NULL};
    const FoSimSpec spec = {.version = below(p, 20) ? FO_SIM_VERSION : (guint32)draw_number(p),
                            .system = draw_word(p, systems, G_N_ELEMENTS(systems)),
                            .config = below(p, 20) ? NULL : "/dev/null/none",
                            .sets = below(p, 4) ? NULL : sets,
                            .seed = draw_number(p),
                            .keep_bytes = !below(p, 2),
                            .reference = !below(p, 6)};
    if (slot->sim)
        call_close(p, slot);
    if (slot->sim)
        return;
    FoSimError error = fo_sim_open(&slot->sim, below(p, 40) ? &spec : NULL);
    TELL(p, "open %td: %s, %s %s, engine %d: %s\n", slot - p->slot, spec.system, sets[0] ? sets[0] : "", sets[1],
         spec.reference, fo_sim_error_name(error));
    slot->good = error == FO_SIM_OK;
    HOLDS(slot->good || error == FO_SIM_ERROR_SYSTEM || error == FO_SIM_ERROR_VERSION ||
          error == FO_SIM_ERROR_ARGUMENT || (p->is_running && error == FO_SIM_ERROR_BUSY));
    after(p, slot, error, FALSE);
}

static void draw_calls(Program *p, guint n)
{
    static void (*const calls[])(Program *, Slot *) = {
        call_schedule, call_message, call_message, call_memory, call_team, call_contents, call_place, call_place,
        call_place,    call_coll,    call_coll,    call_run,    call_run,  call_results,  call_stop,  call_open};
    for (; n && p->calls && p->users < USERS - 1; n--) {
        p->calls--;
        Slot *slot = &p->slot[below(p, 4) ? 0 : below(p, SIMS)];
        calls[below(p, G_N_ELEMENTS(calls))](p, slot);
        if (!below(p, 60))
            call_close(p, slot);
    }
}

/* ---- another thread, while the first one calls, too */

static gpointer on_thread(gpointer data)
{
    FoSim *sim = data, *own;
    const FoSimSpec spec = {.version = FO_SIM_VERSION, .system = "teach-4gpu"};
    const FoSimMessage message = {0, 1, 16, 0};
    FoSimStatistics now;
    FoSimMemory memory;
    for (int i = 0; i < 20; i++) {
        HOLDS(fo_sim_open(&own, &spec) == FO_SIM_ERROR_THREAD && !own);
        HOLDS(fo_sim_run(sim, FO_SIM_FOREVER) == FO_SIM_ERROR_THREAD);
        HOLDS(fo_sim_send(sim, 0, &message, NULL, NULL) == FO_SIM_ERROR_THREAD);
        HOLDS(fo_sim_recv(sim, 0, NULL, NULL, NULL) == FO_SIM_ERROR_THREAD);
        HOLDS(fo_sim_schedule(sim, 0, NULL, NULL) == FO_SIM_ERROR_THREAD);
        HOLDS(fo_sim_memory(sim, 0, 16, &memory) == FO_SIM_ERROR_THREAD);
        HOLDS(fo_sim_place(sim, 0, NULL, NULL, NULL) == FO_SIM_ERROR_THREAD);
        HOLDS(fo_sim_coll(sim, 0, NULL, NULL, NULL) == FO_SIM_ERROR_THREAD);
        HOLDS(fo_sim_statistics(sim, &now, sizeof now) == FO_SIM_ERROR_THREAD);
        HOLDS(!fo_sim_report(sim) && fo_sim_now_ps(sim) == 0);
        HOLDS(fo_sim_stop(sim) == FO_SIM_ERROR_THREAD && fo_sim_close(sim) == FO_SIM_ERROR_THREAD);
        HOLDS(strstr(fo_sim_error_text(sim), "belong to the thread"));
    }
    return NULL;
}

/* A thread that has them while the first one has none. */
static gpointer on_owner(gpointer data)
{
    Program *p = data;
    draw_calls(p, CALLS);
    for (guint i = 0; i < SIMS; i++)
        call_close(p, &p->slot[i]);
    return NULL;
}

static void one(const FuzzSeed *seed, const guint8 *data, gsize bytes, guint64 turn)
{
    Program *p = g_new0(Program, 1);
    (void)data;
    (void)bytes;
    rng_init(&p->rng, rng_hash(fuzz_variable("FUZZ_SEED", 1) * 1000003 + turn), seed->name);
    p->calls = 3 * CALLS;
    p->tells = g_getenv("FUZZ_ONLY") != NULL;
    for (guint i = 0; i < SIMS; i++)
        p->slot[i].program = p;
    GThread *thread = NULL;
    if (!below(p, 10)) {
        g_thread_join(g_thread_new("owner", on_owner, p));
    } else {
        call_open(p, &p->slot[0]);
        FoSim *kept = NULL; /* open for as long as the thread is there, and called by nobody else */
        const FoSimSpec spec = {.version = FO_SIM_VERSION, .system = "teach-4gpu"};
        if (!below(p, 10) && fo_sim_open(&kept, &spec) == FO_SIM_OK)
            thread = g_thread_new("other", on_thread, kept);
        draw_calls(p, CALLS);
        if (thread)
            g_thread_join(thread);
        for (guint i = 0; i < SIMS; i++)
            call_close(p, &p->slot[i]);
        HOLDS(fo_sim_close(kept) == FO_SIM_OK);
    }
    g_free(p);
}

int main(void)
{
    static const FuzzSeed seeds[] = {{.name = "library", .text = "."}};
    return fuzz_run(seeds, G_N_ELEMENTS(seeds), one);
}
