/* See issue_rate.h. */
#include "model/flow/issue_rate.h"

#include <string.h>

#include "model/flow/rates.h"
#include "sim/rng.h"

#define SM_TURNS_FEW 32u /* of each warp, simulated for loops that have no more; */
#define SM_TURNS                                                                                                       \
    512u /* for others: those beyond take what the last three quarters take. Warps that meet at the LSU
                          * take a hundred turns to get out of step, if they ever do */
#define SM_WARPS_MAX 32u

typedef struct {
    SimTime not_before_ps, front_ps, asked_ps, issued_ps; /* as in Warp */
    SimTime wake_ps;                                      /* SIMTIME_NEVER: it is ready */
    guint32 step, k;
    SimTime *there_ps; /* its registers: by register and element */
} IssueWarp;

typedef struct {
    const IssueLoop *kind;
    const SmSpec *spec;
    IssueWarp warp[SM_WARPS_MAX];
    guint32 ready[SM_WARPS_MAX], n_ready; /* in order */
    guint32 last;                         /* that issued */
    guint32 turns, late;                  /* of all warps: and loads that were late */
    SimTime now_ps, away_ps;
} IssueReplay;

static void issue_wake(IssueReplay *replay)
{
    for (;;) {
        IssueWarp *first = NULL;
        for (guint32 w = 0; w < replay->kind->warps; w++)
            if (replay->warp[w].wake_ps <= replay->now_ps && (!first || replay->warp[w].wake_ps < first->wake_ps))
                first = &replay->warp[w];
        if (!first)
            return;
        first->front_ps = first->asked_ps = first->wake_ps;
        first->wake_ps = SIMTIME_NEVER;
        replay->ready[replay->n_ready++] = (guint32)(first - replay->warp);
    }
}

/* Its place among those that are ready, n_ready: none may go on before *when_ps. */
static guint32 issue_choose(const IssueReplay *replay, SimTime *when_ps)
{
    guint32 best = replay->n_ready;
    *when_ps = SIMTIME_NEVER;
    for (guint32 w = 0; w < replay->kind->warps; w++)
        *when_ps = MIN(*when_ps, replay->warp[w].wake_ps);
    for (guint32 i = 0; i < replay->n_ready; i++) {
        guint32 w = replay->ready[i];
        if (replay->warp[w].not_before_ps > replay->now_ps) {
            *when_ps = MIN(*when_ps, replay->warp[w].not_before_ps);
            continue;
        }
        if (replay->spec->arbitration != SM_GREEDY)
            return i;
        if (w == replay->last)
            return i;
        if (best == replay->n_ready || w < replay->ready[best])
            best = i;
    }
    return best;
}

static void issue_next(IssueReplay *replay, IssueWarp *warp, guint32 elements)
{
    warp->k += elements;
    if (warp->k < replay->kind->unroll)
        return;
    warp->k = 0;
    if (++warp->step == replay->kind->steps) {
        warp->step = 0;
        replay->turns++;
    }
}

static void issue_work(IssueReplay *replay, IssueWarp *warp, const IssueStep *step)
{
    SimTime end_ps = MAX(warp->asked_ps + step->value_ps, warp->issued_ps + step->after_ps);
    if (step->kind == UOP_DELAY)
        end_ps = replay->now_ps + step->value_ps;
    issue_next(replay, warp, replay->kind->unroll);
    if (end_ps > replay->now_ps)
        warp->wake_ps = end_ps;
}

/* Until a register is there. */
static gboolean issue_waits(const IssueReplay *replay, IssueWarp *warp, guint32 reg)
{
    if (reg == LOOP_NO_REG || reg >= replay->kind->regs)
        return FALSE;
    SimTime there_ps = warp->there_ps[reg * replay->kind->unroll + warp->k];
    if (there_ps > replay->now_ps)
        warp->wake_ps = there_ps;
    return there_ps > replay->now_ps;
}

/* Drawn anew for each load, and the same in each replay. */
static SimTime issue_late_ps(IssueReplay *replay)
{
    return replay->kind->late_ps[rng_hash(replay->late++) % ISSUE_LATE];
}

/* From this memory instruction to the next one, as sm_after_ps() in model/sm/sm.c. */
static SimTime issue_gap_ps(const IssueReplay *replay, const IssueWarp *warp)
{
    const IssueStep *step = &replay->kind->step[warp->step];
    if (warp->step >= replay->kind->last && warp->k + 1 >= replay->kind->unroll)
        return replay->spec->warp_issue_ps;
    return sm_gap_ps(2 * replay->spec->clock_ps, step->kind == UOP_STORE || step->kind == UOP_MC_STORE, step->value_ps);
}

/* A warp's next step; the LSU's time of it. */
static SimTime issue_memory(IssueReplay *replay, IssueWarp *warp)
{
    const IssueStep *step = &replay->kind->step[warp->step];
    if (step->kind == UOP_WORK || step->kind == UOP_DELAY) {
        issue_work(replay, warp, step);
        return 0;
    }
    if (issue_waits(replay, warp, step->reg))
        return 0;
    if (step->kind == UOP_ARITH) {
        if (!issue_waits(replay, warp, step->with))
            issue_next(replay, warp, 1);
        return 0;
    }
    if (step->kind == UOP_LOAD || step->kind == UOP_MC_LOAD)
        warp->there_ps[step->reg * replay->kind->unroll + warp->k] = replay->now_ps + replay->kind->answer_ps +
                                                                     (step->late ? issue_late_ps(replay) : 0);
    if (step->away && replay->away_ps == 0)
        replay->away_ps = replay->now_ps;
    warp->asked_ps = MAX(warp->front_ps, warp->not_before_ps);
    warp->issued_ps = warp->front_ps = replay->now_ps;
    warp->not_before_ps = replay->now_ps + issue_gap_ps(replay, warp);
    issue_next(replay, warp, 1);
    const IssueStep *next = &replay->kind->step[warp->step];
    if (warp->k == 0 && next->kind == UOP_WORK && next->after_ps == 0) /* needs nothing of what waits at the LSU */
        issue_work(replay, warp, next);
    return step->value_ps;
}

