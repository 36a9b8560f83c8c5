#include "tests/traces/trace_test.h"

/* Messages built byte by byte, so that neither the library nor the writer under test takes part. */
static void put_varint(GByteArray *to, guint64 value)
{
    do {
        guint8 byte = (value & 0x7f) | (value > 0x7f ? 0x80 : 0);
        g_byte_array_append(to, &byte, 1);
        value >>= 7;
    } while (value > 0);
}

static void put_number(GByteArray *to, guint field, guint64 value)
{
    put_varint(to, field << 3);
    put_varint(to, value);
}

static void put_bytes(GByteArray *to, guint field, const void *data, gsize n)
{
    put_varint(to, field << 3 | 2);
    put_varint(to, n);
    g_byte_array_append(to, data, n);
}

static void put_attribute(GByteArray *node, const char *name, guint field, guint64 value)
{
    GByteArray *attr = g_byte_array_new();
    put_bytes(attr, 1, name, strlen(name));
    put_number(attr, field, value);
    put_bytes(node, 10, attr->data, attr->len);
    g_byte_array_free(attr, TRUE);
}

static void put_message(GByteArray *file, GByteArray *message)
{
    put_varint(file, message->len);
    g_byte_array_append(file, message->data, message->len);
    g_byte_array_free(message, TRUE);
}

static GByteArray *new_file(void)
{
    GByteArray *file = g_byte_array_new(), *metadata = g_byte_array_new();
    put_bytes(metadata, 1, "0.0.4", 5);
    put_message(file, metadata);
    return file;
}

static GByteArray *new_node(guint64 id, guint type)
{
    GByteArray *node = g_byte_array_new();
    if (id > 0)
        put_number(node, 1, id);
    put_bytes(node, 2, "n", 1);
    put_number(node, 3, type);
    return node;
}

static Trace *read_bytes(GByteArray *file, guint32 world, gboolean lenient, GError **error)
{
    TraceReadSpec spec = {.world = world, .lenient = lenient};
    return trace_read_input(input_open_memory("a.0.et", file->data, file->len), &spec, error);
}

static void expect_refused(GByteArray *file, guint32 world, const char *says, guint64 skipped)
{
    GError *error = NULL;
    if (read_bytes(file, world, FALSE, &error))
        fail_msg("taken, should say '%s'", says);
    if (!strstr(error->message, says) || !g_str_has_prefix(error->message, "a.0.et: byte "))
        fail_msg("'%s' should say '%s'", error->message, says);
    g_clear_error(&error);
    put_message(file, new_node(999, 4)); /* something is left to replay */
    Trace *trace = read_bytes(file, world, TRUE, &error);
    if (skipped > 0 && !trace)
        fail_msg("lenient: %s", error->message);
    assert_int_equal(trace ? trace_skipped(trace) : 0, skipped);
    trace_free(trace);
    g_clear_error(&error);
    g_byte_array_free(file, TRUE);
}

/* Proves that any integer kind of an attribute is taken, packed and unpacked dependencies too, and
 * that unknown attributes do no harm. */
static void test_kinds(void **state)
{
    (void)state;
    static const guint kinds[] = {7, 9, 11, 13};
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        GByteArray *file = new_file(), *node = new_node(3, 7);
        put_attribute(node, "is_cpu_op", 27, 0);
        put_attribute(node, "something_new", 13, 77);
        put_attribute(node, "comm_type", kinds[i], 2);
        put_attribute(node, "comm_size", kinds[i], 4096);
        put_message(file, node);
        node = new_node(4, 4);
        put_number(node, 4, 3);            /* unpacked */
        put_bytes(node, 5, "\x03\x05", 2); /* packed: 3, 5 */
        put_number(node, 7, 12);
        put_message(file, node);
        put_message(file, new_node(5, 4));
        GError *error = NULL;
        Trace *trace = read_bytes(file, 4, FALSE, &error);
        assert_null(error);
        const Record *r = trace_record(trace, 0);
        assert_true(r->op == RECORD_ALL_GATHER && r->bytes_in == 4096 && r->bytes_out == 16384);
        r = trace_record(trace, 1);
        assert_true(r->op == RECORD_COMPUTE && r->duration_ps == 12000000 && r->dep_count == 2);
        assert_true(trace->replicate); /* one file of a world of 4 */
        trace_free(trace);
        g_byte_array_free(file, TRUE);
    }
}

static GByteArray *collective(guint type_kind, guint64 type, guint size_kind, guint64 size)
{
    GByteArray *file = new_file(), *node = new_node(1, 7);
    put_attribute(node, "comm_type", type_kind, type);
    put_attribute(node, "comm_size", size_kind, size);
    put_message(file, node);
    return file;
}

