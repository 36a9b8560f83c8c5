/* Kernels of one operation on a logical endpoint each, and what tests of them share: a system whose first GPUs have an
 * endpoint each and one for all of them, and what the kernels found. */
#ifndef TESTS_DEVICE_KERNEL_FABRIC_KERNELS_H
#define TESTS_DEVICE_KERNEL_FABRIC_KERNELS_H

#include "tests/device/kernel/kernel_world.h"

#include "model/memory/endpoint.h"

#define FABRIC_BYTES (1u << 20) /* of each GPU's memory, all of it behind its endpoint and behind the one for all */
#define FABRIC_UNICAST 0x100u   /* + GPU */
#define FABRIC_ALL 0x200u
#define FABRIC_FOUND (512u << 10)  /* where a kernel writes its shared memory when the operation is complete, */
#define FABRIC_REPORT (768u << 10) /* and 1 << 8 | value if there was a report, else 0 */
#define FABRIC_MOST 8192u          /* bytes of one operation */

typedef struct {
    ParamSet *set;
    FabricSpec spec;
    Sim *sim;
    Fabric *fabric;
    Vas *vas;
    guint n;
    MemRegion *region[72];
    guint64 va[72];
    McObject *one[72], *all;
    PtxModule *module;
    PtxImage *image;
} FabricWorld;

/* What a kernel is given. */
typedef struct {
    guint32 endpoint, bytes; /* of the operation */
    guint64 offset, counter, own;
    guint32 rank, tx; /* transactions that its mbarrier expects */
} FabricArgs;

#define FABRIC_UNITS ".mbarrier::complete_tx::16B.mbarrier::report::fabric"
#define FABRIC_SHARED ".async.shared::cta"

/* Word i of shared memory begins as 1000 * rank + i; then `operation`, by lane 0 if `guard` is "@p", is submitted and
 * waited for. */
static inline void fabric_kernel(GString *text, const char *name, const char *guard, const char *operation)
{
    g_string_append_printf(
        text,
        ".visible .entry %s(.param .u32 p_id, .param .u32 p_bytes, .param .u64 p_off, .param .u64 p_ctr, .param .u64 "
        "p_own, "
        ".param .u32 p_rank, .param .u32 p_tx)\n{\n"
        ".reg .b32 %%r<20>; .reg .b64 %%w<20>; .reg .pred %%p<9>; .reg .b8 %%b<3>; .reg .b16 %%h<3>; .reg .b32 id; "
        ".reg .b32 size;\n"
        ".reg .b64 off; .reg .b64 ctr; .reg .pred p;\n"
        ".shared .align 128 .b8 sm[%u]; .shared .align 8 .b64 bar;\n"
        "ld.param.u32 id, [p_id]; ld.param.u32 size, [p_bytes]; ld.param.u64 off, [p_off]; ld.param.u64 ctr, [p_ctr];\n"
        "ld.param.u64 %%w1, [p_own]; ld.param.u32 %%r1, [p_rank]; ld.param.u32 %%r2, [p_tx]; mov.u32 %%r3, %%tid.x;\n"
        "setp.eq.u32 p, %%r3, 0; mul.lo.u32 %%r4, %%r1, 1000; mov.u32 %%r5, sm; mov.u32 %%r6, %%r3; mov.b16 %%h1, "
        "0x0ff3;\n"
        "$F: add.u32 %%r7, %%r4, %%r6; shl.b32 %%r8, %%r6, 2; add.u32 %%r8, %%r8, %%r5; st.shared.u32 [%%r8], %%r7;\n"
        "add.u32 %%r6, %%r6, 32; shl.b32 %%r9, %%r6, 2; setp.lt.u32 %%p1, %%r9, %u; @%%p1 bra $F;\n"
        "@p mbarrier.init.layout::v1.shared::cta.b64 [bar], 1;\nbar.sync 0;\nfence.proxy.async.shared::cta;\n"
        "%s %s\nfabric.submit;\n@p mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %%r2;\n"
        "$W: mbarrier.try_wait.parity.phase_type::primary.acquire.cta.shared::cta.b64 %%p2|%%p3, %%b1, [bar], 0;\n"
        "@!%%p2 bra $W;\n"
        "fence.proxy.generic::fabric.alias.acquire.sys;\n"
        "mov.u32 %%r6, %%r3;\n"
        "$O: shl.b32 %%r8, %%r6, 2; add.u32 %%r9, %%r8, %%r5; ld.shared.u32 %%r10, [%%r9]; cvt.u64.u32 %%w2, %%r8;\n"
        "add.s64 %%w3, %%w1, %%w2; st.global.u32 [%%w3+%u], %%r10;\n"
        "add.u32 %%r6, %%r6, 32; shl.b32 %%r9, %%r6, 2; setp.lt.u32 %%p1, %%r9, %u; @%%p1 bra $O;\n"
        "cvt.u32.u8 %%r11, %%b1; selp.u32 %%r12, 256, 0, %%p3; or.b32 %%r11, %%r11, %%r12;\n"
        "@p st.global.u32 [%%w1+%u], %%r11;\nret;\n}\n",
        name, FABRIC_MOST, FABRIC_MOST, guard, operation, FABRIC_FOUND, FABRIC_MOST, FABRIC_REPORT);
}

