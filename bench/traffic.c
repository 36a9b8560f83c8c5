#include "bench/traffic.h"

#define TRAFFIC_REGION_BYTES (4u << 20)
/* A source tells its port of what it sends next, too: so many, within so many mean gaps, as long as what all sources
 * send within that is less than what is left, so that who sends the last ones depends on the times alone: a packet a
 * gap and source, and eight times what that may vary by, or more. Towards the end it does so within fewer gaps. */
#define TRAFFIC_AHEAD 16u
#define TRAFFIC_AHEAD_GAPS 24u
#define TRAFFIC_LAST_GAPS 3u
#define TRAFFIC_LEFT(sources, gaps) (((gaps) + 4u) * (sources) + 96u)
#define TRAFFIC_BINS 128u

typedef struct {
    Event next;
    Traffic *traffic;
    GpuRoomWaiter room;
    GpuRequest held; /* waits for room */
    guint32 held_link;
    gboolean drawn; /* `held` is what goes next */
    Rng rng;
    guint16 gpu;
} Source;

struct Traffic {
    Fabric *fabric;
    TrafficSpec spec;
    Source *source;
    MemRegion **region;
    guint64 left, completed, peak;
    SimTime gap_ps, end_ps;
    /* how many more are issued than completed in each span of 2^shift ps from `span` on, known or not when told, and
     * how many are under way before */
    guint64 under_way, span;
    guint64 bin[TRAFFIC_BINS];
    guint32 shift;
    Event end;
    gboolean ahead; /* stores are brief, and ports are told of them ahead */
};

/* Before what happens now. */
static inline void traffic_look(Traffic *traffic, SimTime now_ps)
{
    for (guint64 span = now_ps >> traffic->shift; G_UNLIKELY(traffic->span < span); traffic->span++) {
        guint64 *bin = &traffic->bin[traffic->span % TRAFFIC_BINS];
        traffic->under_way += *bin;
        *bin = 0;
        traffic->peak = MAX(traffic->peak, traffic->under_way);
    }
}

static inline void traffic_issue(Traffic *traffic, SimTime at_ps)
{
    traffic->left--;
    traffic->bin[(at_ps >> traffic->shift) % TRAFFIC_BINS]++;
}

/* So many are done. */
static void traffic_complete(void *owner, guint32 n, SimTime now_ps)
{
    Traffic *traffic = owner;
    traffic_look(traffic, sim_now_ps(traffic->fabric->sim));
    traffic->bin[(now_ps >> traffic->shift) % TRAFFIC_BINS] -= n;
    traffic->completed += n;
    traffic->end_ps = MAX(traffic->end_ps, now_ps);
    if (G_UNLIKELY(traffic->completed == traffic->spec.packets)) /* the run ends with the last answer, when it comes */
        sim_at(traffic->fabric->sim, &traffic->end, traffic->end_ps, EVENT_PRIORITY_DEVICE);
}

static void traffic_on_end(Event *event, SimTime now_ps)
{
    traffic_look(EVENT_OWNER(event, Traffic, end), now_ps);
}

static void traffic_on_done(Gpu *gpu, Txn *txn, const guint8 *bytes, SimTime now_ps)
{
    (void)gpu;
    (void)bytes;
    traffic_complete(txn->owner, 1, now_ps);
}

static void traffic_set_early(Traffic *traffic, gboolean early)
{
    for (guint64 g = 0; g < traffic->fabric->spec.system.gpus; g++)
        gpu_set_answers_early(&traffic->fabric->gpu[g], early);
}

/* What it sends next; the GPU that it goes to. */
static inline guint32 source_draw(Source *source, Rng *rng)
{
    const Traffic *traffic = source->traffic;
    const Gpu *gpu = &traffic->fabric->gpu[source->gpu];
    guint32 gpus = (guint32)traffic->fabric->spec.system.gpus;
    guint64 draw = rng_next(rng);
    guint32 to = (guint32)((draw & 0xffffffffu) * (gpus - 1) >> 32);
    guint64 line = (draw >> 32) % (TRAFFIC_REGION_BYTES / LINE_BYTES);
    to += to >= source->gpu;
    source->held.offset = line * LINE_BYTES;
    source->held.region = traffic->region[to];
    source->held_link = gpu->links == 1 ? 0 : gpu_link_of(gpu, &source->held);
    return to;
}

/* Of the packets that are left, so many may be told of that come within *gaps. */
static inline guint64 traffic_ahead(const Traffic *traffic, guint32 *gaps)
{
    guint64 sources = traffic->fabric->spec.system.gpus, left = traffic->left;
    for (*gaps = TRAFFIC_AHEAD_GAPS; *gaps >= TRAFFIC_LAST_GAPS; *gaps /= 2)
        if (G_LIKELY(left > TRAFFIC_LEFT(sources, *gaps)))
            return MIN(left - TRAFFIC_LEFT(sources, *gaps), TRAFFIC_AHEAD);
    return 0;
}

/* From at_ps on; when the first one comes that the port was not told of. */
static SimTime source_tell(Source *source, SimTime now_ps, SimTime at_ps)
{
    Traffic *traffic = source->traffic;
    Gpu *gpu = &traffic->fabric->gpu[source->gpu];
    guint32 gaps;
    guint64 n = traffic_ahead(traffic, &gaps);
    SimTime end_ps = now_ps + gaps * traffic->gap_ps;
    guint32 asked = G_MAXUINT32, room = 0;
    Rng rng = source->rng;
    while (n-- > 0 && at_ps < end_ps) {
        guint32 to = source_draw(source, &rng);
        if (source->held_link != asked)
            room = gpu_room_ahead(gpu, asked = source->held_link);
        if (room == 0) {
            source->drawn = TRUE;
            break;
        }
        room--;
        gpu_store_ahead(gpu, to, asked, at_ps);
        traffic_issue(traffic, at_ps);
        at_ps += rng_exponential_ps(&rng, traffic->gap_ps);
    }
    source->rng = rng;
    return at_ps;
}

