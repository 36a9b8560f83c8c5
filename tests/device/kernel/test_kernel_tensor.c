/* Copies by tensor maps on the model: the bytes of an H100 by way of packets, what they take, and stores and
 * reductions in bulk at multicast addresses. */
#include "tests/device/kernel/kernel_world.h"

#include "tests/measured.h"
#include "tests/ptx/tensor_maps.h"

#define HEAD ".version 8.6\n.target sm_90a\n.address_size 64\n"
#define MODEL_CASES 60u

/* Memory of GPU 1 has the tensor, that of GPU 0 the rest; `from` and `out` behind one another. */
static char *result_of(Loaded *loaded, const TensorCase *x)
{
    World *world = loaded->world;
    guint8 *memory = world->region[1]->host, *own = world->region[0]->host;
    gboolean loads = x->work <= TENSOR_MULTICAST;
    struct {
        guint8 map[PTX_TENSOR_MAP_BYTES];
        TensorParam par;
    } args = {
        .par = {
            .shared = x->shared, .bytes = x->bytes, .out = world->va[0] + (1 << 18), .in = world->va[0], .mask = 3}};
    PtxTensorMap map = tensor_map_of(x, world->va[1]);
    guint32 ctas = x->work == TENSOR_MULTICAST ? 2 : 1;
    char name[64];
    ptx_tensor_map_pack(&map, args.map);
    memcpy(args.par.at, x->at, sizeof x->at);
    memcpy(args.par.shift, x->shift, sizeof x->shift);
    tensor_memory_fill(x, memory);
    tensor_shared_fill(x, own);
    memset(own + (1 << 18), 0, 2 * (TENSOR_SHARED + 16));
    tensor_kernel_name(x, name, sizeof name);
    Ended ended = world_kernel(loaded, name, ctas, 128, 0, &args);
    if (ended.fault != PTX_FAULT_NONE) {
        char *text = ended.fault == PTX_FAULT_ILLEGAL_INSTRUCTION ? g_strdup("error 715") : g_strdup(ended.text);
        g_free(ended.text);
        return text;
    }
    g_free(ended.text);
    return g_strdup_printf("%016" G_GINT64_MODIFIER "x",
                           (guint64)tensor_hash(loads ? own + (1 << 18) : memory,
                                                loads ? (gsize)ctas * (TENSOR_SHARED + 16) : TENSOR_MEMORY));
}

/* Proves that copies by tensor maps bring and put the bytes of an H100 through packets, to and from a peer: the first
 * of the drawn copies. */
static void test_bytes(void **state)
{
    (void)state;
    g_autofree char *text = tensor_text();
    g_autoptr(GHashTable) table = measured_table("tensor.csv");
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "tensor.ptx", text);
    for (guint i = 0; i < MODEL_CASES; i++) {
        TensorCase x;
        tensor_case_draw(i, &x);
        g_autofree char *have = result_of(loaded, &x);
        g_autofree char *key = g_strdup_printf("copy,%u", i);
        const char *want = g_hash_table_lookup(table, key);
        if (g_strcmp0(have, want))
            fail_msg("copy %u: %s, measured %s", i, have, want ? want : "nothing");
    }
    world_unload(loaded);
    world_free(world);
}

/* ---- times */

/* One thread: `n` loads (stores: the same with kind 1) of `rows` rows by a map at once, four times over; clocks of
 * each time. */
