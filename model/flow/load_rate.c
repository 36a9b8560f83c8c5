/* See load_rate.h. */
#include "model/flow/load_rate.h"

#include <string.h>
#include "model/sm/place.h"

#define LOAD_PACKETS 98304u        /* simulated, all GPUs together */
#define LOAD_PACKETS_BEFORE 49152u /* not counted: warps get out of step */
#define LOAD_FAR_PERCENT 85u       /* of links busy: with less it is not them that hold loads up */
#define LOAD_LINES 4u              /* of an instruction: 32 lanes of 16 B, */
#define LOAD_CHUNKS 2u             /* on two links, */
#define LOAD_PAIR 2u               /* two packets each, */
#define LOAD_ANSWER_FLITS (1u + LINE_BYTES / FLIT_BYTES) /* which an answer takes; requests take one */

typedef enum { LOAD_ISSUE, LOAD_WIRE, LOAD_ANSWER, LOAD_DOWN, LOAD_CREDIT } LoadWhat;

/* What is due: a warp's next instruction; a link up is free; a chunk's requests are at the GPU that answers, its
 * answers at their link down; credits for a link up. */
typedef struct {
    guint64 at_ps;
    guint32 what, number; /* of a warp, a link up, a chunk, a chunk, a link up */
} LoadDue;

typedef struct {
    guint32 turn;     /* turns so far */
    guint32 step;     /* instructions of this turn so far */
    guint32 pending;  /* chunks */
    guint64 ready_ps; /* of its next instruction */
} LoadWarp;

typedef struct {
    guint32 warp;
    guint32 own, far; /* links of all GPUs: at the GPU that asks, and at the one that answers */
    guint32 next;     /* in its queue; or free */
} LoadChunk;

typedef struct {
    guint32 head, tail, count;
} LoadQueue;

/* Requests and answers take turns on it; what it sends shares a buffer of the switch, whatever it is for. */
typedef struct {
    guint64 free_ps;
    LoadQueue requests, answers;
    guint32 credits;          /* packets, for answers */
    gboolean answered, woken; /* an answer went last; LOAD_WIRE is due */
    guint32 waiting;          /* queue of SMs whose first request is for it, the next ones by LoadOut.next; 0: none */
} LoadUp;

/* What waits for a port's room between SMs and ports (model/sm/egress_queue.c). */
typedef struct {
    LoadQueue queue;
    guint32 next; /* waiting for the same port */
} LoadOut;

typedef struct {
    const Fabric *fabric;
    const LoadKind *kind;
    guint32 gpus, ctas, warps; /* warps: of a GPU */
    guint64 flit_fs;
    guint64 packet_ps; /* of an answer, and of a request that shares its link down */
    guint64 there_ps;  /* half of what a load takes beside its flits */
    guint64 back_ps;   /* of credits */
    guint64 then_ps;   /* when all is there, to the next instruction */
    guint32 depth;     /* of a port's queue, in chunks */
    LoadUp *up;        /* by GPU and link */
    LoadOut *out;      /* by GPU and queue, from 1 on */
    guint64 *down_ps;  /* likewise: free */
    guint64 *lsu_ps;   /* by CTA */
    LoadWarp *warp;
    LoadChunk *chunk; /* from 1 on */
    guint32 spare;
    LoadDue *heap; /* from 1 on */
    guint32 due, room;
    guint64 packets, now_ps;
} LoadReplay;

static void load_push(LoadReplay *replay, guint64 at_ps, LoadWhat what, guint32 number)
{
    guint32 i = ++replay->due;
    if (G_UNLIKELY(i >= replay->room)) {
        replay->room *= 2;
        replay->heap = g_renew(LoadDue, replay->heap, replay->room);
    }
    for (; i > 1 && replay->heap[i / 2].at_ps > at_ps; i /= 2)
        replay->heap[i] = replay->heap[i / 2];
    replay->heap[i] = (LoadDue){at_ps, what, number};
}

static LoadDue load_pop(LoadReplay *replay)
{
    LoadDue first = replay->heap[1], last = replay->heap[replay->due--];
    guint32 i = 1;
    for (guint32 c = 2; c <= replay->due; c = 2 * i) {
        c += c < replay->due && replay->heap[c + 1].at_ps < replay->heap[c].at_ps;
        if (last.at_ps <= replay->heap[c].at_ps)
            break;
        replay->heap[i] = replay->heap[c];
        i = c;
    }
    replay->heap[i] = last;
    return first;
}

