#include "bench/traffic.h"

#define TRAFFIC_REGION_BYTES (4u << 20)

typedef struct {
    Event next;
    Traffic *traffic;
    GpuRoomWaiter room;
    GpuRequest held; /* waits for room */
    guint32 held_link;
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
    guint64 under_way;
};

static void traffic_on_done(Gpu *gpu, Txn *txn, const guint8 *bytes, SimTime now_ps)
{
    (void)gpu;
    (void)bytes;
    Traffic *traffic = txn->owner;
    traffic->under_way--;
    traffic->completed++;
    traffic->end_ps = now_ps;
}

/* Draws the next packet: where it goes and which line of that GPU's region it writes. */
static void source_draw(Source *source)
{
    const Traffic *traffic = source->traffic;
    guint32 gpus = (guint32)traffic->fabric->spec.system.gpus;
    guint64 draw = rng_next(&source->rng);
    guint32 to = (guint32)((draw & 0xffffffffu) * (gpus - 1) >> 32);
    guint64 line = (draw >> 32) % (TRAFFIC_REGION_BYTES / LINE_BYTES);
    to += to >= source->gpu;
    source->held.offset = line * LINE_BYTES;
    source->held.region = traffic->region[to];
    source->held_link = gpu_link_of(&traffic->fabric->gpu[source->gpu], &source->held);
}

static void source_schedule(Source *source, SimTime now_ps)
{
    Traffic *traffic = source->traffic;
    SimTime at_ps = now_ps + rng_exponential_ps(&source->rng, traffic->gap_ps);
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
    if (traffic->left == 0)
        return;
    traffic->left--;
    traffic->under_way++;
    traffic->peak = MAX(traffic->peak, traffic->under_way);
    source_draw(source);
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
    guint64 flits = 1 + (spec->bytes + FLIT_BYTES - 1) / FLIT_BYTES;
    /* ps of a packet on all links of a GPU at once, over the load */
    traffic->gap_ps = flits * FLIT_BYTES * 1000000u / fabric->spec.link.rate_MBps * 1000 /
                      ((guint64)spec->load_per_mille * fabric->links);
    for (guint32 g = 0; g < gpus; g++) {
        g_autofree char *name = g_strdup_printf("traffic/gpu%u", g);
        traffic->region[g] = memory_region_new(fabric->memory, (guint16)g, TRAFFIC_REGION_BYTES, NULL);
        g_assert(traffic->region[g]);
        Source *source = &traffic->source[g];
        *source = (Source){.traffic = traffic, .gpu = (guint16)g, .room.fire = source_on_room};
        source->held = (GpuRequest){.kind = PACKET_WRITE,
                                    .bytes = (guint16)spec->bytes,
                                    .word_mask = GPU_ALL_WORDS,
                                    .done = traffic_on_done,
                                    .owner = traffic};
        event_init(&source->next, source_on_next);
        rng_init(&source->rng, sim_seed(fabric->sim), name);
        sim_after(fabric->sim, &source->next, rng_exponential_ps(&source->rng, traffic->gap_ps), EVENT_PRIORITY_DEVICE);
    }
    return traffic;
}

void traffic_free(Traffic *traffic)
{
    for (guint64 g = 0; g < traffic->fabric->spec.system.gpus; g++) {
        sim_cancel(traffic->fabric->sim, &traffic->source[g].next);
        memory_region_unref(traffic->fabric->memory, traffic->region[g]);
    }
    g_free(traffic->region);
    g_free(traffic->source);
    g_free(traffic);
}

void traffic_stop(Traffic *traffic) { traffic->left = 0; }

guint64 traffic_completed(const Traffic *traffic) { return traffic->completed; }
guint64 traffic_peak(const Traffic *traffic) { return traffic->peak; }
SimTime traffic_end_ps(const Traffic *traffic) { return traffic->end_ps; }
