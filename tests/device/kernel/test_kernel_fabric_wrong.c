/* Operations on logical endpoints that are wrong, refused, or never end: what a kernel is told, and what a user. */
#include "tests/device/kernel/fabric_kernels.h"

#include "model/gpu/fabric_engine.h"

#define HEAD ".version 9.5\n.target sm_100\n.address_size 64\n"
#define BEGIN(name)                                                                                                    \
    ".visible .entry " name "(.param .u32 p_id, .param .u64 p_off, .param .u64 p_own)\n{\n"                            \
    ".reg .b32 %r<9>; .reg .b64 %w<9>; .reg .pred %p<9>; .reg .b8 %b<3>; .reg .b32 id; .reg .b64 off;\n"               \
    ".shared .align 128 .b8 sm[4096]; .shared .align 8 .b64 bar; .shared .align 8 .b64 old;\n"                         \
    "ld.param.u32 id, [p_id]; ld.param.u64 off, [p_off]; ld.param.u64 %w1, [p_own];\n"                                 \
    "mbarrier.init.layout::v1.shared::cta.b64 [bar], 1; mbarrier.init.shared::cta.b64 [old], 1;\n"
#define PUT_TO(barrier, size)                                                                                          \
    "fabric.try_put.async.shared::cta" FABRIC_UNITS ".relaxed.sys.b128 [id, off], [sm], " size ", [" barrier "];\n"
#define PUT PUT_TO("bar", "256")
#define WAIT(tx)                                                                                                       \
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " tx ";\n"                                                    \
    "$W: mbarrier.try_wait.parity.phase_type::primary.acquire.cta.shared::cta.b64 %p2|%p3, %b1, [bar], 0;\n"           \
    "@!%p2 bra $W;\n"
#define END "ret;\n}\n"

static const char wrong[] = HEAD BEGIN("not_submitted") PUT END BEGIN("not_waited") PUT
    "fabric.submit;\n" END BEGIN("old_layout") PUT_TO("old", "256") END BEGIN("odd_size") PUT_TO("bar", "100")
        END BEGIN("report") PUT
    "fabric.submit;\n" WAIT(
        "16") "mbarrier.test_wait.parity.phase_type::conditional.shared::cta.b64 %p4, [bar], 0;\n"
              "cvt.u32.u8 %r1, %b1; selp.u32 %r2, 256, 0, %p3; or.b32 %r1, %r1, %r2; selp.u32 %r2, 512, 0, %p4;\n"
              "or.b32 %r1, %r1, %r2; st.global.u32 [%w1+786432], %r1;\n" END
                  /* many puts of one thread, then one wait for all of them */
                  BEGIN("many") "mov.u32 %r1, 0;\n$L:\n" PUT "add.s64 off, off, 256; add.u32 %r1, %r1, 1;\n"
                                "setp.lt.u32 %p1, %r1, 64; @%p1 bra "
                                "$L;\nfabric.submit.commit_group;\nfabric.wait.sync_restrict::read 0;\n" WAIT(
                                    "1024") END
                                    /* the first half of shared memory is changed as soon as its put has read it */
                                    BEGIN("reads") "st.shared.u32 [sm], 17;\nfence.proxy.async.shared::cta;\n" PUT
                                                   "fabric.submit.commit_group;\n"
                                                   "add.s64 off, off, 256;\n" PUT
                                                   "fabric.submit.commit_group;\nfabric.wait.sync_restrict::read 1;\n"
                                                   "st.shared.u32 [sm], 18;\nfabric.wait.sync_restrict::reads;\n" WAIT(
                                                       "32") END
                                                       /* fetching operations alone are submitted */
                                                       BEGIN("fetching") PUT
    "fabric.submit.op_restrict::fetching;\n" END BEGIN(
        "layouts") "mbarrier.check_layout.layout::v1.shared::cta.b64 %p1, [bar];\n"
                   "mbarrier.check_layout.layout::v1.shared::cta.b64 %p2, [old];\nselp.u32 %r1, 1, 0, %p1; selp.u32 "
                   "%r2, 2, 0, %p2;\n"
                   "or.b32 %r1, %r1, %r2; st.global.u32 [%w1+786432], %r1;\n" END;

typedef struct {
    guint32 endpoint, pad;
    guint64 offset, own;
} Args;

typedef struct {
    FabricWorld *w;
    PtxModule *module;
    PtxImage *image;
    KernelLaunch *launch; /* the last one */
    Ended ended;
} Bed;

