/* GPU work of a Kineto trace becomes records.
 *
 * Order. What ended before an operation began is waited for: on each stream the last such operation
 * is a dependency, and the time between the last of those ends and the recorded start is the
 * operation's gap. So, replayed with the recorded durations, the timeline comes out as recorded;
 * and where communication gets shorter or longer, what came after it moves. Computations that no
 * communication begins or ends between are one record.
 *
 * A collective's recorded duration includes waiting for peers: it is kept for reports only. */
#include <stdlib.h>
#include <string.h>

#include "traces/format/kineto/kineto.h"

#define STREAMS_MAX 4096
typedef struct {
    KinetoKernel kernel;
    guint32 record;
} Segment;

typedef struct {
    guint32 stream;
    GArray *segments; /* indices into the segment array, in order */
    guint ended;      /* how many of them ended by now */
} Stream;

static int kernel_compare(const void *a, const void *b)
{
    const KinetoKernel *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return (x->byte > y->byte) - (x->byte < y->byte);
}

static int time_compare(const void *a, const void *b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return (x > y) - (x < y);
}

/* How many of the sorted times are at most `at`. */
static guint times_until(const GArray *times, gint64 at)
{
    guint low = 0, high = times->len;
    while (low < high) {
        guint middle = (low + high) / 2;
        if (g_array_index(times, gint64, middle) <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const GArray *steps_of(const Kineto *kineto)
{
    return kineto->gpu_steps->len > 0 ? kineto->gpu_steps : kineto->host_steps;
}

/* When communications begin or end, and steps begin: no computation is joined over these. */
static GArray *boundaries(const Kineto *kineto)
{
    GArray *times = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint i = 0; i < kineto->kernels->len; i++) {
        const KinetoKernel *kernel = &g_array_index(kineto->kernels, KinetoKernel, i);
        if (kernel->comm >= 0) {
            g_array_append_val(times, kernel->start_ns);
            g_array_append_val(times, kernel->end_ns);
        }
    }
    for (guint i = 0; i < steps_of(kineto)->len; i++)
        g_array_append_val(times, g_array_index(steps_of(kineto), KinetoSpan, i).start_ns);
    if (times->len > 0)
        qsort(times->data, times->len, sizeof(gint64), time_compare);
    return times;
}

static GArray *segments_of(Kineto *kineto)
{
    GArray *times = boundaries(kineto), *segments = g_array_new(FALSE, FALSE, sizeof(Segment));
    GHashTable *open = g_hash_table_new(g_direct_hash, g_direct_equal); /* stream -> segment + 1 */
    if (kineto->kernels->len > 0)
        qsort(kineto->kernels->data, kineto->kernels->len, sizeof(KinetoKernel), kernel_compare);
    for (guint i = 0; i < kineto->kernels->len; i++) {
        const KinetoKernel *kernel = &g_array_index(kineto->kernels, KinetoKernel, i);
        guint last = GPOINTER_TO_UINT(g_hash_table_lookup(open, GUINT_TO_POINTER(kernel->stream)));
        Segment *before = last > 0 ? &g_array_index(segments, Segment, last - 1) : NULL;
        guint at = times_until(times, kernel->start_ns);
        if (before && kernel->comm < 0 && before->kernel.comm < 0 &&
            times_until(times, before->kernel.start_ns) == at && times_until(times, before->kernel.end_ns) == at &&
            times_until(times, kernel->end_ns) == at) {
            before->kernel.end_ns = MAX(before->kernel.end_ns, kernel->end_ns);
            continue;
        }
        Segment segment = {.kernel = *kernel};
        g_array_append_val(segments, segment);
        g_hash_table_insert(open, GUINT_TO_POINTER(kernel->stream), GUINT_TO_POINTER(segments->len));
    }
    g_hash_table_destroy(open);
    g_array_free(times, TRUE);
    return segments;
}

static gint32 step_at(const Kineto *kineto, gint64 time_ns)
{
    const GArray *steps = steps_of(kineto);
    gint32 step = RECORD_NO_STEP;
    gint64 latest = G_MININT64;
    for (guint i = 0; i < steps->len; i++) {
        const KinetoSpan *span = &g_array_index(steps, KinetoSpan, i);
        if (span->start_ns <= time_ns && span->start_ns >= latest) {
            latest = span->start_ns;
            step = span->info;
        }
    }
    return step;
}

static Stream *stream_of(GArray *streams, GHashTable *index, guint32 number)
{
    guint at = GPOINTER_TO_UINT(g_hash_table_lookup(index, GUINT_TO_POINTER(number)));
    if (at == 0) {
        Stream stream = {.stream = number, .segments = g_array_new(FALSE, FALSE, sizeof(guint32))};
        g_array_append_val(streams, stream);
        at = streams->len;
        g_hash_table_insert(index, GUINT_TO_POINTER(number), GUINT_TO_POINTER(at));
    }
    return &g_array_index(streams, Stream, at - 1);
}

static gboolean add_segment(Kineto *kineto, GArray *segments, GArray *streams, guint at, gint64 first_ns,
                            GError **error)
{
    Segment *segment = &g_array_index(segments, Segment, at);
    const KinetoKernel *kernel = &segment->kernel;
    Record record;
    record_init(&record, kineto->rank, RECORD_COMPUTE);
    record.stream = kernel->stream;
    record.source = reader_here(kineto->reader, kernel->line, kernel->byte, -1);
    record.duration_ps = (guint64)(kernel->end_ns - kernel->start_ns) * 1000;
    record.start_ps = (guint64)(kernel->start_ns - first_ns) * 1000;
    record.step = step_at(kineto, kernel->start_ns);
    if (kernel->comm >= 0 && !kineto_add_comm(kineto, &record, kernel->comm, error))
        return FALSE;
    gint64 ready = first_ns;
    guint32 index = kineto->reader->trace->records->len;
    for (guint s = 0; s < streams->len; s++) {
        Stream *stream = &g_array_index(streams, Stream, s);
        while (
            stream->ended < stream->segments->len &&
            g_array_index(segments, Segment, g_array_index(stream->segments, guint32, stream->ended)).kernel.end_ns <=
                kernel->start_ns)
            stream->ended++;
        if (stream->ended > 0) {
            const Segment *on = &g_array_index(segments, Segment,
                                               g_array_index(stream->segments, guint32, stream->ended - 1));
            ready = MAX(ready, on->kernel.end_ns);
            trace_add_dep(kineto->reader->trace, index, on->record);
        }
    }
    record.gap_ps = (guint64)(kernel->start_ns - ready) * 1000;
    segment->record = trace_add(kineto->reader->trace, &record);
    return TRUE;
}

static gboolean add_records(Kineto *kineto, GError **error)
{
    GArray *segments = segments_of(kineto), *streams = g_array_new(FALSE, FALSE, sizeof(Stream));
    GHashTable *index = g_hash_table_new(g_direct_hash, g_direct_equal);
    gint64 first_ns = segments->len > 0 ? g_array_index(segments, Segment, 0).kernel.start_ns : 0;
    gint64 last_ns = first_ns;
    for (guint i = 0; i < segments->len; i++)
        last_ns = MAX(last_ns, g_array_index(segments, Segment, i).kernel.end_ns);
    gboolean ok = last_ns - first_ns <= (gint64)(RECORD_PS_MAX / 1000);
    if (!ok) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE,
                    "%s: GPU work over more than a day; all of it should lie within 86400 s",
                    input_path(kineto->reader->input));
    }
    for (guint i = 0; i < segments->len && ok; i++) {
        ok = add_segment(kineto, segments, streams, i, first_ns, error);
        Stream *stream = stream_of(streams, index, g_array_index(segments, Segment, i).kernel.stream);
        g_array_append_val(stream->segments, i);
        if (streams->len > STREAMS_MAX) {
            g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE, "%s: GPU work on over %u streams",
                        input_path(kineto->reader->input), STREAMS_MAX);
            ok = FALSE;
        }
    }
    for (guint s = 0; s < streams->len; s++)
        g_array_free(g_array_index(streams, Stream, s).segments, TRUE);
    g_array_free(segments, TRUE);
    g_array_free(streams, TRUE);
    g_hash_table_destroy(index);
    return ok;
}