static void source_schedule(Source *source, SimTime now_ps)
{
    Traffic *traffic = source->traffic;
    SimTime at_ps = now_ps + rng_exponential_ps(&source->rng, traffic->gap_ps);
    source->drawn = FALSE;
    if (traffic->ahead)
        at_ps = source_tell(source, now_ps, at_ps);
    sim_at(traffic->fabric->sim, &source->next, at_ps, EVENT_PRIORITY_DEVICE);
}

static void source_on_room(GpuRoomWaiter *waiter, SimTime now_ps)
{
    Source *source = EVENT_OWNER(waiter, Source, room);
    gpu_request(&source->traffic->fabric->gpu[source->gpu], &source->held, source->held_link);
    source_schedule(source, now_ps);
}

static void source_on_next(Event *event, SimTime now_ps)
{
    Source *source = EVENT_OWNER(event, Source, next);
    Traffic *traffic = source->traffic;
    traffic_look(traffic, now_ps);
    if (traffic->left == 0)
        return;
    traffic_issue(traffic, now_ps);
    if (!source->drawn)
        source_draw(source, &source->rng);
    Gpu *gpu = &traffic->fabric->gpu[source->gpu];
    if (!gpu_has_room(gpu, source->held_link)) {
        gpu_wait_room(gpu, source->held_link, &source->room);
        return;
    }
    gpu_request(gpu, &source->held, source->held_link);
    source_schedule(source, now_ps);
}

Traffic *traffic_new(Fabric *fabric, const TrafficSpec *spec)
{
    g_assert(spec->bytes >= 1 && spec->bytes <= LINE_BYTES && spec->load_per_mille >= 1);
    guint32 gpus = (guint32)fabric->spec.system.gpus;
    g_assert(gpus >= 2);
    Traffic *traffic = g_new0(Traffic, 1);
    traffic->fabric = fabric;
    traffic->spec = *spec;
    traffic->left = spec->packets;
    traffic->source = g_new0(Source, gpus);
    traffic->region = g_new0(MemRegion *, gpus);
    event_init(&traffic->end, traffic_on_end);
    guint64 flits = 1 + (spec->bytes + FLIT_BYTES - 1) / FLIT_BYTES;
    /* ps of a packet on all links of a GPU at once, over the load */
    traffic->gap_ps = flits * FLIT_BYTES * 1000000u / fabric->spec.link.rate_MBps * 1000 /
                      ((guint64)spec->load_per_mille * fabric->links);
    SimTime told_ps = MAX(TRAFFIC_AHEAD_GAPS * traffic->gap_ps, 2 * fabric->gpu[0].down[0].ring[VC_RSP].delay_ps);
    while (told_ps >> traffic->shift >= TRAFFIC_BINS / 2)
        traffic->shift++;
    for (guint32 g = 0; g < gpus; g++) {
        g_autofree char *name = g_strdup_printf("traffic/gpu%u", g);
        traffic->region[g] = memory_region_new(fabric->memory, (guint16)g, TRAFFIC_REGION_BYTES, NULL);
        g_assert(traffic->region[g]);
        Source *source = &traffic->source[g];
        *source = (Source){.traffic = traffic, .gpu = (guint16)g, .room.fire = source_on_room};
        source->held = (GpuRequest){.kind = PACKET_WRITE, .bytes = (guint16)spec->bytes,
                                    .word_mask = GPU_ALL_WORDS, .done = traffic_on_done, .owner = traffic,
                                    .brief = TRUE};
        gpu_set_brief(&fabric->gpu[g], &source->held, traffic_complete);
        event_init(&source->next, source_on_next);
        rng_init(&source->rng, sim_seed(fabric->sim), name);
        sim_after(fabric->sim, &source->next, rng_exponential_ps(&source->rng, traffic->gap_ps),
                  EVENT_PRIORITY_DEVICE);
    }
    traffic->ahead = !traffic->region[0]->host && traffic->region[0]->cached; /* they all are alike */
    traffic_set_early(traffic, traffic->left > 0);
    return traffic;
}

void traffic_free(Traffic *traffic)
{
    traffic_set_early(traffic, FALSE);
    sim_cancel(traffic->fabric->sim, &traffic->end);
    for (guint64 g = 0; g < traffic->fabric->spec.system.gpus; g++) {
        sim_cancel(traffic->fabric->sim, &traffic->source[g].next);
        memory_region_unref(traffic->fabric->memory, traffic->region[g]);
        if (traffic->fabric->gpu[g].txns.used == 0) /* it was not cut short */
            gpu_set_brief(&traffic->fabric->gpu[g], NULL, NULL);
    }
    g_free(traffic->region);
    g_free(traffic->source);
    g_free(traffic);
}

guint64 traffic_completed(const Traffic *traffic) { return traffic->completed; }
guint64 traffic_peak(const Traffic *traffic) { return traffic->peak; }
SimTime traffic_end_ps(const Traffic *traffic) { return traffic->end_ps; }