/* Proves that a reduce-scatter whose size its ranks cannot share alike is rounded up, with a note: 10 bytes of four
 * ranks are 12, 3 each. */
static void test_rounded(void **state)
{
    (void)state;
    GByteArray *file = collective(9, 7, 9, 10);
    TraceReadSpec spec = {.world = 4};
    Trace *trace = trace_read_input(input_open_memory("x.0.et", file->data, file->len), &spec, NULL);
    assert_non_null(trace);
    assert_true(trace_record(trace, 0)->bytes_in == 12 && trace_record(trace, 0)->bytes_out == 3);
    gboolean said = FALSE;
    for (guint i = 0; i < trace->notes->len; i++)
        said |= strstr(trace->notes->pdata[i], "are rounded up: 1 of reduce_scatter") != NULL;
    assert_true(said);
    trace_free(trace);
    g_byte_array_free(file, TRUE);
}

/* Proves that a collective of 0 bytes is left out with a note, and the file is read. */
static void test_empty(void **state)
{
    (void)state;
    GByteArray *file = collective(9, 0, 9, 0);
    TraceReadSpec spec = {.world = 4};
    Trace *trace = trace_read_input(input_open_memory("x.0.et", file->data, file->len), &spec, NULL);
    assert_non_null(trace);
    assert_int_equal(trace_record(trace, 0)->op, RECORD_COMPUTE);
    trace_test_said(trace, "communications of 0 bytes move nothing: 1 of all_reduce");
    trace_free(trace);
    g_byte_array_free(file, TRUE);
}

/* Proves that each kind of wrong node is refused by byte and node number, and skipped and counted
 * when lenient. */
static void test_bad_nodes(void **state)
{
    (void)state;
    expect_refused(collective(9, 17, 9, 8), 4, "node 1: 'n': comm_type should be 0", 1);
    expect_refused(collective(9, 0, 9, (guint64)1 << 50), 4, "comm_size should be 1 byte to 1 TiB", 1);
    expect_refused(collective(9, 0, 9, G_MAXUINT64), 4, "comm_size should be 1 byte to 1 TiB", 1);
    expect_refused(collective(9, 0, 9, 8), 0, "the number of ranks is not known", 1);
    GByteArray *file = new_file(), *node = new_node(1, 7), *attr = g_byte_array_new();
    put_bytes(attr, 1, "comm_size", 9);
    put_bytes(attr, 29, "1048576", 7);
    put_bytes(node, 10, attr->data, attr->len);
    g_byte_array_free(attr, TRUE);
    put_message(file, node);
    expect_refused(file, 4, "node 1: 'n': comm_size is the string \"1048576\"; it should be an integer", 1);
    file = new_file();
    put_message(file, new_node(1, 0));
    expect_refused(file, 4, "the node type should be", 1);
    file = new_file();
    put_message(file, new_node(1, 4));
    put_message(file, new_node(1, 4));
    expect_refused(file, 4, "node 1: another node has this id", 1);
    file = new_file();
    node = new_node(1, 4);
    put_number(node, 5, 9);
    put_message(file, node);
    expect_refused(file, 4, "node 1: waits for node 9, which the file does not have", 1);
    file = new_file();
    node = new_node(1, 4);
    put_number(node, 5, 2);
    put_message(file, node);
    node = new_node(2, 4);
    put_number(node, 4, 1);
    put_message(file, node);
    expect_refused(file, 4, "waits for itself", 1);
    file = new_file();
    put_message(file, new_node(1, 5));
    expect_refused(file, 4, "a send should have comm_dst", 1);
}

/* Proves that wrong message lengths and wrong lengths inside a message never pass: too long, too
 * short, absurd. */
static void test_wrong_lengths(void **state)
{
    (void)state;
    GByteArray *file = new_file();
    put_varint(file, 200);
    g_byte_array_append(file, (const guint8 *)"\x08\x01\x18\x04", 4);
    GError *error = NULL;
    assert_null(read_bytes(file, 1, FALSE, &error));
    assert_true(g_error_matches(error, TRACE_ERROR, TRACE_ERROR_CUT_OFF));
    assert_string_equal(error->message, "a.0.et: byte 8: a message says it has 200 bytes, but the file ends 4 bytes "
                                        "into it");
    g_clear_error(&error);
    g_byte_array_free(file, TRUE);
    file = new_file();
    put_varint(file, 5);
    g_byte_array_append(file, (const guint8 *)"\x12\x7fnnn", 5); /* a name of 127 bytes in 3 */
    expect_refused(file, 1, "these 5 bytes are no Chakra node", 1);
    file = new_file();
    put_message(file, new_node(1, 4));
    put_varint(file, (guint64)1 << 40);
    expect_refused(file, 1, "lengths should be at most 256 MiB", 0);
}

