#include "tests/traces/trace_test.h"

#include "traces/format/kineto/kineto.h"

/* A trace of four ranks with one kernel, its launch, and an annotation around that. */
#define TRACE(annotation, kernel, args)                                                                                \
    "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 0, \"world_size\": 4, \"pg_config\": "                     \
    "[{\"pg_name\": \"0\", \"ranks\": [0, 1, 2, 3]}]}, \"traceEvents\": [" annotation                                  \
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernelExC\", \"tid\": 1, "                       \
    "\"ts\": 120.0, \"dur\": 5.0, \"args\": {\"correlation\": 9}}, "                                                   \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" kernel                                                         \
    "\", \"ts\": 1000, \"dur\": 100.5, \"args\": {\"correlation\": 9, \"stream\": 20, "                                \
    "\"device\": 0" args "}}]}"
#define SIZED(name, in, out)                                                                                           \
    ", \"Collective name\": \"" name "\", \"In msg nelems\": " in ", \"Out msg nelems\": " out                         \
    ", \"dtype\": \"BFloat16\", \"Group size\": 4, \"Process Group Name\": \"0\""
#define ANNOTATION(name, dims)                                                                                         \
    "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"" name                                                  \
    "\", \"tid\": 1, \"ts\": 100.0, \"dur\": 50.0, \"args\": {\"Input Dims\": [" dims                                  \
    "], \"Input type\": [\"float\"]}}, "

static Trace *read_text(const char *text)
{
    GError *error = NULL;
    Trace *trace = trace_test_read("k.json", text, strlen(text), FALSE, &error);
    if (!trace)
        fail_msg("%s", error->message);
    return trace;
}

/* Proves that the names which PyTorch and NCCL give to an operation are understood, whoever calls
 * it, with the bytes of all tensors of a coalesced call. */
static void test_understood(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        RecordOp op;
        guint64 in, out;
        RecordDtype dtype;
    } cases[] = {
        {TRACE("", "ncclSymkDevKernel_AllReduce_RSxLD_AGxST_sum_bf16(ncclSymkDevWorkArgs4K)",
               SIZED("allreduce", "262144", "262144")),
         RECORD_ALL_REDUCE, 524288, 524288, RECORD_BF16},
        {TRACE(ANNOTATION("nccl:all_reduce", "[1024]"),
               "ncclSymkDevKernel_AllReduce_RSxLD_AGxST_sum_f32(ncclSymkDevWorkArgs4K)", ""),
         RECORD_ALL_REDUCE, 4096, 4096, RECORD_F32},
        {TRACE("", "ncclSymDevKernel_ReduceScatter_LDMC_sum_bf16(ncclSymDevArgs)",
               SIZED("_reduce_scatter_base", "4096", "1024")),
         RECORD_REDUCE_SCATTER, 8192, 2048, RECORD_BF16},
        {TRACE(ANNOTATION("nccl:all_gather_into_tensor_coalesced", "[1024]"), "ncclDevKernel_AllGather_RING_LL(x)", ""),
         RECORD_ALL_GATHER, 4096, 16384, RECORD_F32},
        {TRACE(ANNOTATION("nccl:all_gather_into_tensor_coalesced", "[1024], [2, 256]"),
               "ncclDevKernel_AllGather_RING_LL(x)", ""),
         RECORD_ALL_GATHER, 6144, 24576, RECORD_F32},
        {TRACE(ANNOTATION("nccl:reduce_scatter_tensor_coalesced", "[[4096], [64, 64]]"),
               "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(x)", ""),
         RECORD_REDUCE_SCATTER, 32768, 8192, RECORD_F32},
        {TRACE("", "ncclDevKernel_AllGather_RING_LL(x)", SIZED("coalesced", "100", "400")), RECORD_ALL_GATHER, 200, 800,
         RECORD_BF16},
        {TRACE("", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", SIZED("allreduce_coalesced", "100", "100")),
         RECORD_ALL_REDUCE, 200, 200, RECORD_BF16},
        {TRACE("", "ncclDevKernel_SendRecv(x)", SIZED("all_to_all_single", "64", "64")), RECORD_ALL_TO_ALL, 128, 128,
         RECORD_BF16},
        {TRACE(ANNOTATION("nccl:send 0->2", "[16]"), "ncclDevKernel_SendRecv(x)", ""), RECORD_SEND, 64, 64, RECORD_F32},
        {TRACE(ANNOTATION("nccl:recv 0<-3", "[16]"), "ncclDevKernel_SendRecv(x)", ""), RECORD_RECV, 64, 64, RECORD_F32},
        {TRACE("", "some_vendors_kernel(x)", SIZED("allreduce", "8", "8")), RECORD_ALL_REDUCE, 16, 16, RECORD_BF16},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Trace *trace = read_text(cases[i].text);
        const Record *r = trace_record(trace, 0);
        if (trace->records->len != 1 || r->op != cases[i].op || r->bytes_in != cases[i].in ||
            r->bytes_out != cases[i].out || r->dtype != cases[i].dtype) {
            fail_msg("case %u: %s of %u and %u bytes of %s", (guint)i, record_op_name(r->op), (guint)r->bytes_in,
                     (guint)r->bytes_out, record_dtype_name(r->dtype));
        }
        assert_int_equal(trace->notes->len, 0);
        assert_int_equal(trace_skipped(trace), 0);
        if (r->op == RECORD_SEND || r->op == RECORD_RECV)
            assert_int_equal(r->peer, r->op == RECORD_SEND ? 2 : 3);
        trace_free(trace);
    }
}

