/* What a person asks a flight recorder first: which rank is missing in which collective. */
#include <stdlib.h>
#include <string.h>

#include "traces/format/flight/flight.h"

#define NAMED_MAX 16u /* ranks that a note names */

/* A call's place: coalesced calls share a sequence number, and are told apart by their turn. */
typedef struct {
    guint32 group, turn;
    guint64 sequence;
    guint32 rank, index; /* index: of the call */
} Place;

static int place_compare(const void *a, const void *b)
{
    const Place *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static FlightCall *call_of(const Flight *flight, const Place *place)
{
    return &g_array_index(flight->calls, FlightCall, place->index);
}

static void append_rank(GString *to, guint *n, guint32 rank)
{
    if (*n < NAMED_MAX)
        g_string_append_printf(to, "%s%u", *n > 0 ? ", " : "", rank);
    ++*n;
}

static void end_ranks(GString *to, guint n)
{
    if (n > NAMED_MAX)
        g_string_append_printf(to, " and %u more", n - NAMED_MAX);
}

/* "collective 5 of group '0': all_reduce of 48 bytes"; 5 is 5.1 of the second call that was coalesced with it. Caller
 * frees. */
static char *what(const Flight *flight, const Place *place)
{
    const FlightCall *call = call_of(flight, place);
    g_autofree char *turn = place->turn > 0 ? g_strdup_printf(".%u", place->turn) : g_strdup("");
    return g_strdup_printf("collective %" G_GUINT64_FORMAT "%s of group '%s': %s of %" G_GUINT64_FORMAT " bytes",
                           place->sequence, turn, trace_group_at(flight->reader->trace, place->group)->name,
                           record_op_name(call->record.op), record_bytes(&call->record));
}

static void drop(const Flight *flight, const Place *places, guint n)
{
    for (guint i = 0; i < n; i++)
        call_of(flight, &places[i])->drop = TRUE;
}

/* The first and last sequence that each rank of a group has; between them nothing is missing. */
typedef struct {
    guint64 begin; /* the first that no rank's ring has lost */
    gboolean missed, hung;
} GroupView;

static guint64 begin_of(const Flight *flight, const Place *places, guint n)
{
    const Trace *trace = flight->reader->trace;
    guint64 *first = g_new(guint64, trace->world);
    guint64 begin = 0;
    memset(first, 0xff, trace->world * sizeof *first);
    for (guint i = 0; i < n; i++)
        first[places[i].rank] = MIN(first[places[i].rank], places[i].sequence);
    for (guint32 rank = 0; rank < trace->world; rank++)
        if (first[rank] != G_MAXUINT64 && !flight->closed[rank])
            begin = MAX(begin, first[rank]);
    for (guint i = 0; i < n; i++) /* of coalesced calls the ring may have lost the first alone */
        if (places[i].turn > 0 && places[i].sequence == begin && !flight->closed[places[i].rank]) {
            begin++;
            break;
        }
    g_free(first);
    return begin;
}

/* Ranks of the group that have a dump without this collective. */
static gboolean judge_missing(const Flight *flight, const Place *places, guint n, GroupView *view)
{
    Trace *trace = flight->reader->trace;
    const RecordGroup *group = trace_group_at(trace, places[0].group);
    GString *missing = g_string_new(NULL), *there = g_string_new(NULL);
    guint n_missing = 0, n_there = 0;
    for (guint32 i = 0; i < group->n; i++) {
        gboolean called = FALSE;
        for (guint k = 0; k < n && !called; k++)
            called = places[k].rank == group->ranks[i];
        if (called)
            append_rank(there, &n_there, group->ranks[i]);
        else if (group->ranks[i] < trace->world && flight->dumped[group->ranks[i]])
            append_rank(missing, &n_missing, group->ranks[i]);
    }
    end_ranks(missing, n_missing);
    end_ranks(there, n_there);
    if (n_missing > 0 && !view->missed) {
        char *text = what(flight, &places[0]);
        trace_note(trace, "rank%s %s did not join %s, which rank%s %s called", n_missing > 1 ? "s" : "", missing->str,
                   text, n_there > 1 ? "s" : "", there->str);
        g_free(text);
        view->missed = TRUE;
    }
    g_string_free(missing, TRUE);
    g_string_free(there, TRUE);
    return n_missing > 0;
}

/* Ranks that call something else, or with another size. */
static gboolean judge_difference(const Flight *flight, const Place *places, guint n, GroupView *view)
{
    const Record *first = &call_of(flight, &places[0])->record;
    for (guint i = 1; i < n; i++) {
        const Record *other = &call_of(flight, &places[i])->record;
        gboolean uneven = first->op == RECORD_ALL_TO_ALL || record_op_has_root(first->op);
        gboolean differs = other->op != first->op || other->dtype != first->dtype ||
                           (!uneven && record_bytes(other) != record_bytes(first));
        if (differs && !view->missed) {
            char *text = what(flight, &places[0]);
            trace_note(flight->reader->trace,
                       "ranks differ in %s on rank %u, but %s of %" G_GUINT64_FORMAT " bytes on rank %u", text,
                       places[0].rank, record_op_name(other->op), record_bytes(other), places[i].rank);
            g_free(text);
            view->missed = TRUE;
        }
        if (differs)
            return TRUE;
    }
    return FALSE;
}

/* Ranks that called it and did not end it: the first such collective of each group. */
static void judge_hung(const Flight *flight, const Place *places, guint n, GroupView *view)
{
    GString *late = g_string_new(NULL);
    guint n_late = 0, started = 0;
    for (guint i = 0; i < n; i++) {
        FlightState state = call_of(flight, &places[i])->state;
        if (state != FLIGHT_COMPLETED) {
            append_rank(late, &n_late, places[i].rank);
            started += state == FLIGHT_STARTED;
        }
    }
    end_ranks(late, n_late);
    if (n_late > 0 && !view->hung) {
        char *text = what(flight, &places[0]);
        trace_note(flight->reader->trace,
                   "%s was called by all its ranks and not ended by rank%s %s (%u of them had "
                   "started it)",
                   text, n_late > 1 ? "s" : "", late->str, started);
        g_free(text);
        view->hung = TRUE;
    }
    g_string_free(late, TRUE);
}

static void judge_group(const Flight *flight, const Place *places, guint n)
{
    GroupView view = {.begin = begin_of(flight, places, n)};
    guint64 lost = 0, later = 0;
    for (guint i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && places[end].sequence == places[i].sequence && places[end].turn == places[i].turn;
             end++) {
        }
        gboolean old = places[i].sequence < view.begin, after = view.missed;
        gboolean wrong = !old && (judge_missing(flight, places + i, end - i, &view) ||
                                  judge_difference(flight, places + i, end - i, &view));
        if (!old && !wrong && !after)
            judge_hung(flight, places + i, end - i, &view);
        if (old || wrong)
            drop(flight, places + i, end - i);
        lost += old;
        later += wrong;
    }
    Trace *trace = flight->reader->trace;
    const char *name = trace_group_at(trace, places[0].group)->name;
    if (lost > 0) {
        trace_note(trace,
                   "%" G_GUINT64_FORMAT " collectives of group '%s' that fell out of some rank's ring are left out",
                   lost, name);
    }
    if (later > 0) {
        trace_note(trace,
                   "%" G_GUINT64_FORMAT " collectives of group '%s' that not all ranks called alike are left out",
                   later, name);
    }
}