static void issue_step(IssueReplay *replay)
{
    SimTime when_ps;
    issue_wake(replay);
    guint32 i = issue_choose(replay, &when_ps);
    if (i == replay->n_ready) {
        replay->now_ps = MAX(when_ps, replay->now_ps + 1);
        return;
    }
    guint32 w = replay->ready[i];
    replay->last = w;
    SimTime lsu_ps = issue_memory(replay, &replay->warp[w]);
    gboolean blocked = replay->warp[w].wake_ps != SIMTIME_NEVER;
    if (blocked || replay->spec->arbitration != SM_GREEDY) {
        memmove(&replay->ready[i], &replay->ready[i + 1], (replay->n_ready - i - 1) * sizeof *replay->ready);
        replay->ready[replay->n_ready - 1] = w;
        replay->n_ready -= blocked;
    }
    replay->now_ps += lsu_ps;
}

typedef struct {
    IssueLoop kind;
    guint32 turns;
    SimTime away_ps;
    SimTime done_ps[SM_TURNS + 1]; /* by turns of all warps */
} IssueRate;

static void issue_run(const SmSpec *spec, IssueRate *rate)
{
    const IssueLoop *kind = &rate->kind;
    g_autofree IssueReplay *replay = g_new0(IssueReplay, 1);
    guint32 regs = kind->regs * kind->unroll, done = 0;
    g_autofree SimTime *there_ps = g_new0(SimTime, kind->warps * regs + 1);
    replay->kind = kind;
    replay->spec = spec;
    replay->n_ready = kind->warps;
    g_assert(kind->warps >= 1 && kind->warps <= SM_WARPS_MAX && kind->steps >= 1);
    for (guint32 w = 0; w < kind->warps; w++) {
        replay->warp[w].there_ps = &there_ps[w * regs];
        replay->warp[w].wake_ps = SIMTIME_NEVER;
        replay->ready[w] = w;
    }
    while (done < rate->turns) {
        issue_step(replay);
        while (done < rate->turns && replay->turns >= (done + 1) * kind->warps)
            rate->done_ps[++done] = replay->now_ps;
    }
    rate->away_ps = replay->away_ps;
}

/* ---- what was asked before */

struct IssueRates {
    const SmSpec *spec;
    GHashTable *known;
};

static gsize issue_rate_bytes(const IssueLoop *kind)
{
    return G_STRUCT_OFFSET(IssueLoop, step) + kind->steps * sizeof *kind->step;
}

static guint issue_rate_hash(gconstpointer key)
{
    const guint8 *byte = key;
    guint hash = 5381;
    for (gsize i = 0; i < issue_rate_bytes(key); i++)
        hash = hash * 33 + byte[i];
    return hash;
}

static gboolean issue_rate_equal(gconstpointer a, gconstpointer b)
{
    const IssueLoop *x = a, *y = b;
    return x->steps == y->steps && memcmp(x, y, issue_rate_bytes(x)) == 0;
}

IssueRates *issue_rates_new(const SmSpec *spec)
{
    IssueRates *rates = g_new0(IssueRates, 1);
    rates->spec = spec;
    rates->known = g_hash_table_new_full(issue_rate_hash, issue_rate_equal, g_free, NULL);
    return rates;
}

void issue_rates_free(IssueRates *rates)
{
    g_hash_table_destroy(rates->known);
    g_free(rates);
}

static const IssueRate *issue_rate_of(IssueRates *rates, const IssueLoop *kind, guint64 turns)
{
    IssueRate *rate = g_hash_table_lookup(rates->known, kind);
    if (!rate) {
        rate = g_new0(IssueRate, 1);
        memcpy(&rate->kind, kind, issue_rate_bytes(kind));
        g_hash_table_add(rates->known, rate);
    }
    if (turns >= rate->turns * 1000 && rate->turns < SM_TURNS) {
        rate->turns = turns < SM_TURNS_FEW * 1000 ? SM_TURNS_FEW : SM_TURNS;
        issue_run(rates->spec, rate);
    }
    return rate;
}

SimTime issue_rate_away_ps(IssueRates *rates, const IssueLoop *kind) { return issue_rate_of(rates, kind, 0)->away_ps; }

SimTime issue_rate_ps(IssueRates *rates, const IssueLoop *kind, guint64 turns)
{
    const SimTime *done_ps = issue_rate_of(rates, kind, turns)->done_ps;
    guint64 whole = turns / 1000, rest = turns % 1000;
    if (whole == 0)
        return done_ps[1];
    if (whole < SM_TURNS)
        return done_ps[whole] + (done_ps[whole + 1] - done_ps[whole]) * rest / 1000;
    SimTime steady_ps = done_ps[SM_TURNS] - done_ps[SM_TURNS / 4];
    return done_ps[SM_TURNS] + flow_part(steady_ps, turns - SM_TURNS * 1000, SM_TURNS / 4 * 3000);
}