/* Proves that a kernel whose name says that it communicates, but of which nothing says what or how
 * much, does not stop the reading: it takes its recorded time, and a note counts it. */
static void test_noted(void **state)
{
    (void)state;
    static const struct {
        const char *text, *note;
    } cases[] = {
        {TRACE("",
               "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, "
               "16>(c10::BFloat16*, unsigned long)",
               ""),
         "of which nothing says how much, take their recorded time: 1 of "
         "multimem_all_reduce_kernel, 100.50 us in all"},
        {TRACE("", "void two_shot_all_reduce_kernel<c10::BFloat16, 16, 8, false>(x)", ""),
         "1 of two_shot_all_reduce_kernel, 100.50 us"},
        {TRACE("", "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(x)", ""),
         "1 of cross_device_reduce_1stage, 100.50 us"},
        {TRACE("", "void deep_ep::internode_ll::dispatch<true, 7168>(void*)", ""), "1 of dispatch, 100.50 us"},
        {TRACE("", "nvshmemi_transfer_rma_nbi(x)", ""), "1 of nvshmemi_transfer_rma_nbi, "},
        {TRACE("", "void userbuffers_fp16_sum_inplace_gpu_rr_rs_oop<4>(x)", ""),
         "1 of userbuffers_fp16_sum_inplace_gpu_rr_rs_oop, "},
        {TRACE("", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", ""),
         "nothing says how much, take their recorded time: 1 of "
         "ncclDevKernel_AllReduce_Sum_f32_RING_LL, 100.50 us"},
        {TRACE("", "ncclDevKernel_SendRecv(x)", SIZED("coalesced", "100", "100")),
         "kernels of collectives that are not known take their recorded time: 1 of coalesced, "},
        {TRACE(ANNOTATION("nccl:coalesced", "[1024]"), "ncclDevKernel_SendRecv(x)", ""),
         "not known take their recorded time: 1 of nccl:coalesced, "},
        {TRACE("", "ncclDevKernel_SendRecv(x)", SIZED("send", "100", "100")),
         "nothing says the other rank, take their recorded time: 1 of ncclDevKernel_SendRecv, "},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Trace *trace = read_text(cases[i].text);
        const Record *r = trace_record(trace, 0);
        assert_true(r->op == RECORD_COMPUTE && r->duration_ps == 100500000 && !r->skipped);
        assert_int_equal(trace_skipped(trace), 0);
        assert_int_equal(trace->notes->len, 1);
        if (!strstr(trace->notes->pdata[0], cases[i].note))
            fail_msg("'%s' should say '%s'", (char *)trace->notes->pdata[0], cases[i].note);
        trace_free(trace);
    }
}

/* Proves that a kernel which says nothing has the sizes of the operator that launched it: of the tensor that one
 * rank puts in, whatever scalars and buffers stand beside it, with the reduction that was written down. */
static void test_launching_ops(void **state)
{
    (void)state;
#define LAUNCHING(name, dims, types, concrete)                                                                         \
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"" name "\", \"tid\": 1, \"ts\": 100.0, \"dur\": "                \
    "50.0, \"args\": {\"External id\": 77, \"Input Dims\": [" dims "], \"Input type\": [" types "]" concrete "}}, "
#define KERNEL(name, launch) TRACE(launch, "void ns::" name "<c10::BFloat16, 16>(x)", ", \"External id\": 77")
    static const struct {
        const char *text;
        RecordOp op;
        guint64 in, out;
        RecordDtype dtype;
        RecordReduction reduction;
    } cases[] = {
        {KERNEL("multimem_all_reduce_kernel",
                LAUNCHING("symm_mem::multimem_all_reduce_", "[524288], [], []", "\"c10::BFloat16\", \"\", \"\"", "")),
         RECORD_ALL_REDUCE, 1048576, 1048576, RECORD_BF16, RECORD_SUM},
        {KERNEL("one_shot_all_reduce_kernel",
                LAUNCHING("symm_mem::one_shot_all_reduce", "[8, 1024], [], []", "\"float\", \"\", \"\"",
                          ", \"Concrete Inputs\": [\"\", \"max\", \"0\"]")),
         RECORD_ALL_REDUCE, 32768, 32768, RECORD_F32, RECORD_MAX},
        {KERNEL("one_shot_all_reduce_kernel", /* of the buffer's 65536 elements it sums 64 */
                LAUNCHING("symm_mem::one_shot_all_reduce_copy", "[65536], [64], [], []",
                          "\"c10::Half\", \"c10::Half\", \"\", \"\"", "")),
         RECORD_ALL_REDUCE, 128, 128, RECORD_F16, RECORD_SUM},
        {KERNEL("two_shot_all_reduce_kernel",
                LAUNCHING("symm_mem::two_shot_all_reduce_", "[1024], [], []", "\"float\", \"\", \"\"", "")),
         RECORD_ALL_REDUCE, 4096, 4096, RECORD_F32, RECORD_SUM},
        {KERNEL("multimem_all_gather_kernel",
                LAUNCHING("symm_mem::multimem_all_gather_out", "[1024], [], [4096]", "\"float\", \"\", \"float\"", "")),
         RECORD_ALL_GATHER, 4096, 16384, RECORD_F32, RECORD_SUM},
        {KERNEL("cross_device_reduce_1stage",
                LAUNCHING("_C_custom_ar::all_reduce", "[], [16, 64], [16, 64], [], []",
                          "\"Scalar\", \"c10::BFloat16\", \"c10::BFloat16\", \"Scalar\", \"Scalar\"", "")),
         RECORD_ALL_REDUCE, 2048, 2048, RECORD_BF16, RECORD_SUM},
        {KERNEL("cross_device_reduce_2stage",
                LAUNCHING("_C::all_reduce", "[], [16], [16]", "\"Scalar\", \"float\", \"float\"", "")),
         RECORD_ALL_REDUCE, 64, 64, RECORD_F32, RECORD_SUM},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Trace *trace = read_text(cases[i].text);
        const Record *r = trace_record(trace, 0);
        if (trace->records->len != 1 || r->op != cases[i].op || r->bytes_in != cases[i].in ||
            r->bytes_out != cases[i].out || r->dtype != cases[i].dtype || r->reduction != cases[i].reduction) {
            fail_msg("case %u: %s of %u and %u bytes of %s", (guint)i, record_op_name(r->op), (guint)r->bytes_in,
                     (guint)r->bytes_out, record_dtype_name(r->dtype));
        }
        assert_int_equal(trace_group_at(trace, r->group)->n, 4);
        assert_int_equal(trace->notes->len, 0);
        trace_free(trace);
    }
    /* without record_shapes nothing says how much, as before */
    Trace *trace =
        read_text(KERNEL("multimem_all_reduce_kernel", LAUNCHING("symm_mem::multimem_all_reduce_", "", "", "")));
    assert_int_equal(trace_record(trace, 0)->op, RECORD_COMPUTE);
    assert_int_equal(trace->notes->len, 1);
    trace_free(trace);
}

/* Proves that the operator's group and root are found among its inputs that were written down: of group tp (ranks 0 and
 * 2) place 1 is rank 2; and that flags behind the group are none. */
static void test_launching_groups(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        gint32 peer;
        guint32 n;
    } said[] = {
        {KERNEL("reduce_scatter_kernel",
                LAUNCHING("symm_mem::reduce_scatter_out", "[64], [], [], [32]", "\"float\", \"\", \"\", \"float\"",
                          ", \"Concrete Inputs\": [\"\", \"tp\", \"False\", \"\"]")),
         RECORD_NO_PEER, 2},
        {KERNEL("multimem_one_shot_reduce_kernel",
                LAUNCHING("symm_mem::multimem_one_shot_reduce_out", "[64], [], [], [], [64]",
                          "\"float\", \"\", \"\", \"\", \"float\"",
                          ", \"Concrete Inputs\": [\"\", \"sum\", \"1\", \"tp\", \"\"]")),
         2, 2},
        {KERNEL("nvshmem_broadcast_kernel",
                LAUNCHING("symm_mem::nvshmem_broadcast", "[64], [], []", "\"float\", \"\", \"\"",
                          ", \"Concrete Inputs\": [\"\", \"3\", \"0\"]")),
         3, 4},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(said); i++) {
        char **parts = g_strsplit(said[i].text, "\"pg_config\": [", 2); /* with a group of ranks 0 and 2 besides */
        g_autofree char *text = g_strdup_printf("%s\"pg_config\": [{\"pg_name\": \"tp\", \"ranks\": [0, 2]}, %s",
                                                parts[0], parts[1]);
        Trace *with = read_text(text);
        const Record *r = trace_record(with, 0);
        if (r->op == RECORD_COMPUTE || r->peer != said[i].peer || trace_group_at(with, r->group)->n != said[i].n)
            fail_msg("case %u: %s with peer %d of group %u", (guint)i, record_op_name(r->op), r->peer, r->group);
        trace_free(with);
        g_strfreev(parts);
    }
}

