/* Proves that no drawn call of libfanout's interface ends the program, hangs, or leaves something half done: absurd
 * arguments of every function, calls from callbacks, exceptions that leave them, calls of a second thread, several
 * simulators, and closing in the middle. Each call that is refused has a code with a name and words and changes
 * nothing; each placed thing is told of once, and by the end of a run that had no end set; a clock never goes back.
 *
 * An input is a program of calls that its number draws (tests/fuzz.h has the variables), with the arguments of
 * tests/lib/draw.h; `make fuzz` runs it long, and FUZZ_ONLY tells what is placed and run, a line each. */
#include "tests/fuzz.h"
#include "tests/lib/draw.h"

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
    gboolean thrown;  /* likewise: an exception has left a callback */
    guint placed, told;
    guint64 now_ps;
    FoSimMemory memories; /* the largest number */
} Slot;
typedef struct {
    Slot *slot;
    gboolean is_event, told;
} User;
struct Program {
    Draw draw;
    Slot slot[SIMS];
    guint calls; /* that may still be made */
    guint users;
    User user[USERS]; /* of what was placed */
    gboolean tells;
};

#define TELL(p, ...) (void)((p)->tells && fprintf(stderr, __VA_ARGS__))

static guint64 below(Program *p, guint64 bound) { return draw_below(&p->draw, bound); }

/* ---- what is told */

/* What `throw std::runtime_error(text)` becomes, which C has no words for. */
G_GNUC_NORETURN void throw_runtime_error(const char *text) __asm__("_ZSt21__throw_runtime_errorPKc");

static void draw_calls(Program *p, guint n);

static void on_told(User *user, FoSim *sim)
{
    Slot *slot = user->slot;
    Program *p = slot->program;
    HOLDS(slot->sim == sim);
    HOLDS(!user->told);
    HOLDS(p->draw.is_running);
    HOLDS(fo_sim_now_ps(sim) >= slot->now_ps);
    slot->now_ps = fo_sim_now_ps(sim);
    user->told = TRUE;
    slot->told++;
    if (!below(p, 3))
        draw_calls(p, 1 + (guint)below(p, 3));
    if (!below(p, 200)) {
        slot->thrown = slot->stopped = TRUE;
        TELL(p, "throw\n");
        throw_runtime_error("drawn");
    }
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
    after(p, slot, fo_sim_schedule(slot->sim, draw_time(&p->draw, slot->now_ps), none ? NULL : on_event, user), TRUE);
}

static void call_message(Program *p, Slot *slot)
{
    FoSimMessage message;
    draw_message(&p->draw, &message);
    const FoSimMessage *given = below(p, 20) ? &message : NULL;
    const guint64 at_ps = draw_time(&p->draw, slot->now_ps);
    User *user = user_new(p, slot, FALSE);
    const gboolean receive = below(p, 2);
    TELL(p, "%s at %" G_GUINT64_FORMAT ": %u to %u, %" G_GUINT64_FORMAT " bytes\n", receive ? "receive" : "send", at_ps,
         message.from, message.to, message.bytes);
    const FoSimError error = receive ? fo_sim_recv(slot->sim, at_ps, given, on_done, user)
                                     : fo_sim_send(slot->sim, at_ps, given, on_done, user);
    if (error == FO_SIM_OK && draw_is_long(message.bytes, 0) && !receive)
        slot->endless = TRUE;
    after(p, slot, error, TRUE);
}

static void call_memory(Program *p, Slot *slot)
{
    FoSimMemory memory = 77;
    const gboolean none = !below(p, 10);
    const guint64 bytes = draw_bytes(&p->draw);
    const FoSimError error = fo_sim_memory(slot->sim, draw_gpu(&p->draw), bytes, none ? NULL : &memory);
    after(p, slot, error, FALSE);
    HOLDS(none || (memory != 0) == (error == FO_SIM_OK));
    if (error == FO_SIM_OK)
        slot->memories = memory;
}

static void call_team(Program *p, Slot *slot)
{
    guint32 gpus[8], n;
    FoSimMemory team = 77, member[8];
    draw_gpus(&p->draw, gpus, &n);
    const gboolean none = !below(p, 10);
    FoSimMemory *members = below(p, 2) ? member : NULL;
    const guint64 bytes = draw_bytes(&p->draw);
    const FoSimError error = fo_sim_team(slot->sim, below(p, 20) ? gpus : NULL, n, bytes, none ? NULL : &team, members);
    after(p, slot, error, FALSE);
    HOLDS(none || (team != 0) == (error == FO_SIM_OK));
    if (error == FO_SIM_OK)
        slot->memories = team;
}

static void call_contents(Program *p, Slot *slot)
{
    guint8 bytes[64] = {1, 2, 3};
    void *data = below(p, 10) ? bytes : NULL;
    const gsize n = below(p, 4) ? below(p, sizeof bytes + 1) : (gsize)draw_number(&p->draw);
    const guint64 offset = below(p, 2) ? below(p, 64) : draw_number(&p->draw);
    const FoSimMemory memory = draw_memory(&p->draw, slot->memories);
    if (n > sizeof bytes && offset + n < 1ull << 37) /* as above: data has 64 bytes */
        return;
    after(p, slot,
          below(p, 2) ? fo_sim_write(slot->sim, memory, offset, data, n)
                      : fo_sim_read(slot->sim, memory, offset, data, n),
          FALSE);
}

