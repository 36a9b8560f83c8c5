/* `--perfetto`: when each piece of work ran, one track for each stream, one group for each GPU. */
#include "api/engine/internal.h"
#include "sim/report/timeline.h"

typedef struct {
    char *name, *call;
    guint16 gpu;
    guint32 stream;
    guint64 bytes;
    SimTime start_ps, end_ps;
} Slice;

static void slice_clear(gpointer data)
{
    Slice *slice = data;
    g_free(slice->name);
    g_free(slice->call);
}

GArray *engine_timeline_new(void)
{
    GArray *slices = g_array_new(FALSE, FALSE, sizeof(Slice));
    g_array_set_clear_func(slices, slice_clear);
    return slices;
}

void engine_timeline_add(Engine *engine, const Work *work, const char *name)
{
    if (engine->slices == NULL)
        return;
    Slice slice = {.name = g_strdup(name),
                   .call = g_strdup(work->request.call),
                   .gpu = work->context->gpu,
                   .stream = work->request.stream,
                   .bytes = work->request.bytes,
                   .start_ps = work->start_ps,
                   .end_ps = work->end_ps};
    g_array_append_val(engine->slices, slice);
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

gboolean engine_timeline_save(Engine *engine, const char *path, GError **error)
{
    Timeline *timeline = timeline_open(path, error);
    guint32 group = 0, track = 0;

    if (timeline == NULL)
        return FALSE;
    g_array_sort(engine->slices, compare);
    for (guint i = 0; i < engine->slices->len; i++) {
        const Slice *slice = &g_array_index(engine->slices, Slice, i), *before = slice - 1;
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
        timeline_add_slice_with(timeline, track, slice->name, slice->start_ps, slice->end_ps,
                                facts);
    }
    return timeline_close(timeline, error);
}
