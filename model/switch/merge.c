/* The merge unit: loads of one line by several GPUs are one load for the GPU that has it.
 *
 * What hardware it stands for: none that is sold; the merge table of CAIS (arXiv 2605.05628), for loads. A table at
 * each port of a switch has an entry for a line of the GPU behind that port. The first load of a line takes an entry
 * and goes on; those of other GPUs that come before its answer wait in the entry, and the answer goes to all of them;
 * those that come later are answered from the entry, which keeps the line. An entry is free again when as many GPUs
 * have asked as will (merge_readers), when it was not used for merge_timeout_ps, or when another line needs it and it
 * was not used for longest; one whose answer is still to come stays. Where no entry is free a load goes on as ever.
 * Modelled: loads of whole 128 B lines that no program polls, between GPUs of one switch; a store, red or atomic to a
 * line that passes the switch ends its entry. Copies of an answer leave in rounds, as replicas do.
 * Left out: merging of reds, what CAIS does in compilers and GPUs so that equal loads come close together, trunks.
 * Which loads may be answered from an entry is not asked: bytes are those of memory at that time, and answers for which
 * the kept line would have been older are counted (stale): a program that has some needs loads that are marked.
 */
#include <string.h>

#include "model/switch/switch.h"

typedef struct {
    guint32 region; /* its number */
    guint64 line;
} MergeKey;

typedef struct {
    MergeKey key;    /* first: the hash table's */
    guint32 home;    /* the port that leads to it */
    guint32 readers; /* GPUs that have asked */
    gboolean ready;  /* the answer has come */
    guint32 txn;     /* until then: of the load that went on, and of which GPU, */
    guint16 src;
    guint8 flits;    /* of the answer */
    gboolean closed; /* a store to the line has passed: later loads do not join */
    SimTime used_ps;
    GList place;              /* among the port's entries */
    PacketRing wait;          /* loads that wait for the answer */
    guint8 bytes[LINE_BYTES]; /* that came, where bytes are kept */
} MergeEntry;

typedef struct {
    GHashTable *entry; /* MergeEntry by line */
    GQueue *used;      /* by port: its entries, the one that was used last first */
    guint64 merged, full, evicted, stale, peak;
} Merge;

static const StatRow merge_stats[] = {
    STAT_COUNTER(Merge, merged, "packets", "loads that another one's answer served"),
    STAT_COUNTER(Merge, full, "packets", "loads that found no free entry"),
    STAT_COUNTER(Merge, evicted, "entries", "given up before all GPUs had asked"),
    STAT_COUNTER(Merge, stale, "packets", "loads whose line had changed since its entry has it"),
    STAT_PEAK(Merge, peak, "entries", "in use at one port at most"),
    STAT_END,
};

/* ---- the table */

static guint merge_hash(gconstpointer of)
{
    const MergeKey *key = of;
    return (guint)((key->line / LINE_BYTES + key->region) * 2654435761u);
}

static gboolean merge_equal(gconstpointer a, gconstpointer b)
{
    const MergeKey *x = a, *y = b;
    return x->region == y->region && x->line == y->line;
}

static void merge_free(gpointer of)
{
    MergeEntry *entry = of;
    packet_ring_clear(&entry->wait);
    g_free(entry);
}

static void merge_remove(Merge *merge, MergeEntry *entry)
{
    g_queue_unlink(&merge->used[entry->home], &entry->place);
    g_hash_table_remove(merge->entry, entry);
}

static void merge_touch(Merge *merge, MergeEntry *entry, SimTime now_ps)
{
    entry->used_ps = now_ps;
    g_queue_unlink(&merge->used[entry->home], &entry->place);
    g_queue_push_head_link(&merge->used[entry->home], &entry->place);
}

static gboolean merge_is_old(const Switch *sw, const MergeEntry *entry, SimTime now_ps)
{
    return entry->ready && entry->used_ps + sw->spec->merge_timeout_ps <= now_ps;
}

static void merge_give_up(Merge *merge, MergeEntry *entry)
{
    merge->evicted++;
    merge_remove(merge, entry);
}

static MergeEntry *merge_find(const Switch *sw, Merge *merge, const MergeKey *key, SimTime now_ps)
{
    MergeEntry *entry = g_hash_table_lookup(merge->entry, key);
    if (!entry || !merge_is_old(sw, entry, now_ps))
        return entry;
    merge_give_up(merge, entry);
    return NULL;
}

/* Gives up entries of a port that were not used for too long, and one more if none is free. FALSE: none is, since the
 * answers of all are still to come. */
static gboolean merge_make_room(const Switch *sw, Merge *merge, guint32 home, SimTime now_ps)
{
    GQueue *used = &merge->used[home];
    for (GList *at = used->tail, *before; at; at = before) {
        MergeEntry *entry = at->data;
        before = at->prev;
        if (merge_is_old(sw, entry, now_ps) || (entry->ready && used->length >= sw->spec->merge_entries))
            merge_give_up(merge, entry);
        else if (entry->ready)
            break; /* those before it were used later */
    }
    return used->length < sw->spec->merge_entries;
}

static void merge_open_entry(Switch *sw, Merge *merge, MergeKey key, guint32 home, Packet packet, SimTime now_ps)
{
    if (!merge_make_room(sw, merge, home, now_ps)) {
        merge->full++;
        return;
    }
    MergeEntry *entry = g_new0(MergeEntry, 1);
    entry->key = key;
    entry->home = home;
    entry->readers = 1;
    entry->txn = packet.txn;
    entry->src = packet.src;
    entry->used_ps = now_ps;
    entry->place.data = entry;
    g_queue_push_head_link(&merge->used[home], &entry->place);
    g_hash_table_add(merge->entry, entry);
    merge->peak = MAX(merge->peak, merge->used[home].length);
}