/* Proves that the operator is found where the kernel names no External id: by that of its launch, by the launch's
 * correlation and thread (the inner of two), and under the name that Kineto of PyTorch 1.x had for it; an operator of
 * another thread is none. */
static void test_found_by_launch(void **state)
{
    (void)state;
#define OPERATOR(tid, ts, dur, elements, id)                                                                           \
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"record_param_comms\", \"tid\": " tid ", \"ts\": " ts             \
    ", \"dur\": " dur ", \"args\": {\"External id\": " id                                                              \
    ", \"Collective name\": \"allreduce\", \"In msg nelems\": " elements ", \"Out msg nelems\": " elements             \
    ", \"dtype\": \"Float\", \"Group size\": 4, \"Process Group Name\": \"0\"}}, "
#define LAUNCHED_BY(id)                                                                                                \
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"tid\": 2, \"ts\": 500.0, \"dur\": "  \
    "1.0, "                                                                                                            \
    "\"args\": {\"correlation\": 8, \"External id\": " id "}}, "
    static const struct {
        const char *text;
        guint64 bytes; /* 0: left out */
    } cases[] = {
        {TRACE(OPERATOR("1", "100.0", "50.0", "8", "3"), "ncclKernel_AllReduce_RING_LL_Sum_float(x)", ""), 32},
        {TRACE(OPERATOR("1", "100.0", "50.0", "8", "3") OPERATOR("1", "110.0", "20.0", "16", "4"),
               "ncclKernel_AllReduce_RING_LL_Sum_float(x)", ""),
         64},
        {TRACE(OPERATOR("2", "100.0", "50.0", "8", "3"), "ncclKernel_AllReduce_RING_LL_Sum_float(x)", ""), 0},
        {TRACE(OPERATOR("2", "100.0", "50.0", "8", "3"), "ncclKernel_AllReduce_RING_LL_Sum_float(x)",
               ", \"external id\": 3"),
         32},
        {TRACE(OPERATOR("2", "100.0", "50.0", "8", "3")
                   LAUNCHED_BY("3") "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
                                    "\"ncclKernel_AllReduce_RING_LL_Sum_float\", \"ts\": 500, "
                                    "\"dur\": 1, \"args\": {\"correlation\": 8, \"stream\": 20, \"device\": 0}}, ",
               "gemm", ""),
         32},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Trace *trace = read_text(cases[i].text);
        const Record *r = trace_record(trace, 0);
        if (r->bytes_in != cases[i].bytes || (r->op == RECORD_ALL_REDUCE) != (cases[i].bytes > 0))
            fail_msg("case %u: %s of %u bytes", (guint)i, record_op_name(r->op), (guint)r->bytes_in);
        trace_free(trace);
    }
}

