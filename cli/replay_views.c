/* See replay_views.h. */
#include "cli/replay_views.h"

#include "cli/samples.h"

gboolean replay_views_add(const ReplayResult *result, const ReplaySpec *spec, const Options *options, Report *report,
                          GError **error)
{
    SeriesTables tables = {.report = report};
    WhereTables where = {.report = report};
    if (result->usage.figures &&
        !series_tables_add_sum(&tables, result->usage.figures, spec->fabric, "replay", result->total_ps, error))
        return FALSE;
    if (result->usage.where) {
        WhereTotal total = *result->usage.where;
        total.idle_ps += result->total_ps - MIN(result->total_ps, total.time_ps); /* computations alone */
        total.time_ps = result->total_ps;
        where_tables_add_total(&where, &total, "replay");
    } else if (options->html) {
        report_add_page_note(report, "%s", spec->flow ? SERIES_NO_FLOWS : SERIES_ASK_WHERE);
    }
    return TRUE;
}