static Bed bed_new(SimSpec sim, const char *const *sets)
{
    GError *error = NULL;
    Bed bed = {.w = fabric_world_new("dgx-h100", 2, sim, sets)};
    bed.module = ptx_module_read("wrong.ptx", wrong, strlen(wrong), &error);
    if (!bed.module)
        fail_msg("%s", error->message);
    bed.image = ptx_image_new(bed.module, 0, 0);
    return bed;
}

static void bed_free(Bed *bed)
{
    ptx_image_free(bed->image);
    ptx_module_free(bed->module);
    fabric_world_free(bed->w);
}

static SimStatus bed_run(Bed *bed, const char *kernel, guint32 endpoint, guint64 offset)
{
    GError *error = NULL;
    const Args args = {endpoint, 0, offset, bed->w->va[0]};
    const KernelSpec spec = {.image = bed->image,
                             .entry = ptx_module_entry(bed->module, kernel),
                             .grid = {1, 1, 1},
                             .block = {1, 1, 1},
                             .param = &args};
    bed->ended = (Ended){0};
    assert_non_null(spec.entry);
    bed->launch = kernel_launch(bed->w->fabric, 0, bed->w->vas, &spec, 0, note_kernel, &bed->ended, &error);
    if (!bed->launch)
        fail_msg("%s", error->message);
    return sim_run(bed->w->sim, SIMTIME_NEVER);
}

static void check_fault(const char *kernel, const char *says)
{
    Bed bed = bed_new((SimSpec){.seed = 1}, NULL);
    assert_int_equal(bed_run(&bed, kernel, FABRIC_UNICAST + 1, 0x1000), SIM_IDLE);
    assert_true(bed.ended.done);
    assert_int_not_equal(bed.ended.fault, PTX_FAULT_NONE);
    if (!strstr(bed.ended.text, says) || !strstr(bed.ended.text, "endpoint 0x101"))
        fail_msg("%s: %s", kernel, bed.ended.text);
    g_free(bed.ended.text);
    bed_free(&bed);
}

/* Proves that what PTX leaves undefined is a fault that names the operation and its endpoint: one that is not submitted
 * (or only fetching ones were), one that is under way when its CTA ends, a size that is no multiple of 16, an mbarrier
 * without reports. */
static void test_faults(void **state)
{
    (void)state;
    check_fault("not_submitted", "fabric.try_put to endpoint 0x101 at offset 0x1000 was not submitted");
    check_fault("fetching", "was not submitted");
    check_fault("not_waited", "was not waited for");
    check_fault("odd_size", "its size is a multiple of 16");
    check_fault("old_layout", "was not initialised with .layout::v1");
}

static guint32 report_of(Bed *bed, guint32 endpoint, guint64 offset)
{
    assert_int_equal(bed_run(bed, "report", endpoint, offset), SIM_IDLE);
    if (bed->ended.fault != PTX_FAULT_NONE)
        fail_msg("%s", bed->ended.text);
    g_free(bed->ended.text);
    return *fabric_words(bed->w, 0, FABRIC_REPORT);
}

/* Proves that what a program could not know completes with a report, and not with a fault: the predicate (256), a value
 * that tells causes apart, and a conditional phase (512) that goes on only where all went well. */
static void test_reports(void **state)
{
    (void)state;
    Bed bed = bed_new((SimSpec){.seed = 1}, NULL);
    EndpointTable *table = vas_endpoints(bed.w->vas);
    assert_int_equal(report_of(&bed, FABRIC_UNICAST + 1, 0), 512);
    assert_int_equal(report_of(&bed, FABRIC_UNICAST + 7, 0), 256 + 1);            /* not reserved */
    assert_int_equal(report_of(&bed, FABRIC_UNICAST + 1, FABRIC_BYTES), 256 + 2); /* beyond it */
    assert_int_equal(report_of(&bed, FABRIC_UNICAST + 1, FABRIC_BYTES - 128), 256 + 2);
    assert_int_equal(report_of(&bed, FABRIC_ALL, 0), 256 + 8); /* multicast, without .multimem */
    assert_true(mcobject_unbind(bed.w->one[1], 1, 0, FABRIC_BYTES));
    assert_int_equal(report_of(&bed, FABRIC_UNICAST + 1, 0), 256 + 2);
    endpoint_forget(table, bed.w->one[1]);
    assert_int_equal(report_of(&bed, FABRIC_UNICAST + 1, 0), 256 + 1);
    bed_free(&bed);
}

/* Proves that a full queue refuses posts, which are tried again until there is room: of 64 operations of one thread 62
 * find a queue of one, beside the one that is at work, full; all bytes arrive. */
