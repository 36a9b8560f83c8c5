#include "traces/replay/timeline.h"

#include <string.h>

#include "sim/report/timeline.h"

#define SVG_RANKS_MAX 16
#define SVG_WIDTH 1100
#define SVG_LEFT 90
#define SVG_ROW 26

static char *record_title(const ReplayJob *job, const ReplayJobResult *result, guint32 index)
{
    const Record *r = trace_record(job->trace, index);
    const char *name = job->trace->names->pdata[r->name];
    guint32 item = job->match->of_record[index];
    if (item == MATCH_NONE)
        return g_strdup(name[0] != 0 ? name : "compute");
    CollAlgo algo = result->item[item].algo;
    return g_strdup_printf("%s %" G_GUINT64_FORMAT " B%s%s", record_op_name(r->op), record_bytes(r),
                           algo != COLL_ALGOS ? " " : "", algo != COLL_ALGOS ? coll_algo_name(algo) : "");
}

/* Operations without a stream share as many tracks as run at once. */
typedef struct {
    GArray *free_ps, *track; /* SimTime, guint32 */
} Lanes;

static guint32 lane_of(Lanes *lanes, Timeline *timeline, guint32 group, SimTime start_ps, SimTime end_ps)
{
    guint i = 0;
    while (i < lanes->free_ps->len && g_array_index(lanes->free_ps, SimTime, i) > start_ps)
        i++;
    if (i == lanes->free_ps->len) {
        char *name = g_strdup_printf("operations %u", i + 1);
        guint32 track = timeline_add_track(timeline, group, name);
        g_free(name);
        g_array_append_val(lanes->free_ps, end_ps);
        g_array_append_val(lanes->track, track);
    }
    g_array_index(lanes->free_ps, SimTime, i) = end_ps;
    return g_array_index(lanes->track, guint32, i);
}

static void save_rank(Timeline *timeline, const ReplayJob *job, const ReplayJobResult *result, guint32 rank)
{
    char *name = g_strdup_printf("%s rank %u (gpu%u)", job->trace->name, rank, job->gpu[rank]);
    guint32 group = timeline_add_group(timeline, name);
    g_free(name);
    GHashTable *tracks = g_hash_table_new(g_direct_hash, g_direct_equal); /* stream -> track + 1 */
    Lanes lanes = {g_array_new(FALSE, FALSE, sizeof(SimTime)), g_array_new(FALSE, FALSE, sizeof(guint32))};
    for (guint32 i = job->trace->rank_first[rank]; i < job->trace->rank_first[rank + 1]; i++) {
        guint32 stream = trace_record(job->trace, i)->stream, track;
        if (stream == RECORD_NO_STREAM) {
            track = lane_of(&lanes, timeline, group, result->start_ps[i], result->end_ps[i]);
        } else {
            track = GPOINTER_TO_UINT(g_hash_table_lookup(tracks, GUINT_TO_POINTER(stream)));
            if (track == 0) {
                name = g_strdup_printf("stream %u", stream);
                track = timeline_add_track(timeline, group, name) + 1;
                g_free(name);
                g_hash_table_insert(tracks, GUINT_TO_POINTER(stream), GUINT_TO_POINTER(track));
            }
            track--;
        }
        char *title = record_title(job, result, i);
        timeline_add_slice(timeline, track, title, result->start_ps[i], result->end_ps[i]);
        g_free(title);
    }
    g_array_free(lanes.free_ps, TRUE);
    g_array_free(lanes.track, TRUE);
    g_hash_table_destroy(tracks);
}

void replay_timeline_write(Timeline *timeline, const ReplayJob *jobs, const ReplayResult *result)
{
    if (!timeline)
        return;
    for (guint32 j = 0; j < result->jobs; j++) {
        for (guint32 rank = 0; rank < jobs[j].trace->world; rank++)
            if (jobs[j].trace->rank_first[rank] < jobs[j].trace->rank_first[rank + 1])
                save_rank(timeline, &jobs[j], &result->job[j], rank);
    }
}

/* One strip: every pixel column that something of this kind covers. */
static void svg_strip(GString *to, const ReplayJob *job, const ReplayJobResult *result, guint32 rank, gboolean comm,
                      guint y, SimTime total_ps)
{
    guint8 covered[SVG_WIDTH + 2] = {0};
    for (guint32 i = job->trace->rank_first[rank]; i < job->trace->rank_first[rank + 1]; i++) {
        if ((job->match->of_record[i] != MATCH_NONE) == comm && result->end_ps[i] > result->start_ps[i]) {
            guint from = (guint)((__uint128_t)result->start_ps[i] * SVG_WIDTH / total_ps);
            guint end = (guint)((__uint128_t)result->end_ps[i] * SVG_WIDTH / total_ps);
            memset(covered + from, 1, MAX(end, from + 1) - from);
        }
    }
    for (guint x = 0; x < SVG_WIDTH;) {
        guint end = x;
        while (end < SVG_WIDTH && covered[end])
            end++;
        if (end > x) {
            g_string_append_printf(to, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"10\" class=\"%s\"/>\n",
                                   SVG_LEFT + x, y, end - x, comm ? "f8" : "f0");
        }
        x = MAX(end, x + 1);
    }
}

void replay_timeline_add(Report *report, const ReplayJob *jobs, const ReplayResult *result)
{
    guint rows = 0, all = 0;
    SimTime total_ps = MAX(result->total_ps, 1);
    GString *body = g_string_new(NULL);
    for (guint32 j = 0; j < result->jobs; j++) {
        for (guint32 rank = 0; rank < jobs[j].trace->world; rank++) {
            if (jobs[j].trace->rank_first[rank] == jobs[j].trace->rank_first[rank + 1] || all++ >= SVG_RANKS_MAX)
                continue;
            guint y = 24 + rows++ * SVG_ROW;
            g_string_append_printf(body, "<text x=\"0\" y=\"%u\">job %u rank %u</text>\n", y + 14, j, rank);
            svg_strip(body, &jobs[j], &result->job[j], rank, FALSE, y, total_ps);
            svg_strip(body, &jobs[j], &result->job[j], rank, TRUE, y + 11, total_ps);
        }
    }
    g_autofree char *title = g_strdup_printf("Timeline of the ranks: %.2f us from left to right%s. Blue: computing. "
                                             "Orange: communicating, waiting included.",
                                             (double)total_ps / 1e6, all > rows ? ", the first ranks only" : "");
    g_autofree char *svg = g_strdup_printf("<svg class=\"themed\" viewBox=\"0 0 %u %u\" role=\"img\" "
                                           "aria-label=\"timeline\">\n%s</svg>\n",
                                           SVG_LEFT + SVG_WIDTH, 30 + rows * SVG_ROW, body->str);
    report_add_picture(report, title, svg);
    g_string_free(body, TRUE);
}
