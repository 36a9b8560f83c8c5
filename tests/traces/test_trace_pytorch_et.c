#include "tests/traces/trace_test.h"

#include <zlib.h>

#include "traces/record/match.h"

#define HEAD "{\"schema\": \"1.1.0-chakra.0.0.4\", \"pid\": 1, \"nodes\": [\n"
#define NODE(id, attrs)                                                                                                \
    "{\"id\": " id ", \"name\": \"record_param_comms\", \"inputs\": {\"values\": []}, \"attrs\": [" attrs "]},\n"
#define A(name, value) "{\"name\": \"" name "\", \"type\": \"x\", \"value\": " value "}"
#define GROUP                                                                                                          \
    A("global_rank_start", "0")                                                                                        \
    "," A("global_rank_stride", "2") "," A("pg_size", "4") "," A("pg_name", "\"1\"")
#define END "{\"id\": 1, \"name\": \"x\"}]}"

static Trace *read_text(const char *text)
{
    GError *error = NULL;
    Trace *trace = trace_test_read("et.json", text, strlen(text), FALSE, &error);
    if (!trace)
        fail_msg("%s", error->message);
    return trace;
}

/* Proves that named attributes give operation, sizes and a strided group, and that waits are no
 * operations. */
static void test_named(void **state)
{
    (void)state;
    Trace *trace = read_text(
        HEAD NODE("5", A("collective_name", "\"_reduce_scatter_base\"") "," A("dtype", "\"Half\"") "," A(
                           "in_msg_nelems", "64") "," A("out_msg_nelems", "16") "," GROUP)
            NODE("6", A("collective_name", "\"wait\"")) END);
    assert_int_equal(trace->records->len, 1);
    const Record *r = trace_record(trace, 0);
    const RecordGroup *group = trace_group_at(trace, r->group);
    assert_true(r->op == RECORD_REDUCE_SCATTER && r->bytes_in == 128 && r->bytes_out == 32 && r->source.node == 5);
    assert_true(group->n == 4 && group->ranks[3] == 6 && trace->world == 7);
    trace_free(trace);
}

/* Proves that the positional forms before schema 1.1.0 give the same, the flat one too. */
static void test_positional(void **state)
{
    (void)state;
    static const char *const inputs[] = {"\"inputs\": {\"values\": ", "\"inputs\": "};
    for (guint i = 0; i < 2; i++) {
        char *text = g_strdup_printf("%s{\"id\": 7, \"name\": \"record_param_comms\", %s"
                                     "[[[434,435,0,53120,4,\"cuda:1\"],[4,5,0,10,8,\"cuda:1\"]], 33, "
                                     "[\"0\", \"default_pg\"], 1, \"broadcast\", [], [], 0, 1, 2]%s},\n" END,
                                     HEAD, inputs[i], i == 0 ? "}" : "");
        Trace *trace = read_text(text);
        const Record *r = trace_record(trace, 0);
        assert_true(r->op == RECORD_BROADCAST && r->bytes_in == 4 * 53120 + 80 && r->peer == 1 && trace->world == 2);
        trace_free(trace);
        g_free(text);
    }
}

/* Proves that before schema 1.1.0 element types come from the tensors' types, in the form of 1.0.1
 * (input_types) and of 1.0.2 (inputs.types); and that where nothing says them, a note does. */
static void test_types(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        guint bytes;
        RecordDtype dtype;
        gboolean noted;
    } cases[] = {
        {"GenericList[Tensor(float)]", 4, RECORD_F32, FALSE},
        {"Tensor(float)", 4, RECORD_F32, FALSE},
        {"GenericList[Tensor(c10::BFloat16),Tensor(c10::BFloat16)]", 2, RECORD_BF16, FALSE},
        {"GenericList[Tensor(c10::Half)]", 2, RECORD_F16, FALSE},
        {"GenericList[Tensor(long int)]", 8, RECORD_I64, FALSE},
        {"GenericList[Tensor(long)]", 8, RECORD_I64, FALSE},
        {"GenericList[Tensor(double)]", 8, RECORD_F64, FALSE},
        {"GenericList[Tensor(int)]", 4, RECORD_I32, FALSE},
        {"GenericList[Tensor(unsigned char)]", 1, RECORD_U8, FALSE},
        {"GenericList[Tensor(c10::Float8_e4m3fn)]", 1, RECORD_E4M3, FALSE},
        {"GenericList[Tensor(never heard of)]", 4, RECORD_F32, TRUE},
        {"Object", 2, RECORD_BF16, TRUE},
    };
    for (gsize i = 0; i < 2 * G_N_ELEMENTS(cases); i++) {
        guint c = i / 2;
        gboolean old = i % 2 == 0;
        char *text =
            g_strdup_printf("{\"schema\": \"%s\", \"nodes\": [{\"id\": 7, \"name\": \"record_param_comms\", "
                            "\"inputs\": %s[[[434,435,0,100,%u,\"cuda:1\"]], 33, 0, 1, \"allreduce\", [], [], 0, 1, "
                            "2]%s\"%s\": [\"%s\", \"Int\"]%s}]}",
                            old ? "1.0.1" : "1.0.3", old ? "" : "{\"values\": ", cases[c].bytes, old ? ", " : ", ",
                            old ? "input_types" : "types", cases[c].type, old ? "" : "}");
        Trace *trace = read_text(text);
        const Record *r = trace_record(trace, 0);
        if (r->dtype != cases[c].dtype || r->bytes_in != 100 * cases[c].bytes)
            fail_msg("%s: %s, %u bytes", cases[c].type, record_dtype_name(r->dtype), (guint)r->bytes_in);
        gboolean noted = FALSE;
        for (guint k = 0; k < trace->notes->len; k++)
            noted |= strstr(trace->notes->pdata[k], "element type is not said") != NULL;
        assert_int_equal(noted, cases[c].noted);
        trace_free(trace);
        g_free(text);
    }
}