/* The link of a chunk of the warp's element k, from whichever peer: their memory is laid out alike. */
static guint32 load_link(const LoadReplay *replay, guint32 w, guint32 k, guint32 chunk)
{
    const LoadKind *kind = replay->kind;
    guint32 gpu = w / replay->warps, at = w % replay->warps;
    guint64 cta_bytes = (guint64)kind->warps * LOAD_LINES * LINE_BYTES, cta = at / kind->warps;
    guint64 turn = (guint64)replay->warp[w].turn * kind->unroll + k;
    guint64 address = kind->strided ? (turn * replay->ctas + cta) * cta_bytes : (cta << 27) + turn * cta_bytes;
    address += (guint64)(at % kind->warps) * LOAD_LINES * LINE_BYTES + chunk * 2 * LINE_BYTES;
    address += (guint64)gpu << 32;
    return hash_link(&replay->fabric->hash, address, hash_gpu_turn(&replay->fabric->hash, gpu));
}

static void load_append(LoadReplay *replay, LoadQueue *queue, guint32 chunk)
{
    replay->chunk[chunk].next = 0;
    *(queue->count++ ? &replay->chunk[queue->tail].next : &queue->head) = chunk;
    queue->tail = chunk;
}

static guint32 load_take(LoadReplay *replay, LoadQueue *queue)
{
    guint32 chunk = queue->head;
    queue->head = replay->chunk[chunk].next;
    queue->count--;
    return chunk;
}

static guint64 load_flits_ps(const LoadReplay *replay, guint32 flits) { return flits * replay->flit_fs / 1000; }

static void load_let_out(LoadReplay *replay, guint32 number, guint64 now_ps);

/* A port's queue is shorter: those that wait for it go on, each until its first request finds no room. */
static void load_let_in(LoadReplay *replay, guint32 number, guint64 now_ps)
{
    LoadUp *up = &replay->up[number];
    while (up->waiting && up->requests.count < replay->depth) {
        guint32 out = up->waiting;
        up->waiting = replay->out[out].next;
        load_let_out(replay, out, now_ps);
    }
}

/* The link's next decision, if it can be made. */
static void load_wire(LoadReplay *replay, guint32 number, guint64 now_ps)
{
    LoadUp *up = &replay->up[number];
    gboolean answers = up->answers.count && up->credits >= LOAD_PAIR;
    if (!answers && !up->requests.count)
        return;
    if (up->free_ps > now_ps) {
        if (!up->woken)
            load_push(replay, up->free_ps, LOAD_WIRE, number);
        up->woken = TRUE;
        return;
    }
    up->answered = answers && !(up->answered && up->requests.count);
    if (up->answered) { /* the first of two packets goes on while the second follows */
        up->credits -= LOAD_PAIR;
        up->free_ps = now_ps + load_flits_ps(replay, LOAD_PAIR * LOAD_ANSWER_FLITS);
        load_push(replay, now_ps + load_flits_ps(replay, LOAD_ANSWER_FLITS) + replay->there_ps, LOAD_DOWN,
                  load_take(replay, &up->answers));
    } else {
        up->free_ps = now_ps + load_flits_ps(replay, LOAD_PAIR);
        load_push(replay, now_ps + replay->there_ps, LOAD_ANSWER, load_take(replay, &up->requests));
        load_let_in(replay, number, now_ps);
    }
    load_wire(replay, number, now_ps); /* wakes it when it is free */
}

static void load_let_out(LoadReplay *replay, guint32 number, guint64 now_ps)
{
    LoadOut *out = &replay->out[number];
    while (out->queue.count) {
        guint32 link = replay->chunk[out->queue.head].own;
        LoadUp *up = &replay->up[link];
        if (up->requests.count >= replay->depth) { /* behind those that came before it */
            guint32 *at = &up->waiting;
            while (*at)
                at = &replay->out[*at].next;
            *at = number;
            out->next = 0;
            return;
        }
        load_append(replay, &up->requests, load_take(replay, &out->queue));
        load_wire(replay, link, now_ps);
    }
}

static void load_ask(LoadReplay *replay, guint32 w, guint32 k, guint32 peer, guint64 at_ps)
{
    const FabricSpec *spec = &replay->fabric->spec;
    guint32 gpu = w / replay->warps, links = replay->fabric->links, cta = w % replay->warps / replay->kind->warps;
    guint32 out = 1 + gpu * place_queues(spec) + place_of(spec, cta).queue;
    for (guint32 c = 0; c < LOAD_CHUNKS; c++) {
        guint32 link = load_link(replay, w, k, c), chunk = replay->spare;
        replay->spare = replay->chunk[chunk].next;
        replay->chunk[chunk] = (LoadChunk){w, gpu * links + link, (gpu + peer) % replay->gpus * links + link, 0};
        replay->warp[w].pending++;
        load_append(replay, &replay->out[out].queue, chunk);
        if (replay->out[out].queue.count == 1)
            load_let_out(replay, out, at_ps);
    }
}