static const char timed[] = HEAD
    ".visible .entry timed(.param .align 64 .b8 map[128], .param .u64 out, .param .u32 n, .param .u32 rows,\n"
    " .param .u32 bytes, .param .u32 kind)\n{\n"
    ".reg .b64 %rd<12>; .reg .b32 %r<24>; .reg .pred %p<6>;\n"
    ".shared .align 1024 .b8 tile[131072]; .shared .align 8 .b64 bar;\n"
    "mov.b64 %rd1, map; cvta.param.u64 %rd2, %rd1; ld.param.u64 %rd3, [out]; ld.param.u32 %r1, [n];\n"
    "ld.param.u32 %r2, [rows]; ld.param.u32 %r3, [bytes]; ld.param.u32 %r4, [kind]; mov.u32 %r5, tile;\n"
    "mov.u32 %r6, bar; mov.u32 %r7, 0; setp.ne.u32 %p4, %r4, 0; mul.lo.u32 %r15, %r3, %r1;\n"
    "mbarrier.init.shared.b64 [%r6], 1; fence.proxy.async;\n"
    "$A: mov.u64 %rd4, %clock64; mov.u32 %r8, 0; mov.u32 %r9, 0;\n"
    "@!%p4 mbarrier.arrive.expect_tx.shared.b64 _, [%r6], %r15;\n"
    "$B: and.b32 %r10, %r8, 7; mul.lo.u32 %r11, %r10, %r3; add.u32 %r11, %r11, 1023; and.b32 %r11, %r11, 0xfffffc00;\n"
    "add.u32 %r11, %r11, %r5; and.b32 %r12, %r8, 15; mul.lo.u32 %r12, %r12, %r2;\n"
    "@%p4 bra $S;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r11], [%rd2, {%r9, %r12}],\n"
    " [%r6]; bra $C;\n"
    "$S: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {%r9, %r12}], [%r11];\n"
    "$C: add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, %r1; @%p1 bra $B; and.b32 %r13, %r7, 1;\n"
    "@%p4 bra $G;\n"
    "$W: mbarrier.try_wait.parity.shared.b64 %p2, [%r6], %r13; @!%p2 bra $W; bra $D;\n"
    "$G: cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
    "$D: mov.u64 %rd5, %clock64; sub.u64 %rd5, %rd5, %rd4; mul.wide.u32 %rd6, %r7, 8; add.u64 %rd6, %rd6, %rd3;\n"
    "st.global.u64 [%rd6], %rd5; add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 4; @%p3 bra $A; ret;\n}\n";

static guint64 clocks_of(Loaded *loaded, guint32 row_bytes, guint32 rows, guint32 n, guint32 kind)
{
    World *world = loaded->world;
    struct {
        guint8 map[PTX_TENSOR_MAP_BYTES];
        guint64 out;
        guint32 n, rows, bytes, kind;
    } args = {.out = world->va[0], .n = n, .rows = rows, .bytes = row_bytes * rows, .kind = kind};
    PtxTensorMap map = {.address = world->va[0] + 4096,
                        .type = 6,
                        .rank = 2,
                        .swizzle = row_bytes == 16   ? 0
                                   : row_bytes == 32 ? 1
                                   : row_bytes == 64 ? 2
                                                     : 3,
                        .dim = {row_bytes / 2, 8192},
                        .stride = {row_bytes},
                        .box = {row_bytes / 2, rows},
                        .element = {1, 1}};
    guint64 clocks;
    ptx_tensor_map_pack(&map, args.map);
    Ended ended = world_kernel(loaded, "timed", 1, 1, 0, &args);
    if (ended.fault != PTX_FAULT_NONE)
        fail_msg("%s", ended.text);
    g_free(ended.text);
    memcpy(&clocks, world->region[0]->host + 2 * 8, sizeof clocks);
    return clocks;
}

/* Proves that loads take what docs/measurements/tensor_times.csv says, alone and 32 at once, where rows are the limit:
 * what an SM gets from its L2 is the model's (docs/kernels.md). */
static void test_times(void **state)
{
    static const struct {
        guint32 row_bytes, rows, n, kind, clocks, percent;
    } rows[] = {
        {16, 1, 1, 0, 497, 15},     {128, 16, 1, 0, 549, 10},  {16, 256, 1, 0, 787, 10},
        {32, 256, 32, 0, 8686, 10}, {16, 16, 32, 0, 2755, 15}, {64, 64, 32, 0, 2784, 15},
    };
    (void)state;
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "timed.ptx", timed);
    guint wrong = 0;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        guint64 have = clocks_of(loaded, rows[i].row_bytes, rows[i].rows, rows[i].n, rows[i].kind);
        gint64 off = (gint64)have - rows[i].clocks;
        if (ABS(off) * 100 > (gint64)rows[i].clocks * rows[i].percent) {
            print_error("%u rows of %u B, %u at once: %" G_GUINT64_FORMAT " clk, measured %u\n", rows[i].rows,
                        rows[i].row_bytes, rows[i].n, have, rows[i].clocks);
            wrong++;
        }
    }
    world_unload(loaded);
    world_free(world);
    assert_int_equal(wrong, 0);
}

/* ---- multicast */

/* Kind 0: 4 KiB in bulk to m; 1: added to what is there; 2, 3: a tile of 32 x 32 words by a map, stored, added; 4:
 * counted up, which no switch does. Word i of the tile is 3 i. */
