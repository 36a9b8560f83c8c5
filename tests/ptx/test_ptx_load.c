/* Reading PTX: what is not PTX, or not supported, is refused with file, line and column; what is, gives symbols, sizes
 * and banks. */
#include "tests/test.h"

#include <sys/resource.h>

#include "ptx/translate/code.h"
#include "ptx/run/warp.h"

#define HEAD ".version 8.6\n.target sm_90\n.address_size 64\n"
#define KERNEL(body)                                                                                                   \
    HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %d<9>; .reg .b32 %r<99>; .reg .f32 %f<9>; .reg .pred %p<9>; " \
         ".reg .b16 %h<9>;\n" body "\nret;\n}\n"

/* The first error of a text and all its bodies; NULL: it has none. g_free it. */
static char *read_all(const char *text, gsize bytes)
{
    GError *error = NULL;
    PtxModule *module = ptx_module_read("a.ptx", text, bytes, &error);
    for (guint i = 0; module && !error && i < module->functions->len; i++) {
        PtxFunction *function = module->functions->pdata[i];
        PtxUsage usage;
        if (function->body)
            ptx_function_usage(function, &usage, &error);
    }
    ptx_module_free(module);
    char *message = error ? g_strdup(error->message) : NULL;
    g_clear_error(&error);
    return message;
}

/* Proves how many bytes a value of each type has in memory, and in a register, which has 16 bits at least; as the PTX
 * ISA says of its types. */
static void test_types(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        guint memory, reg;
        int kind;
    } types[] = {
        {"b8", 1, 2, TYPE_BITS},        {"u8", 1, 2, TYPE_UNSIGNED},  {"s8", 1, 2, TYPE_SIGNED},
        {"b16", 2, 2, TYPE_BITS},       {"u16", 2, 2, TYPE_UNSIGNED}, {"s16", 2, 2, TYPE_SIGNED},
        {"b32", 4, 4, TYPE_BITS},       {"u32", 4, 4, TYPE_UNSIGNED}, {"s32", 4, 4, TYPE_SIGNED},
        {"b64", 8, 8, TYPE_BITS},       {"u64", 8, 8, TYPE_UNSIGNED}, {"s64", 8, 8, TYPE_SIGNED},
        {"b128", 16, 16, TYPE_BITS},    {"f16", 2, 2, TYPE_FLOAT},    {"bf16", 2, 2, TYPE_FLOAT},
        {"f16x2", 4, 4, TYPE_FLOAT},    {"bf16x2", 4, 4, TYPE_FLOAT}, {"f32", 4, 4, TYPE_FLOAT},
        {"f32x2", 8, 8, TYPE_FLOAT},    {"f64", 8, 8, TYPE_FLOAT},    {"tf32", 4, 4, TYPE_FLOAT},
        {"u16x2", 4, 4, TYPE_UNSIGNED}, {"s16x2", 4, 4, TYPE_SIGNED}, {"e4m3", 1, 2, TYPE_FLOAT},
        {"e5m2", 1, 2, TYPE_FLOAT},     {"e4m3x2", 2, 2, TYPE_FLOAT}, {"e5m2x2", 2, 2, TYPE_FLOAT},
        {"e4m3x4", 4, 4, TYPE_FLOAT},   {"e5m2x4", 4, 4, TYPE_FLOAT}, {"e2m3x2", 2, 2, TYPE_FLOAT},
        {"e3m2x2", 2, 2, TYPE_FLOAT},   {"e2m1x2", 1, 2, TYPE_FLOAT}, {"ue8m0x2", 2, 2, TYPE_FLOAT},
        {"s4", 4, 4, TYPE_SIGNED},      {"u4", 4, 4, TYPE_UNSIGNED},  {"b1", 4, 4, TYPE_BITS},
    };
    assert_int_equal(G_N_ELEMENTS(types), T_COUNT - 2); /* of all but none and predicates */
    for (gsize i = 0; i < G_N_ELEMENTS(types); i++) {
        const PtxType type = ptx_type_find(types[i].name, strlen(types[i].name));
        assert_int_not_equal(type, T_NONE);
        assert_int_equal(ptx_types[type].bytes, types[i].reg);
        assert_int_equal(ptx_types[type].memory, types[i].memory);
        assert_int_equal(ptx_types[type].kind, types[i].kind);
    }
}

