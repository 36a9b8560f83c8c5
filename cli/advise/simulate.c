/* See simulate.h. */
#include "cli/advise/simulate.h"

#include "cli/live/monitor/monitor.h"
#include "cli/run.h"

static void on_candidate(const char *algo, const char *proto, guint index, guint all, void *user)
{
    progress_note(live_progress(user), "%s %s, %u of %u", algo, proto, index, all);
}

ExitCode advise_simulate(const AdviseRun *with, const CollSpec *spec, CollResult *result, GError **error)
{
    Run run;
    if (!run_open(&run, with->system, with->options, G_MAXUINT64, error))
        return EXIT_USER;
    GError *why = NULL;
    ExitCode code = EXIT_USER;
    const RecordingSpec watch = {.watch = monitor_page(with->options->monitor, 0)};
    CollGroup *group = coll_group_new(run.fabric, NULL, with->gpus, &why);
    if (group && with->live)
        coll_group_on_candidate(group, on_candidate, with->live);
    if (group)
        coll_group_watch(group, watch.watch);
    Recording *recording = recording_new(run.fabric, &watch, coll_op_name(spec->op));
    if (group && coll_run(group, spec, result, &why))
        code = EXIT_DONE;
    recording_end(recording, NULL);
    recording_free(recording);
    if (g_error_matches(why, COLL_ERROR, COLL_ERROR_STUCK))
        code = EXIT_WRONG; /* what still runs is left to run_close */
    else if (group)
        coll_group_free(group);
    if (why)
        g_propagate_error(error, why);
    run_close(&run);
    return code;
}
