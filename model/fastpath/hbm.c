/* HBM of a GPU in the fast engine: its requests in order of time, without an event for each.
 *
 * HBM is one queue for all ports of a GPU, so the order in which replicas ask for it matters over all of them; but
 * ports are advanced one after the other, each by many requests at a time. So a port that serves such a replica only
 * writes down that it asks, and when (`asked`). An answer is never ready earlier than dram_ps after it was asked for.
 * Therefore it is enough if all ports are advanced, and HBM then takes what was asked for up to that time in its order,
 * once in each dram_ps while any such request is pending: no answer is due before HBM has said when it is. What HBM has
 * read joins the queue of its port as a scheduled arrival (FastPort.answers), which late answers are overtaken by.
 * What asks HBM by an event of its own (unicast, the GPU's own accesses, copies) lets those before it go first. */
#include "model/fastpath/fastpath.h"
#include "model/gpu/gpu.h"

typedef struct {
    SimTime at_ps;
    guint64 line;
    Packet answer; /* that leaves when HBM has read it */
    guint32 bytes;
} HbmAsk;
RING_DEFINE(HbmAskRing, hbm_ask, HbmAsk)

typedef struct {
    Gpu *gpu;
    guint32 links;
    HbmAskRing *asked; /* by link: in order of time */
    SimTime *first_ps; /* by link: of the first one of them; SIMTIME_NEVER: there is none */
    guint32 expected;  /* pending requests that will ask */
    SimTime dram_ps;   /* of the system: no answer comes earlier, and those of a slow GPU come later */
    Event advance;
} FastGpu;

/* Before the first answer to what is asked for from now on is due. */
static void fast_hbm_advance_in_time(FastGpu *fast)
{
    Gpu *gpu = fast->gpu;
    if (!event_is_pending(&fast->advance))
        sim_at(gpu->sim, &fast->advance, sim_now_ps(gpu->sim) + fast->dram_ps - 1, EVENT_PRIORITY_FABRIC);
}

void fast_hbm_expect(Gpu *gpu)
{
    FastGpu *fast = gpu->fast;
    fast->expected++;
    fast_hbm_advance_in_time(fast);
}

void fast_hbm_expect_no_more(Gpu *gpu) { ((FastGpu *)gpu->fast)->expected--; }

static void fast_hbm_answer(Gpu *gpu, guint32 link, Packet answer, guint64 line, guint32 bytes, SimTime now_ps)
{
    FastGpu *fast = gpu->fast;
    if (fast->asked[link].count == 0)
        fast->first_ps[link] = now_ps;
    *hbm_ask_push(&fast->asked[link]) = (HbmAsk){now_ps, line, answer, bytes};
    fast_hbm_advance_in_time(fast);
    if (answer.kind != PACKET_MC_OPERAND)
        link_push(&gpu->up[link], answer, now_ps);
}

/* The link whose first request comes before those of all others. At one instant links' events go in the order of the
 * links' numbers (link_init()). */
static guint32 fast_hbm_first(const FastGpu *fast)
{
    SimTime least_ps = SIMTIME_NEVER;
    guint32 first = 0;
    for (guint32 l = 0; l < fast->links; l++) {
        first = fast->first_ps[l] < least_ps ? l : first;
        least_ps = MIN(least_ps, fast->first_ps[l]);
    }
    return first;
}

/* In order of time; of one instant as they were asked for. */
static void fast_hbm_add_answer(FastPort *port, Packet answer, SimTime at_ps)
{
    TimedPacketRing *answers = &port->answers;
    timed_packet_push(answers);
    guint32 n = answers->count - 1;
    for (; n > 0 && timed_packet_nth(answers, n - 1)->at_ps > at_ps; n--)
        *timed_packet_nth(answers, n) = *timed_packet_nth(answers, n - 1);
    *timed_packet_nth(answers, n) = (TimedPacket){at_ps, answer};
    if (n == 0)
        fast_port_note(port);
}