/* Proves that a target asks for the version of PTX that it came with, as ptxas does: sm_90 came with 7.8. */
static void test_target_versions(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says; /* NULL: read */
    } cases[] = {
        {".version 7.8\n.target sm_90\n", NULL},
        {".version 7.7\n.target sm_90\n", "a.ptx:2:9: target sm_90 needs .version 7.8 or later; this text says 7.7"},
        {".version 8.5\n.target sm_100a\n", "a.ptx:2:9: target sm_100 needs .version 8.6 or later; this text says 8.5"},
        {".version 6.0\n.target sm_70\n", NULL},
        {".version 3.0\n.target sm_30\n", NULL},
        {".version 8.0\n.target sm_999\n", "a.ptx:2:9: target sm_999; sm_20 to sm_121 are known"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *message = read_all(cases[i].text, strlen(cases[i].text));
        if (cases[i].says ? !message || !strstr(message, cases[i].says) : message != NULL)
            fail_msg("'%s': %s", cases[i].text, message ? message : "read");
    }
}

/* Proves that registers have the kind of an instruction's type, and conversions the rounding that they need, as ptxas
 * asks; registers of bits go with every type, and whole numbers with each other. */
static void test_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says; /* NULL: read */
    } cases[] = {
        {KERNEL(".reg .u32 %w; add.f32 %f1,%w,%f3;"),
         "a.ptx:7:27: operand 2 of add.f32 must be a value as wide as the type, and of its kind"},
        {KERNEL("mul.lo.u32 %r1,%r2,%f3;"),
         "operand 3 of mul.lo.u32 must be a value as wide as the type, and of its kind"},
        {KERNEL("ld.global.f32 %r1,[%d1]; ld.global.u32 %f1,[%d1];"), "operand 1 of ld.global.u32 must be a register"},
        {KERNEL("cvt.f32.u32 %f1,%r2;"), "a.ptx:7:1: cvt needs a rounding: .rn, .rz, .rm or .rp"},
        {KERNEL("cvt.rn.u32.f32 %r1,%f2;"), "a.ptx:7:1: cvt needs a rounding: .rni, .rzi, .rmi or .rpi"},
        {KERNEL("cvt.f32.f64 %f1,%d2;"), "a.ptx:7:1: cvt needs a rounding: .rn, .rz, .rm or .rp"},
        {KERNEL(".reg .f32 %w; ld.global.f32 %w,[%d1]; mov.b32 %r1,%w; add.f32 %w,%w,%r1;"), NULL},
        {KERNEL(".reg .u32 %u; .reg .s32 %s; .reg .f16x2 %x; add.s32 %u,%s,%x; and.b32 %u,%f1,%s;"), NULL},
        {KERNEL(".reg .f16x2 %x; add.f32 %x,%f1,%f2;"), "operand 1 of add.f32"},
        {KERNEL("cvt.rn.f32.u32 %f1,%r2; cvt.rzi.s32.f32 %r1,%f2; cvt.f64.f32 %d1,%f1; cvt.u64.u32 %d1,%r1;"), NULL},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *message = read_all(cases[i].text, strlen(cases[i].text));
        if (cases[i].says ? !message || !strstr(message, cases[i].says) : message != NULL)
            fail_msg("'%s': %s", cases[i].text, message ? message : "read");
    }
}

