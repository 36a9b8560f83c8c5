/* What a kernel's code costs beside its instructions: device/kernel/code_cache.c, ptx/translate/spill.c, and what a
 * function that is called saves (ptx/translate/cost.c). */
#include "tests/device/kernel/kernel_world.h"

#include "ptx/translate/code.h"

#define HEAD ".version 8.6\n.target sm_90\n.address_size 64\n"
#define LINE_INSTRUCTIONS 8u

static void add_many(GString *text, guint many, const char *line)
{
    for (guint i = 0; i < many; i++)
        g_string_append(text, line);
}

/* A kernel of so many additions. */
static void add_kernel(GString *text, const char *name, guint additions)
{
    g_string_append_printf(text, ".visible .entry %s(.param .u64 p)\n{\n.reg .b32 %%r<3>; .reg .b64 %%rd<3>;\n", name);
    g_string_append(text, "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;\n");
    add_many(text, additions, "add.u32 %r1, %r1, %r1;\n");
    g_string_append(text, "st.global.u32 [%rd1], %r1; ret;\n}\n");
}

/* Proves that an SM fetches a kernel's lines in its first launch and has them in the next one, which is shorter by just
 * that time. */
static void test_second_launch(void **state)
{
    (void)state;
    g_autoptr(GString) text = g_string_new(HEAD);
    add_kernel(text, "small", 50 * LINE_INSTRUCTIONS);
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "code.ptx", text->str);
    Ended first = world_kernel(loaded, "small", 1, 32, 0, &world->va[0]);
    Ended next = world_kernel(loaded, "small", 1, 32, 0, &world->va[0]);
    guint64 line_ps = world->fabric->spec.sm.code_ps / 8, code_ps = first.stats.wait_ps[KERNEL_WAITS_CODE];
    assert_in_range(code_ps / line_ps, 50, 52);
    assert_int_equal(code_ps % line_ps, 0);
    assert_int_equal(next.stats.wait_ps[KERNEL_WAITS_CODE], 0);
    assert_int_equal(first.took_ps - next.took_ps, code_ps);
    world_unload(loaded);
    world_free(world);
}

/* Proves that code which needs more room than there is drives out what other kernels left: they fetch theirs anew. */
static void test_room(void **state)
{
    (void)state;
    g_autoptr(GString) text = g_string_new(HEAD);
    add_kernel(text, "small", 50 * LINE_INSTRUCTIONS);
    add_kernel(text, "large", 1100 * LINE_INSTRUCTIONS);
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "code.ptx", text->str);
    Ended first = world_kernel(loaded, "small", 1, 32, 0, &world->va[0]);
    world_kernel(loaded, "large", 1, 32, 0, &world->va[0]);
    Ended again = world_kernel(loaded, "large", 1, 32, 0, &world->va[0]);
    Ended next = world_kernel(loaded, "small", 1, 32, 0, &world->va[0]);
    assert_int_equal(again.stats.wait_ps[KERNEL_WAITS_CODE], 0);
    assert_int_equal(next.stats.wait_ps[KERNEL_WAITS_CODE], first.stats.wait_ps[KERNEL_WAITS_CODE]);
    world_unload(loaded);
    world_free(world);
}

/* 48 values that are alive while a loop runs which uses none of them. */
static char *loop_text(const char *limit)
{
    GString *text = g_string_new(HEAD);
    g_string_append_printf(text,
                           ".visible .entry k(.param .u64 p) %s\n{\n.reg .b32 %%r<60>; .reg .b64 %%rd<3>;\n"
                           ".reg .pred %%p<2>;\nld.param.u64 %%rd1, [p];\n",
                           limit);
    for (guint i = 0; i < 48; i++)
        g_string_append_printf(text, "ld.shared.u32 %%r%u, [%u];\n", i, 4 * i);
    g_string_append(text, "mov.u32 %r50, 0;\nLOOP: add.u32 %r50, %r50, 1; setp.lt.u32 %p1, %r50, 100;\n"
                          "@%p1 bra LOOP;\n");
    for (guint i = 0; i < 48; i++)
        g_string_append_printf(text, "add.u32 %%r50, %%r50, %%r%u;\n", i);
    g_string_append(text, "st.global.u32 [%rd1], %r50; ret;\n}\n");
    return g_string_free(text, FALSE);
}

static PtxCode *code_of(PtxModule *module, const char *entry)
{
    GError *error = NULL;
    PtxCode *code = ptx_function_code(ptx_module_entry(module, entry), &error);
    if (!code)
        fail_msg("%s", error->message);
    return code;
}

/* Proves that a kernel which may take fewer registers than it has alive stores and loads just those that are too many,
 * each once, none of them in the loop; one that may take them all has none. */
static void test_spills(void **state)
{
    (void)state;
    GError *error = NULL;
    g_autofree char *few = loop_text(".maxnreg 32"), *all = loop_text("");
    PtxModule *module = ptx_module_read("few.ptx", few, strlen(few), &error);
    const PtxCode *code = code_of(module, "k");
    guint words = 0, loads = 0, stores = 0, in_loop = 0, too_many = code->live_bytes / 4 - 32;
    for (guint32 i = 0; i < code->n_ins; i++) {
        words += code->reloads[i] + code->spills[i];
        loads += code->reloads[i];
        stores += code->spills[i];
        in_loop += code->ins[i].op == OP_BRA && code->ins[i].target <= i ? code->reloads[i] + code->reloads[i - 1] : 0;
    }
    assert_in_range(too_many, 17, 20); /* 48 values, the sum and the address, which takes two words */
    assert_in_range(loads, too_many, too_many + 1);
    assert_in_range(stores, too_many, too_many + 1);
    assert_int_equal(words, loads + stores);
    assert_int_equal(in_loop, 0);
    ptx_module_free(module);
    module = ptx_module_read("all.ptx", all, strlen(all), &error);
    assert_null(code_of(module, "k")->reloads);
    ptx_module_free(module);
}

