#include "model/inbox.h"

#include <string.h>

#define INBOX_SHIFT 11 /* of the narrowest buckets: 2 ns */

void inbox_clear(Inbox *inbox)
{
    g_free(inbox->entry);
    g_free(inbox->head);
    *inbox = (Inbox){.entry = NULL};
}

void inbox_grow(Inbox *inbox)
{
    guint32 size = MAX(16, 2 * inbox->size);
    inbox->entry = g_renew(InboxEntry, inbox->entry, size);
    if (inbox->size == 0) {
        inbox->head = g_new0(guint32, INBOX_BUCKETS);
        inbox->shift = INBOX_SHIFT;
    }
    for (guint32 i = size; i-- > MAX(inbox->size, 1);) {
        inbox->entry[i].next = inbox->free;
        inbox->free = i;
    }
    inbox->size = size;
}

static void inbox_widen(Inbox *inbox, SimTime at_ps, SimTime from_ps)
{
    SimTime first_ps = from_ps, last_ps = at_ps;
    guint32 all = 0; /* one list */
    for (guint32 b = 0; b < INBOX_BUCKETS; b++)
        while (inbox->head[b]) {
            guint32 index = inbox->head[b];
            InboxEntry *entry = &inbox->entry[index];
            inbox->head[b] = entry->next;
            entry->next = all;
            all = index;
            first_ps = MIN(first_ps, entry->at_ps);
            last_ps = MAX(last_ps, entry->at_ps);
        }
    while ((last_ps >> inbox->shift) - (first_ps >> inbox->shift) >= INBOX_BUCKETS)
        inbox->shift++;
    inbox->turn = first_ps >> inbox->shift;
    memset(inbox->full, 0, sizeof inbox->full);
    while (all) {
        guint32 index = all;
        all = inbox->entry[index].next;
        inbox_insert(inbox, index);
    }
}

void inbox_reach(Inbox *inbox, SimTime at_ps, SimTime from_ps)
{
    SimTime first_ps = MIN(at_ps, from_ps);
    if (inbox->n)
        first_ps = MIN(first_ps, inbox->first_ps);
    inbox->turn = first_ps >> inbox->shift;
    if ((at_ps >> inbox->shift) - inbox->turn >= INBOX_BUCKETS)
        inbox_widen(inbox, at_ps, first_ps);
}