static inline char *fabric_text(void)
{
    static const struct {
        const char *name, *guard, *operation;
    } kernels[] = {
        {"put", "@p", "fabric.try_put" FABRIC_SHARED FABRIC_UNITS ".relaxed.sys.b128 [id, off], [sm], size, [bar];"},
        {"put_all", "@p",
         "fabric.try_put.async.multimem.shared::cta" FABRIC_UNITS ".relaxed.sys.b128 [id, off], [sm], size, [bar];"},
        {"put_masked", "@p",
         "fabric.try_put" FABRIC_SHARED FABRIC_UNITS ".cp_mask.relaxed.sys.b128 [id, off], [sm], size, [bar], %h1;"},
        {"put_all_masked", "@p",
         "fabric.try_put.async.multimem.shared::cta" FABRIC_UNITS
         ".cp_mask.relaxed.sys.b128 [id, off], [sm], size, [bar], %h1;"},
        {"put_counted", "@p",
         "fabric.try_put" FABRIC_SHARED FABRIC_UNITS
         ".counted::bytes.relaxed.sys.b128 [id, off, ctr], [sm], size, [bar];"},
        {"put_all_counted", "@p",
         "fabric.try_put.async.multimem.shared::cta" FABRIC_UNITS
         ".counted::bytes.relaxed.sys.b128 [id, off, ctr], [sm], size, [bar];"},
        {"get", "@p",
         "fabric.try_get" FABRIC_SHARED
         ".mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.b128 [sm], [id, off], size, [bar];"},
        {"red", "@p", "fabric.try_red" FABRIC_SHARED FABRIC_UNITS ".relaxed.sys.add.u32 [id, off], [sm], size, [bar];"},
        {"red_max", "@p",
         "fabric.try_red" FABRIC_SHARED FABRIC_UNITS ".relaxed.sys.max.u64 [id, off], [sm], size, [bar];"},
        {"red_counted", "@p",
         "fabric.try_red" FABRIC_SHARED FABRIC_UNITS
         ".counted::bytes.relaxed.sys.add.u32 [id, off, ctr], [sm], size, [bar];"},
        {"red_all", "@p",
         "fabric.try_red.async.multimem.shared::cta" FABRIC_UNITS ".relaxed.sys.add.u32 [id, off], [sm], size, [bar];"},
        {"red_all_counted", "@p",
         "fabric.try_red.async.multimem.shared::cta" FABRIC_UNITS
         ".counted::bytes.relaxed.sys.add.u32 [id, off, ctr], [sm], size, [bar];"},
        {"pull", "",
         "fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric"
         ".relaxed.sys.add.u32.sync [sm], [id, off], size, [bar], 0xffffffff;"},
        {"pull_max", "",
         "fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric"
         ".relaxed.sys.max.s32.sync [sm], [id, off], size, [bar], 0xffffffff;"},
        {"atom", "@p",
         "fabric.try_atom" FABRIC_SHARED FABRIC_UNITS ".relaxed.sys.add.u32 [id, off], [sm], [sm+32], [bar];"},
        {"atom_cas", "@p",
         "fabric.try_atom" FABRIC_SHARED FABRIC_UNITS ".relaxed.sys.cas.b32 [id, off], [sm], [sm+32], [bar];"},
        {"atom_exch", "@p",
         "fabric.try_atom" FABRIC_SHARED FABRIC_UNITS ".relaxed.sys.exch.b128 [id, off], [sm], [sm+32], [bar];"},
    };
    GString *text = g_string_new(".version 9.4\n.target sm_100\n.address_size 64\n");
    for (guint k = 0; k < G_N_ELEMENTS(kernels); k++)
        fabric_kernel(text, kernels[k].name, kernels[k].guard, kernels[k].operation);
    return g_string_free(text, FALSE);
}