/* 40 values that are alive at once, of which 16 are needed in a loop, once, and the other 24 around it: three times. */
static char *weights_text(void)
{
    GString *text = g_string_new(
        HEAD ".visible .entry k(.param .u64 p) .maxnreg 32\n{\n.reg .b32 %r<60>; .reg .b64 %rd<3>;\n"
             ".reg .pred %p<2>;\nld.param.u64 %rd1, [p];\n");
    for (guint i = 0; i < 40; i++)
        g_string_append_printf(text, "ld.shared.u32 %%r%u, [%u];\n", i, 4 * i);
    for (guint i = 16; i < 40; i++)
        g_string_append_printf(text, "st.shared.u32 [%u], %%r%u;\nst.shared.u32 [%u], %%r%u;\n", 4 * i, i, 4 * i + 160,
                               i);
    g_string_append(text, "mov.u32 %r50, 0;\nLOOP: \n");
    for (guint i = 0; i < 16; i++)
        g_string_append_printf(text, "add.u32 %%r50, %%r50, %%r%u;\n", i);
    g_string_append(text, "setp.lt.u32 %p1, %r50, 100;\n@%p1 bra LOOP;\n");
    for (guint i = 16; i < 40; i++)
        g_string_append_printf(text, "add.u32 %%r50, %%r50, %%r%u;\n", i);
    g_string_append(text, "st.global.u32 [%rd1], %r50; ret;\n}\n");
    return g_string_free(text, FALSE);
}

/* Proves that what a loop needs stays in registers: there a use counts eight times, so one in the loop and the write
 * before it (9) are more than a write and three uses around it (4), though fewer. Nothing is loaded in the loop. */
static void test_spill_weight(void **state)
{
    (void)state;
    GError *error = NULL;
    g_autofree char *text = weights_text();
    PtxModule *module = ptx_module_read("weights.ptx", text, strlen(text), &error);
    const PtxCode *code = code_of(module, "k");
    guint loads = 0, in_loop = 0;
    for (guint32 i = 0, from = G_MAXUINT32; i < code->n_ins; i++) {
        loads += code->reloads[i];
        if (code->ins[i].op != OP_BRA || code->ins[i].target > i)
            continue;
        for (from = code->ins[i].target; from <= i; from++)
            in_loop += code->reloads[from] + code->spills[from];
    }
    assert_true(loads > 8); /* 40, the sum and the address (two words) in 32 registers */
    assert_int_equal(in_loop, 0);
    ptx_module_free(module);
}

/* Proves that a kernel with too few registers takes longer, and gives the same. */
static void test_spills_take_time(void **state)
{
    (void)state;
    SimTime took_ps[2];
    for (guint few = 0; few < 2; few++) {
        g_autofree char *text = loop_text(few ? ".maxnreg 32" : "");
        World *world = world_new(WORLD_BYTES);
        Loaded *loaded = world_load(world, 0, "loop.ptx", text);
        Ended ended = world_kernel(loaded, "k", 1, 512, 256, &world->va[0]);
        assert_int_equal(ended.fault, PTX_FAULT_NONE);
        took_ps[few] = ended.took_ps;
        world_unload(loaded);
        world_free(world);
    }
    /* 16 warps store 18 words, of 4 clk each: 1,152 clk, of which the loads before hide some */
    assert_in_range(took_ps[1] - took_ps[0], 200000, 1200000);
}

/* A function with so many values alive. */
static char *call_text(guint alive)
{
    GString *text = g_string_new(HEAD ".func f()\n{\n.reg .b32 %r<100>;\n");
    for (guint i = 0; i < alive; i++)
        g_string_append_printf(text, "ld.shared.u32 %%r%u, [%u];\n", i, 4 * i);
    g_string_append(text, "bar.sync 0;\n"); /* nothing is moved over it */
    for (guint i = 1; i < alive; i++)
        g_string_append_printf(text, "add.u32 %%r0, %%r0, %%r%u;\n", i);
    g_string_append(text, "st.shared.u32 [0], %r0; ret;\n}\n.visible .entry k()\n{\ncall f; ret;\n}\n");
    return g_string_free(text, FALSE);
}

/* Proves that a function saves registers 16 to 31 as far as it has them alive, and half of those above: 4 clk of the
 * SM's local memory for each at its begin, 1.03 at its end. */
static void test_saves(void **state)
{
    (void)state;
    static const guint alive[4] = {12, 24, 32, 64}, saved[4] = {0, 8, 16, 32};
    for (guint i = 0; i < 4; i++) {
        GError *error = NULL;
        g_autofree char *text = call_text(alive[i]);
        PtxModule *module = ptx_module_read("call.ptx", text, strlen(text), &error);
        const PtxCode *code = ptx_function_code(code_of(module, "k")->callees->pdata[0], &error);
        guint32 shared = code->costs[code->n_ins].sum[COST_SHARED_PIPE], own = (alive[i] + 1) * 102;
        assert_int_equal(code->live_bytes, 4 * alive[i]);
        assert_int_equal(shared, own + saved[i] * (400 + 103));
        ptx_module_free(module);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_second_launch),    cmocka_unit_test(test_room),
        cmocka_unit_test(test_spills),           cmocka_unit_test(test_spill_weight),
        cmocka_unit_test(test_spills_take_time), cmocka_unit_test(test_saves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