/* The first request of a link has its turn. */
static void fast_hbm_take(FastGpu *fast, guint32 link)
{
    Gpu *gpu = fast->gpu;
    FastPort *port = fast_port(&gpu->up[link]);
    HbmAsk ask = *hbm_ask_peek(&fast->asked[link]);
    hbm_ask_drop(&fast->asked[link]);
    fast->first_ps[link] = fast->asked[link].count ? hbm_ask_peek(&fast->asked[link])->at_ps : SIMTIME_NEVER;
    const gboolean read = ask.answer.kind == PACKET_MC_OPERAND;
    hbm_serve(&gpu->hbm, read ? HBM_READ : HBM_WRITE, ask.bytes, ask.at_ps);
    gpu->hbm_bytes += ask.bytes;
    if (read)
        fast_hbm_add_answer(port, ask.answer, hbm_ready_ps(&gpu->hbm) + hbm_late_ps(&gpu->hbm, ask.line, ask.at_ps));
}

static gboolean fast_hbm_is_asked(const FastGpu *fast) { return fast->first_ps[fast_hbm_first(fast)] != SIMTIME_NEVER; }

/* The HBM takes all requests that came before until_ps, and of those that came at until_ps itself the ones whose port
 * has its event before the event of number `order`: so the reference engine would have had them. */
static void fast_hbm_take_before(FastGpu *fast, SimTime until_ps, guint64 order)
{
    for (;;) {
        guint32 l = fast_hbm_first(fast);
        SimTime at_ps = fast->first_ps[l];
        if (at_ps > until_ps || (at_ps == until_ps && fast_port(&fast->gpu->up[l])->request_order >= order))
            break;
        fast_hbm_take(fast, l);
    }
}

static void fast_hbm_settle(Gpu *gpu) { fast_hbm_take_before(gpu->fast, sim_now_ps(gpu->sim), 0); }

/* All requests before now have their turn. */
static void fast_hbm_catch_up(Gpu *gpu)
{
    FastGpu *fast = gpu->fast;
    SimTime now_ps = sim_now_ps(gpu->sim);
    const guint64 order = sim_order(gpu->sim, now_ps);
    if (fast->expected == 0 && !fast_hbm_is_asked(fast))
        return;
    for (guint32 l = 0; l < gpu->links; l++)
        link_advance(&gpu->up[l], now_ps);
    fast_hbm_take_before(fast, now_ps, order);
}

static void fast_hbm_on_advance(Event *event, SimTime now_ps)
{
    FastGpu *fast = EVENT_OWNER(event, FastGpu, advance);
    (void)now_ps;
    fast_hbm_catch_up(fast->gpu);
    if (fast->expected || fast_hbm_is_asked(fast))
        fast_hbm_advance_in_time(fast);
}

static const GpuHbmOps fast_hbm_ops = {
    .answer = fast_hbm_answer,
    .catch_up = fast_hbm_catch_up,
    .settle = fast_hbm_settle,
};

void fast_hbm_attach(Gpu *gpu)
{
    if (gpu->fast || gpu->spec->dram_ps < 2) /* there is no time between asking and the answer */
        return;
    FastGpu *fast = gpu->fast = g_new0(FastGpu, 1);
    fast->gpu = gpu;
    fast->links = gpu->links;
    fast->dram_ps = gpu->spec->dram_ps;
    fast->asked = g_new0(HbmAskRing, gpu->links);
    fast->first_ps = g_new(SimTime, gpu->links);
    for (guint32 l = 0; l < gpu->links; l++)
        fast->first_ps[l] = SIMTIME_NEVER;
    event_init(&fast->advance, fast_hbm_on_advance);
    gpu->hbm_ops = &fast_hbm_ops;
}

void fast_gpu_detach(Gpu *gpu)
{
    FastGpu *fast = gpu->fast;
    if (!fast)
        return;
    for (guint32 l = 0; l < gpu->links; l++)
        hbm_ask_clear(&fast->asked[l]);
    g_free(fast->asked);
    g_free(fast->first_ps);
    g_clear_pointer(&gpu->fast, g_free);
}