/* Proves that communications of unknown names are left out and counted, that the host's bookkeeping
 * of coalesced calls is not, and that starts and strides that would wrap are no ranks. */
static void test_unknown(void **state)
{
    (void)state;
#define GOOD A("dtype", "\"Float\"") "," A("in_msg_nelems", "8") "," GROUP
    Trace *trace = read_text(HEAD NODE("5", A("collective_name", "\"allredo\"") "," GOOD)
                                 NODE("6", A("collective_name", "\"coalesced\"") "," GOOD)
                                     NODE("7", A("collective_name", "\"all_gather_into_tensor_"
                                                                    "coalesced\"") "," GOOD)
                                         NODE("8", A("collective_name", "\"allredo\"") "," GOOD) END);
    assert_int_equal(trace->records->len, 1);
    assert_int_equal(trace_record(trace, 0)->op, RECORD_ALL_GATHER);
    gboolean said = FALSE;
    for (guint k = 0; k < trace->notes->len; k++)
        said |= strstr(trace->notes->pdata[k], "left out: 2 of allredo") != NULL;
    assert_true(said);
    trace_free(trace);
    const char *wraps = HEAD NODE(
        "5", A("collective_name", "\"allreduce\"") "," A("dtype", "\"Float\"") "," A("in_msg_nelems", "8") "," A(
                 "global_rank_start", "1") "," A("global_rank_stride",
                                                 "4611686018427387904") "," A("pg_size", "9223372036854775807")) END;
    trace_test_refused("et.json", wraps, strlen(wraps), "the ranks of process group \"\" are not said", 1);
}

/* Proves that wrong nodes are refused by line and id, and counted when lenient. */
static void test_bad_nodes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
        guint64 skipped;
    } cases[] = {
        {HEAD NODE("5", A("collective_name", "\"allreduce\"") "," A("dtype", "\"Float\"") "," A("in_msg_nelems",
                                                                                                "\"8\"") "," GROUP) END,
         "\"in_msg_nelems\" is the string \"8\"", 1},
        {HEAD NODE("5", A("collective_name", "\"allreduce\"") "," A("dtype", "\"Flo\"") "," A("in_msg_nelems",
                                                                                              "8") "," GROUP) END,
         "unknown dtype \"Flo\"", 1},
        {HEAD NODE("5", A("collective_name", "\"allreduce\"") "," A("dtype", "\"Float\"") "," A("in_msg_nelems",
                                                                                                "9e17") "," GROUP) END,
         "over 1 TiB", 1},
        {HEAD NODE("5", A("collective_name", "\"allreduce\"") "," A("dtype", "\"Float\"") "," A("in_msg_nelems", "9"))
             END,
         "the ranks of process group \"\" are not said", 1},
        {HEAD NODE("5", A("collective_name", "\"wait\"")) "{\"id\"", "ends too early", 0},
        {HEAD "{\"id\": 4, \"name\": \"## process_group:init ##\", \"inputs\": {\"values\": "
              "[\"[{\"]}}" END,
         "ends too early", 0},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        trace_test_refused("et.json", cases[i].text, strlen(cases[i].text), cases[i].says, cases[i].skipped);
}

/* Proves that the public trace has the collectives, bytes and group that a search through its text
 * finds. */