static const char members[] = HEAD
    ".visible .entry members(.param .align 64 .b8 map[128], .param .u64 m, .param .u32 kind)\n{\n"
    ".reg .b64 %rd<9>; .reg .b32 %r<12>; .reg .pred %p<6>; .shared .align 128 .b8 tile[4096];\n"
    "mov.b64 %rd1, map; cvta.param.u64 %rd2, %rd1; ld.param.u64 %rd3, [m]; ld.param.u32 %r1, [kind];\n"
    "mov.u32 %r2, tile; mov.u32 %r3, %tid.x; mov.u32 %r4, 0;\n"
    "$F: mul.lo.u32 %r5, %r3, 3; shl.b32 %r6, %r3, 2; add.u32 %r6, %r6, %r2; st.shared.u32 [%r6], %r5;\n"
    "add.u32 %r3, %r3, 32; setp.lt.u32 %p1, %r3, 1024; @%p1 bra $F; fence.proxy.async; bar.sync 0;\n"
    "mov.u32 %r3, %tid.x; setp.ne.u32 %p2, %r3, 0; @%p2 bra $E; setp.eq.u32 %p3, %r1, 0; @%p3 bra $0;\n"
    "setp.eq.u32 %p3, %r1, 1; @%p3 bra $1; setp.eq.u32 %p3, %r1, 2; @%p3 bra $2; setp.eq.u32 %p3, %r1, 3;\n"
    "@%p3 bra $3;\n"
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.u32 [%rd3], [%r2], 4096; bra $D;\n"
    "$0: cp.async.bulk.global.shared::cta.bulk_group [%rd3], [%r2], 4096; bra $D;\n"
    "$1: cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd3], [%r2], 4096; bra $D;\n"
    "$2: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {%r4, %r4}], [%r2]; bra $D;\n"
    "$3: cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd2, {%r4, %r4}], [%r2];\n"
    "$D: cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n$E: ret;\n}\n";

/* Proves that stores and reductions in bulk at a multicast address, plain or by a tensor map, reach every member, as
 * those of multimem.cp: the tile is stored, and added to it, so that word i is 3 i and 6 i; they are counted as
 * multicast; and that what a switch cannot do is refused. */
static void test_members(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "members.ptx", members);
    struct {
        guint8 map[PTX_TENSOR_MAP_BYTES];
        guint64 m;
        guint32 kind;
    } args = {.m = world->mc_va + 65536};
    PtxTensorMap map = {
        .address = args.m, .type = 2, .rank = 2, .dim = {32, 32}, .stride = {128}, .box = {32, 32}, .element = {1, 1}};
    ptx_tensor_map_pack(&map, args.map);
    for (args.kind = 0; args.kind < 4; args.kind++) {
        guint32 times = args.kind % 2 + 1;
        Ended ended = world_kernel(loaded, "members", 1, 32, 0, &args);
        if (ended.fault != PTX_FAULT_NONE)
            fail_msg("%s", ended.text);
        assert_int_equal(ended.stats.mc_stores, times == 1);
        assert_int_equal(ended.stats.mc_reds, times == 2);
        assert_int_equal(ended.stats.bytes[KERNEL_MULTICAST], 4096);
        for (guint g = 0; g < 4; g++)
            for (guint32 i = 0; i < 1024; i++)
                assert_int_equal(word_of(world, g, 16384 + i), times * 3 * i);
        g_free(ended.text);
    }
    Ended refused = world_kernel(loaded, "members", 1, 32, 0, &args);
    assert_int_equal(refused.fault, PTX_FAULT_ILLEGAL_ADDRESS);
    assert_non_null(strstr(refused.text, "does not count"));
    g_free(refused.text);
    world_unload(loaded);
    world_free(world);
}

/* Proves that a tensor map that is copied is there when the copy is over: the launch takes longer by what a fence of
 * the system takes longer, once. */
static void test_map_copy_fences(void **state)
{
    (void)state;
    static const char text[] = HEAD
        ".visible .entry copy(.param .u64 to) { .reg .b64 %d; .shared .align 128 .b8 map[128];\n"
        "ld.param.u64 %d, [to];\n"
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d], [map], 128;\n"
        "ret; }\n";
    SimTime took_ps[2];
    for (guint i = 0; i < 2; i++) {
        World *world = world_new(WORLD_BYTES);
        Loaded *loaded = world_load(world, 0, "copy.ptx", text);
        world->fabric->spec.sm.fence_ps += i * PS_PER_US;
        Ended ended = world_kernel(loaded, "copy", 1, 32, 0, &world->va[0]);
        assert_int_equal(ended.fault, PTX_FAULT_NONE);
        took_ps[i] = ended.took_ps;
        world_unload(loaded);
        world_free(world);
    }
    assert_int_equal(took_ps[1] - took_ps[0], PS_PER_US);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_map_copy_fences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