static void call_place(Program *p, Slot *slot)
{
    FoSimAccess access;
    draw_access(&p->draw, &access, slot->memories);
    User *user = user_new(p, slot, FALSE);
    const guint64 at_ps = draw_time(&p->draw, slot->now_ps);
    TELL(p, "place at %" G_GUINT64_FORMAT ": %d of GPU %u, %" G_GUINT64_FORMAT " bytes, %u CTAs of %u\n", at_ps,
         (int)access.operation, access.gpu, access.bytes, access.ctas, access.threads);
    const FoSimError error = fo_sim_place(slot->sim, at_ps, below(p, 30) ? &access : NULL, on_done, user);
    if (error == FO_SIM_OK && draw_is_long(access.bytes, access.ctas))
        slot->endless = TRUE;
    after(p, slot, error, TRUE);
}

static void call_coll(Program *p, Slot *slot)
{
    guint32 gpus[8];
    FoSimCollective coll;
    draw_collective(&p->draw, &coll, gpus);
    if (fo_sim_gpus(slot->sim) > 8 && !draw_is_long(coll.bytes, 0)) /* each of 72 may store to each other one */
        coll.bytes = MIN(coll.bytes, 1024);
    User *user = user_new(p, slot, FALSE);
    const guint64 at_ps = draw_time(&p->draw, slot->now_ps);
    TELL(p, "collective at %" G_GUINT64_FORMAT ": %s %s %s, %" G_GUINT64_FORMAT " bytes, %u CTAs of %u\n", at_ps,
         coll.op, coll.algo ? coll.algo : "-", coll.type ? coll.type : "-", coll.bytes, coll.ctas, coll.threads);
    const FoSimError error = fo_sim_coll(slot->sim, at_ps, below(p, 30) ? &coll : NULL, on_done, user);
    if (error == FO_SIM_OK && draw_is_long(coll.bytes, coll.ctas))
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
        HOLDS(fo_sim_error_name((FoSimError)draw_number(&p->draw))[0] != '\0');
        (void)fo_sim_system((unsigned)draw_number(&p->draw));
    }
}

static void call_run(Program *p, Slot *slot)
{
    const gboolean whole = !slot->endless && below(p, 2);
    const guint64 until_ps = whole ? FO_SIM_FOREVER : slot->now_ps + below(p, slot->endless ? 300000 : 5000000);
    const gboolean inner = p->draw.is_running;
    TELL(p, "run %td until %" G_GUINT64_FORMAT "%s\n", slot - p->slot, until_ps, inner ? " within" : "");
    p->draw.is_running = TRUE;
    if (!inner)
        slot->stopped = slot->thrown = FALSE;
    const FoSimError error = fo_sim_run(slot->sim, until_ps);
    p->draw.is_running = inner;
    after(p, slot, error, FALSE);
    if (!slot->good)
        return;
    if (inner)
        HOLDS(error == FO_SIM_ERROR_BUSY || error == FO_SIM_ERROR_TIME);
    else if (slot->thrown)
        HOLDS(error == FO_SIM_ERROR_CALLBACK);
    else
        HOLDS(error == FO_SIM_OK || error == FO_SIM_ERROR_STUCK);
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
    if (p->draw.is_running && slot->sim) {
        HOLDS(error == FO_SIM_ERROR_BUSY);
        return;
    }
    HOLDS(error == FO_SIM_OK);
    *slot = (Slot){.program = p};
}

static void call_open(Program *p, Slot *slot)
{
    const char *sets[3];
    FoSimSpec spec;
    draw_spec(&p->draw, &spec, sets);
    if (slot->sim)
        call_close(p, slot);
    if (slot->sim)
        return;
    FoSimError error = fo_sim_open(&slot->sim, below(p, 40) ? &spec : NULL);
    TELL(p, "open %td: %s, %s %s, engine %d: %s\n", slot - p->slot, spec.system, sets[0] ? sets[0] : "", sets[1],
         spec.reference, fo_sim_error_name(error));
    slot->good = error == FO_SIM_OK;
    HOLDS(slot->good || error == FO_SIM_ERROR_SYSTEM || error == FO_SIM_ERROR_VERSION ||
          error == FO_SIM_ERROR_ARGUMENT || (p->draw.is_running && error == FO_SIM_ERROR_BUSY));
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
    rng_init(&p->draw.rng, rng_hash(fuzz_variable("FUZZ_SEED", 1) * 1000003 + turn), seed->name);
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

/* The sanitizers ask this program: no leaks are looked for. Closing a simulator abandons the frames of kernels that did
 * not end, and what these hold stays (docs/reliability.md). */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }

int main(void)
{
    static const FuzzSeed seeds[] = {{.name = "library", .text = "."}};
    return fuzz_run(seeds, G_N_ELEMENTS(seeds), one);
}