/* Proves that errors name file, line and column, and what is wrong there. */
static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "a.ptx:1:1: PTX begins with .version (at the end of the text)"},
        {".version 2.3\n.target sm_90\n", "a.ptx:1:10: PTX ISA 2.3; 3.0 to 9.x are known"},
        {".version 8.0\n.target sm_13\n", "a.ptx:2:9: target sm_13; sm_20 to sm_121 are known"},
        {".version 8.0\n.target sm_90\n.address_size 32\n", "a.ptx:3:15: addresses have 64 bits"},
        {".version 8.0\n", "has no .target"},
        {HEAD ".global .b32 a; .global .b32 a;", "a.ptx:4:30: the name is defined in line 4, too"},
        {HEAD ".shared .b32 a[99999999];", "a.ptx:4:14: the variable has 399999996 bytes; at most 256 KiB of .shared"},
        {HEAD ".global .b8 a[99999999999][99999999];", "a.ptx:4:27: an array of more than 1 TiB"},
        {HEAD ".global .b32 a = b;", "a.ptx:4:18: nothing has this name here"},
        {HEAD ".global .b32 a[2] = {1,2,3};", "a.ptx:4:26: more values than the variable has"},
        {HEAD ".global .b32 a = 1/0;", "division by zero"},
        {HEAD ".global .align 3 .b32 a;", "a.ptx:4:16: an alignment is a power of two"},
        {HEAD ".global .texref t;", "textures and surfaces are not simulated"},
        {HEAD ".pragma \"nounroll\"", "a.ptx:4:9: ';' is missing behind this directive"},
        {HEAD ".func f(.param .b8 x[70000]);", "a.ptx:4:9: parameters of more than 65536 bytes"},
        {HEAD ".visible .entry k() { ret;", "a.ptx:4:21: the body has no closing '}'"},
        {HEAD ".visible .func a(); .alias a, a;", ".alias needs another function"},
        {KERNEL("frobnicate.u32 %r1,%r2;"), "a.ptx:7:1: unknown instruction (at 'frobnicate')"},
        {KERNEL("add.u32.foo %r1,%r2,%r3;"), "a.ptx:7:8: no modifier or type that add knows (at 'foo')"},
        {KERNEL("add.wide.u32 %r1,%r2,%r3;"), "a.ptx:7:1: add does not take .wide here (at 'add')"},
        {KERNEL("add.f16x2.u32 %r1,%r2,%r3;"), "a.ptx:7:1: add"},
        {KERNEL("shl.u32 %r1,%r2,%r3;"), "a.ptx:7:1: shl does not take the type .u32 here"},
        {KERNEL("div.f32 %f1,%f2,%f3;"), "modifiers or types are missing"},
        {KERNEL("add.u32 %r1,%r2;"), "a.ptx:7:1: add does not take 2 operands here"},
        {KERNEL("add.u32 %r1,%d2,%r3;"), "a.ptx:7:13: operand 2 of add.u32 must be a value as wide as the type"},
        {KERNEL("add.u32 %r1,%r2,%x3;"), "a.ptx:7:17: no register has this name"},
        {KERNEL("setp.eq.u32 %r1,%r2,%r3;"), "operand 1 of setp.eq.u32 must be a predicate register"},
        {KERNEL("@%r1 bra L; L:"), "a.ptx:7:2: a guard is a predicate register"},
        {KERNEL("bra NOWHERE;"), "a.ptx:7:5: nothing has this name here"},
        {KERNEL("L: L: ret;"), "the name is declared twice in one scope"},
        {KERNEL("ld.global.v4.u32 {%r1,%r2},[%d1];"), "operand 1 of ld.global.v4.u32"},
        {KERNEL("call nobody;"), "a.ptx:7:6: no function has this name"},
        {KERNEL(".reg .b32 %x<4000000000>;"), "a body with more than 1048576 registers"},
        {KERNEL(".local .b8 x[999999];"), "the variable does not fit: at most 524288 bytes"},
        {KERNEL("add.f32x2 %d1,%d2,%d3;"), "a.ptx:7:1: this form of add needs sm_100; the target is sm_90"},
        {KERNEL("multimem.ld_reduce.global.add.s64 %d1,[%d2];"), "multimem"},
        {KERNEL("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1},[%d1];"),
         "a.ptx:7:1: instruction wmma.load.a.sync.aligned.row.m16n16k16.f16: of tensor cores' instructions mma "
         "and wgmma are simulated"},
        {KERNEL("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1},{%r1},{%r2},{%f1},%r3,0;"),
         "a.ptx:7:1: instruction mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32: sparse matrices are not "
         "simulated"},
        {KERNEL("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1],%r2;"), "mma and wgmma are simulated"},
        {KERNEL("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[t,{%f1,%f2}];"), "textures and surfaces are not simulated"},
        {KERNEL("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1],[%d1,{%r2}],[%r3];"),
         "there is a coordinate for each dimension"},
        {KERNEL("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1],[%d1],[%r3];"),
         "must be a tensor map and coordinates"},
        {KERNEL("cp.async.bulk.tensor.2d.global.shared::cta.im2col_no_offs.bulk_group [%d1,{%r2,%r3}],[%r1];"),
         "im2col takes 3 to 5 dimensions"},
        {KERNEL("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1],"
                "[%d1,{%r2,%r3,%r2}],[%r3];"),
         "offsets follow with .im2col"},
        {KERNEL("tensormap.replace.tile.rank.global.b1024.b32 [%d1],1;"), "in global memory this is not simulated"},
        {KERNEL("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r1],1;"), "a dimension's number stands before"},
        {HEAD ".extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 a, .param .b64 b);\n"
              ".visible .entry k() {\n.param .b64 a; .param .b64 b; .param .b32 r;\n"
              "call (r),cudaLaunchDeviceV2,(a,b); }",
         "a.ptx:7:10: cudaLaunchDeviceV2 is declared, but no unit of the module defines it; launching from the device"},
        {KERNEL("mov.u32 %r1,%tid;"), "no register has this name"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *message = read_all(cases[i].text, strlen(cases[i].text));
        if (!message || !strstr(message, cases[i].says) || strchr(message, '\n'))
            fail_msg("case %u: %s, should say: %s", i, message ? message : "no error", cases[i].says);
    }
}