/* `sets`: keys and values, NULL after the last. */
static inline FabricWorld *fabric_world_new(const char *preset, guint n, SimSpec sim, const char *const *sets)
{
    FabricWorld *w = g_new0(FabricWorld, 1);
    GError *error = NULL;
    w->n = n;
    w->set = param_set_new();
    device_params(w->set, &w->spec);
    assert_true(preset_load(w->set, preset, NULL));
    for (guint s = 0; sets && sets[s]; s++)
        if (!param_set_text(w->set, sets[s], &error))
            fail_msg("%s", error->message);
    w->sim = sim_new(&sim, NULL);
    w->fabric = fabric_new(w->sim, &w->spec, TRUE, NULL);
    const guint16 gpus = (guint16)w->spec.system.gpus;
    w->vas = vas_new(w->fabric->memory, gpus);
    w->all = fabric_mc_object(w->fabric, n, FABRIC_BYTES);
    EndpointTable *table = vas_endpoints_make(w->vas, 0);
    endpoint_reserve(table, FABRIC_UNICAST, n);
    endpoint_reserve(table, FABRIC_ALL, 1);
    for (guint16 g = 0; g < n; g++) {
        w->region[g] = memory_region_new(w->fabric->memory, g, FABRIC_BYTES, NULL);
        w->va[g] = vas_choose(w->vas, FABRIC_BYTES, 1u << 21);
        vas_set_access(vas_map(w->vas, w->va[g], FABRIC_BYTES, w->region[g], NULL, 0), g, VAS_ACCESS_READWRITE);
        w->one[g] = mcobject_new(w->fabric->memory, 1000u + g, 1, FABRIC_BYTES, gpus);
        mcobject_add_member(w->one[g], g);
        mcobject_add_member(w->all, g);
        assert_true(mcobject_bind(w->one[g], g, 0, w->region[g], 0, FABRIC_BYTES));
        assert_true(mcobject_bind(w->all, g, 0, w->region[g], 0, FABRIC_BYTES));
        assert_true(endpoint_set(table, FABRIC_UNICAST + g, w->one[g], ENDPOINT_COUNTED | ENDPOINT_READY));
    }
    assert_true(fabric_mc_attach(w->fabric, w->all, NULL));
    assert_true(endpoint_set(table, FABRIC_ALL, w->all, ENDPOINT_MULTICAST | ENDPOINT_COUNTED | ENDPOINT_READY));
    g_autofree char *text = fabric_text();
    w->module = ptx_module_read("fabric.ptx", text, strlen(text), &error);
    if (!w->module)
        fail_msg("%s", error->message);
    w->image = ptx_image_new(w->module, 0, 0);
    return w;
}

static inline void fabric_world_free(FabricWorld *w)
{
    ptx_image_free(w->image);
    ptx_module_free(w->module);
    vas_free(w->vas);
    fabric_mc_detach(w->fabric, w->all);
    mcobject_free(w->all);
    for (guint g = 0; g < w->n; g++)
        mcobject_free(w->one[g]);
    fabric_free(w->fabric);
    sim_free(w->sim);
    param_set_free(w->set);
    g_free(w);
}

static inline guint32 *fabric_words(const FabricWorld *w, guint gpu, guint64 offset)
{
    return (guint32 *)(void *)(w->region[gpu]->host + offset);
}

static inline void fabric_start(FabricWorld *w, guint gpu, const char *kernel, const FabricArgs *args, Ended *ended)
{
    GError *error = NULL;
    const KernelSpec spec = {.image = w->image,
                             .entry = ptx_module_entry(w->module, kernel),
                             .grid = {1, 1, 1},
                             .block = {32, 1, 1},
                             .param = args};
    assert_non_null(spec.entry);
    if (!kernel_launch(w->fabric, (guint16)gpu, w->vas, &spec, 0, note_kernel, ended, &error))
        fail_msg("%s", error->message);
}

#endif
