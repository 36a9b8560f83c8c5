/* See tracks_parts.h. Which request a packet is of, and which replica, is what latency_breakdown.c knows of it. */
#include <string.h>

#include "observe/series/tracks_parts.h"
#include "observe/series/latency_breakdown_parts.h"
#include "model/sm/sm.h"

#define PACKETS_REQUESTS 2000u /* that are followed, */
#define PACKETS_SHARE 8u       /* of one launch or copy, where they share, at most that part of those that are left, */
#define PACKETS_LANES 48u      /* so many of a GPU at a time, */
#define PACKETS_SLICES 60000u  /* and no more than that in all */
#define PACKETS_ARROWS 80000u

typedef enum { SLICE_REQUEST, SLICE_PACKET, SLICE_ANSWER } SliceType;

typedef struct {
    const char *path;  /* of the link, or of the GPU */
    const void *cause; /* of a request; NULL: not known */
    SimTime start_ps, end_ps;
    guint32 lane; /* of a GPU's requests */
    guint16 dst, flits;
    guint8 type, kind; /* SliceType, PacketKind */
} PacketSlice;

typedef struct {
    guint32 from, to; /* slices */
} Arrow;

struct Packets {
    Fabric *fabric;
    LatencyBreakdown *breakdown;
    Causes *causes;
    GArray *slice, *arrow;
    GHashTable *left; /* guint by launch or copy, or by NULL for all: how many requests may still be followed */
    gboolean shares;  /* launches and copies share what may be followed */
    guint32 *last;    /* by a link's number: that of its last slice, and 1 */
    GArray **busy_ps; /* by GPU: until when each lane is taken; SIMTIME_NEVER: its request is under way */
    guint64 n_gpus;
    guint64 requests; /* that there were */
    guint64 followed;
    gboolean cut; /* slices or arrows were left out */
};

/* ---- slices */

static guint32 packets_add(Packets *packets, const PacketSlice *slice)
{
    if (packets->slice->len >= PACKETS_SLICES) {
        packets->cut = TRUE;
        return 0;
    }
    g_array_append_val(packets->slice, *slice);
    return packets->slice->len;
}

static void packets_join(Packets *packets, guint32 from, guint32 to)
{
    if (from == 0 || to == 0 || from == to)
        return;
    const Arrow arrow = {from - 1, to - 1};
    if (packets->arrow->len < PACKETS_ARROWS)
        g_array_append_val(packets->arrow, arrow);
    else
        packets->cut = TRUE;
}

/* A request that waited in its SM began before it is seen, maybe while another was on the lane. FALSE: none is free. */
static gboolean packets_take_lane(Packets *packets, guint32 gpu, SimTime start_ps, guint32 *taken)
{
    GArray *busy_ps = packets->busy_ps[gpu];
    guint lane = 0;
    while (lane < busy_ps->len && g_array_index(busy_ps, SimTime, lane) > start_ps)
        lane++;
    if (lane == PACKETS_LANES)
        return FALSE;
    if (lane == busy_ps->len)
        g_array_set_size(busy_ps, lane + 1);
    g_array_index(busy_ps, SimTime, lane) = SIMTIME_NEVER;
    *taken = lane;
    return TRUE;
}

/* ---- what is seen */

/* How many requests of a launch or copy may still be followed: of a program else the first copies would be all that is
 * shown. */
static guint *packets_share(Packets *packets, const void *cause)
{
    const void *whose = packets->shares ? cause : NULL;
    guint *left = g_hash_table_lookup(packets->left, whose);
    if (!left) {
        left = g_new(guint, 1);
        *left = PACKETS_REQUESTS - (guint)packets->followed;
        if (packets->shares)
            *left = (*left + PACKETS_SHARE - 1) / PACKETS_SHARE;
        g_hash_table_insert(packets->left, (gpointer)whose, left);
    }
    return left;
}

void packets_forget(Packets *packets, const void *cause) { g_hash_table_remove(packets->left, cause); }

static void packets_note_request(Packets *packets, const Packet *packet)
{
    Request *request = latency_breakdown_find(packets->breakdown, packet->src, packet->txn);
    packets->requests++;
    if (packets->followed >= PACKETS_REQUESTS || !request || packets->slice->len >= PACKETS_SLICES / 2)
        return;
    const void *cause = causes_of(packets->causes, packet);
    guint *left = packets_share(packets, cause);
    if (*left == 0 || !packets_take_lane(packets, packet->src, request->start_ps, &request->lane))
        return;
    --*left;
    packets->followed++;
    const PacketSlice slice = {.path = packets->fabric->gpu[packet->src].path,
                               .start_ps = request->start_ps,
                               .end_ps = request->start_ps,
                               .lane = request->lane,
                               .dst = packet->dst,
                               .flits = packet->flits,
                               .type = SLICE_REQUEST,
                               .kind = packet->kind,
                               .cause = cause};
    request->chain.mark = request->slice = packets_add(packets, &slice);
}

