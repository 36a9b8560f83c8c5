/* See tracks.h. */
#include "observe/series/tracks_parts.h"

#include <string.h>

#include "model/gpu/gpu.h"
#include "model/switch/switch.h"

#define TRACKS_FIRST_PS 20000 /* the interval that a run begins with */
#define TRACKS_POINTS_MOST 512u
#define TRACKS_POINTS_LEAST 16u

typedef enum {
    TRACK_SHARE, /* a counter of flits: per cent of the time in which the wire was busy */
    TRACK_HIGH,  /* a level: the highest of an interval */
    TRACK_LOW,   /* a level: the lowest */
} TrackKind;

typedef struct {
    char *group, *name;
    TrackKind kind;
    const void *unit;
    guint64 (*read)(const void *unit);
    double scale; /* of a share: ps that a flit takes */
    guint64 before;
    gboolean changed;
} Track;

struct Tracks {
    Fabric *fabric;
    SimTime begin_ps, interval_ps, last_ps;
    GArray *track;    /* Track */
    guint n, most;    /* points, and how many there may be */
    SimTime *to_ps;   /* by point: its end */
    guint64 *value;   /* by point, then track */
    Packets *packets; /* NULL: they are not followed */
    Ctas *ctas;
};

/* ---- what is looked at */

static guint64 read_request_credits(const void *unit)
{
    const Link *link = unit;
    gint64 credits = link->credits[VC_CREQ];
    for (guint32 i = 0; i < link->returning[VC_CREQ].count; i++) {
        const LinkReturn *back = link_return_nth(&link->returning[VC_CREQ], i);
        credits += back->at_ps <= sim_now_ps(link->sim) ? back->flits : 0;
    }
    return (guint64)MAX(credits, 0);
}

static guint64 (*tracks_find(const StatRow *rows, const char *name))(const void *)
{
    for (; rows->name; rows++)
        if (strcmp(rows->name, name) == 0)
            return rows->read;
    g_assert_not_reached();
}

/* path: "gpu0.link3.up"; its first part is the group, the rest and `what` the name. */
static void tracks_add(Tracks *tracks, const char *path, const char *what, TrackKind kind,
                       guint64 (*read)(const void *), const void *unit, double scale)
{
    const gsize first = strcspn(path, ".");
    Track track = {.kind = kind, .read = read, .unit = unit, .scale = scale};
    track.group = g_strndup(path, first);
    track.name = path[first] ? g_strdup_printf("%s %s", path + first + 1, what) : g_strdup(what);
    track.before = read(unit);
    g_array_append_val(tracks->track, track);
}

static void tracks_add_link(Tracks *tracks, const Link *link)
{
    const double flit_ps = (double)link->flit_time / (double)(1u << SIMFINE_SHIFT);
    tracks_add(tracks, link->path, "busy %", TRACK_SHARE, tracks_find(link_stats, "flits"), link, flit_ps);
    tracks_add(tracks, link->path, "queue (packets)", TRACK_HIGH, tracks_find(link_stats, "queue"), link, 1);
    tracks_add(tracks, link->path, "request credits (flits)", TRACK_LOW, read_request_credits, link, 1);
}

static void tracks_add_port(Tracks *tracks, const Switch *sw, guint32 p)
{
    static const char *const levels[] = {"multicast_tags", "reduction_tags", "reduction_bytes"};
    static const char *const names[] = {"multicast tags in use", "reduction tags in use", "reduction buffer (B)"};
    g_autofree char *path = g_strdup_printf("%s.port%u", sw->path, p);
    for (guint i = 0; i < G_N_ELEMENTS(levels); i++)
        tracks_add(tracks, path, names[i], TRACK_HIGH, tracks_find(switch_port_stats, levels[i]), &sw->port[p], 1);
}

static void track_clear(gpointer data)
{
    Track *track = data;
    g_free(track->group);
    g_free(track->name);
}

Tracks *tracks_new(Fabric *fabric, SimTime begin_ps, Packets *packets)
{
    Tracks *tracks = g_new0(Tracks, 1);
    tracks->fabric = fabric;
    tracks->begin_ps = begin_ps;
    tracks->interval_ps = TRACKS_FIRST_PS;
    tracks->last_ps = sim_now_ps(fabric->sim);
    tracks->track = g_array_new(FALSE, TRUE, sizeof(Track));
    g_array_set_clear_func(tracks->track, track_clear);
    for (guint64 g = 0; g < fabric->spec.system.gpus; g++)
        tracks_add(tracks, fabric->gpu[g].path, "requests without an answer", TRACK_HIGH,
                   tracks_find(gpu_stats, "outstanding"), &fabric->gpu[g], 1);
    for (guint32 l = 0; l < fabric_n_links(fabric); l++)
        tracks_add_link(tracks, fabric_link_at(fabric, l));
    for (guint32 s = 0; s < fabric->n_switches; s++)
        for (guint32 p = 0; p < fabric->sw[s].ports; p++)
            tracks_add_port(tracks, &fabric->sw[s], p);
    tracks->most = CLAMP(TRACKS_EVENTS / MAX(tracks->track->len, 1), TRACKS_POINTS_LEAST, TRACKS_POINTS_MOST) & ~1u;
    tracks->packets = packets;
    if (!fabric->parallel)
        tracks->ctas = ctas_new(fabric);
    tracks->to_ps = g_new(SimTime, tracks->most + 1);
    tracks->value = g_new(guint64, (gsize)(tracks->most + 1) * tracks->track->len);
    return tracks;
}

