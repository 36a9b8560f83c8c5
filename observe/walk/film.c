/* See film.h. */
#include "observe/walk/film.h"

#include <string.h>

#include "observe/walk/internal.h"

typedef struct {
    SimTime at_ps;
    guint sequence, depth;
    char *unit, *text;
    const char *file;
} FilmStep;

struct Film {
    const Fabric *fabric;
    Recorder *recorder;
    WalkCount *count; /* by switch; its texts are not about one request at a time, so it counts for none */
    SimTime begin_ps; /* SIMTIME_NEVER: nothing was seen */
    guint64 packets;
    GArray *steps;    /* FilmStep */
};

static void film_step_clear(gpointer data)
{
    FilmStep *step = data;
    g_free(step->unit);
    g_free(step->text);
}

Film *film_new(const Fabric *fabric, const char *title)
{
    Film *film = g_new0(Film, 1);
    film->fabric = fabric;
    film->recorder = recorder_new(fabric, title, FILM_PACKETS);
    film->count = g_new0(WalkCount, fabric->n_switches);
    film->begin_ps = SIMTIME_NEVER;
    film->steps = g_array_new(FALSE, FALSE, sizeof(FilmStep));
    g_array_set_clear_func(film->steps, film_step_clear);
    return film;
}

static char *film_text(Film *film, ProbeStage stage, const char *path, const Packet *packet, gboolean replica)
{
    switch (stage) {
    case PROBE_REQUEST:
        if (packet_is_multicast(*packet))
            return g_strdup_printf("asks: a %s for the team of multicast ID %u", walk_cargo(packet), packet->dst);
        return g_strdup_printf("asks: a %s for GPU %u", walk_cargo(packet), packet->dst);
    case PROBE_RESULT:
        return g_strdup_printf("the last %s is here: the tag is freed, and one answer goes on", walk_cargo(packet));
    case PROBE_ANSWER:
        return g_strdup_printf("%s is back: the request ends, or all those that it answers", walk_cargo(packet));
    default:
        return walk_text(film->fabric, stage, path, packet, replica, film->count);
    }
}

static void film_add(Film *film, ProbeStage stage, const char *file, const char *path, const Packet *packet,
                     SimTime at_ps)
{
    const gboolean replica = packet_is_multicast(*packet) && g_str_has_suffix(path, ".down");
    const char *folder = g_strrstr(file, "model/");
    FilmStep step = {.at_ps = at_ps - film->begin_ps, .sequence = film->steps->len, .unit = g_strdup(path),
                     .depth = replica || packet_is_counted(*packet), .file = folder ? folder : file};
    if (stage == PROBE_WIRE)
        step.at_ps += recorder_before_wire_ps(film->fabric, path, packet);
    step.text = film_text(film, stage, path, packet, replica);
    g_array_append_val(film->steps, step);
}

void film_note(Film *film, ProbeStage stage, const char *file, const char *path, const Packet *packet, SimTime at_ps)
{
    if (film->begin_ps == SIMTIME_NEVER) {
        if (stage != PROBE_REQUEST)
            return;
        film->begin_ps = at_ps;
        recorder_begin(film->recorder, at_ps);
    }
    film->packets += stage == PROBE_WIRE;
    if (film->packets > FILM_PACKETS)
        return;
    recorder_note(film->recorder, stage, path, packet, at_ps);
    if (stage == PROBE_REQUEST || stage == PROBE_WIRE || stage == PROBE_TABLE || stage == PROBE_SERVE ||
        stage == PROBE_RESULT || stage == PROBE_ANSWER)
        film_add(film, stage, file, path, packet, at_ps);
}

static int film_compare(gconstpointer a, gconstpointer b)
{
    const FilmStep *x = a, *y = b;
    if (x->at_ps != y->at_ps)
        return x->at_ps < y->at_ps ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

Scene *film_finish(Film *film, guint64 *packets)
{
    g_array_sort(film->steps, film_compare);
    for (guint i = 0; i < film->steps->len; i++) {
        const FilmStep *step = &g_array_index(film->steps, FilmStep, i);
        recorder_add_step(film->recorder, step->at_ps, step->depth, step->unit, step->text, step->file);
    }
    Scene *scene = recorder_finish(film->recorder);
    *packets = film->packets;
    if (film->packets == 0 || film->packets > FILM_PACKETS)
        g_clear_pointer(&scene, scene_free);
    g_array_free(film->steps, TRUE);
    g_free(film->count);
    g_free(film);
    return scene;
}