/* Messages whose other side is not there are left out: from the end, where a rank made fewer. */
static void judge_messages(const Flight *flight)
{
    Trace *trace = flight->reader->trace;
    GHashTable *counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint turn = 0; turn < 2; turn++) { /* counts both sides, then takes from them */
        GHashTable *seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        for (guint i = 0; i < flight->calls->len; i++) {
            FlightCall *call = &g_array_index(flight->calls, FlightCall, i);
            const Record *r = &call->record;
            if (!call->message)
                continue;
            gboolean send = r->op == RECORD_SEND;
            guint32 from = send ? r->rank : (guint32)r->peer, to = send ? (guint32)r->peer : r->rank;
            char *own = g_strdup_printf("%c%u %u", send ? 's' : 'r', from, to);
            char *other = g_strdup_printf("%c%u %u", send ? 'r' : 's', from, to);
            if (turn == 0) {
                guint n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, own));
                g_hash_table_insert(counts, g_strdup(own), GUINT_TO_POINTER(n + 1));
            } else {
                guint k = GPOINTER_TO_UINT(g_hash_table_lookup(seen, own));
                g_hash_table_insert(seen, g_strdup(own), GUINT_TO_POINTER(k + 1));
                call->drop = k >= GPOINTER_TO_UINT(g_hash_table_lookup(counts, other));
                if (call->drop)
                    trace_count(trace, "messages whose other side did not call are left out", record_op_name(r->op), 0);
            }
            g_free(own);
            g_free(other);
        }
        g_hash_table_destroy(seen);
    }
    g_hash_table_destroy(counts);
}

/* Calls of one rank, group and sequence number were coalesced: their turns. Places are sorted. */
static void take_turns(GArray *places)
{
    Place *all = (Place *)(void *)places->data;
    for (guint i = 1; i < places->len; i++)
        if (all[i].group == all[i - 1].group && all[i].sequence == all[i - 1].sequence &&
            all[i].rank == all[i - 1].rank)
            all[i].turn = all[i - 1].turn + 1;
    g_array_sort(places, place_compare);
}

void flight_judge(Flight *flight)
{
    GArray *places = g_array_new(FALSE, FALSE, sizeof(Place));
    for (guint i = 0; i < flight->calls->len; i++) {
        const FlightCall *call = &g_array_index(flight->calls, FlightCall, i);
        if (!call->message) {
            Place place = {
                .group = call->record.group, .sequence = call->sequence, .rank = call->record.rank, .index = i};
            g_array_append_val(places, place);
        }
    }
    g_array_sort(places, place_compare);
    take_turns(places);
    Place *all = (Place *)(void *)places->data;
    for (guint i = 0, end; i < places->len; i = end) {
        for (end = i + 1; end < places->len && all[end].group == all[i].group; end++) {
        }
        judge_group(flight, all + i, end - i);
    }
    judge_messages(flight);
    g_array_free(places, TRUE);
}