static gboolean chain_is_marked(const Chain *chain)
{
    gboolean any = chain && chain->mark;
    for (guint m = 0; chain && !any && m < chain->n_members; m++)
        any = chain->member[m].mark != 0;
    return any;
}

/* Its packet is on a wire: it follows from the one before, or from all answers that became one. */
static void packets_go_on(Packets *packets, Chain *chain, const Packet *packet, guint32 slice)
{
    if (!chain_is_marked(chain))
        return;
    if (chain->member && !chain->joined && packet_vc(packet) == VC_RSP) {
        chain->joined = TRUE;
        for (guint m = 0; m < chain->n_members; m++)
            packets_join(packets, chain->member[m].mark, slice);
    } else {
        packets_join(packets, chain->mark, slice);
    }
    chain->mark = slice;
}

static guint32 packets_add_wire(Packets *packets, const Link *link, const Packet *packet, SimTime at_ps)
{
    guint32 *last = &packets->last[fabric_link_number(packets->fabric, link)];
    const SimTime end_ps = at_ps + simfine_to_ps(packet->flits * link->flit_time);
    const PacketSlice slice = {.path = link->path,
                               .start_ps = at_ps,
                               .end_ps = end_ps,
                               .dst = packet->dst,
                               .flits = packet->flits,
                               .type = SLICE_PACKET,
                               .kind = packet->kind};
    if (*last) { /* begins are rounded to a picosecond, each for itself */
        PacketSlice *before = &g_array_index(packets->slice, PacketSlice, *last - 1);
        before->end_ps = MIN(before->end_ps, at_ps);
    }
    const guint32 added = packets_add(packets, &slice);
    *last = added ? added : *last;
    return added;
}

static void packets_note_wire(Packets *packets, const Link *link, const Packet *packet, SimTime at_ps)
{
    const Wire *wire = &packets->breakdown->wire[fabric_link_number(packets->fabric, link)];
    if (packet_is_counted(*packet) || packet_is_multicast(*packet)) {
        Chain *chain = latency_breakdown_find_on(packets->breakdown, wire, packet);
        if (chain_is_marked(chain))
            packets_go_on(packets, chain, packet, packets_add_wire(packets, wire->link, packet, at_ps));
        return;
    }
    guint32 slice = 0;
    FOR_REQUESTS(packets->breakdown, packet, request)
    {
        if (!chain_is_marked(&request->chain))
            continue;
        slice = slice ? slice : packets_add_wire(packets, wire->link, packet, at_ps);
        packets_go_on(packets, &request->chain, packet, slice);
    }
}

static void packets_close(Packets *packets, guint32 gpu, const Request *request, SimTime at_ps)
{
    const char *path = packets->fabric->gpu[gpu].path;
    g_array_index(packets->busy_ps[gpu], SimTime, request->lane) = at_ps;
    PacketSlice *slice = &g_array_index(packets->slice, PacketSlice, request->slice - 1);
    slice->end_ps = MAX(at_ps, slice->start_ps);
    const PacketSlice *wire = &g_array_index(packets->slice, PacketSlice, request->chain.mark - 1);
    const PacketSlice answer = {.path = path,
                                .start_ps = MAX(MIN(wire->end_ps, at_ps), slice->start_ps),
                                .end_ps = at_ps,
                                .lane = request->lane,
                                .type = SLICE_ANSWER};
    if (wire->type == SLICE_PACKET && answer.start_ps < at_ps)
        packets_join(packets, request->chain.mark, packets_add(packets, &answer));
}

static void packets_note_answer(Packets *packets, const Packet *packet, SimTime at_ps)
{
    FOR_REQUESTS(packets->breakdown, packet, request)
    if (request->slice && request->chain.mark)
        packets_close(packets, packet->src, request, at_ps);
}

void packets_note_before(Packets *packets, const ProbeEvent *event)
{
    if (event->stage == PROBE_COALESCE && packets->followed < PACKETS_REQUESTS)
        causes_note(packets->causes, event->sm->last);
    else if (event->stage == PROBE_ANSWER)
        packets_note_answer(packets, event->packet, event->at_ps);
}

void packets_note(Packets *packets, const ProbeEvent *event)
{
    if (event->stage == PROBE_REQUEST)
        packets_note_request(packets, event->packet);
    else if (event->stage == PROBE_WIRE)
        packets_note_wire(packets, event->link, event->packet, event->at_ps);
}

/* ---- life */