/* The warp's next instruction, at its LSU when it comes to that: all elements from the own memory, from one peer, the
 * next peer; when all is there, the stores. */
static void load_issue(LoadReplay *replay, guint32 w, guint64 at_ps)
{
    const LoadKind *kind = replay->kind;
    const SmSpec *spec = &replay->fabric->spec.sm;
    LoadWarp *warp = &replay->warp[w];
    guint64 *lsu_ps = &replay->lsu_ps[w / kind->warps];
    guint32 own = kind->own * kind->unroll, loads = own + kind->peers * kind->unroll;
    guint32 all = loads + kind->stores * kind->unroll;
    if (*lsu_ps > at_ps) {
        load_push(replay, *lsu_ps, LOAD_ISSUE, w);
        return;
    }
    if (warp->step == all) {
        warp->step = 0;
        warp->turn++;
    }
    const gboolean stores = warp->step >= loads;
    const guint64 issue_ps = LOAD_LINES * (stores ? spec->local_store_ps : spec->load_ps);
    *lsu_ps = at_ps + issue_ps;
    if (warp->step >= own && !stores)
        load_ask(replay, w, warp->step % kind->unroll, 1 + (warp->step - own) / kind->unroll, at_ps);
    warp->step++;
    warp->ready_ps = at_ps +
                     (warp->step == all ? spec->warp_issue_ps : sm_gap_ps(2 * spec->clock_ps, stores, issue_ps));
    if (warp->step == loads)
        warp->ready_ps += kind->meanwhile_ps;
    else if (warp->step == all)
        warp->ready_ps += kind->work_ps;
    if (warp->step != loads)
        load_push(replay, warp->ready_ps, LOAD_ISSUE, w);
    else if (warp->pending == 0)
        load_push(replay, warp->ready_ps + replay->then_ps, LOAD_ISSUE, w);
}

static void load_come_down(LoadReplay *replay, guint32 number, guint64 now_ps)
{
    LoadChunk *chunk = &replay->chunk[number];
    LoadWarp *warp = &replay->warp[chunk->warp];
    guint64 start_ps = MAX(now_ps, replay->down_ps[chunk->own]), end_ps = start_ps + LOAD_PAIR * replay->packet_ps;
    replay->down_ps[chunk->own] = end_ps;
    load_push(replay, start_ps + replay->packet_ps + replay->back_ps, LOAD_CREDIT, chunk->far);
    replay->packets += LOAD_PAIR;
    replay->now_ps = now_ps;
    if (--warp->pending == 0 && warp->step == (replay->kind->peers + replay->kind->own) * replay->kind->unroll)
        load_push(replay, MAX(warp->ready_ps, end_ps) + replay->then_ps, LOAD_ISSUE, chunk->warp);
    chunk->next = replay->spare;
    replay->spare = number;
}

static void load_step(LoadReplay *replay)
{
    LoadDue due = load_pop(replay);
    LoadUp *up = &replay->up[due.what == LOAD_WIRE || due.what == LOAD_CREDIT ? due.number : 0];
    switch ((LoadWhat)due.what) {
    case LOAD_ISSUE: load_issue(replay, due.number, due.at_ps); break;
    case LOAD_WIRE:
        up->woken = FALSE;
        load_wire(replay, due.number, due.at_ps);
        break;
    case LOAD_ANSWER:
        load_append(replay, &replay->up[replay->chunk[due.number].far].answers, due.number);
        load_wire(replay, replay->chunk[due.number].far, due.at_ps);
        break;
    case LOAD_DOWN: load_come_down(replay, due.number, due.at_ps); break;
    case LOAD_CREDIT:
        up->credits += LOAD_PAIR;
        load_wire(replay, due.number, due.at_ps);
        break;
    }
}

/* Answers that the GPUs get in the time, over what their links could bring. */
static guint32 load_run(LoadReplay *replay)
{
    for (guint32 w = 0; w < replay->gpus * replay->warps; w++)
        load_push(replay, hash_mix(w + 1) % replay->kind->trip_ps, LOAD_ISSUE, w);
    while (replay->packets < LOAD_PACKETS_BEFORE)
        load_step(replay);
    const guint64 begin_ps = replay->now_ps, before = replay->packets;
    while (replay->packets < LOAD_PACKETS)
        load_step(replay);
    guint64 links_ps = (replay->now_ps - begin_ps) * replay->gpus * replay->fabric->links;
    return (guint32)MIN((replay->packets - before) * replay->packet_ps * LOAD_ALL / links_ps, LOAD_ALL);
}