/* ---- answers */

/* All that will ask have: GPUs other than the line's own, unless the spec says how many. */
static gboolean merge_is_over(const Switch *sw, const MergeEntry *entry)
{
    const guint64 all = sw->spec->merge_readers ? sw->spec->merge_readers : sw->fabric->spec.system.gpus - 1;
    return entry->ready && (entry->closed || entry->readers >= all);
}

/* The answer of a load that did not go on, the place-th of those that leave now. */
static void merge_answer(Switch *sw, const MergeEntry *entry, Packet load, guint32 place, SimTime now_ps)
{
    Merge *merge = sw->unit_state;
    Txn *txn = txn_at(&sw->fabric->txns[load.src], load.txn);
    Packet answer = packet_new(PACKET_READ_RSP, load.txn, load.src, load.dst, entry->flits);
    answer.link = load.link;
    if (txn->region->host) {
        const guint8 *now = memory_read(txn->region, txn->offset);
        merge->stale += memcmp(entry->bytes, now, LINE_BYTES) != 0;
        txn->data = data_take(sw->data);
        memcpy(data_at(sw->data, txn->data), now, LINE_BYTES);
    }
    const SimTime turn_ps = place / (guint32)sw->table.spec->round_directives * switch_round_ps(sw, answer);
    link_push(sw->out[switch_port_of(sw, load.src, sw->link_rail[load.link])], answer, now_ps + turn_ps);
}

/* Answers come by the port of the line's GPU. FALSE: it goes on to the GPU whose load went on. */
static gboolean merge_on_answer(Switch *sw, guint32 p, Packet packet, SimTime now_ps)
{
    Merge *merge = sw->unit_state;
    if (packet.kind != PACKET_READ_RSP || sw->port[p].far)
        return FALSE;
    const Txn *txn = txn_at(&sw->fabric->txns[packet.src], packet.txn);
    const MergeKey key = {txn->region->id, txn->offset};
    MergeEntry *entry = g_hash_table_lookup(merge->entry, &key);
    if (!entry || entry->ready || entry->txn != packet.txn || entry->src != packet.src)
        return FALSE;
    entry->ready = TRUE;
    entry->flits = packet.flits;
    if (txn->data)
        memcpy(entry->bytes, data_at(sw->fabric->data, txn->data), LINE_BYTES);
    for (guint32 place = 1; entry->wait.count; place++) {
        merge_answer(sw, entry, *packet_ring_peek(&entry->wait), place, now_ps);
        packet_ring_drop(&entry->wait);
    }
    merge_touch(merge, entry, now_ps);
    if (merge_is_over(sw, entry))
        merge_remove(merge, entry);
    return FALSE;
}

/* ---- requests */

/* A store to a line: loads that come after it go to the line's GPU, since the entry has what was there before. */
static void merge_close(Switch *sw, Merge *merge, const Txn *txn)
{
    const guint64 end = txn->offset + txn->bytes;
    for (guint64 line = txn->offset / LINE_BYTES * LINE_BYTES; line < end; line += LINE_BYTES) {
        const MergeKey key = {txn->region->id, line};
        MergeEntry *entry = g_hash_table_lookup(merge->entry, &key);
        if (entry)
            entry->closed = TRUE;
        if (entry && merge_is_over(sw, entry))
            merge_remove(merge, entry);
    }
}

static gboolean merge_on_request(Switch *sw, guint32 p, Packet packet, SimTime now_ps)
{
    Merge *merge = sw->unit_state;
    const guint32 home = switch_egress(&sw->port[p], &packet);
    const Txn *txn = txn_at(&sw->fabric->txns[packet.src], packet.txn);
    if (packet.kind != PACKET_READ)
        merge_close(sw, merge, txn);
    else if (txn->bytes == LINE_BYTES && !txn->region->in_time && !sw->port[p].far && !sw->port[home].far) {
        const MergeKey key = {txn->region->id, txn->offset};
        MergeEntry *entry = merge_find(sw, merge, &key, now_ps);
        if (!entry)
            merge_open_entry(sw, merge, key, home, packet, now_ps);
        else if (!entry->closed) {
            link_credit(sw->in[p], VC_CREQ, packet.flits, now_ps);
            merge->merged++;
            entry->readers++;
            merge_touch(merge, entry, now_ps);
            if (entry->ready)
                merge_answer(sw, entry, packet, 0, now_ps);
            else
                *packet_ring_push(&entry->wait) = packet;
            if (merge_is_over(sw, entry))
                merge_remove(merge, entry);
            return TRUE;
        }
    }
    return FALSE;
}

/* ---- life */

static void merge_clear(Switch *sw)
{
    Merge *merge = sw->unit_state;
    g_hash_table_destroy(merge->entry);
    g_free(merge->used);
    g_free(merge);
}

static void merge_open(Switch *sw)
{
    Merge *merge = sw->unit_state = g_new0(Merge, 1);
    g_autofree char *path = g_strconcat(sw->path, ".merge", NULL);
    merge->entry = g_hash_table_new_full(merge_hash, merge_equal, NULL, merge_free);
    merge->used = g_new0(GQueue, sw->ports);
    stat_add(sw->fabric->stats, path, merge_stats, merge);
}

const SwitchUnit switch_merge = {
    .open = merge_open,
    .clear = merge_clear,
    .request = merge_on_request,
    .answer = merge_on_answer,
};
