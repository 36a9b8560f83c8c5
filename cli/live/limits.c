/* See limits.h. Nothing is guessed here: a unit is called full in the intervals whose highest level was its size, and
 * waits are those that the switches counted. */
#include "cli/live/limits.h"

#include "observe/series/points.h"

#define LIMITS_LEAST 20 /* what takes less than one part in so many of the time is not worth a sentence */

/* A unit of a port that can be full. */
typedef struct {
    const char *name, *key;
    gsize level; /* of SeriesPoint: guint64 */
    guint64 most, from;
} LimitsUnit;

/* An operand buffer is full where there is no room for one more request of the largest kind. */
static guint64 limits_buffer_from(guint64 bytes) { return bytes - MIN(bytes / 32, 1024); }

static void limits_add_unit(GString *text, const GArray *points, const LimitsUnit *unit, SimTime passed_ps)
{
    SimTime full_ps = 0, first_ps = 0, last_ps = 0;
    for (guint i = 0; i < points->len; i++) {
        const SeriesPoint *point = &g_array_index(points, SeriesPoint, i);
        if (G_STRUCT_MEMBER(guint64, point, unit->level) < unit->from)
            continue;
        first_ps = full_ps ? first_ps : point->from_ps;
        last_ps = point->to_ps;
        full_ps += point->to_ps - point->from_ps;
    }
    if (full_ps < passed_ps / LIMITS_LEAST || full_ps == 0)
        return;
    g_string_append_printf(text, "%s%s full for %.2f us, from %.2f to %.2f us (switch.%s=%" G_GUINT64_FORMAT ")",
                           text->len ? "; " : "", unit->name, (double)full_ps / PS_PER_US, (double)first_ps / PS_PER_US,
                           (double)last_ps / PS_PER_US, unit->key, unit->most);
}

char *limits_full(const GArray *points, const Fabric *fabric, SimTime passed_ps)
{
    const SwitchSpec *spec = &fabric->spec.sw;
    const LimitsUnit units[] = {
        {"the reduction buffer of a port is", "reduction_buffer_bytes", offsetof(SeriesPoint, reduction_bytes_most),
         spec->reduction_buffer_bytes, limits_buffer_from(spec->reduction_buffer_bytes)},
        {"the multicast tags of a port are", "multicast_tags", offsetof(SeriesPoint, multicast_tags_most),
         spec->multicast_tags, spec->multicast_tags},
        {"the reduction tags of a port are", "reduction_tags", offsetof(SeriesPoint, reduction_tags_most),
         spec->reduction_tags, spec->reduction_tags},
    };
    GString *text = g_string_new(NULL);
    for (guint i = 0; points && i < G_N_ELEMENTS(units); i++)
        limits_add_unit(text, points, &units[i], passed_ps);
    const gboolean any = text->len > 0;
    return g_string_free(text, !any);
}

char *limits_parts(const LatencyTotal *where)
{
    double part[LATENCY_REASONS + 1] = {0}, sum = 0, under_way = (double)(where->time_ps - where->idle_ps);
    for (int k = 0; k <= PACKET_MC_READ; k++)
        for (int r = 0; r < LATENCY_REASONS; r++) {
            part[r] += (double)where->sum[k].part_ps[r];
            sum += (double)where->sum[k].part_ps[r];
        }
    if (sum <= 0 || where->time_ps == 0)
        return NULL;
    for (int r = 0; r < LATENCY_REASONS; r++)
        part[r] *= under_way / sum;
    part[LATENCY_REASONS] = (double)where->idle_ps;
    GString *text = g_string_new(NULL);
    for (guint n = 0; n < 3; n++) {
        int most = 0;
        for (int r = 1; r <= LATENCY_REASONS; r++)
            most = part[r] > part[most] ? r : most;
        const double share = part[most] / (double)where->time_ps;
        if (share * LIMITS_LEAST < 1)
            break;
        g_string_append_printf(text, "%s%.0f %% %s", n ? ", " : "", 100 * share,
                               most < LATENCY_REASONS ? latency_breakdown_names[most]
                                                      : "no request under way (launch, exit)");
        part[most] = 0;
    }
    return g_string_free(text, FALSE);
}

char *limits_waits(const Fabric *fabric)
{
    static const char *const what[] = {"a tag", "the reduction buffer", "another multicast's rounds"};
    guint64 count[3] = {0};
    for (guint32 s = 0; s < fabric->n_switches; s++)
        for (guint32 p = 0; p < fabric->sw[s].ports; p++) {
            count[0] += fabric->sw[s].port[p].stalls_tag;
            count[1] += fabric->sw[s].port[p].stalls_buffer;
            count[2] += fabric->sw[s].port[p].stalls_rounds;
        }
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < G_N_ELEMENTS(what); i++)
        if (count[i])
            g_string_append_printf(text, "%s%" G_GUINT64_FORMAT " %s %s", text->len ? ", " : "", count[i],
                                   text->len ? "for" : "requests waited for", what[i]);
    if (text->len)
        g_string_append(text, " at a switch");
    const gboolean any = text->len > 0;
    return g_string_free(text, !any);
}