static const char good[] = HEAD
    ".extern .shared .align 16 .b8 more[];\n.shared .align 8 .b32 fixed[5];\n.const .align 4 .f32 half = 0f3f000000;\n"
    ".visible .global .align 16 .b32 list[3] = {1, -2, 0x30};\n.weak .global .align 8 .u64 at = list+8;\n"
    ".func (.reg .u32 o) f(.reg .u32 i) { .local .align 8 .b8 x[24]; add.u32 o,i,1; ret; }\n"
    ".visible .entry k(.param .u64 .ptr .global .align 8 p, .param .b8 q[12]) .maxntid 64, 2 .minnctapersm 3\n{ // "
    "comment\n"
    " .reg .b32 %r<4>; .reg .b64 %d; .shared .b32 own[3];\n ld.param.u32 %r0,[q+4]; call (%r1),f,(%r0); mov.u32 "
    "%r2,own; mov.u32 %r3,fixed; mov.u64 %d,more;\n"
    " st.shared.u32 [%r3],%r2; st.shared.v2.f32 [%d],{1.5,-2e1}; /* more */ ret; }\n";

/* Proves what a good text gives: parameters, sizes, banks with addresses, what the kernel needs of each memory. */
static void test_good(void **state)
{
    (void)state;
    GError *error = NULL;
    PtxUsage usage;
    PtxModule *module = ptx_module_read("a.ptx", good, strlen(good), &error);
    if (!module)
        fail_msg("%s", error->message);
    PtxFunction *k = ptx_module_entry(module, "k");
    assert_non_null(k);
    assert_int_equal(k->param_bytes, 20);
    assert_int_equal(k->maxntid[1], 2);
    assert_int_equal(k->minnctapersm, 3);
    assert_int_equal(g_array_index(k->params, PtxParam, 1).offset, 8);
    if (!ptx_function_usage(k, &usage, &error))
        fail_msg("%s", error->message);
    assert_int_equal(usage.shared_bytes, 128 + 12);
    assert_int_equal(usage.local_bytes, 32);
    assert_true(usage.dynamic_shared);
    assert_int_equal(module->global_bytes, 24);
    guint8 bank[24];
    guint64 at;
    ptx_module_bank(module, SPACE_GLOBAL, 0x10000, 0x20000, bank);
    memcpy(&at, bank + 16, 8);
    assert_true(at == 0x10008);
    assert_int_equal(((gint32 *)(void *)bank)[1], -2);
    assert_non_null(ptx_module_variable(module, "half"));
    assert_null(ptx_module_variable(module, "fixed"));
    ptx_module_free(module);
}