/* Proves that computations are left in peace: nothing is noted of kernels that only reduce within a
 * GPU. */
static void test_computations(void **state)
{
    (void)state;
    static const char *const texts[] = {
        TRACE("", "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(x)", ""),
        TRACE("", "void at::native::_scatter_gather_elementwise_kernel<128, 8>(x)", ""),
        TRACE("", "void fastertransformer::softmax_warpAllReduce_kernel<float>(x)", ""),
        TRACE("", "ampere_sgemm_128x64_tn", ""),
        TRACE("", "void functor<all_reduce_of_nothing>(x)", ""),
    };
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        Trace *trace = read_text(texts[i]);
        assert_int_equal(trace_record(trace, 0)->op, RECORD_COMPUTE);
        assert_int_equal(trace->notes->len, 0);
        trace_free(trace);
    }
}

/* Proves that of a coalesced call with several kernels the first one moves the bytes, once. */
static void test_coalesced_once(void **state)
{
    (void)state;
#define LAUNCH(n)                                                                                                      \
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernelExC\", \"tid\": 1, "                       \
    "\"ts\": 12" n ".0, \"dur\": 1.0, \"args\": {\"correlation\": 9" n "}}, "                                          \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllGather_RING_LL(x)\", "                          \
    "\"ts\": 1" n "00, \"dur\": 50, \"args\": {\"correlation\": 9" n ", \"stream\": 20}}, "
    Trace *trace = read_text(
        TRACE(ANNOTATION("nccl:all_gather_into_tensor_coalesced", "[8], [8]") LAUNCH("1") LAUNCH("2"), "gemm", ""));
    guint64 bytes = 0;
    for (guint i = 0; i < trace->records->len; i++)
        bytes += trace_record(trace, i)->bytes_in;
    assert_int_equal(bytes, 64);
    assert_int_equal(trace->notes->len, 1);
    assert_non_null(strstr(trace->notes->pdata[0], "whose bytes the call's first kernel moves"));
    trace_free(trace);
}