Packets *packets_new(Fabric *fabric, LatencyBreakdown *breakdown, gboolean shares)
{
    Packets *packets = g_new0(Packets, 1);
    packets->fabric = fabric;
    packets->shares = shares;
    packets->left = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
    packets->breakdown = breakdown;
    packets->causes = causes_new(fabric);
    packets->slice = g_array_new(FALSE, FALSE, sizeof(PacketSlice));
    packets->arrow = g_array_new(FALSE, FALSE, sizeof(Arrow));
    packets->last = g_new0(guint32, fabric_n_links(fabric));
    packets->n_gpus = fabric->spec.system.gpus;
    packets->busy_ps = g_new0(GArray *, packets->n_gpus);
    for (guint64 g = 0; g < packets->n_gpus; g++)
        packets->busy_ps[g] = g_array_new(FALSE, TRUE, sizeof(SimTime));
    return packets;
}

void packets_free(Packets *packets)
{
    if (!packets)
        return;
    for (guint64 g = 0; g < packets->n_gpus; g++)
        g_array_free(packets->busy_ps[g], TRUE);
    g_free(packets->busy_ps);
    causes_free(packets->causes);
    g_array_free(packets->slice, TRUE);
    g_array_free(packets->arrow, TRUE);
    g_free(packets->last);
    g_hash_table_destroy(packets->left);
    g_free(packets);
}

/* ---- writing */

static guint32 packets_track(Timeline *timeline, const char *run, const PacketSlice *slice)
{
    const gsize first = strcspn(slice->path, ".");
    g_autofree char *name = NULL;
    if (slice->type == SLICE_PACKET)
        name = g_strdup_printf("%s packets", slice->path[first] ? slice->path + first + 1 : slice->path);
    else if (slice->lane)
        name = g_strdup_printf("requests (%u)", slice->lane + 1);
    return timeline_find_track(timeline, tracks_group(timeline, run, slice->path, first), name ? name : "requests");
}

static void packets_write_slice(const PacketSlice *slice, Timeline *timeline, guint32 track, SimTime begin_ps)
{
    const gboolean multicast = slice->kind >= PACKET_MC_WRITE && slice->kind <= PACKET_MC_READ;
    const gboolean team = multicast && (slice->type == SLICE_REQUEST || g_str_has_suffix(slice->path, ".up"));
    g_autofree char *flits = g_strdup_printf("%u", slice->flits);
    g_autofree char *to = g_strdup_printf(team ? "the team of multicast ID %u" : "gpu%u", slice->dst);
    const gboolean asks = slice->kind < PACKET_READ_RSP;
    const char *const facts[] = {"flits", flits, asks ? "to" : NULL, to, NULL};
    const char *name = slice->type == SLICE_ANSWER ? "answered" : packet_kind_name((PacketKind)slice->kind);
    timeline_add_slice_with(timeline, track, name, begin_ps + slice->start_ps, begin_ps + slice->end_ps,
                            slice->type == SLICE_ANSWER ? NULL : facts);
}

/* From the launch or copy that a request is of. */
static void packets_write_origin(const PacketSlice *slice, Timeline *timeline, guint32 track, SimTime begin_ps,
                                 const TracksOrigin *origin)
{
    guint32 from;
    SimTime from_ps;
    if (origin && slice->cause && origin->find(origin->user, slice->cause, begin_ps + slice->start_ps, &from, &from_ps))
        timeline_add_arrow(timeline, from, from_ps, track, begin_ps + slice->start_ps);
}

void packets_write(const Packets *packets, Timeline *timeline, const char *run, SimTime begin_ps,
                   const TracksOrigin *origin)
{
    g_autofree guint32 *track = g_new0(guint32, packets->slice->len + 1);
    const gboolean room = timeline_has_room(timeline);
    for (guint i = 0; room && i < packets->slice->len; i++) {
        const PacketSlice *slice = &g_array_index(packets->slice, PacketSlice, i);
        track[i] = packets_track(timeline, run, slice);
        packets_write_slice(slice, timeline, track[i], begin_ps);
        packets_write_origin(slice, timeline, track[i], begin_ps, origin);
    }
    for (guint i = 0; room && i < packets->arrow->len; i++) {
        const Arrow *arrow = &g_array_index(packets->arrow, Arrow, i);
        const PacketSlice *from = &g_array_index(packets->slice, PacketSlice, arrow->from);
        const PacketSlice *to = &g_array_index(packets->slice, PacketSlice, arrow->to);
        if (from->start_ps > to->start_ps)
            continue;
        timeline_add_arrow(timeline, track[arrow->from], begin_ps + from->start_ps, track[arrow->to],
                           begin_ps + to->start_ps);
    }
    if (!room || packets->followed < packets->requests)
        timeline_leave_out(timeline, "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " requests%s%s with their packets",
                           packets->requests - (room ? packets->followed : 0), packets->requests, run ? " of " : "",
                           run ? run : "");
    if (room && packets->cut)
        timeline_leave_out(timeline, "more than %u packets of others%s%s", PACKETS_SLICES, run ? " of " : "",
                           run ? run : "");
}
