/* Tensor maps and copies by them against an H100: maps drawn good and bad, copies of all kinds. */
#include "tests/measured.h"

#include "tests/ptx/flat_host.h"
#include "tests/ptx/tensor_maps.h"

/* Proves that a map is taken or refused as an H100's driver does, for maps with up to two numbers that are changed. */
static void test_maps(void **state)
{
    GHashTable *table = measured_table("tensor.csv");
    guint wrong = 0, refused = 0;
    (void)state;
    for (guint i = 0; i < TENSOR_MAPS; i++) {
        TensorCase x;
        tensor_map_draw(i, &x);
        PtxTensorMap map = tensor_map_of(&x, 0);
        g_autofree char *key = g_strdup_printf("map,%u", i);
        const char *want = g_hash_table_lookup(table, key), *broken = ptx_tensor_map_broken(&map);
        refused += broken != NULL;
        if (!want || (broken != NULL) != (strcmp(want, "0") != 0)) {
            print_error("%s: %s, measured %s\n", key, broken ? broken : "is taken", want ? want : "nothing");
            wrong++;
        }
    }
    g_hash_table_unref(table);
    assert_int_equal(wrong, 0);
    assert_in_range(refused, TENSOR_MAPS / 4, TENSOR_MAPS * 3 / 4);
}

typedef struct {
    Flat *flat;
    FlatModule *loaded;
    guint64 memory, out, in;
} Place;

/* The hash of what a copy leaves, or "error 715" for one that is refused. */
static char *result_of(const Place *at, const TensorCase *x)
{
    struct {
        guint8 map[PTX_TENSOR_MAP_BYTES];
        TensorParam par;
    } args = {.par = {.shared = x->shared, .bytes = x->bytes, .out = at->out, .in = at->in, .mask = 3}};
    const guint32 ctas = x->work == TENSOR_MULTICAST ? 2 : 1, dim[3] = {ctas, 1, 1}, block[3] = {128, 1, 1};
    const guint32 cluster[3] = {ctas, 1, 1};
    gboolean loads = x->work <= TENSOR_MULTICAST;
    PtxTensorMap map = tensor_map_of(x, at->memory);
    char name[64];
    GError *error = NULL;
    ptx_tensor_map_pack(&map, args.map);
    memcpy(args.par.at, x->at, sizeof x->at);
    memcpy(args.par.shift, x->shift, sizeof x->shift);
    tensor_memory_fill(x, flat_at(at->flat, at->memory));
    tensor_shared_fill(x, flat_at(at->flat, at->in));
    memset(flat_at(at->flat, at->out), 0, 2 * (TENSOR_SHARED + 16));
    tensor_kernel_name(x, name, sizeof name);
    if (!flat_launch_shape(at->loaded, name, dim, block, ctas > 1 ? cluster : NULL, 0, &args, &error)) {
        char *text = strstr(error->message, "tensor map") ? g_strdup("error 715") : g_strdup(error->message);
        g_error_free(error);
        return text;
    }
    return g_strdup_printf("%016" G_GINT64_MODIFIER "x",
                           (guint64)tensor_hash(flat_at(at->flat, loads ? at->out : at->memory),
                                                loads ? (gsize)ctas * (TENSOR_SHARED + 16) : TENSOR_MEMORY));
}

/* Proves that loads, multicasts, stores and reductions by tensor maps leave what they leave on an H100, bit by bit, and
 * that those which it refuses are refused: tiled and im2col, 1 to 5 dimensions, all types, swizzles, interleaves,
 * steps, edges and fills. */
static void test_copies(void **state)
{
    const char *only = g_getenv("FANOUT_TENSOR"); /* "copy,17": the one that is wanted */
    GHashTable *table = measured_table("tensor.csv");
    g_autofree char *text = tensor_text();
    Place at = {.flat = flat_new(4 << 20)};
    GError *error = NULL;
    guint wrong = 0;
    (void)state;
    at.memory = flat_alloc(at.flat, 1 << 20);
    at.out = flat_alloc(at.flat, 1 << 20);
    at.in = flat_alloc(at.flat, TENSOR_SHARED);
    at.loaded = flat_load(at.flat, "tensor.ptx", text, -1, &error);
    if (!at.loaded)
        fail_msg("%s", error->message);
    for (guint i = 0; i < TENSOR_CASES; i++) {
        TensorCase x;
        g_autofree char *key = g_strdup_printf("copy,%u", i);
        if (only && !g_str_equal(key, only))
            continue;
        tensor_case_draw(i, &x);
        g_autofree char *have = result_of(&at, &x);
        const char *want = g_hash_table_lookup(table, key);
        if (g_strcmp0(have, want)) {
            print_error("%s: %s, measured %s\n", key, have, want ? want : "nothing");
            wrong++;
        }
    }
    flat_unload(at.loaded);
    flat_free(at.flat);
    g_hash_table_unref(table);
    assert_int_equal(wrong, 0);
}

