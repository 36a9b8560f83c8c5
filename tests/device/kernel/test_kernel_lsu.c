/* What passes an SM's load/store unit without leaving the SM waits there for what others gave it before: turns.c of
 * ptx/translate, UOP_TURN of the model. */
#include "tests/device/kernel/kernel_world.h"

#include "ptx/translate/code.h"

#define HEAD ".version 8.6\n.target sm_90\n.address_size 64\n"
#define STORES 64u

/* Warp 0, once its own time has passed, does something between two looks at the clock, and says what it took; others
 * store 512 B of the own memory again and again, each to places of its own. */
static char *beside_text(const char *doing)
{
    GString *text = g_string_new(HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<20>; .reg .b64 %rd<6>;\n"
                                      ".reg .pred %p<3>; .shared .b32 cell[32];\n"
                                      "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5;\n"
                                      "setp.ne.u32 %p1, %r2, 0; @%p1 bra STORES;\n"
                                      "mov.u32 %r10, 0; mov.u32 %r8, 20;\n"
                                      "LOOP: sub.u32 %r8, %r8, 1; setp.ne.u32 %p2, %r8, 0; @%p2 bra LOOP;\n"
                                      "barrier.sync 2, 32;\n"
                                      "mov.u32 %r3, %clock; setp.eq.u32 %p1, %r3, 0; @%p1 bra LOOP;\n");
    g_string_append_printf(text,
                           "%s\nsetp.eq.u32 %%p2, %%r10, 77; @%%p2 bra STORES; mov.u32 %%r4, %%clock; sub.u32 %%r5, "
                           "%%r4, %%r3; st.global.u32 [%%rd1], %%r5; ret;\n"
                           "STORES: mul.wide.u32 %%rd2, %%r1, 16; add.u64 %%rd3, %%rd1, %%rd2;\n",
                           doing);
    for (guint i = 1; i <= STORES; i++)
        g_string_append_printf(text, "st.global.v4.u32 [%%rd3+%u], {%%r1, %%r1, %%r1, %%r1};\n", i * 8192);
    g_string_append(text, "ret;\n}\n");
    return g_string_free(text, FALSE);
}

static guint32 clk_beside(const char *doing, guint warps)
{
    g_autofree char *text = beside_text(doing);
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "beside.ptx", text);
    for (guint launch = 0; launch < 2; launch++) /* the first one fetches its instructions */
        world_kernel(loaded, "k", 1, 32 + 32 * warps, 0, &world->va[0]);
    guint32 clk = word_of(world, 0, 0);
    world_unload(loaded);
    world_free(world);
    return clk;
}

/* Proves that a load of shared memory and a shuffle wait for the stores that warps gave the LSU before them: with three
 * warps one of each, and what is left of the one that the LSU has begun. A store of 512 B of the own memory takes it
 * 4 x 2.18 ns, 17.3 clk of 505 ps, so 51.8 to 69.1 clk. A barrier and an addition do not wait. */
static void test_beside_stores(void **state)
{
    (void)state;
    static const struct {
        const char *doing;
        gboolean waits;
    } row[] = {{"ld.shared.u32 %r6, [cell]; add.u32 %r10, %r6, 1; st.shared.u32 [cell], %r10;", TRUE},
               {"shfl.sync.bfly.b32 %r6, %r1, 1, 31, -1; add.u32 %r10, %r6, 1; st.shared.u32 [cell], %r10;", TRUE},
               {"add.u32 %r10, %r10, %r1; st.shared.u32 [cell], %r10;", FALSE},
               {"barrier.sync 1, 32;", FALSE}};
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        guint32 alone = clk_beside(row[i].doing, 0), beside = clk_beside(row[i].doing, 3);
        if (row[i].waits)
            assert_in_range(beside - alone, 51, 70);
        else
            assert_in_range(beside, alone - 1, alone + 1);
    }
}

/* Proves that loads which follow each other before either's value is used wait once, and one that needs the value of an
 * earlier one again; that a shuffle waits, and that stores and loads of global memory have no turn of this kind; a load
 * of local memory, whose address needs the last value, has two. */
