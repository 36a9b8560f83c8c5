#include "model/fastpath/inbox.h"

#include <stdlib.h>
#include <string.h>

#define INBOX_SHIFT 17  /* of the shortest spans: 131 ns */
#define INBOX_SIZE 32u
#define PARTS_SHIFT 7   /* a span is put in order by this many parts of it, */
#define PARTS (1u << PARTS_SHIFT)
#define SORT_MAX 128u   /* if it has no more entries */
#define SORT_END 0xffu

void inbox_init(Inbox *inbox) { *inbox = (Inbox){.first_ps = SIMTIME_NEVER, .shift = INBOX_SHIFT}; }

void inbox_clear(Inbox *inbox)
{
    g_aligned_free(inbox->entry);
    inbox_init(inbox);
}

static InboxEntry *inbox_alloc(guint32 size)
{
    return g_aligned_alloc(INBOX_SPANS * size, sizeof(InboxEntry), 64);
}

void inbox_grow(Inbox *inbox)
{
    guint32 size = MAX(INBOX_SIZE, 2 * inbox->size);
    InboxEntry *entry = inbox_alloc(size);
    for (guint32 s = 0; s < INBOX_SPANS; s++)
        if (inbox->n[s])
            memcpy(&entry[s * size], &inbox->entry[s * inbox->size], inbox->n[s] * sizeof *entry);
    g_aligned_free(inbox->entry);
    inbox->entry = entry;
    inbox->size = size;
}

/* ---- order */

/* The later one first. */
static int inbox_compare(const void *a, const void *b)
{
    const InboxEntry *x = a, *y = b;
    return x->key > y->key ? -1 : x->key < y->key;
}

/* Into its part of what is in order, from `from` on. */
static void inbox_insert(InboxEntry *from, InboxEntry *end, InboxEntry entry)
{
    for (; end > from && end[-1].key < entry.key; end--)
        *end = end[-1];
    *end = entry;
}

/* Mostly one entry a part, so that hardly any two are compared; the low half of a time goes round at an end of a span,
 * if it does. */
static void inbox_sort(InboxEntry *at, guint32 n, guint32 shift)
{
    InboxEntry sorted[SORT_MAX], *end = sorted;
    guint8 head[PARTS], next[SORT_MAX];
    guint64 full[PARTS / 64] = {0};
    if (n > SORT_MAX) {
        qsort(at, n, sizeof *at, inbox_compare);
        return;
    }
    memset(head, SORT_END, sizeof head);
    for (guint32 i = 0; i < n; i++) {
        guint32 part = (guint32)(at[i].key >> (32 + shift - PARTS_SHIFT)) % PARTS;
        next[i] = head[part];
        head[part] = (guint8)i;
        full[part / 64] |= (guint64)1 << part % 64;
    }
    for (guint32 word = PARTS / 64; word-- > 0;)
        while (full[word]) {
            guint32 bit = 63 - (guint32)__builtin_clzll(full[word]), first = head[word * 64 + bit];
            InboxEntry *from = end;
            full[word] ^= (guint64)1 << bit;
            *end++ = at[first];
            for (guint32 i = next[first]; G_UNLIKELY(i != SORT_END); i = next[i])
                inbox_insert(from, end++, at[i]);
        }
    memcpy(at, sorted, n * sizeof *at);
}

void inbox_go_on(Inbox *inbox)
{
    guint64 span = inbox->first_ps >> inbox->shift, end = inbox->turn + INBOX_SPANS;
    while (++span < end && inbox->n[span % INBOX_SPANS] == 0) {
    }
    if (span >= end) {
        inbox->first_ps = SIMTIME_NEVER;
        return;
    }
    guint32 n = inbox->n[span % INBOX_SPANS];
    InboxEntry *at = &inbox->entry[span % INBOX_SPANS * inbox->size];
    if (n > 1)
        inbox_sort(at, n, inbox->shift);
    inbox->first_ps = inbox_entry_ps(&at[n - 1], span << inbox->shift);
}

gboolean inbox_push_first(Inbox *inbox, InboxEntry entry, SimTime at_ps)
{
    guint32 slot = inbox_slot(inbox, at_ps);
    inbox_add(inbox, entry, slot);
    InboxEntry *at = &inbox->entry[slot * inbox->size], *last = &at[inbox->n[slot] - 1];
    inbox_insert(at, last, entry);
    if (last->key != entry.key)
        return FALSE;
    inbox->first_ps = at_ps;
    return TRUE;
}

/* ---- reach */

/* All entries anew, in longer spans. */
static void inbox_lengthen(Inbox *inbox, SimTime first_ps, SimTime at_ps)
{
    Inbox old = *inbox;
    SimTime last_ps = at_ps;
    for (guint64 span = old.turn; span < old.turn + INBOX_SPANS; span++)
        for (guint32 i = 0; i < old.n[span % INBOX_SPANS]; i++)
            last_ps = MAX(last_ps, inbox_entry_ps(&old.entry[span % INBOX_SPANS * old.size + i], span << old.shift));
    inbox_init(inbox);
    for (inbox->shift = old.shift; (last_ps >> inbox->shift) - (first_ps >> inbox->shift) >= INBOX_SPANS;)
        inbox->shift++;
    g_assert(inbox->shift <= 32); /* nothing flies that long */
    inbox->turn = first_ps >> inbox->shift;
    for (guint64 span = old.turn; span < old.turn + INBOX_SPANS; span++)
        for (guint32 i = 0; i < old.n[span % INBOX_SPANS]; i++) {
            const InboxEntry *entry = &old.entry[span % INBOX_SPANS * old.size + i];
            SimTime entry_ps = inbox_entry_ps(entry, span << old.shift);
            inbox_push(inbox, entry->packet, entry_ps, (guint32)entry->key, first_ps);
        }
    g_aligned_free(old.entry);
}

void inbox_reach(Inbox *inbox, SimTime at_ps, SimTime from_ps)
{
    SimTime first_ps = MIN(MIN(at_ps, from_ps), inbox->first_ps);
    if ((at_ps >> inbox->shift) - (first_ps >> inbox->shift) >= INBOX_SPANS)
        inbox_lengthen(inbox, first_ps, at_ps);
    else
        inbox->turn = first_ps >> inbox->shift;
}
