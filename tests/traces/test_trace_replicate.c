#include "tests/traces/trace_test.h"

#include "traces/record/match.h"
#include "traces/record/replicate.h"

/* A collective of `bytes` of one rank in the group of the ranks FIRST, FIRST + apart, ... */
static void add(Trace *trace, guint32 rank, const char *name, guint32 first, guint32 n, guint32 apart, guint64 bytes)
{
    guint32 ranks[16];
    for (guint32 i = 0; i < n; i++)
        ranks[i] = first + i * apart;
    Record record;
    record_init(&record, rank, RECORD_ALL_REDUCE);
    record.group = trace_group(trace, name, ranks, n);
    record_set_bytes_in(&record, bytes, n);
    trace_add(trace, &record);
}

static Trace *begin(guint32 world)
{
    Trace *trace = trace_new("t");
    trace->world = world;
    trace->replicate = TRUE;
    return trace;
}

/* "0+1:16 ..." in the order of ranks: members and bytes of each rank's collectives. */
static char *tell(const Trace *trace)
{
    GString *to = g_string_new(NULL);
    for (guint32 rank = 0; rank < trace->world; rank++) {
        g_string_append_printf(to, "%s%u ", rank > 0 ? "; " : "", rank);
        for (guint32 i = trace->rank_first[rank]; i < trace->rank_first[rank + 1]; i++) {
            const Record *record = trace_record(trace, i);
            const RecordGroup *group = trace_group_at(trace, record->group);
            for (guint32 k = 0; k < group->n; k++) {
                g_string_append_printf(to, "%s%u",
                                       k > 0                         ? "+"
                                       : i > trace->rank_first[rank] ? " "
                                                                     : "",
                                       group->ranks[k]);
            }
            g_string_append_printf(to, ":%u", (guint)record->bytes_in);
        }
    }
    return g_string_free(to, FALSE);
}

static void check(Trace *trace, const char *wanted)
{
    GError *error = NULL;
    assert_true(trace_finish(trace, FALSE, NULL));
    if (!trace_replicate(trace, &error))
        fail_msg("%s", error->message);
    char *got = tell(trace);
    assert_string_equal(got, wanted);
    g_free(got);
    Match *match = match_new(trace, FALSE, &error); /* groups of several names are one group all the same */
    if (!match)
        fail_msg("%s", error->message);
    match_free(match);
    trace_free(trace);
}

/* Proves that two recorded ranks of eight stand for the others in their groups' kinds, each for those
 * with which it shares a group, whatever the groups are called. */
static void test_two_of_eight(void **state)
{
    (void)state;
    Trace *trace = begin(8); /* pairs, and every other rank */
    for (guint32 rank = 0; rank < 2; rank++) {
        add(trace, rank, "tp", 0, 2, 1, 16);
        add(trace, rank, rank == 0 ? "dp even" : "dp odd", rank, 4, 2, 32 + 32 * rank);
        add(trace, rank, "all", 0, 8, 1, 128);
    }
    check(trace, "0 0+1:16 0+2+4+6:32 0+1+2+3+4+5+6+7:128; 1 0+1:16 1+3+5+7:64 0+1+2+3+4+5+6+7:128; "
                 "2 2+3:16 0+2+4+6:32 0+1+2+3+4+5+6+7:128; 3 2+3:16 1+3+5+7:64 0+1+2+3+4+5+6+7:128; "
                 "4 4+5:16 0+2+4+6:32 0+1+2+3+4+5+6+7:128; 5 4+5:16 1+3+5+7:64 0+1+2+3+4+5+6+7:128; "
                 "6 6+7:16 0+2+4+6:32 0+1+2+3+4+5+6+7:128; 7 6+7:16 1+3+5+7:64 0+1+2+3+4+5+6+7:128");
    trace = begin(4); /* the first of each of two groups of other names and sizes of data */
    add(trace, 0, "tp0", 0, 2, 1, 16);
    add(trace, 2, "tp1", 2, 2, 1, 48);
    check(trace, "0 0+1:16; 1 0+1:16; 2 2+3:48; 3 2+3:48");
    trace = begin(2); /* a rank whose file is there and empty did nothing: nobody stands for it */
    add(trace, 0, "own", 0, 1, 1, 16);
    trace_present(trace, 1);
    check(trace, "0 0:16; 1 ");
}

/* Proves that two groups of the same ranks stay two groups in the ranks that were not recorded. */
static void test_same_ranks(void **state)
{
    (void)state;
    Trace *trace = begin(4);
    for (guint32 rank = 0; rank < 2; rank++) {
        add(trace, rank, "a", 0, 2, 1, 16);
        add(trace, rank, "b", 0, 2, 1, 32);
    }
    assert_true(trace_finish(trace, FALSE, NULL));
    assert_true(trace_replicate(trace, NULL));
    const Record *two = trace_record(trace, trace->rank_first[2]);
    const Record *three = trace_record(trace, trace->rank_first[3]);
    assert_true(two[0].group == three[0].group && two[1].group == three[1].group);
    assert_int_not_equal(two[0].group, two[1].group);
    trace_free(trace);
}

#define KINETO                                                                                                         \
    "{\"distributedInfo\": {\"rank\": %u, \"world_size\": 4}, \"traceEvents\": [{\"ph\": \"X\", "                      \
    "\"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)\", \"ts\": 1, "                       \
    "\"dur\": 1, \"args\": {\"stream\": 20, \"device\": 0, \"Collective name\": \"allreduce\", \"In "                  \
    "msg nelems\": 1024, \"Out msg nelems\": 1024, \"dtype\": \"Float\", \"Group size\": 4}}]}"

/* Proves that profiles of two of four ranks are read: one all_reduce of four ranks, and a note. */
static void test_profiles(void **state)
{
    (void)state;
    char *dir = g_dir_make_tmp("fanout-XXXXXX", NULL);
    for (guint i = 0; i < 2; i++) {
        char *path = g_strdup_printf("%s/rank%u.json", dir, i), *text = g_strdup_printf(KINETO, i);
        assert_true(g_file_set_contents(path, text, -1, NULL));
        g_free(path);
        g_free(text);
    }
    const char *paths[] = {dir};
    TraceReadSpec spec = {0};
    GError *error = NULL;
    GPtrArray *jobs = trace_read_jobs(paths, 1, &spec, &error);
    if (!jobs)
        fail_msg("%s", error->message);
    Trace *trace = jobs->pdata[0];
    assert_int_equal(trace->recorded_ranks, 2);
    Match *match = match_new(trace, FALSE, &error);
    if (!match)
        fail_msg("%s", error->message);
    assert_int_equal(match->items->len, 1);
    assert_int_equal(g_array_index(match->items, MatchItem, 0).n, 4);
    gboolean said = FALSE;
    for (guint i = 0; i < trace->notes->len; i++)
        said |= g_str_has_prefix(trace->notes->pdata[i], "2 of 4 ranks were recorded");
    assert_true(said);
    match_free(match);
    g_ptr_array_free(jobs, TRUE);
    for (guint i = 0; i < 2; i++) {
        char *path = g_strdup_printf("%s/rank%u.json", dir, i);
        g_unlink(path);
        g_free(path);
    }
    g_rmdir(dir);
    g_free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_of_eight),
        cmocka_unit_test(test_same_ranks),
        cmocka_unit_test(test_profiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
