/* `--perfetto`: when each piece of work ran, one track for each stream, one group for each GPU; and another group for
 * its SMs, one track each, with the kernels that had CTAs there. */
#include "machine/engine/internal.h"
#include "sim/report/timeline.h"

typedef struct {
    char *name, *call;
    guint16 gpu;
    guint32 stream;
    guint64 bytes;
    SimTime start_ps, end_ps;
    const Work *work; /* only compared: it may be freed, and another have its place */
    guint32 track;
} Slice;

static void slice_clear(gpointer data)
{
    Slice *slice = data;
    g_free(slice->name);
    g_free(slice->call);
}

/* When an SM had CTAs of a kernel. */
typedef struct {
    guint16 gpu;
    guint32 lane;     /* 0, or the first that is free while the SM has several kernels at once */
    const char *name; /* interned */
    KernelSpan at;
} Span;

void engine_timeline_start(Engine *engine)
{
    engine->slices = g_array_new(FALSE, FALSE, sizeof(Slice));
    g_array_set_clear_func(engine->slices, slice_clear);
    engine->spans = g_array_new(FALSE, FALSE, sizeof(Span));
}

void engine_timeline_spans(Engine *engine, const KernelLaunch *launch)
{
    const GArray *spans = kernel_spans(launch);

    for (guint i = 0; engine->spans && i < spans->len; i++) {
        const Span span = {kernel_gpu(launch), 0, kernel_name(launch), g_array_index(spans, KernelSpan, i)};
        g_array_append_val(engine->spans, span);
    }
}

void engine_timeline_add(Engine *engine, const Work *work, const char *name)
{
    if (!engine->slices)
        return;
    Slice slice = {.name = g_strdup(name),
                   .call = g_strdup(work->request.call),
                   .gpu = work->context->gpu,
                   .stream = engine_stream_shown(work->engine, work->request.stream),
                   .bytes = work->request.bytes,
                   .start_ps = work->start_ps,
                   .end_ps = work->end_ps,
                   .work = work};
    g_array_append_val(engine->slices, slice);
    recording_forget(engine->recording, work);
}

/* By GPU, then stream, then time: the order in which tracks and their slices are written. */
static gint compare(gconstpointer a, gconstpointer b)
{
    const Slice *x = a, *y = b;

    if (x->gpu != y->gpu)
        return x->gpu < y->gpu ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return x->start_ps < y->start_ps ? -1 : x->start_ps > y->start_ps;
}

static gint compare_spans(gconstpointer a, gconstpointer b)
{
    const Span *x = a, *y = b;

    if (x->gpu != y->gpu)
        return x->gpu < y->gpu ? -1 : 1;
    if (x->at.sm != y->at.sm)
        return x->at.sm < y->at.sm ? -1 : 1;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->at.start_ps != y->at.start_ps)
        return x->at.start_ps < y->at.start_ps ? -1 : 1;
    return x->at.end_ps < y->at.end_ps ? -1 : x->at.end_ps > y->at.end_ps;
}

/* Kernels that an SM has at once get tracks of their own: slices of one track must not cross. */
static void choose_lanes(GArray *spans)
{
    g_autoptr(GArray) busy_ps = g_array_new(FALSE, FALSE, sizeof(SimTime)); /* by lane: its last end */

    for (guint i = 0; i < spans->len; i++) {
        Span *span = &g_array_index(spans, Span, i);
        if (i == 0 || span[-1].gpu != span->gpu || span[-1].at.sm != span->at.sm)
            g_array_set_size(busy_ps, 0);
        span->lane = 0;
        while (span->lane < busy_ps->len && g_array_index(busy_ps, SimTime, span->lane) > span->at.start_ps)
            span->lane++;
        if (span->lane == busy_ps->len)
            g_array_set_size(busy_ps, busy_ps->len + 1);
        g_array_index(busy_ps, SimTime, span->lane) = span->at.end_ps;
    }
}