static void test_full_queue(void **state)
{
    static const char *const sets[] = {"gpu.fabric_queue=1", "gpu.fabric_operations=1", NULL};
    (void)state;
    Bed bed = bed_new((SimSpec){.seed = 1}, sets);
    assert_int_equal(bed_run(&bed, "many", FABRIC_UNICAST + 1, 0), SIM_IDLE);
    assert_int_equal(bed.ended.fault, PTX_FAULT_NONE);
    const Gpu *gpu = &bed.w->fabric->gpu[0];
    assert_int_equal(gpu->fabric_operations, 64);
    assert_int_equal(gpu->fabric_refused, 62);
    assert_true(gpu->fabric_retries > 62);
    assert_int_equal(gpu->fabric_packets, 64 * 2);
    assert_int_equal(bed.w->fabric->gpu[1].served, 64 * 2);
    bed_free(&bed);
}

/* Proves that a wait for reads lets shared memory be used again: the first put brought 17, the second, too. */
static void test_reads(void **state)
{
    (void)state;
    Bed bed = bed_new((SimSpec){.seed = 1}, NULL);
    assert_int_equal(bed_run(&bed, "reads", FABRIC_UNICAST + 1, 0), SIM_IDLE);
    assert_int_equal(bed.ended.fault, PTX_FAULT_NONE);
    assert_int_equal(*fabric_words(bed.w, 1, 0), 17);
    assert_int_equal(*fabric_words(bed.w, 1, 256), 17);
    bed_free(&bed);
}

/* Proves that an mbarrier knows which layout it was initialised with. */
static void test_layouts(void **state)
{
    (void)state;
    Bed bed = bed_new((SimSpec){.seed = 1}, NULL);
    assert_int_equal(bed_run(&bed, "layouts", FABRIC_UNICAST + 1, 0), SIM_IDLE);
    assert_int_equal(*fabric_words(bed.w, 0, FABRIC_REPORT), 1);
    bed_free(&bed);
}

/* Proves that a queue that stays full for ever, since what is at work is never answered, is a stuck run that names the
 * endpoint: one operation is at work, one waits, and 62 of 64 are refused. */
static void test_full_for_ever(void **state)
{
    static const char *const sets[] = {"gpu.fabric_queue=1", "gpu.fabric_operations=1", "fault.gpu_silent=gpu1",
                                       "fault.request_timeout_ps=0", NULL};
    (void)state;
    Bed bed = bed_new((SimSpec){.seed = 1}, sets);
    assert_int_equal(bed_run(&bed, "many", FABRIC_UNICAST + 1, 0), SIM_STUCK);
    g_autofree char *text = fabric_engine_waiter_text(&bed.w->fabric->gpu[0]);
    assert_non_null(
        strstr(text, "1 fabric operations are at work, 1 wait in the queue of 1, 62 are posted or refused"));
    assert_non_null(strstr(text, "put to endpoint 0x101"));
    kernel_abort(bed.launch, PTX_FAULT_HUNG, "the test has seen enough");
    sim_run(bed.w->sim, SIMTIME_NEVER);
    g_free(bed.ended.text);
    bed_free(&bed);
}

/* Proves that an operation whose answers never come makes a stuck run, which names its endpoint; and that with
 * time-outs it completes, with a report of what was lost. A launch that is ended meanwhile leaves it behind, and
 * nothing is lost of either. */
static void test_silent(void **state)
{
    static const char *const sets[] = {"fault.gpu_silent=gpu1", "fault.request_timeout_ps=0", NULL};
    static const char *const timed[] = {"fault.gpu_silent=gpu1", "fault.request_timeout_ps=5000000", NULL};
    (void)state;
    Bed bed = bed_new((SimSpec){.seed = 1}, timed);
    assert_int_equal(report_of(&bed, FABRIC_UNICAST + 1, 0) & 256, 256);
    bed_free(&bed);
    bed = bed_new((SimSpec){.seed = 1}, sets);
    assert_int_equal(bed_run(&bed, "many", FABRIC_UNICAST + 1, 0), SIM_STUCK);
    assert_false(bed.ended.done);
    assert_false(fabric_engine_is_quiet(&bed.w->fabric->gpu[0]));
    g_autofree char *text = fabric_engine_waiter_text(&bed.w->fabric->gpu[0]);
    assert_non_null(strstr(text, "put to endpoint 0x101"));
    kernel_abort(bed.launch, PTX_FAULT_HUNG, "the test has seen enough");
    sim_run(bed.w->sim, SIMTIME_NEVER);
    assert_true(bed.ended.done);
    g_free(bed.ended.text);
    bed_free(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults),     cmocka_unit_test(test_reports),
                                       cmocka_unit_test(test_full_queue), cmocka_unit_test(test_full_for_ever),
                                       cmocka_unit_test(test_reads),      cmocka_unit_test(test_layouts),
                                       cmocka_unit_test(test_silent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
