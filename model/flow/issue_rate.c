/* See issue_rate.h. */
#include "model/flow/issue_rate.h"

#include <string.h>

#include "model/flow/rates.h"

#define SM_TURNS_FEW 32u /* of each warp, played for loops that have no more; */
#define SM_TURNS 512u    /* for others: those beyond take what the last three quarters take. Warps that meet at the LSU
                          * take a hundred turns to get out of step, if they ever do */
#define SM_WARPS_MAX 32u

typedef struct {
    SimTime not_before_ps, front_ps, asked_ps, issued_ps; /* as in Warp */
    SimTime wake_ps;   /* SIMTIME_NEVER: it is ready */
    guint32 step, k;
    SimTime *there_ps; /* its registers: by register and element */
} SmPlayWarp;

typedef struct {
    const SmPlayKind *kind;
    const SmSpec *spec;
    SmPlayWarp warp[SM_WARPS_MAX];
    guint32 ready[SM_WARPS_MAX], n_ready; /* in order */
    guint32 last;      /* that issued */
    guint32 turns;     /* of all warps */
    SimTime now_ps, away_ps;
} SmPlay;

static void play_wake(SmPlay *play)
{
    for (;;) {
        SmPlayWarp *first = NULL;
        for (guint32 w = 0; w < play->kind->warps; w++)
            if (play->warp[w].wake_ps <= play->now_ps && (!first || play->warp[w].wake_ps < first->wake_ps))
                first = &play->warp[w];
        if (!first)
            return;
        first->front_ps = first->asked_ps = first->wake_ps;
        first->wake_ps = SIMTIME_NEVER;
        play->ready[play->n_ready++] = (guint32)(first - play->warp);
    }
}

/* Its place among those that are ready, n_ready: nobody may go on before *when_ps. */
static guint32 play_choose(const SmPlay *play, SimTime *when_ps)
{
    guint32 best = play->n_ready;
    *when_ps = SIMTIME_NEVER;
    for (guint32 w = 0; w < play->kind->warps; w++)
        *when_ps = MIN(*when_ps, play->warp[w].wake_ps);
    for (guint32 i = 0; i < play->n_ready; i++) {
        guint32 w = play->ready[i];
        if (play->warp[w].not_before_ps > play->now_ps) {
            *when_ps = MIN(*when_ps, play->warp[w].not_before_ps);
            continue;
        }
        if (play->spec->arbitration != SM_GREEDY)
            return i;
        if (w == play->last)
            return i;
        if (best == play->n_ready || w < play->ready[best])
            best = i;
    }
    return best;
}

static void play_next(SmPlay *play, SmPlayWarp *warp, guint32 elements)
{
    warp->k += elements;
    if (warp->k < play->kind->unroll)
        return;
    warp->k = 0;
    if (++warp->step == play->kind->steps) {
        warp->step = 0;
        play->turns++;
    }
}

static void play_work(SmPlay *play, SmPlayWarp *warp, const SmStep *step)
{
    SimTime end_ps = MAX(warp->asked_ps + step->value_ps, warp->issued_ps + step->after_ps);
    if (step->kind == UOP_DELAY)
        end_ps = play->now_ps + step->value_ps;
    play_next(play, warp, play->kind->unroll);
    if (end_ps > play->now_ps)
        warp->wake_ps = end_ps;
}

/* Until a register is there. */
static gboolean play_waits(const SmPlay *play, SmPlayWarp *warp, guint32 reg)
{
    if (reg == LOOP_NO_REG || reg >= play->kind->regs)
        return FALSE;
    SimTime there_ps = warp->there_ps[reg * play->kind->unroll + warp->k];
    if (there_ps > play->now_ps)
        warp->wake_ps = there_ps;
    return there_ps > play->now_ps;
}

/* A warp's next step; the LSU's time of it. */
static SimTime play_issue(SmPlay *play, SmPlayWarp *warp)
{
    const SmStep *step = &play->kind->step[warp->step];
    if (step->kind == UOP_WORK || step->kind == UOP_DELAY) {
        play_work(play, warp, step);
        return 0;
    }
    if (play_waits(play, warp, step->reg))
        return 0;
    if (step->kind == UOP_ARITH) {
        if (!play_waits(play, warp, step->with))
            play_next(play, warp, 1);
        return 0;
    }
    if (step->kind == UOP_LOAD || step->kind == UOP_MC_LOAD)
        warp->there_ps[step->reg * play->kind->unroll + warp->k] = play->now_ps + play->kind->answer_ps;
    if (step->away && play->away_ps == 0)
        play->away_ps = play->now_ps;
    warp->asked_ps = MAX(warp->front_ps, warp->not_before_ps);
    warp->issued_ps = warp->front_ps = play->now_ps;
    warp->not_before_ps = play->now_ps + play->spec->warp_issue_ps;
    play_next(play, warp, 1);
    const SmStep *next = &play->kind->step[warp->step];
    if (warp->k == 0 && next->kind == UOP_WORK && next->after_ps == 0) /* needs nothing of what waits at the LSU */
        play_work(play, warp, next);
    return step->value_ps;
}