static guint32 load_play(const Fabric *fabric, guint32 ctas, const LoadKind *kind)
{
    const FabricSpec *spec = &fabric->spec;
    guint32 gpus = kind->peers + 1, warps = ctas * kind->warps, links = fabric->links * gpus;
    guint32 chunks = gpus * warps * kind->peers * kind->unroll * LOAD_CHUNKS + 1;
    LoadReplay replay = {.fabric = fabric,
                         .kind = kind,
                         .gpus = gpus,
                         .ctas = ctas,
                         .warps = warps,
                         .depth = MAX((guint32)spec->gpu.source_queue_packets / LOAD_PAIR, 1),
                         .flit_fs = FLIT_BYTES * 1000000000ull / spec->link.rate_MBps};
    replay.then_ps = kind->then_ps + (kind->stores ? 0 : kind->work_ps);
    replay.packet_ps = load_flits_ps(&replay, LOAD_ANSWER_FLITS + 1);
    replay.there_ps = (kind->trip_ps - MIN(2 * replay.packet_ps, kind->trip_ps)) / 2;
    replay.back_ps = spec->link.flight_ps + spec->link.credit_batch_ps / 2;
    g_autofree guint64 *down_ps = g_new0(guint64, links);
    g_autofree guint64 *lsu_ps = g_new0(guint64, gpus * ctas);
    g_autofree LoadUp *up = g_new0(LoadUp, links);
    g_autofree LoadOut *out = g_new0(LoadOut, gpus * place_queues(spec) + 1);
    g_autofree LoadWarp *warp = g_new0(LoadWarp, gpus * warps);
    g_autofree LoadChunk *chunk = g_new0(LoadChunk, chunks);
    for (guint32 c = 1; c < chunks; c++)
        chunk[c].next = c + 1;
    for (guint32 l = 0; l < links; l++)
        up[l].credits = (guint32)spec->link.credits_switch_flits / LOAD_ANSWER_FLITS;
    replay.spare = 1;
    replay.up = up;
    replay.out = out;
    replay.down_ps = down_ps;
    replay.lsu_ps = lsu_ps;
    replay.warp = warp;
    replay.chunk = chunk;
    replay.room = gpus * warps + 2 * chunks + links; /* credits that take long to come back may need more */
    replay.heap = g_new(LoadDue, replay.room);
    guint32 share = load_run(&replay);
    g_free(replay.heap);
    return share;
}

/* ---- what was asked before */

typedef struct {
    LoadKind kind;
    guint32 one, all; /* shares of one CTA and of all; 0: not simulated yet */
} LoadKnown;

struct LoadShares {
    const Fabric *fabric;
    GArray *known;
};

LoadShares *load_shares_new(const Fabric *fabric)
{
    LoadShares *shares = g_new0(LoadShares, 1);
    shares->fabric = fabric;
    shares->known = g_array_new(FALSE, FALSE, sizeof(LoadKnown));
    return shares;
}

void load_shares_free(LoadShares *shares)
{
    g_array_free(shares->known, TRUE);
    g_free(shares);
}

guint32 load_kind(LoadShares *shares, const LoadKind *kind)
{
    LoadKnown known = {*kind, 0, 0};
    for (guint k = 0; k < shares->known->len; k++)
        if (memcmp(&g_array_index(shares->known, LoadKnown, k).kind, kind, sizeof *kind) == 0)
            return k;
    g_array_append_val(shares->known, known);
    return shares->known->len - 1;
}

static const LoadKnown *load_known(LoadShares *shares, guint32 kind)
{
    LoadKnown *known = &g_array_index(shares->known, LoadKnown, kind);
    if (known->all == 0) {
        known->all = MAX(load_play(shares->fabric, known->kind.ctas, &known->kind), 1);
        known->one = known->kind.ctas > 1 ? MAX(load_play(shares->fabric, 1, &known->kind), 1) : known->all;
    }
    return known;
}

static gboolean load_is_far(const LoadKnown *known) { return known->all < LOAD_ALL / 100 * LOAD_FAR_PERCENT; }

guint32 load_share_links(LoadShares *shares, guint32 ctas, guint32 kind)
{
    const LoadKnown *known = load_known(shares, kind);
    guint64 alone = (guint64)ctas * known->one;
    return alone < known->all || load_is_far(known) ? LOAD_ALL : known->all;
}

guint64 load_share_limit(LoadShares *shares, guint32 kind)
{
    const LoadKnown *known = load_known(shares, kind);
    guint64 flits = shares->fabric->spec.link.rate_MBps * 1000000u / FLIT_BYTES * shares->fabric->links; /* a second */
    guint32 share = load_is_far(known) ? MIN(known->one, known->all / known->kind.ctas) : known->one;
    return flits / (LOAD_ANSWER_FLITS + 1) * share / LOAD_ALL / known->kind.peers;
}
