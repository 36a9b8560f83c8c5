/* The first line of a SimAI or ASTRA-sim text workload.
 *
 * SimAI writes HYBRID_TRANSFORMER_FWD_IN_BCKWD with all group sizes and all_gpus. The workloads that
 * ASTRA-sim ships begin with other words, and leave the number of ranks to the network; here
 * --world gives it. */
#include <string.h>

#include "traces/format/simai/simai.h"
#include "traces/format/words.h"

static const Policy policies[] = {
    {.name = "MICRO", .dims = {DIMS_NONE, DIMS_NONE, DIMS_ALL}, .weights_only = TRUE},
    {.name = "DATA", .dims = {DIMS_NONE, DIMS_NONE, DIMS_ALL}},
    {.name = "MODEL", .dims = {DIMS_ALL, DIMS_ALL, DIMS_NONE}},
    {.name = "DISTRIBUTED_INFERENCE", .dims = {DIMS_ALL, DIMS_ALL, DIMS_NONE}, .forward_only = TRUE},
    {.name = "HYBRID_DLRM", .dims = {DIMS_NONE, DIMS_NONE, DIMS_ALL}, .first_all = TRUE},
    {.name = "HYBRID_DLRM_ENHANCED", .dims = {DIMS_NONE, DIMS_NONE, DIMS_ALL}, .first_all = TRUE},
    {.name = "HYBRID_TRANSFORMER", .dims = {DIMS_MODEL, DIMS_MODEL, DIMS_DATA}},
    {.name = "HYBRID_TRANSFORMER_FWD_IN_BCKWD", .dims = {DIMS_MODEL, DIMS_MODEL, DIMS_DATA}},
    {.name = "HYBRID_DATA_MODEL", .dims = {DIMS_MODEL, DIMS_MODEL, DIMS_DATA}},
    {.name = "HYBRID_MODEL_DATA", .dims = {DIMS_MODEL, DIMS_MODEL, DIMS_DATA}, .data_inner = TRUE},
};

static const Policy *policy_of(const char *line)
{
    char *word = g_strndup(line, strcspn(line, " \t\r\n"));
    const Policy *found = NULL;
    for (guint i = 0; i < G_N_ELEMENTS(policies); i++)
        found = strcmp(word, policies[i].name) == 0 ? &policies[i] : found;
    g_free(word);
    return found;
}

int simai_probe(const char *head, gsize n)
{
    (void)n;
    gsize line = strcspn(head, "\n");
    char *first = g_strndup(head, line);
    gboolean group = strstr(first, "model_parallel_NPU_group:") != NULL;
    gboolean known = policy_of(first) || g_str_has_prefix(first, "HYBRID_");
    g_free(first);
    const char *second = head[line] == '\n' ? head + line + 1 : "";
    gsize digits = strspn(second, "0123456789");
    gboolean count = digits > 0 && strchr(" \t\r\n", second[digits]);
    return group ? 90 : known && count ? 80 : 0;
}

G_GNUC_PRINTF(3, 4)
static gboolean fail(SimAi *simai, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE, "%s:1: %s", input_path(simai->reader->input), what);
    g_free(what);
    return FALSE;
}

/* "key: value" pairs; a key that is not there keeps what the value is. */
static gboolean take_numbers(SimAi *simai, const GPtrArray *words, GError **error)
{
    static const char *const keys[] = {"model_parallel_NPU_group:", "ep:", "pp:", "vpp:", "ga:", "all_gpus:"};
    guint64 *values[] = {&simai->tp, &simai->ep, &simai->pp, &simai->vpp, &simai->ga, &simai->all};
    for (guint i = 0; i + 1 < words->len; i++) {
        for (guint k = 0; k < G_N_ELEMENTS(keys); k++) {
            if (strcmp(words->pdata[i], keys[k]) == 0 &&
                (!words_u64(words->pdata[i + 1], RECORD_WORLD_MAX, values[k]) || *values[k] == 0)) {
                return fail(simai, error, "'%s %s' should be a number of 1 or more", keys[k],
                            (char *)words->pdata[i + 1]);
            }
        }
    }
    return TRUE;
}

static void say_left_out(SimAi *simai, const GPtrArray *words)
{
    Trace *trace = simai->reader->trace;
    for (guint i = 0; i + 1 < words->len; i++) {
        guint64 n;
        if (strcmp(words->pdata[i], "pp_comm") == 0 || strcmp(words->pdata[i], "pp_comm:") == 0) {
            trace_note(trace, "%s: pp_comm: transfers between pipeline stages are not replayed",
                       input_path(simai->reader->input));
        }
        if (strcmp(words->pdata[i], "checkpoints:") == 0 && words_u64(words->pdata[i + 1], G_MAXUINT64, &n) && n > 0) {
            trace_note(trace, "%s: checkpoints: the recomputation of %" G_GUINT64_FORMAT " layers is not replayed",
                       input_path(simai->reader->input), n);
        }
    }
}

/* The number of ranks, and whether the groups divide it. */
static gboolean set_ranks(SimAi *simai, GError **error)
{
    guint64 model = simai->tp * simai->pp; /* at most 2^40 */
    gboolean said = simai->all > 0;
    simai->all = said ? simai->all : simai->reader->spec->world;
    if (simai->all == 0) {
        return fail(simai, error,
                    "says nowhere how many ranks there are; give --world N, or all_gpus: N in the "
                    "first line");
    }
    if (simai->all % model != 0 || (simai->all / model) % simai->ep != 0) {
        return fail(simai, error,
                    "%s: %" G_GUINT64_FORMAT " should be a multiple of model_parallel_NPU_group times pp times ep",
                    said ? "all_gpus" : "--world", simai->all);
    }
    return reader_set_world(simai->reader, simai->all, error);
}

gboolean simai_header(SimAi *simai, const char *line, GError **error)
{
    simai->policy = policy_of(line);
    if (!simai->policy) {
        char *word = g_strndup(line, MIN(strcspn(line, " \t"), 40));
        fail(simai, error,
             "'%s' is not read; known are MICRO, DATA, MODEL, DISTRIBUTED_INFERENCE, HYBRID_DLRM, "
             "HYBRID_TRANSFORMER and HYBRID_TRANSFORMER_FWD_IN_BCKWD",
             word);
        g_free(word);
        return FALSE;
    }
    GPtrArray *words = words_split(line);
    if (!words)
        return fail(simai, error, "a quote has no place in the header");
    simai->tp = simai->ep = simai->pp = simai->vpp = simai->ga = 1;
    gboolean sized = strstr(line, "model_parallel_NPU_group:") != NULL;
    gboolean ok = take_numbers(simai, words, error);
    if (ok && simai->policy->dims[PASS_FORWARD] == DIMS_MODEL && !sized) {
        ok = fail(simai, error, "%s should say 'model_parallel_NPU_group: N', how many ranks share a model",
                  simai->policy->name);
    }
    if (ok)
        say_left_out(simai, words);
    g_ptr_array_free(words, TRUE);
    return ok && set_ranks(simai, error);
}
