/* See film.h. */
#include "observe/walk/film.h"

#include "observe/walk/internal.h"

struct Film {
    const Fabric *fabric;
    Recorder *recorder;
    WalkCount *count; /* by switch; its texts are not about one request at a time, so it counts for none */
    SimTime begin_ps; /* SIMTIME_NEVER: nothing was seen */
    guint64 packets;
    GArray *steps; /* WalkStep */
};

Film *film_new(const Fabric *fabric, const char *title)
{
    Film *film = g_new0(Film, 1);
    film->fabric = fabric;
    film->recorder = recorder_new(fabric, title, FILM_PACKETS);
    film->count = g_new0(WalkCount, fabric->n_switches);
    film->begin_ps = SIMTIME_NEVER;
    film->steps = g_array_new(FALSE, FALSE, sizeof(WalkStep));
    return film;
}

static char *film_text(Film *film, const ProbeEvent *event, gboolean replica)
{
    const Packet *packet = event->packet;
    switch (event->stage) {
    case PROBE_REQUEST:
        if (packet_is_multicast(*packet))
            return g_strdup_printf("asks: a %s for the team of multicast ID %u", walk_cargo(packet), packet->dst);
        return g_strdup_printf("asks: a %s for GPU %u", walk_cargo(packet), packet->dst);
    case PROBE_RESULT:
        return g_strdup_printf("the last %s is here: the tag is freed, and one answer goes on", walk_cargo(packet));
    case PROBE_ANSWER:
        return g_strdup_printf("%s is back: the request ends, or all those that it answers", walk_cargo(packet));
    default: return walk_text(film->fabric, event, replica, film->count);
    }
}

static void film_add(Film *film, const ProbeEvent *event)
{
    const Packet *packet = event->packet;
    const gboolean replica = packet_is_multicast(*packet) && g_str_has_suffix(event->path, ".down");
    WalkStep step = walk_step(film->fabric, event, film->begin_ps, film->steps->len);
    step.depth = replica || packet_is_counted(*packet);
    step.text = film_text(film, event, replica);
    g_array_append_val(film->steps, step);
}

void film_note(Film *film, const ProbeEvent *event)
{
    const ProbeStage stage = event->stage;
    if (film->begin_ps == SIMTIME_NEVER) {
        if (stage != PROBE_REQUEST)
            return;
        film->begin_ps = event->at_ps;
        recorder_begin(film->recorder, event->at_ps);
    }
    film->packets += stage == PROBE_WIRE;
    if (film->packets > FILM_PACKETS)
        return;
    recorder_note(film->recorder, event);
    if (stage == PROBE_REQUEST || stage == PROBE_WIRE || stage == PROBE_TABLE || stage == PROBE_SERVE ||
        stage == PROBE_RESULT || stage == PROBE_ANSWER)
        film_add(film, event);
}

Scene *film_finish(Film *film, guint64 *packets)
{
    walk_steps_sort(film->steps);
    walk_steps_show(film->steps, film->recorder);
    Scene *scene = recorder_finish(film->recorder);
    *packets = film->packets;
    if (film->packets == 0 || film->packets > FILM_PACKETS)
        g_clear_pointer(&scene, scene_free);
    walk_free(film->steps);
    g_free(film->count);
    g_free(film);
    return scene;
}