static void test_shared_counts(void **state)
{
    (void)state;
    Trace *trace = trace_test_read_shared("pytorch-et/ddp_resnet_2gpu.json.gz");
    if (!trace)
        skip();
    char *path = trace_test_shared("pytorch-et/ddp_resnet_2gpu.json.gz");
    gzFile file = gzopen(path, "rb");
    static char line[1 << 20];
    guint counts[3] = {0}, own[3] = {0};
    guint64 bytes = 0, own_bytes = 0;
    guint size = 0;
    while (gzgets(file, line, sizeof line)) { /* one attribute a line */
        const char *value = strstr(line, "\"value\": ");
        if (value && strstr(line, "\"collective_name\""))
            counts[value[10] == 'a' ? 0 : value[10] == 'b' ? 1 : 2]++;
        else if (value && strstr(line, "\"dtype\""))
            size = strstr(value, "Long") ? 8 : 4;
        else if (value && strstr(line, "\"in_msg_nelems\""))
            bytes += size * g_ascii_strtoull(value + 9, NULL, 10);
    }
    gzclose(file);
    for (guint i = 0; i < trace->records->len; i++) {
        const Record *r = trace_record(trace, i);
        own[r->op == RECORD_ALL_REDUCE ? 0 : r->op == RECORD_BROADCAST ? 1 : 2]++;
        own_bytes += r->bytes_in;
        assert_int_equal(trace_group_at(trace, r->group)->n, 2);
    }
    assert_int_equal(counts[0] + counts[1], 21);
    assert_int_equal(counts[2], 6); /* waits */
    assert_true(own[0] == counts[0] && own[1] == counts[1] && own[2] == 0 && own_bytes == bytes);
    assert_true(trace->replicate && trace->world == 2 && trace_record(trace, 0)->rank == 1); /* from its tensors */
    g_free(path);
    trace_free(trace);
}

/* Proves that the ranks of a group are those that its set-up lists, and not its stride's, and that one whose list is
 * empty has as many as its size says. */
static void test_listed(void **state)
{
    (void)state;
    Trace *trace = read_text(
        HEAD "{\"id\": 4, \"name\": \"## process_group:init ##\", \"inputs\": {\"values\": "
             "[\"[{\\\"pg_name\\\": \\\"1\\\", \\\"ranks\\\": [0, 5, 9]}, "
             "{\\\"pg_name\\\": \\\"2\\\", \\\"ranks\\\": [], \\\"group_size\\\": 11}]\"]}},\n" NODE(
                 "5", A("collective_name", "\"allreduce\"") "," A("dtype", "\"Half\"") "," A(
                          "in_msg_nelems", "64") "," A("out_msg_nelems", "64") "," GROUP)
                 NODE("6", A("collective_name", "\"allreduce\"") "," A("dtype", "\"Half\"") "," A(
                               "in_msg_nelems", "64") "," A("out_msg_nelems", "64") "," A("pg_name", "\"2\"")) END);
    assert_int_equal(trace->records->len, 2);
    const RecordGroup *listed = trace_group_at(trace, trace_record(trace, 0)->group);
    const RecordGroup *sized = trace_group_at(trace, trace_record(trace, 1)->group);
    assert_int_equal(listed->n, 3);
    assert_true(listed->ranks[0] == 0 && listed->ranks[1] == 5 && listed->ranks[2] == 9);
    assert_true(sized->n == 11 && sized->ranks[10] == 10 && trace->world == 11);
    trace_free(trace);
}

/* Proves that calls with empty tensors are left out with a note, but for all-to-alls, of which other ranks may have
 * more; one that no rank has anything of is left out when ranks are matched. */
static void test_empty(void **state)
{
    (void)state;
#define EMPTY(id, name)                                                                                                \
    NODE(id, A("collective_name", "\"" name "\"") "," A("dtype", "\"Float\"") "," A("in_msg_nelems", "0") "," A(       \
                 "pg_size", "4") "," A("pg_name", "\"1\""))
    Trace *trace = read_text(HEAD EMPTY("5", "allreduce") EMPTY("6", "all_to_allv") END);
    assert_int_equal(trace_record(trace, 0)->op, RECORD_COMPUTE);
    assert_int_equal(trace_record(trace, 1)->op, RECORD_ALL_TO_ALL);
    trace_test_said(trace, "communications of 0 bytes move nothing: 1 of all_reduce");
    Match *match = match_new(trace, FALSE, NULL);
    assert_non_null(match);
    for (guint i = 0; i < match->items->len; i++)
        assert_true(g_array_index(match->items, MatchItem, i).skipped);
    match_free(match);
    trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_named),   cmocka_unit_test(test_positional), cmocka_unit_test(test_types),
        cmocka_unit_test(test_unknown), cmocka_unit_test(test_bad_nodes),  cmocka_unit_test(test_shared_counts),
        cmocka_unit_test(test_listed),  cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