/* Proves that a text cut anywhere gives an error or a module, never a crash. */
static void test_cut(void **state)
{
    (void)state;
    for (gsize n = 0; n < strlen(good); n++) {
        char *copy = g_memdup2(good, n + 1); /* no NUL behind it but by chance */
        g_free(read_all(copy, n));
        g_free(copy);
    }
}

/* Proves that units are linked: externals, weak ones, functions with the same static name. */
static void test_link(void **state)
{
    (void)state;
    static const char one[] = HEAD ".extern .func (.reg .u32 o) shared_f(.reg .u32 i);\n.extern .global .align 4 .b32 "
                                   "there[];\n.weak .global .align 4 .b32 both = 1;\n"
                                   ".func helper() { ret; }\n.visible .entry k() { .reg .b32 %r; .reg .b64 %d; mov.u64 "
                                   "%d,there; call helper; call (%r),shared_f,(%r); ret; }\n";
    static const char two[] = HEAD
        ".visible .global .align 4 .b32 there[7];\n.visible .global .align 4 .b32 both = 2;\n.func helper() { exit; }\n"
        ".visible .func (.reg .u32 o) shared_f(.reg .u32 i) { call helper; ret; }\n";
    GError *error = NULL;
    PtxUsage usage;
    PtxModule *module = ptx_module_new();
    assert_true(ptx_module_add(module, "one", one, strlen(one), NULL) &&
                ptx_module_add(module, "two", two, strlen(two), NULL));
    assert_true(ptx_module_link(module, NULL));
    assert_int_equal(module->global_bytes, 32);
    assert_int_equal(ptx_module_variable(module, "both")->data->data[0], 2);
    if (!ptx_function_usage(ptx_module_entry(module, "k"), &usage, &error))
        fail_msg("%s", error->message);
    ptx_module_free(module);
    module = ptx_module_new();
    assert_true(ptx_module_add(module, "two", two, strlen(two), NULL) &&
                ptx_module_add(module, "again", two, strlen(two), NULL));
    assert_false(ptx_module_link(module, &error));
    assert_non_null(strstr(error->message, "again:4:"));
    g_error_free(error);
    ptx_module_free(module);
}

/* Proves that of symbols that units have in common the largest stays, and that one which is defined goes before them,
 * whichever comes first. */
static void test_common(void **state)
{
    (void)state;
    static const char *const unit[] = {HEAD ".common .global .align 4 .b32 both[2];\n",
                                       HEAD ".common .global .align 4 .b32 both[5];\n",
                                       HEAD ".visible .global .align 4 .b32 both[3] = {7, 8, 9};\n"};
    static const struct {
        guint units[2], bytes;
        guint8 first;
    } rows[] = {{{0, 1}, 20, 0}, {{1, 0}, 20, 0}, {{0, 2}, 12, 7}, {{2, 0}, 12, 7}, {{1, 2}, 12, 7}, {{2, 1}, 12, 7}};
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        GError *error = NULL;
        PtxModule *module = ptx_module_new();
        for (guint u = 0; u < 2; u++) {
            const char *text = unit[rows[i].units[u]];
            assert_true(ptx_module_add(module, u ? "two" : "one", text, strlen(text), NULL));
        }
        if (!ptx_module_link(module, &error))
            fail_msg("%s", error->message);
        const PtxSymbol *both = ptx_module_variable(module, "both");
        assert_int_equal(both->bytes, rows[i].bytes);
        assert_int_equal(both->data ? both->data->data[0] : 0, rows[i].first);
        ptx_module_free(module);
    }
}