static void save_spans(GArray *spans, Timeline *timeline)
{
    guint32 group = 0, track = 0;

    g_array_sort(spans, compare_spans);
    choose_lanes(spans);
    g_array_sort(spans, compare_spans);
    for (guint i = 0; i < spans->len; i++) {
        const Span *span = &g_array_index(spans, Span, i);
        gboolean new_gpu = i == 0 || span[-1].gpu != span->gpu;
        if (new_gpu) {
            g_autofree char *name = g_strdup_printf("gpu%u: SMs", span->gpu);
            group = timeline_add_group(timeline, name);
        }
        if (new_gpu || span[-1].at.sm != span->at.sm || span[-1].lane != span->lane) {
            g_autofree char *name = span->lane == 0 ? g_strdup_printf("SM %u", span->at.sm)
                                                    : g_strdup_printf("SM %u (%u)", span->at.sm, span->lane + 1);
            track = timeline_add_track(timeline, group, name);
        }
        g_autofree char *ctas = g_strdup_printf("%u", span->at.ctas);
        const char *facts[] = {"ctas", ctas, NULL};
        timeline_add_slice_with(timeline, track, span->name, span->at.start_ps, span->at.end_ps, facts);
    }
}

/* At one time one piece of work has that place: its request lies within its slice. */
static gboolean find_slice(void *user, const void *cause, SimTime at_ps, guint32 *track, SimTime *from_ps)
{
    const GPtrArray *slices = g_hash_table_lookup(user, cause);

    for (guint i = 0; slices && i < slices->len; i++) {
        const Slice *slice = slices->pdata[i];
        if (slice->start_ps <= at_ps && at_ps <= slice->end_ps) {
            *track = slice->track;
            *from_ps = slice->start_ps;
            return TRUE;
        }
    }
    return FALSE;
}

/* Arrows lead from a launch or copy to the requests of its own that are followed. */
static void save_tracks(Engine *engine, Timeline *timeline)
{
    g_autoptr(GHashTable) by_work = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
    const TracksOrigin origin = {find_slice, by_work};

    for (guint i = 0; i < engine->slices->len; i++) {
        Slice *slice = &g_array_index(engine->slices, Slice, i);
        GPtrArray *slices = g_hash_table_lookup(by_work, slice->work);
        if (!slices) {
            slices = g_ptr_array_new();
            g_hash_table_insert(by_work, (gpointer)slice->work, slices);
        }
        g_ptr_array_add(slices, slice);
    }
    tracks_write(engine->tracks, timeline, NULL, &origin);
}

gboolean engine_timeline_save(Engine *engine, const char *path, GError **error)
{
    Timeline *timeline = timeline_open(path, error);
    guint32 group = 0, track = 0;

    if (!timeline)
        return FALSE;
    g_array_sort(engine->slices, compare);
    for (guint i = 0; i < engine->slices->len; i++) {
        Slice *slice = &g_array_index(engine->slices, Slice, i), *before = slice - 1;
        gboolean new_gpu = i == 0 || before->gpu != slice->gpu;
        if (new_gpu) {
            g_autofree char *name = g_strdup_printf("gpu%u", slice->gpu);
            group = timeline_add_group(timeline, name);
        }
        if (new_gpu || before->stream != slice->stream) {
            g_autofree char *name = g_strdup_printf("stream %u", slice->stream);
            track = timeline_add_track(timeline, group, name);
        }
        g_autofree char *bytes = g_strdup_printf("%" G_GUINT64_FORMAT, slice->bytes);
        const char *facts[] = {"call", slice->call, "bytes", bytes, NULL};
        timeline_add_slice_with(timeline, track, slice->name, slice->start_ps, slice->end_ps, facts);
        slice->track = track;
    }
    save_spans(engine->spans, timeline);
    if (engine->tracks && engine->spans->len > 0)
        tracks_drop_ctas(engine->tracks);
    save_tracks(engine, timeline);
    g_clear_pointer(&engine->tracks, tracks_free);
    g_autofree char *left_out = timeline_left_out(timeline);
    if (left_out)
        log_line(engine->spec.log, LOG_CUDA, LOG_WARN, 0, "the timeline leaves out %s", left_out);
    return timeline_close(timeline, error);
}