/* Proves that many names do not make many notes, and that numbers are added up. */
static void test_counts(void **state)
{
    (void)state;
    Trace *trace = trace_new("x");
    trace_file(trace, "x");
    for (guint i = 0; i < 40; i++) {
        char *name = g_strdup_printf("kernel%u", i % 20);
        trace_count(trace, "odd ones", name, 1500000);
        g_free(name);
    }
    trace->world = 1;
    assert_true(trace_finish(trace, FALSE, NULL));
    assert_int_equal(trace->notes->len, 17);
    assert_string_equal(trace->notes->pdata[0], "odd ones: 2 of kernel0, 3.00 us in all");
    assert_string_equal(trace->notes->pdata[16], "odd ones: 8 of others, 12.00 us in all");
    trace_free(trace);
}

/* Proves that times, devices and ranks so large that their sums or products would wrap are refused,
 * or taken for what they are. */
static void test_wraps(void **state)
{
    (void)state;
#define WHEN(ts)                                                                                                       \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"a\", \"ts\": " ts                                                \
    ", \"dur\": 1, \"args\": {\"stream\": 9223372036854775807, \"device\": -9223372036854775807}}"
#define ALL(events) "{\"traceEvents\": [" events "]}"
    static const struct {
        const char *text, *says;
    } cases[] = {
        {ALL(WHEN("9223372036854775") ", " WHEN("1")), "should be microseconds"},
        {ALL(WHEN("1") ", " WHEN("90000000000")), "should lie within 86400 s"},
        {TRACE("", "ncclDevKernel_AllGather_RING_LL(x)",
               ", \"Collective name\": \"allgather\", \"In msg nelems\": 8, \"dtype\": \"Float\", "
               "\"Group size\": 3, \"Process Group Name\": \"9\", \"Global rank start\": 0, "
               "\"Global rank stride\": 4294967296"),
         "are not said"},
        {TRACE("", "ncclDevKernel_AllGather_RING_LL(x)",
               ", \"Collective name\": \"allgather\", \"In msg nelems\": 8, \"dtype\": \"Float\", "
               "\"Group size\": 3, \"Process Group Name\": \"9\", \"Global rank start\": "
               "9223372036854775807, \"Global rank stride\": 1"),
         "are not said"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        GError *error = NULL;
        Trace *trace = trace_test_read("k.json", cases[i].text, strlen(cases[i].text), FALSE, &error);
        if (trace || !strstr(error->message, cases[i].says))
            fail_msg("case %u: '%s' should say '%s'", (guint)i, trace ? "read" : error->message, cases[i].says);
        g_clear_error(&error);
    }
}

/* Proves what is left of a kernel's name without its return type, namespaces, template arguments and parameters; and
 * that one of which nothing is left stays whole. */
static void test_bare_names(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"void a::b::run<int, c<4>>(float*)", "run"}, {"f(int)", "f"}, {"f", "f"}, {"g<1>", "g"}, {"<x>", "<x>"},
        {"(anonymous namespace)::k<2>(int)", "k"},    {"", ""},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *bare = kineto_comm_bare_name(names[i][0]);
        assert_string_equal(bare, names[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bare_names),
        cmocka_unit_test(test_understood),
        cmocka_unit_test(test_noted),
        cmocka_unit_test(test_computations),
        cmocka_unit_test(test_coalesced_once),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_wraps),
        cmocka_unit_test(test_launching_ops),
        cmocka_unit_test(test_launching_groups),
        cmocka_unit_test(test_found_by_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