/* Proves that a kernel takes no more registers than it says, else than its text was compiled for, and so few that the
 * threads it is declared for fit: what the assembler does, by keeping the rest in local memory. */
static void test_registers(void **state)
{
    (void)state;
    static const struct {
        const char *said;
        guint limit, most;
    } rows[] = {{"", 0, 255},
                {"", 96, 96},
                {".maxnreg 40", 96, 40},
                {".maxntid 1024", 0, 64},
                {".maxntid 512", 96, 96},
                {".maxntid 256 .minnctapersm 4", 0, 64},
                {".reqntid 640", 0, 96}};
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        GString *text = g_string_new(HEAD);
        g_string_append_printf(text,
                               ".visible .entry k(.param .u64 p) %s { .reg .b32 %%r<300>; .reg .b64 %%d;\n"
                               "ld.param.u64 %%d, [p];\n",
                               rows[i].said);
        for (guint r = 0; r < 300; r++) /* all alive at once */
            g_string_append_printf(text, "ld.volatile.global.u32 %%r%u, [%%d];\n", r);
        for (guint r = 0; r < 300; r++)
            g_string_append_printf(text, "st.volatile.global.u32 [%%d], %%r%u;\n", r);
        g_string_append(text, "ret; }\n");
        GError *error = NULL;
        PtxUsage usage;
        PtxModule *module = ptx_module_new();
        if (!ptx_module_add(module, "k", text->str, text->len, &error))
            fail_msg("%s", error->message);
        ptx_module_limit_registers(module, rows[i].limit);
        assert_true(ptx_module_link(module, NULL));
        if (!ptx_function_usage(ptx_module_entry(module, "k"), &usage, &error))
            fail_msg("%s", error->message);
        assert_int_equal(usage.registers, rows[i].most);
        ptx_module_free(module);
        g_string_free(text, TRUE);
    }
}

/* Proves that an atomic is a reduction where nothing reads its result and nothing has to wait for it, and stays what it
 * is elsewhere. */
static void test_unused_results(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        guint8 op;
    } rows[] = {
        {KERNEL("atom.global.sys.add.u32 %r1, [%d1], 1; atom.global.add.u32 %r1, [%d1], 2;"), OP_RED},
        {KERNEL("atom.add.f32 %f1, [%d1], 0f3f800000;"), OP_RED},
        {KERNEL("atom.global.add.u32 %r1, [%d1], 1; st.global.u32 [%d1+4], %r1;"), OP_ATOM},
        {KERNEL("atom.global.exch.b32 %r1, [%d1], 1;"), OP_ATOM},
        {KERNEL("atom.global.cas.b32 %r1, [%d1], 1, 2;"), OP_ATOM},
        {KERNEL("atom.acquire.gpu.global.add.u32 %r1, [%d1], 1;"), OP_ATOM},
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        const char *text = rows[i].text;
        GError *error = NULL;
        PtxUsage usage;
        guint atomics = 0;
        PtxModule *module = ptx_module_read("a.ptx", text, strlen(text), &error);
        if (!module || !ptx_function_usage(ptx_module_entry(module, "k"), &usage, &error))
            fail_msg("%s", error->message);
        const PtxCode *code = ptx_module_entry(module, "k")->code;
        for (guint32 at = 0; at < code->n_ins; at++)
            if (code->ins[at].op == OP_ATOM || code->ins[at].op == OP_RED) {
                assert_int_equal(code->ins[at].op, rows[i].op);
                atomics++;
            }
        assert_true(atomics > 0);
        ptx_module_free(module);
    }
}

/* Proves that what a load brings and nothing reads keeps its registers until the load is back: the next load's are
 * others, so that it need not wait. */
