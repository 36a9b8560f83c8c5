/* What the device runtime's functions say of a report: cudaFabricOpErrorStatusCount and cudaFabricOpErrorStatusGet,
 * which a kernel declares and the system has. Answers of the runtime: 0 success, 1 invalid value, 801 not supported. */
#include "tests/device/kernel/fabric_kernels.h"

/* %r9: the answer; the word at %d1, in local memory, is the result. Both together are one word. */
#define COUNT(source, to)                                                                                              \
    "{ .param .b64 a; .param .b32 b; .param .b64 c; .param .b32 r; st.param.b64 [a],%d2; st.param.b32 [b]," source     \
    "; st.param.b64 [c]," to "; call.uni (r),cudaFabricOpErrorStatusCount,(a,b,c); ld.param.b32 %r9,[r]; }\n"
#define GET(index)                                                                                                     \
    "{ .param .b64 a; .param .b32 b; .param .b32 c; .param .b64 d; .param .b32 r; st.param.b64 [a],%d2; "              \
    "st.param.b32 [b],0; st.param.b32 [c]," index "; st.param.b64 [d],%d1; "                                           \
    "call.uni (r),cudaFabricOpErrorStatusGet,(a,b,c,d); ld.param.b32 %r9,[r]; }\n"
#define KEEP(at) "ld.local.u32 %r1,[depot]; mad.lo.u32 %r1,%r9,1000,%r1; st.global.u32 [%d0+" at "],%r1;\n"

static const char text[] =
    ".version 9.5\n.target sm_100\n.address_size 64\n"
    ".extern .func (.param .b32 r) cudaFabricOpErrorStatusCount(.param .b64 s, .param .b32 o, .param .b64 c);\n"
    ".extern .func (.param .b32 r) cudaFabricOpErrorStatusGet(.param .b64 s, .param .b32 o, .param .b32 i, "
    ".param .b64 t);\n"
    ".visible .entry decode(.param .u32 p_status, .param .u32 p_id, .param .u64 p_off, .param .u64 p_own)\n{\n"
    ".reg .b64 %d<8>; .reg .b32 %r<12>; .reg .pred %p<4>; .reg .b8 %b<3>; .reg .b32 id; .reg .b64 off;\n"
    ".local .align 8 .b8 depot[8]; .shared .align 128 .b8 sm[256]; .shared .align 8 .b64 bar;\n"
    "ld.param.u64 %d0,[p_own]; ld.param.u32 %r2,[p_status]; ld.param.u32 id,[p_id]; ld.param.u64 off,[p_off];\n"
    "mov.u64 %d1,depot; cvta.local.u64 %d1,%d1; add.s64 %d2,%d1,5; st.local.u32 [depot],0;\n"
    "setp.ne.u32 %p1,%r2,0; st.local.u8 [depot+5],%r2; @%p1 bra $D;\n"
    "mbarrier.init.layout::v1.shared::cta.b64 [bar],1;\n"
    "fabric.try_put" FABRIC_SHARED FABRIC_UNITS ".relaxed.sys.b128 [id,off],[sm],256,[bar];\nfabric.submit;\n"
    "mbarrier.arrive.expect_tx.shared::cta.b64 _,[bar],16;\n"
    "$W: mbarrier.try_wait.parity.phase_type::primary.acquire.cta.shared::cta.b64 %p2|%p3,%b1,[bar],0;\n"
    "@!%p2 bra $W;\nst.local.b8 [depot+5],%b1;\n$D:\n" COUNT("0", "%d1") KEEP("0") GET("0") KEEP("4") GET("1") KEEP("8")
        GET("2") KEEP("12") COUNT("1", "%d1") KEEP("16") COUNT("0", "0") KEEP("20") COUNT("0", "%d0")
            KEEP("24") "ret;\n}\n";

#define WORDS 7

/* A status byte or, where it is 0, the report of a put to that endpoint at that offset. */
static void decode(FabricWorld *w, PtxImage *image, const PtxModule *module, guint32 status, guint32 endpoint,
                   guint64 offset, const guint32 want[WORDS])
{
    const struct {
        guint32 status, endpoint;
        guint64 offset, own;
    } args = {status, endpoint, offset, w->va[0]};
    const KernelSpec spec = {.image = image,
                             .entry = ptx_module_entry(module, "decode"),
                             .grid = {1, 1, 1},
                             .block = {1, 1, 1},
                             .param = &args};
    GError *error = NULL;
    Ended ended = {0};
    if (!kernel_launch(w->fabric, 0, w->vas, &spec, 0, note_kernel, &ended, &error))
        fail_msg("%s", error->message);
    assert_int_equal(sim_run(w->sim, SIMTIME_NEVER), SIM_IDLE);
    if (ended.fault != PTX_FAULT_NONE)
        fail_msg("%s", ended.text);
    g_free(ended.text);
    for (guint i = 0; i < WORDS; i++)
        assert_int_equal(fabric_words(w, 0, 0)[i], want[i]);
}

/* Proves that the bits of a status are counted and given, the lowest first: 0x2c has three, 4 and 8 and 32. That of a
 * put beyond its endpoint has one, 2; of one that went well none. An index beyond them, another source and no place
 * for the answer are invalid (1000 and what was there); a place in global memory is not supported (801000). */
static void test_status(void **state)
{
    static const guint32 three[WORDS] = {3, 4, 8, 32, 1032, 1032, 801032};
    static const guint32 one[WORDS] = {1, 2, 1002, 1002, 1002, 1002, 801002};
    static const guint32 none[WORDS] = {0, 1000, 1000, 1000, 1000, 1000, 801000};
    GError *error = NULL;
    (void)state;
    FabricWorld *w = fabric_world_new("dgx-h100", 2, (SimSpec){.seed = 1}, NULL);
    PtxModule *module = ptx_module_read("status.ptx", text, strlen(text), &error);
    if (!module)
        fail_msg("%s", error->message);
    PtxImage *image = ptx_image_new(module, 0, 0);
    decode(w, image, module, 0x2c, 0, 0, three);
    decode(w, image, module, 0, FABRIC_UNICAST + 1, FABRIC_BYTES, one);
    decode(w, image, module, 0, FABRIC_UNICAST + 1, 4096, none);
    ptx_image_free(image);
    ptx_module_free(module);
    fabric_world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_status)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