/* Proves that a file cut at any byte is refused or, at a message's end, read as what it holds; and
 * never crashes. */
static void test_every_cut(void **state)
{
    (void)state;
    GByteArray *file = collective(9, 0, 9, 1048576);
    put_message(file, new_node(2, 4));
    guint whole = 0;
    for (guint n = 0; n <= file->len; n++) {
        TraceReadSpec spec = {.world = 4};
        GError *error = NULL;
        Trace *trace = trace_read_input(input_open_memory("cut.et", file->data, n), &spec, &error);
        assert_true((!trace) == (error != NULL));
        whole += trace != NULL;
        trace_free(trace);
        g_clear_error(&error);
    }
    assert_int_equal(whole, 2);
    g_byte_array_free(file, TRUE);
}

/* Proves that the JSON form says the same as the protobuf form. */
static void test_json_variant(void **state)
{
    (void)state;
    const char *json = "{\"workload_graph\": [\n"
                       "{\"Id\": 1, \"Name\": \"a\", \"NodeType\": 4, \"is_cpu_op\": false, "
                       "\"runtime\": 5, \"data_deps\": []},\n"
                       "{\"Id\": 2, \"Name\": \"b\", \"NodeType\": 7, \"is_cpu_op\": false, "
                       "\"data_deps\": [1], \"comm_type\": 0,"
                       " \"comm_size\": 4096}\n]}";
    TraceReadSpec spec = {.world = 2};
    Trace *trace = trace_read_input(input_open_memory("a.json", json, strlen(json)), &spec, NULL);
    assert_non_null(trace);
    assert_string_equal(trace->format, "chakra-json");
    assert_true(trace_record(trace, 0)->duration_ps == 5000000);
    const Record *r = trace_record(trace, 1);
    assert_true(r->op == RECORD_ALL_REDUCE && r->bytes_in == 4096 && r->dep_count == 1 && r->source.line == 3);
    trace_free(trace);
    const char *bad = "{\"workload_graph\": [\n{\"Id\": 1, \"Name\": \"a\", \"NodeType\": \"7\"}]}";
    trace_test_refused("b.json", bad, strlen(bad), ":2: node 1: 'a': \"NodeType\" is the string \"7\"", 1);
    const char *cut = "{\"workload_graph\": [\n{\"Id\": 1, \"Name\": \"a\", \"NodeType\": 4, "
                      "\"runtime\": 1},\n{\"Id\"";
    trace_test_refused("c.json", cut, strlen(cut), ":3: byte 80: the JSON text ends too early", 1);
}

/* Proves that what is written as Chakra is read back identically: streams, gaps, picoseconds,
 * groups, roots. */
static void test_round_trip(void **state)
{
    (void)state;
    const char *text = "fanout-trace 1\nworld 4\ngroup tp 0,2\nrank 0\n"
                       "1 compute 12345ps stream=7 step=3 start=17ns name=\"mat\"\n"
                       "2 all_reduce group=tp bytes=1024 dtype=bf16 reduction=avg stream=9 gap=77ns after=1\n"
                       "4 broadcast bytes=64 root=3 dtype=f32 stream=9 after=1\n"
                       "9 send bytes=10 to=2 tag=5 dtype=u8 gap=1ps after=1,4\n"
                       "rank 1\n1 broadcast bytes=64 root=3 dtype=f32\n2 all_to_all bytes=64 out=32 dtype=f32\n"
                       "rank 3\n1 barrier bytes=0 dtype=u8\n";
    GError *error = NULL;
    Trace *trace = trace_test_read("x", text, strlen(text), FALSE, &error);
    assert_non_null(trace);
    char *dir = g_dir_make_tmp("fanout-XXXXXX", NULL), *prefix = g_build_filename(dir, "out", NULL);
    assert_true(write_chakra(trace, prefix, &error));
    TraceReadSpec spec = {0};
    const char *paths[] = {prefix};
    GPtrArray *jobs = trace_read_jobs(paths, 1, &spec, &error);
    if (!jobs)
        fail_msg("%s", error->message);
    assert_int_equal(jobs->len, 1);
    char *before = write_text_string(trace), *after = write_text_string(jobs->pdata[0]);
    assert_string_equal(after, before);
    for (guint rank = 0; rank < 4; rank++) {
        char *path = g_strdup_printf("%s.%u.et", prefix, rank);
        assert_int_equal(g_unlink(path), 0);
        g_free(path);
    }
    assert_int_equal(g_rmdir(dir), 0);
    g_ptr_array_free(jobs, TRUE);
    trace_free(trace);
    g_free(before);
    g_free(after);
    g_free(prefix);
    g_free(dir);
}