static void test_unread_parts(void **state)
{
    (void)state;
    static const char text[] = KERNEL("ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%d1]; ld.global.v4.u32 {%r5,%r6,%r7,%r8}, "
                                      "[%d1+16]; add.u32 %r9, %r1, %r5; st.global.u32 [%d1], %r9;");
    GError *error = NULL;
    PtxUsage usage;
    const guint32 *places[2];
    guint n = 0;
    PtxModule *module = ptx_module_read("a.ptx", text, strlen(text), &error);
    assert_non_null(module);
    assert_true(ptx_function_usage(ptx_module_entry(module, "k"), &usage, &error));
    const PtxCode *code = ptx_module_entry(module, "k")->code;
    for (guint32 at = 0; at < code->n_ins; at++)
        if (code->ins[at].op == OP_LD && code->ins[at].n_vec == 4)
            places[n++] = &code->places[code->ins[at].vec];
    assert_int_equal(n, 2);
    for (guint i = 0; i < 4; i++)
        for (guint j = 0; j < 4; j++)
            assert_int_not_equal(places[0][i], places[1][j]);
    ptx_module_free(module);
}

static double processor_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec;
}

static PtxFunction *numbered(PtxModule *module, guint number)
{
    g_autofree char *name = g_strdup_printf("k%u", number);
    return ptx_module_entry(module, name);
}

/* Proves that a text of 190,000 lines, as NCCL's biggest unit has, is read in under two seconds of processor time (a
 * tenth of one is usual), and lazily: functions that were not asked for are not read beyond their ends. What is wrong
 * in one of them is told when it is. */
static void test_large(void **state)
{
    (void)state;
    enum { FUNCTIONS = 190, LINES = 1000 };
    g_autoptr(GString) text = g_string_new(HEAD);
    GError *error = NULL;
    PtxUsage usage;
    for (guint f = 0; f < FUNCTIONS; f++) {
        g_string_append_printf(text, ".visible .entry k%u(.param .u64 p)\n{\n", f);
        g_string_append(text, ".reg .b64 %rd<9>;\n.reg .b32 %r<99>;\n");
        for (guint line = 0; line < LINES / 2; line++)
            g_string_append_printf(text, "\tadd.s32 \t%%r%u, %%r%u, %u;\n\tst.global.u32 \t[%%rd1+%u], %%r%u;\n",
                                   line % 98 + 1, line % 97, line, 4 * line, line % 98);
        g_string_append(text, f == 77 ? "\tadd.s33 \t%r1, %r1, 1;\n\tret;\n}\n" : "\tret;\n}\n");
    }
    double seconds = -processor_s();
    PtxModule *module = ptx_module_read("large.ptx", text->str, text->len, &error);
    seconds += processor_s();
    if (!module)
        fail_msg("%s", error->message);
    print_message("%u lines read in %.3f s\n", FUNCTIONS * (LINES + 6), seconds);
    assert_true(seconds < 2);
    for (guint f = 0; f < FUNCTIONS; f++)
        assert_null(numbered(module, f)->code);
    assert_true(ptx_function_usage(numbered(module, 78), &usage, &error));
    assert_non_null(numbered(module, 78)->code);
    assert_null(numbered(module, 76)->code);
    assert_false(ptx_function_usage(numbered(module, 77), &usage, &error));
    assert_non_null(strstr(error->message, "large.ptx:"));
    assert_non_null(strstr(error->message, "s33"));
    g_clear_error(&error);
    ptx_module_free(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_types),
                                       cmocka_unit_test(test_good),
                                       cmocka_unit_test(test_cut),
                                       cmocka_unit_test(test_link),
                                       cmocka_unit_test(test_common),
                                       cmocka_unit_test(test_registers),
                                       cmocka_unit_test(test_large),
                                       cmocka_unit_test(test_unused_results),
                                       cmocka_unit_test(test_unread_parts),
                                       cmocka_unit_test(test_target_versions),
                                       cmocka_unit_test(test_kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