/* ---- maps that a kernel makes */

/* A map of zeros in shared memory gets each of its fields, is copied to global memory, and a copy is made by it: 8 rows
 * of 16 elements of a tensor of 14 x 20, from row 4 on, its rows 64 bytes apart; 1 KiB of shared memory goes back. */
#define MAKE(field, type, ...) "tensormap.replace.tile." field ".shared::cta.b1024." type " [%r2]," __VA_ARGS__ ";\n"
static const char made[] =
    ".version 8.3\n.target sm_90a\n.address_size 64\n"
    ".visible .entry made(.param .u64 gmap, .param .u64 mem, .param .u64 out)\n{\n"
    ".reg .b64 %d<9>; .reg .b32 %r<12>; .reg .pred %p<4>;\n"
    ".shared .align 1024 .b8 buf[4096]; .shared .align 128 .b8 map[128]; .shared .align 8 .b8 bar[8];\n"
    "ld.param.u64 %d1,[gmap]; ld.param.u64 %d2,[mem]; ld.param.u64 %d3,[out]; mov.u32 %r1,%tid.x; mov.u32 %r2,map;\n"
    "mov.u32 %r3,buf; mov.u32 %r4,bar; setp.ne.u32 %p1,%r1,0; shl.b32 %r5,%r1,2; add.u32 %r5,%r5,%r2; mov.u32 %r6,0;\n"
    "st.shared.u32 [%r5],%r6; bar.sync 0; @%p1 bra W; mov.u64 %d5,64;\n" MAKE("global_address", "b64", "%d2")
        MAKE("rank", "b32", "1") MAKE("box_dim", "b32", "0,16") MAKE("box_dim", "b32", "1,8")
            MAKE("global_dim", "b32", "0,14") MAKE("global_dim", "b32", "1,20") MAKE("global_stride", "b64", "0,%d5")
                MAKE("element_stride", "b32", "0,1") MAKE("element_stride", "b32", "1,1") MAKE("elemtype", "b32", "%u")
                    MAKE("interleave_layout", "b32", "0") MAKE("swizzle_mode", "b32", "2")
                        MAKE("fill_mode", "b32",
                             "1") "mbarrier.init.shared.b64 [%r4],1; fence.proxy.async;\nW: bar.warp.sync 0xffffffff;\n"
                                  "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync."
                                  "aligned [%d1],[map],128;\n"
                                  "fence.proxy.tensormap::generic.acquire.gpu [%d1],128; @%p1 bra V;\n"
                                  "mbarrier.arrive.expect_tx.shared.b64 _,[%r4],%u; mov.u32 %r7,0; mov.u32 %r8,4;\n"
                                  "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                                  "[%r3],[%d1,{%r7,%r8}],[%r4];\n"
                                  "A: mbarrier.test_wait.parity.shared.b64 %p2,[%r4],0; @!%p2 bra A;\nV: bar.sync 0; "
                                  "shl.b32 %r5,%r1,2;\n"
                                  "mov.u32 %r9,0;\nL: add.u32 %r6,%r3,%r5; ld.shared.u32 %r6,[%r6]; cvt.u64.u32 "
                                  "%d6,%r5; add.u64 %d6,%d6,%d3;\n"
                                  "st.global.u32 [%d6],%r6; add.u32 %r5,%r5,128; add.u32 %r9,%r9,1; setp.lt.u32 "
                                  "%p3,%r9,32; @%p3 bra L;\nret;\n}\n";

static guint64 made_hash(guint element, guint bytes, GError **error)
{
    g_autoptr(GString) text = g_string_new(made);
    g_autofree char *element_text = g_strdup_printf("[%%r2],%u;", element);
    g_autofree char *bytes_text = g_strdup_printf("[%%r4],%u;", bytes);
    g_string_replace(text, "[%r2],%u;", element_text, 1);
    g_string_replace(text, "[%r4],%u;", bytes_text, 1);
    Flat *flat = flat_new(1 << 20);
    guint64 param[3] = {flat_alloc(flat, 4096), flat_alloc(flat, 65536), flat_alloc(flat, 4096)}, hash = 0;
    guint32 *memory = flat_at(flat, param[1]);
    for (guint32 i = 0; i < 16384; i++)
        memory[i] = 0x3f000000u + 4 * i;
    FlatModule *loaded = flat_load(flat, "made.ptx", text->str, -1, error);
    if (!loaded)
        fail_msg("%s", (*error)->message);
    if (flat_launch(loaded, "made", 1, 32, 0, param, error))
        hash = tensor_hash(flat_at(flat, param[2]), 4096);
    flat_unload(loaded);
    flat_free(flat);
    return hash;
}

/* Proves that a map whose fields a kernel has all replaced is the one that they say, with PTX's numbers of types, which
 * are not the driver's: hashes of what an H100 has copied by it, as f16, f32, bf16 and tf32; and that f64, whose rows
 * are longer than the swizzle's span, is refused as there. */
