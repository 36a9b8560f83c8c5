#include "tests/traces/trace_test.h"

#include "model/presets/preset.h"
#include "traces/replay/replay.h"
#include "device/launch_time.h"

/* Operations of the plans below. A put goes to the other rank's scratch buffer. */
#define REF(type, index, size) "{\"type\": \"" type "\", \"index\": " index ", \"size\": " size "}"
#define FAR(index, size) "{\"buffer_id\": 0, \"index\": " index ", \"size\": " size "}"
#define OP(name, src, dst, more)                                                                                       \
    "{\"name\": \"" name "\", \"src_buff\": [" src "], \"dst_buff\": [" dst "], \"channel_type\": \"memory\"" more "}"
#define PPKT(index, size) OP("ppkt", REF("i", index, size), FAR(index, size), "")
#define UPKT(index, size) OP("upkt", REF("s", index, size), REF("o", index, size), "")
#define PART(part, parts) ", \"tbg_info\": {\"tb_id\": " part ", \"tbg_size\": " parts "}"

/* A plan of two ranks with 4 chunks in each buffer. Thread blocks of a rank are separated by '|'. */
static char *plan_text(const char *first, const char *second)
{
    GString *text = g_string_new("{\"name\": \"p\", \"collective\": \"allreduce\", \"protocol\": "
                                 "\"LL\", \"gpus\": [");
    for (guint rank = 0; rank < 2; rank++) {
        g_string_append_printf(text,
                               "%s{\"id\": %u, \"input_chunks\": 4, \"output_chunks\": 4, "
                               "\"scratch_chunks\": 4, \"threadblocks\": [",
                               rank > 0 ? ", " : "", rank);
        char **blocks = g_strsplit(rank == 0 ? first : second, "|", -1);
        for (guint b = 0; blocks[b] != NULL; b++) {
            g_string_append_printf(text,
                                   "%s{\"id\": %u, \"ops\": [%s], \"channels\": [{\"channel_type\": \"memory\", "
                                   "\"channel_ids\": [0]}, {\"channel_type\": \"switch\", \"channel_ids\": [0]}], "
                                   "\"remote_buffer_refs\": [{\"access_channel_type\": \"memory\", "
                                   "\"remote_buffer_ids\": [0]}]}",
                                   b > 0 ? ", " : "", b, blocks[b]);
        }
        g_string_append_printf(text,
                               "], \"channels\": [{\"channel_type\": \"memory\", \"connected_to\": [%u]}, "
                               "{\"channel_type\": \"switch\", \"buffer_type\": \"s\", \"rank_groups\": [{\"size\": "
                               "2, \"ranks\": [0, 1]}]}], \"remote_buffers\": [{\"rank\": %u, \"type\": \"s\"}]}",
                               1 - rank, 1 - rank);
        g_strfreev(blocks);
    }
    g_string_append(text, "]}");
    return g_string_free(text, FALSE);
}

/* The plan's time, or 0 when it got stuck. */
static SimTime run_plan(const char *text)
{
    GError *error = NULL;
    Trace *trace = trace_test_read("p.json", text, strlen(text), FALSE, &error);
    if (!trace)
        fail_msg("%s", error->message);
    FabricSpec fabric = {0};
    ParamSet *set = param_set_new();
    device_params(set, &fabric);
    assert_true(preset_load(set, "teach-4gpu", NULL));
    guint16 gpus[] = {0, 1};
    ReplayJob job = {trace, match_new(trace, FALSE, NULL), gpus};
    ReplaySpec spec = {.fabric = &fabric, .memo = TRUE, .compute_ppm = 1000000, .sim.seed = 1};
    ReplayResult *result = replay_run(&spec, &job, 1, &error);
    if (!result && !g_error_matches(error, COLL_ERROR, COLL_ERROR_STUCK))
        fail_msg("%s", error->message);
    SimTime time_ps = result ? result->total_ps : 0;
    g_clear_error(&error);
    replay_result_free(result);
    match_free(job.match);
    trace_free(trace);
    param_set_free(set);
    return time_ps;
}

/* Proves that packets are waited for where they lie, whatever operations wrote them: plans that
 * split, join or repeat what was put come to an end, as on hardware, where each packet has its
 * flag. */