static void test_marks(void **state)
{
    (void)state;
    const char *text = HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<20>; .reg .b64 %rd<3>;\n"
                            ".shared .b32 cell[64]; .local .b32 own[2];\nld.param.u64 %rd1, [p];\n"
                            "ld.shared.u32 %r1, [cell];\n"
                            "ld.shared.u32 %r2, [cell+4];\n"
                            "add.u32 %r3, %r1, %r2;\n"
                            "ld.shared.u32 %r4, [%r3];\n"
                            "ld.shared.u32 %r5, [%r4];\n"
                            "shfl.sync.bfly.b32 %r6, %r5, 1, 31, -1;\n"
                            "st.shared.u32 [cell], %r6;\n"
                            "ld.global.u32 %r7, [%rd1];\n"
                            "st.global.u32 [%rd1], %r7;\n"
                            "and.b32 %r9, %r6, 4; ld.local.u32 %r8, [%r9];\n"
                            "st.global.u32 [%rd1], %r8; ret;\n}\n";
    GError *error = NULL;
    PtxModule *module = ptx_module_read("marks.ptx", text, strlen(text), &error);
    const PtxCode *code = ptx_function_code(ptx_module_entry(module, "k"), &error);
    assert_non_null(code);
    guint shared = 0, shared_turns = 0, shuffles = 0, local_turns = 0;
    for (guint32 i = 0; i < code->n_ins; i++) {
        const PtxIns *ins = &code->ins[i];
        gboolean load = ins->op == OP_LD && ins->space == SPACE_SHARED;
        shared += load;
        shared_turns += load && ins->turns;
        shuffles += ins->op == OP_SHFL && ins->turns;
        if (ins->space == SPACE_LOCAL)
            local_turns += ins->turns;
        else if (!load && ins->op != OP_SHFL)
            assert_false(ins->turns);
    }
    assert_int_equal(shared, 4);
    assert_int_equal(shared_turns, 3);
    assert_int_equal(shuffles, 1);
    assert_int_equal(local_turns, 2);
    ptx_module_free(module);
}

/* Instructions of a kernel that sums 48 values after a loop, by how many turns they take. */
static void count_turns(const char *limit, guint count[3])
{
    g_autoptr(GString) text = g_string_new(HEAD);
    GError *error = NULL;
    g_string_append_printf(text,
                           ".visible .entry k(.param .u64 p) %s\n{\n.reg .b32 %%r<60>; .reg .b64 %%rd<3>;\n"
                           ".reg .pred %%p<2>;\nld.param.u64 %%rd1, [p];\n",
                           limit);
    for (guint i = 0; i < 48; i++)
        g_string_append_printf(text, "mad.lo.u32 %%r%u, %%r50, %%r50, %u;\n", i, i);
    g_string_append(text, "LOOP: add.u32 %r50, %r50, 1; setp.lt.u32 %p1, %r50, 100; @%p1 bra LOOP;\n");
    for (guint i = 0; i < 48; i++)
        g_string_append_printf(text, "add.u32 %%r50, %%r50, %%r%u;\n", i);
    g_string_append(text, "st.global.u32 [%rd1], %r50; ret;\n}\n");
    PtxModule *module = ptx_module_read("few.ptx", text->str, text->len, &error);
    const PtxCode *code = ptx_function_code(ptx_module_entry(module, "k"), &error);
    assert_non_null(code);
    for (guint32 i = 0; i < code->n_ins; i++)
        count[code->ins[i].turns]++;
    ptx_module_free(module);
}

/* Proves that a block waits once, two turns, for the registers that did not fit and are loaded there, before its first
 * instruction that the executor takes a step for; and not where all fit. */
static void test_reloads(void **state)
{
    (void)state;
    guint few[3] = {0}, all[3] = {0};
    count_turns(".maxnreg 32", few);
    count_turns("", all);
    assert_int_equal(few[1], 0);
    assert_int_equal(few[2], 1);
    assert_int_equal(all[1] + all[2], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_beside_stores), cmocka_unit_test(test_marks),
                                       cmocka_unit_test(test_reloads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