static void test_made(void **state)
{
    static const struct {
        guint element, bytes;
        guint64 hash;
    } rows[] = {{6, 256, 0xb839fa02e17b9535u},
                {7, 512, 0x2eb62b0e4faa5bc5u},
                {10, 256, 0xb839fa02e17b9535u},
                {11, 512, 0xf1f2416c7a115265u}};
    GError *error = NULL;
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        guint64 hash = made_hash(rows[i].element, rows[i].bytes, &error);
        if (error)
            fail_msg("%s", error->message);
        assert_int_equal(hash, rows[i].hash);
    }
    made_hash(9, 1024, &error);
    assert_non_null(error);
    assert_non_null(strstr(error->message, "no longer than the swizzle's span"));
    g_error_free(error);
}

/* ---- what is refused */

/* A tile of 16 x 4 halves by the map in parameters, or what lies `skew` bytes behind it, to `at` in shared memory. */
static const char bad[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".visible .entry bad(.param .align 64 .b8 map[128], .param .u32 at, .param .u32 skew)\n{\n"
    ".reg .b64 %d<4>; .reg .b32 %r<6>; .shared .align 128 .b8 buf[1024]; .shared .align 8 .b8 bar[8];\n"
    "mov.b64 %d0,map; cvta.param.u64 %d1,%d0; ld.param.u32 %r0,[at]; ld.param.u32 %r4,[skew]; cvt.u64.u32 %d2,%r4;\n"
    "add.u64 %d1,%d1,%d2; mov.u32 %r1,buf; add.u32 %r0,%r0,%r1; mov.u32 %r2,bar; mov.u32 %r3,0;\n"
    "mbarrier.init.shared.b64 [%r2],1;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0],[%d1,{%r3,%r3}],[%r2];\n"
    "ret;\n}\n";

/* Proves that bytes that are no map, maps whose rules were broken, maps of other dimensions, and places that are not
 * aligned or not there end the kernel, with its line and lane and the error of an H100 (kinds of faults). */
static void test_refused(void **state)
{
    static const char where[] = "in bad, line 10, cta 0, warp 0, lane 0: ";
    struct {
        guint8 map[PTX_TENSOR_MAP_BYTES];
        guint32 at, skew;
    } args = {{0}, 0, 0};
    PtxTensorMap map = {.type = 6, .rank = 2, .dim = {16, 4}, .stride = {32}, .box = {16, 4}, .element = {1, 1}};
    const struct {
        const char *what;
        guint64 address, stride;
        guint32 rank, at, skew;
        PtxFaultKind kind;
        const char *text;
    } rows[] = {
        {"zeros", 0, 0, 2, 0, 0, PTX_FAULT_ILLEGAL_INSTRUCTION, "these 128 bytes are no tensor map"},
        {"stride", FLAT_BASE, 40, 2, 0, 0, PTX_FAULT_ILLEGAL_INSTRUCTION, "a stride is a multiple of 16, below 2^40"},
        {"address", FLAT_BASE + 8, 32, 2, 0, 0, PTX_FAULT_ILLEGAL_INSTRUCTION, "the address is a multiple of 16"},
        {"rank", FLAT_BASE, 32, 1, 0, 0, PTX_FAULT_ILLEGAL_INSTRUCTION, "has 1 dimensions and is tiled"},
        {"shared", FLAT_BASE, 32, 2, 64, 0, PTX_FAULT_MISALIGNED, "at a multiple of 128, not at 0x40"},
        {"beyond", FLAT_BASE, 32, 2, 1024, 0, PTX_FAULT_ILLEGAL_ADDRESS, "lies outside"},
        {"memory", 0x10000, 32, 2, 0, 0, PTX_FAULT_ILLEGAL_ADDRESS, "nothing lies there"},
        {"skew", FLAT_BASE, 32, 2, 0, 32, PTX_FAULT_ILLEGAL_INSTRUCTION, "a tensor map lies at a multiple of 64"},
    };
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        Flat *flat = flat_new(1 << 16);
        GError *error = NULL;
        FlatModule *loaded = flat_load(flat, "bad.ptx", bad, -1, &error);
        if (!loaded)
            fail_msg("%s", error->message);
        map.address = rows[i].address;
        map.stride[0] = rows[i].stride;
        map.rank = rows[i].rank;
        args.at = rows[i].at;
        args.skew = rows[i].skew;
        memset(args.map, 0, sizeof args.map);
        if (rows[i].address)
            ptx_tensor_map_pack(&map, args.map);
        assert_false(flat_launch(loaded, "bad", 1, 1, 0, &args, &error));
        g_autofree char *kind = g_strdup_printf("fault %d ", (int)rows[i].kind);
        if (!strstr(error->message, rows[i].text) || !strstr(error->message, where) ||
            !g_str_has_prefix(error->message, kind))
            fail_msg("%s: %s", rows[i].what, error->message);
        g_error_free(error);
        flat_unload(loaded);
        flat_free(flat);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_made),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
