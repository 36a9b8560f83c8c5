/* See replay_live.h. */
#include "cli/replay/live.h"

#include "cli/live/monitor/monitor.h"

static const Column columns[] = {
    COLUMN_TEXT(op, "op", "operation"),
    COLUMN_TEXT(algo, "algo", "that it ran with"),
    COLUMN_U64(count, "count", "", "communications that have ended"),
    COLUMN_U64(bytes, "bytes", "B", "of them together"),
    COLUMN_FIXED(mean_us, "mean", "us", 2, "from when all ranks were there to the end"),
    COLUMN_FIXED(max_us, "max", "us", 2, "the longest"),
    COLUMN_END,
};

/* Ended communications of one operation and algorithm. */
typedef struct {
    guint64 count, bytes;
    SimTime sum_ps, max_ps;
} Ended;

struct ReplayLive {
    Live *live;
    Report *report;
    Table *table;
    Monitor *monitor;
    const char *what;
    guint64 percent;
    guint64 done, all; /* communications of the replay itself */
    gboolean main_one; /* the replay itself runs, whose communications count */
    Ended ended[RECORD_OPS][COLL_ALGOS + 1];
    void (*add)(Report *report, void *user);
    void *add_user;
};

/* Under the lock, and perhaps by the thread that heard of the interruption. */
static void replay_live_on_end(void *user)
{
    ReplayLive *live = user;
    for (int o = 0; o < RECORD_OPS; o++)
        for (int a = 0; a <= COLL_ALGOS; a++) {
            const Ended *ended = &live->ended[o][a];
            if (!ended->count)
                continue;
            table_text(live->table, record_op_name((RecordOp)o));
            table_text(live->table, a < COLL_ALGOS ? coll_algo_name((CollAlgo)a) : NULL);
            table_u64(live->table, ended->count);
            table_u64(live->table, ended->bytes);
            table_fixed(live->table, (double)ended->sum_ps / (double)ended->count / 1e6);
            table_fixed(live->table, (double)ended->max_ps / 1e6);
        }
    if (live->add)
        live->add(live->report, live->add_user);
}

ReplayLive *replay_live_new(const Options *options, Report *report, guint64 communications)
{
    ReplayLive *live = g_new0(ReplayLive, 1);
    live->report = report;
    live->monitor = options->monitor;
    live->table = report_add_table(report, "ended", "communications that have ended", columns, 0);
    live->live = live_new(options, report, live->table, 0, NULL);
    live->all = communications;
    live_set_total(live->live, communications);
    live_on_end(live->live, replay_live_on_end, live);
    return live;
}

static guint64 percent_of(guint64 done, guint64 all) { return done * 100 / MAX(all, 1); }

static void replay_live_say(ReplayLive *live)
{
    if (live->main_one)
        progress_note(live_progress(live->live),
                      "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " communications have ended", live->done,
                      live->all);
    else
        progress_note(live_progress(live->live), "%" G_GUINT64_FORMAT " %%", live->percent);
}

static void replay_live_progress(void *user, guint64 done, guint64 all)
{
    ReplayLive *live = user;
    if (live->main_one)
        return; /* replay_live_ended() says more */
    monitor_share(live->monitor, done, all);
    if (percent_of(done, all) == live->percent)
        return;
    live->percent = percent_of(done, all);
    replay_live_say(live);
}

static void replay_live_ended(void *user, const ReplayJob *job, const MatchItem *match, const ReplayItem *item)
{
    ReplayLive *live = user;
    if (!live->main_one || match->n == 0)
        return;
    const guint32 first = g_array_index(job->match->members, guint32, match->first);
    live_lock(live->live);
    Ended *ended = &live->ended[match->op][MIN(item->algo, COLL_ALGOS)];
    ended->count++;
    ended->bytes += record_bytes(trace_record(job->trace, first));
    ended->sum_ps += item->end_ps - item->start_ps;
    ended->max_ps = MAX(ended->max_ps, item->end_ps - item->start_ps);
    live_unlock(live->live, 1);
    monitor_share(live->monitor, ++live->done, live->all);
    if (percent_of(live->done, live->all) != percent_of(live->done - 1, live->all))
        replay_live_say(live);
}

void replay_live_begin(ReplayLive *live, ReplaySpec *spec, const char *what)
{
    spec->progress = replay_live_progress;
    spec->ended = replay_live_ended;
    spec->user = live;
    live->percent = 1000;
    live->main_one = g_str_equal(what, REPLAY_MAIN);
    progress_step(live_progress(live->live), "%s", what);
    if (live->main_one) {
        progress_set_hint(live_progress(live->live), spec->flow ? NULL : "--fidelity flow takes less time");
        replay_live_say(live);
    }
}

void replay_live_done(ReplayLive *live, void (*add)(Report *report, void *user), void *user)
{
    live_lock(live->live);
    live->add = add;
    live->add_user = user;
    live_unlock(live->live, 0);
}

Live *replay_live_of(ReplayLive *live) { return live->live; }

void replay_live_free(ReplayLive *live)
{
    if (!live)
        return;
    live_discard(live->live);
    g_free(live);
}
