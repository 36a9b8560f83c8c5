/* See replay_place.h. */
#include "cli/replay/place.h"

#include <string.h>

#include "traces/format/reader.h"

static gboolean replay_place_bad(GError **error, const char *text, const char *right)
{
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--place: '%s' should be %s", text, right);
    return FALSE;
}

/* A list that is not a GPU for each rank works, but says what it does. */
static void replay_place_note(Trace *trace, const GArray *list, const char *text)
{
    GHashTable *used = g_hash_table_new(g_direct_hash, g_direct_equal);
    for (guint i = 0; i < MIN(list->len, trace->world); i++)
        g_hash_table_add(used, GUINT_TO_POINTER(g_array_index(list, guint32, i)));
    guint gpus = g_hash_table_size(used);
    g_hash_table_destroy(used);
    if (gpus < trace->world)
        trace_note(trace,
                   "%s: --place %s folds its %u ranks onto %u GPUs: ranks of one GPU share it, and "
                   "what they exchange crosses no link",
                   trace->name, text, trace->world, gpus);
    if (list->len > trace->world)
        trace_note(trace, "%s: --place %s names %u GPUs, but there are %u ranks: the last %u idle", trace->name, text,
                   list->len, trace->world, list->len - trace->world);
}

static gboolean replay_place_list(ReplayJob *job, Trace *trace, guint64 gpus, const char *text, GError **error)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(guint32));
    gboolean ok = reader_parse_ranks(text, list) && list->len > 0;
    for (guint i = 0; i < list->len && ok; i++)
        ok = g_array_index(list, guint32, i) < gpus;
    for (guint32 r = 0; ok && r < trace->world; r++)
        job->gpu[r] = (guint16)g_array_index(list, guint32, r % list->len);
    if (ok)
        replay_place_note(trace, list, text);
    g_array_free(list, TRUE);
    return ok || replay_place_bad(error, text,
                                  "fold, same, or GPUs of the system like 0-3,8, the k-th --place for the "
                                  "k-th job");
}

gboolean replay_place(ReplayJob *jobs, const GPtrArray *traces, const System *system, char **place, GError **error)
{
    guint64 gpus = system->spec.system.gpus, next = 0;
    guint lists = 0;
    gboolean fold = FALSE, same = FALSE;
    for (char **word = place; word && *word; word++) {
        fold |= strcmp(*word, "fold") == 0;
        same |= strcmp(*word, "same") == 0;
    }
    for (guint j = 0; j < traces->len; j++) {
        Trace *trace = traces->pdata[j];
        while (place && place[lists] && (strcmp(place[lists], "fold") == 0 || strcmp(place[lists], "same") == 0))
            lists++;
        jobs[j].gpu = g_new0(guint16, trace->world + 1);
        if (place && place[lists]) {
            if (!replay_place_list(&jobs[j], trace, gpus, place[lists++], error))
                return FALSE;
            continue;
        }
        next = same ? 0 : next;
        if (fold && trace->world > gpus)
            trace_note(trace,
                       "%s: --place fold puts its %u ranks on %" G_GUINT64_FORMAT
                       " GPUs: ranks of one GPU share it, and what they exchange crosses no link",
                       trace->name, trace->world, gpus);
        if (next + trace->world > gpus && !fold) {
            g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                        "%s has %u ranks, but %s has %" G_GUINT64_FORMAT
                        " GPUs%s; take a larger system (-s), some ranks (--ranks), "
                        "or fold several ranks onto one GPU (--place fold)",
                        trace->name, trace->world, system->name, gpus, next > 0 ? " and earlier jobs hold some" : "");
            return FALSE;
        }
        for (guint32 r = 0; r < trace->world; r++)
            jobs[j].gpu[r] = (guint16)((next + r) % gpus);
        next += trace->world;
    }
    for (; place && place[lists]; lists++)
        if (strcmp(place[lists], "fold") != 0 && strcmp(place[lists], "same") != 0)
            return replay_place_bad(error, place[lists],
                                    "for one of the jobs, but there are fewer jobs than lists: "
                                    "files of one job have one list");
    return TRUE;
}