/* An independent count: walks the wire format alone and adds up comm_size of nodes by type. */
static void count_file(const char *path, guint64 counts[16], guint64 bytes[16])
{
    char *data;
    gsize n, at = 0;
    assert_true(g_file_get_contents(path, &data, &n, NULL));
    for (guint message = 0; at < n; message++) {
        guint64 type = 0, size = 0, length = 0;
        for (guint shift = 0;; shift += 7) {
            length |= (guint64)(data[at] & 0x7f) << shift;
            if (!(data[at++] & 0x80))
                break;
        }
        const char *end = data + at + length;
        for (const char *p = data + at; message > 0 && p + 14 < end; p++) {
            if (memcmp(p,
                       "\x0a\x09"
                       "comm_size\x48",
                       12) == 0) {
                size = (guint8)p[12] & 0x7f;
                for (guint i = 1; p[11 + i] & 0x80; i++)
                    size |= (guint64)(p[12 + i] & 0x7f) << (7 * i);
            }
        }
        const char *name = data + at;
        for (name += *name == 0x08 ? 2 : 0; *name != 0x12 && name < end; name++) { /* over the id */
        }
        name = message > 0 && name < end ? name : NULL;
        if (name) /* name, then 0x18 type */
            type = name[2 + name[1]] == 0x18 ? (guint64)name[3 + name[1]] : 0;
        counts[type]++;
        bytes[type] += size;
        at += length;
    }
    g_free(data);
}

/* Proves that counts, bytes and groups of both public sets are those that a walk over the bytes
 * finds. */
static void test_shared_counts(void **state)
{
    (void)state;
    static const struct {
        const char *folder, *file;
    } sets[] = {{"chakra/allreduce_8npus_1MB", "all_reduce"},
                {"chakra/custom_ring_allreduce_8npus_1MB", "custom_allreduce"}};
    for (guint s = 0; s < 2; s++) {
        Trace *trace = trace_test_read_shared(sets[s].folder);
        if (!trace)
            skip();
        guint64 counts[16] = {0}, bytes[16] = {0}, own_counts[16] = {0}, own_bytes[16] = {0};
        for (guint rank = 0; rank < 8; rank++) {
            char *name = g_strdup_printf("%s/%s.%u.et", sets[s].folder, sets[s].file, rank);
            char *path = trace_test_shared(name);
            count_file(path, counts, bytes);
            g_free(path);
            g_free(name);
        }
        for (guint i = 0; i < trace->records->len; i++) {
            const Record *r = trace_record(trace, i);
            guint type = r->op == RECORD_COMPUTE ? 4 : r->op == RECORD_SEND ? 5 : r->op == RECORD_RECV ? 6 : 7;
            own_counts[type]++;
            own_bytes[type] += r->bytes_in;
            assert_true(type != 7 || trace_group_at(trace, r->group)->n == 8);
        }
        assert_int_equal(trace->world, 8);
        for (guint type = 4; type < 8; type++) {
            assert_int_equal(own_counts[type], counts[type]);
            assert_int_equal(own_bytes[type], bytes[type]);
        }
        assert_int_equal(counts[7] + counts[5], s == 0 ? 8 : 8 * 14);
        assert_int_equal(bytes[7] + bytes[5], s == 0 ? 8 * 1048576 : 8 * 14 * 131072);
        trace_free(trace);
    }
}

/* Proves that naming one rank's file reads those beside it, and that a hole in the ranks is an
 * error. */
static void test_siblings(void **state)
{
    (void)state;
    char *dir = g_dir_make_tmp("fanout-XXXXXX", NULL);
    char *paths[3];
    for (guint i = 0; i < 3; i++) {
        GByteArray *file = collective(9, 0, 9, 64);
        paths[i] = g_strdup_printf("%s/w.%u.et", dir, i == 2 ? 3 : i);
        assert_true(g_file_set_contents(paths[i], (char *)file->data, file->len, NULL));
        g_byte_array_free(file, TRUE);
    }
    TraceReadSpec spec = {0};
    GPtrArray *jobs = trace_read_jobs((const char *const *)paths, 1, &spec, NULL);
    assert_non_null(jobs);
    Trace *trace = jobs->pdata[0];
    assert_true(trace->world == 4 && trace->recorded_ranks == 3 && !trace->replicate);
    g_ptr_array_free(jobs, TRUE);
    for (guint i = 0; i < 3; i++) {
        g_unlink(paths[i]);
        g_free(paths[i]);
    }
    g_rmdir(dir);
    g_free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),        cmocka_unit_test(test_bad_nodes),     cmocka_unit_test(test_rounded),
        cmocka_unit_test(test_empty),        cmocka_unit_test(test_wrong_lengths), cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_json_variant), cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_shared_counts),
        cmocka_unit_test(test_siblings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