static void play_step(SmPlay *play)
{
    SimTime when_ps;
    play_wake(play);
    guint32 i = play_choose(play, &when_ps);
    if (i == play->n_ready) {
        play->now_ps = MAX(when_ps, play->now_ps + 1);
        return;
    }
    guint32 w = play->ready[i];
    play->last = w;
    SimTime lsu_ps = play_issue(play, &play->warp[w]);
    gboolean blocked = play->warp[w].wake_ps != SIMTIME_NEVER;
    if (blocked || play->spec->arbitration != SM_GREEDY) {
        memmove(&play->ready[i], &play->ready[i + 1], (play->n_ready - i - 1) * sizeof *play->ready);
        play->ready[play->n_ready - 1] = w;
        play->n_ready -= blocked;
    }
    play->now_ps += lsu_ps;
}

typedef struct {
    SmPlayKind kind;
    guint32 turns;
    SimTime away_ps;
    SimTime done_ps[SM_TURNS + 1]; /* by turns of all warps */
} SmPlayed;

static void play_run(const SmSpec *spec, SmPlayed *played)
{
    const SmPlayKind *kind = &played->kind;
    g_autofree SmPlay *play = g_new0(SmPlay, 1);
    guint32 regs = kind->regs * kind->unroll, done = 0;
    g_autofree SimTime *there_ps = g_new0(SimTime, kind->warps * regs + 1);
    play->kind = kind;
    play->spec = spec;
    play->n_ready = kind->warps;
    g_assert(kind->warps >= 1 && kind->warps <= SM_WARPS_MAX && kind->steps >= 1);
    for (guint32 w = 0; w < kind->warps; w++) {
        play->warp[w].there_ps = &there_ps[w * regs];
        play->warp[w].wake_ps = SIMTIME_NEVER;
        play->ready[w] = w;
    }
    while (done < played->turns) {
        play_step(play);
        while (done < played->turns && play->turns >= (done + 1) * kind->warps)
            played->done_ps[++done] = play->now_ps;
    }
    played->away_ps = play->away_ps;
}

/* ---- what was asked before */

struct SmPlays {
    const SmSpec *spec;
    GHashTable *played;
};

static gsize played_bytes(const SmPlayKind *kind)
{
    return G_STRUCT_OFFSET(SmPlayKind, step) + kind->steps * sizeof *kind->step;
}

static guint played_hash(gconstpointer key)
{
    const guint8 *byte = key;
    guint hash = 5381;
    for (gsize i = 0; i < played_bytes(key); i++)
        hash = hash * 33 + byte[i];
    return hash;
}

static gboolean played_equal(gconstpointer a, gconstpointer b)
{
    const SmPlayKind *x = a, *y = b;
    return x->steps == y->steps && memcmp(x, y, played_bytes(x)) == 0;
}

SmPlays *sm_plays_new(const SmSpec *spec)
{
    SmPlays *plays = g_new0(SmPlays, 1);
    plays->spec = spec;
    plays->played = g_hash_table_new_full(played_hash, played_equal, g_free, NULL);
    return plays;
}

void sm_plays_free(SmPlays *plays)
{
    g_hash_table_destroy(plays->played);
    g_free(plays);
}

static const SmPlayed *played_of(SmPlays *plays, const SmPlayKind *kind, guint64 turns)
{
    SmPlayed *played = g_hash_table_lookup(plays->played, kind);
    if (!played) {
        played = g_new0(SmPlayed, 1);
        memcpy(&played->kind, kind, played_bytes(kind));
        g_hash_table_add(plays->played, played);
    }
    if (turns >= played->turns * 1000 && played->turns < SM_TURNS) {
        played->turns = turns < SM_TURNS_FEW * 1000 ? SM_TURNS_FEW : SM_TURNS;
        play_run(plays->spec, played);
    }
    return played;
}

SimTime sm_play_away_ps(SmPlays *plays, const SmPlayKind *kind) { return played_of(plays, kind, 0)->away_ps; }

SimTime sm_play_ps(SmPlays *plays, const SmPlayKind *kind, guint64 turns)
{
    const SimTime *done_ps = played_of(plays, kind, turns)->done_ps;
    guint64 whole = turns / 1000, rest = turns % 1000;
    if (whole == 0)
        return done_ps[1];
    if (whole < SM_TURNS)
        return done_ps[whole] + (done_ps[whole + 1] - done_ps[whole]) * rest / 1000;
    SimTime steady_ps = done_ps[SM_TURNS] - done_ps[SM_TURNS / 4];
    return done_ps[SM_TURNS] + flow_part(steady_ps, turns - SM_TURNS * 1000, SM_TURNS / 4 * 3000);
}