void tracks_free(Tracks *tracks)
{
    if (!tracks)
        return;
    packets_free(tracks->packets);
    ctas_free(tracks->ctas);
    g_array_free(tracks->track, TRUE);
    g_free(tracks->to_ps);
    g_free(tracks->value);
    g_free(tracks);
}

/* ---- samples */

static guint64 track_join(TrackKind kind, guint64 a, guint64 b)
{
    return kind == TRACK_SHARE ? a + b : kind == TRACK_HIGH ? MAX(a, b) : MIN(a, b);
}

/* Downsampled by two: each pair of neighbours becomes one. */
static void tracks_halve(Tracks *tracks)
{
    const guint all = tracks->track->len;
    tracks->n /= 2;
    tracks->interval_ps *= 2;
    for (guint i = 0; i < tracks->n; i++) {
        tracks->to_ps[i] = tracks->to_ps[2 * i + 1];
        for (guint t = 0; t < all; t++) {
            const guint64 *pair = &tracks->value[(gsize)2 * i * all + t];
            const TrackKind kind = g_array_index(tracks->track, Track, t).kind;
            tracks->value[(gsize)i * all + t] = track_join(kind, pair[0], pair[all]);
        }
    }
}

static void tracks_take(Tracks *tracks, SimTime at_ps)
{
    const guint all = tracks->track->len;
    for (guint t = 0; t < all; t++) {
        Track *track = &g_array_index(tracks->track, Track, t);
        const guint64 now = track->read(track->unit);
        tracks->value[(gsize)tracks->n * all + t] = track->kind == TRACK_SHARE ? now - track->before : now;
        track->changed |= now != track->before;
        if (track->kind == TRACK_SHARE)
            track->before = now;
    }
    tracks->to_ps[tracks->n++] = at_ps;
}

SimTime tracks_first_ps(const Tracks *tracks) { return tracks->last_ps + tracks->interval_ps; }

SimTime tracks_look(Tracks *tracks, SimTime at_ps)
{
    fabric_advance(tracks->fabric, at_ps - 1);
    if (tracks->n == tracks->most)
        tracks_halve(tracks);
    tracks_take(tracks, at_ps);
    return at_ps + tracks->interval_ps;
}

void tracks_end(Tracks *tracks, SimTime at_ps)
{
    fabric_advance(tracks->fabric, at_ps);
    if (at_ps > (tracks->n ? tracks->to_ps[tracks->n - 1] : tracks->last_ps))
        tracks_take(tracks, at_ps); /* there is room for one more */
    if (tracks->ctas)
        ctas_end(tracks->ctas, at_ps);
    tracks->fabric = NULL;
}

/* ---- writing */

/* What a point has. Flits count when they begin: what of them lies behind the interval's end is the next one's. */
static double track_value(const Tracks *tracks, const Track *track, guint t, guint point, SimTime from_ps,
                          double *carry_ps)
{
    const double value = (double)tracks->value[(gsize)point * tracks->track->len + t];
    if (track->kind != TRACK_SHARE)
        return value;
    const double passed_ps = (double)(tracks->to_ps[point] - from_ps), busy_ps = value * track->scale + *carry_ps;
    *carry_ps = MAX(busy_ps - passed_ps, 0);
    return 100 * MIN(busy_ps, passed_ps) / passed_ps;
}

static void tracks_write_one(const Tracks *tracks, Timeline *timeline, guint32 group, guint t)
{
    const Track *track = &g_array_index(tracks->track, Track, t);
    SimTime from_ps = tracks->last_ps;
    double before = -1, carry_ps = 0;
    for (guint i = 0; i < tracks->n; i++) {
        const double value = track_value(tracks, track, t, i, from_ps, &carry_ps);
        if (value != before)
            timeline_add_counter(timeline, group, track->name, tracks->begin_ps + from_ps, value);
        before = value;
        from_ps = tracks->to_ps[i];
    }
    if (track->kind == TRACK_SHARE && before != 0)
        timeline_add_counter(timeline, group, track->name, tracks->begin_ps + from_ps, 0);
}

guint32 tracks_group(Timeline *timeline, const char *run, const char *unit, gsize unit_bytes)
{
    g_autofree char *name = g_strdup_printf("%s%s%.*s", run ? run : "", run ? ": " : "", (int)unit_bytes, unit);
    return timeline_find_group(timeline, name);
}

void tracks_drop_ctas(Tracks *tracks) { g_clear_pointer(&tracks->ctas, ctas_free); }

void tracks_write(const Tracks *tracks, Timeline *timeline, const char *run, const TracksOrigin *origin)
{
    if (!tracks || !timeline)
        return;
    if (tracks->ctas)
        ctas_write(tracks->ctas, timeline, run, tracks->begin_ps);
    if (tracks->packets)
        packets_write(tracks->packets, timeline, run, tracks->begin_ps, origin);
    else
        timeline_leave_out(timeline, "requests, packets and the arrows to them, which only --engine reference shows");
    for (guint t = 0; t < tracks->track->len; t++) {
        const Track *track = &g_array_index(tracks->track, Track, t);
        if (!track->changed || tracks->n == 0)
            continue;
        if (!timeline_has_room(timeline)) {
            timeline_leave_out(timeline, "counters of links, ports and GPUs (%s and others)", run ? run : track->group);
            return;
        }
        tracks_write_one(tracks, timeline, tracks_group(timeline, run, track->group, strlen(track->group)), t);
    }
}