static void test_ends(void **state)
{
    (void)state;
    static const struct {
        const char *what, *first, *second;
    } cases[] = {
        {"as put", PPKT("0", "2"), UPKT("0", "2")},
        {"split in one block", PPKT("0", "2"), UPKT("0", "1") "," UPKT("1", "1")},
        {"split over two blocks", PPKT("0", "2"), UPKT("0", "1") "|" UPKT("1", "1")},
        {"joined from two puts", PPKT("0", "1") "," PPKT("1", "1"), UPKT("0", "2")},
        {"across the portions put", PPKT("0", "2") "," PPKT("2", "2"), UPKT("1", "2")},
        {"read twice by one block", PPKT("0", "1"), UPKT("0", "1") "," UPKT("0", "1")},
        {"put by two blocks, read by one",
         OP("ppkt", REF("i", "0", "2"), FAR("0", "2"), PART("0", "2")) "|" OP("ppkt", REF("i", "0", "2"), FAR("0", "2"),
                                                                              PART("1", "2")),
         UPKT("0", "2")},
        {"put by one block, read by three", PPKT("1", "2"),
         OP("upkt", REF("s", "1", "2"), REF("o", "1", "2"), PART("0", "3")) "|" OP(
             "upkt", REF("s", "1", "2"), REF("o", "1", "2"),
             PART("1", "3")) "|" OP("upkt", REF("s", "1", "2"), REF("o", "1", "2"), PART("2", "3"))},
        {"packets of the rank's own", OP("cpkt", REF("i", "0", "2"), REF("s", "0", "2"), ""),
         OP("cpkt", REF("i", "0", "2"), REF("s", "0", "2"), "") "," UPKT("1", "1")},
        {"a first source that is no packet", PPKT("0", "1"),
         OP("repkt", REF("s", "3", "1") "," REF("s", "0", "1"), REF("o", "0", "1"), "")},
        {"reduced, copied and sent on",
         OP("recspkt", REF("i", "0", "1") "," REF("s", "0", "1"),
            REF("o", "0", "1") "," REF("s", "2", "1") "," FAR("1", "1"), "") "," UPKT("2", "1"),
         PPKT("0", "1") "," UPKT("1", "1")},
        {"passed on as packets", PPKT("0", "1") "," UPKT("3", "1"), OP("rppkt", REF("s", "0", "1"), FAR("3", "1"), "")},
        {"stored through the switch",
         OP("cpkt", REF("i", "0", "2"), REF("s", "0", "2"),
            "") ",{\"name\": \"gstorepkt\", \"channel_type\": "
                "\"switch\", \"src_buff\": [" REF("s", "0", "2") "], \"dst_buff\": [{\"switch_channel_id\": 0, "
                                                                 "\"index\": 2, \"size\": "
                                                                 "2}]}," UPKT("3", "1"),
         UPKT("2", "1") "," UPKT("2", "2")},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *text = plan_text(cases[i].first, cases[i].second);
        if (run_plan(text) == 0)
            fail_msg("%s: got stuck", cases[i].what);
        g_free(text);
    }
}

/* Proves that packets which nobody puts are waited for: also those behind the first chunk, and by
 * operations that pass packets on. */
static void test_waits(void **state)
{
    (void)state;
    static const struct {
        const char *what, *first, *second;
    } cases[] = {
        {"half of what is read", PPKT("0", "1"), UPKT("0", "2")},
        {"the other half", PPKT("1", "1"), UPKT("0", "2")},
        {"half of an operation shared by two blocks", OP("ppkt", REF("i", "0", "2"), FAR("0", "2"), PART("0", "2")),
         UPKT("0", "2")},
        {"passed on but never put", "{\"name\": \"nop\"}", OP("rppkt", REF("s", "0", "1"), FAR("3", "1"), "")},
        {"a second source", PPKT("0", "1"),
         OP("repkt", REF("i", "0", "1") "," REF("s", "0", "1") "," REF("s", "1", "1"), REF("o", "0", "1"), "")},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *text = plan_text(cases[i].first, cases[i].second);
        if (run_plan(text) != 0)
            fail_msg("%s: came to an end", cases[i].what);
        g_free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