gboolean kineto_build(Kineto *kineto, GError **error)
{
    Reader *reader = kineto->reader;
    gint64 world = kineto->world > 0 ? kineto->world : reader->world_hint > 0 ? (gint64)reader->world_hint : 1;
    if (!reader_set_world(reader, world, error))
        return FALSE;
    kineto->rank = kineto->rank >= 0 ? kineto->rank : MAX(reader->name_rank, 0);
    if (kineto->rank >= world && kineto->world < 0 && reader->world_hint == 0) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE,
                    "%s: is of rank %" G_GINT64_FORMAT
                    ", but says nowhere of how many: give --world N, or the files of all ranks",
                    input_path(reader->input), kineto->rank);
        return FALSE;
    }
    if (kineto->rank >= world) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE,
                    "%s: is of rank %" G_GINT64_FORMAT " in a job of %" G_GINT64_FORMAT
                    "; the rank should be below that",
                    input_path(reader->input), kineto->rank, world);
        return FALSE;
    }
    for (guint i = 0; i < reader->trace->records->len; i++) {
        if (trace_record(reader->trace, i)->rank == kineto->rank) {
            g_set_error(error, TRACE_ERROR, TRACE_ERROR_MATCH,
                        "%s: is of rank %" G_GINT64_FORMAT ", and so is %s; files "
                        "of one job should be of different ranks",
                        input_path(reader->input), kineto->rank,
                        (char *)reader->trace->files->pdata[trace_record(reader->trace, i)->source.file]);
            return FALSE;
        }
    }
    if (kineto->launches->len > 0)
        qsort(kineto->launches->data, kineto->launches->len, sizeof(KinetoLaunch), kineto_launch_compare);
    trace_present(reader->trace, (guint32)kineto->rank);
    reader->trace->replicate = reader->job_files < world;
    return add_records(kineto, error);
}
