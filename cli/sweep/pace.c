/* See pace.h. The host's clock is read for the estimate alone. */
#include "cli/sweep/pace.h"

#include "cli/live/monitor/monitor.h"
#include "cli/live/progress.h"

/* As a run that is not on a terminal has them (cli/live/live.c). */
#define PACE_PATIENCE_S 5u
#define PACE_PAUSE_MOST_S 300u

struct Pace {
    Progress *progress;
    gint64 began_us;
    guint64 before; /* done when it began */
    gboolean told;
    guint say_s; /* when a line is due where there is no terminal */
    Monitor *monitor;
};

Pace *pace_new(Monitor *monitor)
{
    Pace *pace = g_new0(Pace, 1);
    pace->progress = progress_new(0);
    pace->monitor = monitor;
    pace->say_s = PACE_PATIENCE_S;
    progress_set_monitor(pace->progress, monitor);
    return pace;
}

static char *pace_left(double seconds)
{
    if (seconds < 120)
        return g_strdup_printf("%.0f s left", seconds);
    return seconds < 7200 ? g_strdup_printf("%.0f min left", seconds / 60)
                          : g_strdup_printf("%.1f h left", seconds / 3600);
}

void pace_tell(Pace *pace, guint64 done, guint64 most, guint64 bad)
{
    gint64 now_us = g_get_monotonic_time();
    if (!pace->told) {
        pace->told = TRUE;
        pace->began_us = now_us;
        pace->before = done;
    }
    guint64 here = done - pace->before;
    double seconds = here ? (double)(now_us - pace->began_us) * 1e-6 * (double)(most - done) / (double)here : 0;
    monitor_step(pace->monitor, done, most, "points");
    monitor_done(pace->monitor, done);
    g_autofree char *left = here ? pace_left(seconds) : g_strdup("");
    const guint passed_s = (guint)((now_us - pace->began_us) / G_USEC_PER_SEC);
    progress_note(pace->progress,
                  "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " points%s%s; %" G_GUINT64_FORMAT " failed", done, most,
                  here ? ", " : "", left, bad);
    if (passed_s >= pace->say_s) {
        progress_say(pace->progress, passed_s);
        pace->say_s = passed_s + MIN(MAX(passed_s, PACE_PATIENCE_S), PACE_PAUSE_MOST_S);
    }
}

void pace_free(Pace *pace)
{
    progress_free(pace->progress);
    g_free(pace);
}
