/* See port_share.h. */
#include "model/port_share.h"

#include <math.h>
#include <string.h>

#define PORT_PACKETS 40960u      /* played */
#define PORT_PACKETS_BEFORE 8192u /* not counted: queues fill */
#define PORT_TURN 64u             /* lines: 512 threads, 16 B each */

typedef struct {
    guint64 queue, links;
    guint32 sms;
    gboolean strided;
    guint32 copies;
    guint64 issue_ps, packet_ps;
    guint64 *start_ps; /* by link and place: when the last `queue` packets left, or will leave, the queue */
    guint64 *packets;  /* by link: so far */
    guint64 *free_ps;  /* by link */
    guint64 *ready_ps; /* by SM */
    guint64 *issued;   /* by SM */
} PortPlay;

/* The address of an SM's next packet. */
static guint64 port_address(const PortPlay *play, guint32 sm)
{
    guint64 turn = play->issued[sm] / PORT_TURN / play->copies, line = play->issued[sm] % PORT_TURN;
    if (play->strided)
        return ((turn * play->sms + sm) * PORT_TURN + line) * LINE_BYTES;
    return ((guint64)sm * (PORT_PACKETS + 2) + turn * PORT_TURN + line) * LINE_BYTES;
}

static guint64 port_issue(PortPlay *play, const Hash *hash, guint32 sm)
{
    guint32 l = hash_link(hash, port_address(play, sm), 1);
    guint64 *room_ps = &play->start_ps[l * play->queue + play->packets[l]++ % play->queue];
    guint64 at_ps = MAX(play->ready_ps[sm], *room_ps);
    *room_ps = MAX(at_ps, play->free_ps[l]);
    play->free_ps[l] = *room_ps + play->packet_ps;
    play->ready_ps[sm] = at_ps + play->issue_ps;
    play->issued[sm]++;
    return at_ps;
}

static guint32 port_first(const PortPlay *play, guint32 sms)
{
    guint32 first = 0;
    for (guint32 s = 1; s < sms; s++)
        if (play->ready_ps[s] < play->ready_ps[first])
            first = s;
    return first;
}

static PortShare port_result(const PortPlay *play, guint32 sms, const guint64 *before, guint64 past_ps)
{
    double mean = 0, squares = 0, counted = PORT_PACKETS - PORT_PACKETS_BEFORE;
    PortShare share;
    for (guint32 s = 0; s < sms; s++) {
        double n = (double)(play->issued[s] - before[s]);
        mean += n / sms;
        squares += n * n / sms;
    }
    double busy = counted * (double)play->packet_ps / (double)play->links / (double)MAX(past_ps, 1);
    share.busy_per_mille = (guint32)CLAMP(busy * 1000, 1, 1000);
    share.spread_per_mille = (guint32)(1000 * sqrt(fmax(squares - mean * mean, 0) / mean));
    return share;
}

static PortShare port_play(const Fabric *fabric, guint32 sms, guint64 issue_ps, gboolean strided,
                           guint32 copies)
{
    guint64 links = fabric->links, queue = fabric->spec.gpu.source_queue_packets, begin_ps = 0, now_ps = 0;
    guint64 flits = 1 + LINE_BYTES / FLIT_BYTES;
    PortPlay play = {.queue = queue, .links = links, .sms = sms, .strided = strided, .copies = copies,
                     .issue_ps = issue_ps,
                     .packet_ps = flits * FLIT_BYTES * 1000000u / fabric->spec.link.rate_MBps};
    g_autofree guint64 *room = g_new0(guint64, links * queue + 2 * links + 3 * sms);
    g_assert(sms > 0);
    play.start_ps = room;
    play.packets = play.start_ps + links * queue;
    play.free_ps = play.packets + links;
    play.ready_ps = play.free_ps + links;
    play.issued = play.ready_ps + sms;
    guint64 *before = play.issued + sms;
    for (guint32 n = 0; n < PORT_PACKETS; n++) {
        if (n == PORT_PACKETS_BEFORE) {
            begin_ps = now_ps;
            memcpy(before, play.issued, sms * sizeof *before);
        }
        guint64 at_ps = port_issue(&play, &fabric->hash, port_first(&play, sms));
        now_ps = MAX(now_ps, at_ps);
    }
    return port_result(&play, sms, before, now_ps - begin_ps);
}

struct PortShares {
    const Fabric *fabric;
    GHashTable *known; /* SMs and steps -> PortShare */
};

PortShares *port_shares_new(const Fabric *fabric)
{
    PortShares *shares = g_new0(PortShares, 1);
    shares->fabric = fabric;
    shares->known = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    return shares;
}

void port_shares_free(PortShares *shares)
{
    g_hash_table_destroy(shares->known);
    g_free(shares);
}

PortShare port_share(PortShares *shares, guint32 sms, guint64 issue_ps, gboolean strided, guint32 copies)
{
    guint32 steps = (guint32)((issue_ps + PORT_ISSUE_STEP_PS / 2) / PORT_ISSUE_STEP_PS);
    copies = CLAMP(copies, 1, G_MAXUINT8);
    gpointer key = GSIZE_TO_POINTER((gsize)steps << 32 | copies << 20 | sms << 1 | (strided ? 1u : 0u));
    PortShare *known = g_hash_table_lookup(shares->known, key);
    if (!known) {
        PortShare share =
            port_play(shares->fabric, sms, MAX(steps, 1) * PORT_ISSUE_STEP_PS, strided, copies);
        known = g_memdup2(&share, sizeof share);
        g_hash_table_insert(shares->known, key, known);
    }
    return *known;
}
