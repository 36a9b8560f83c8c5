/* ptx/forms: every multimem form is accepted or refused as the PTX ISA says. */
#include "tests/test.h"

#include "ptx/forms.h"

/* The rules a second time, in another shape: as sentences over names, not as a table of bits. */
static gboolean in(const char *name, const char *list)
{
    char **words = g_strsplit(list, " ", -1);
    gboolean found = g_strv_contains((const char *const *)words, name);
    g_strfreev(words);
    return found;
}

static gboolean expected(PtxInstruction instruction, const char *op, const char *type, guint vec)
{
    gboolean is_integer = in(type, "u32 u64 s32 s64 b32 b64"), fp8 = type[0] == 'e';
    guint x = g_str_has_suffix(type, "x2") ? 2 : g_str_has_suffix(type, "x4") ? 4 : 1;
    guint bits = strstr(type, "64") ? 64 : strstr(type, "32") ? 32 : fp8 ? 8 * x : 16 * x;
    if (bits * vec != 32 && bits * vec != 64 && bits * vec != 128)
        return FALSE;
    if (vec > 1 && (is_integer || strcmp(type, "f64") == 0))
        return FALSE;
    if (instruction == PTX_ST)
        return TRUE;
    if (in(op, "and or xor"))
        return in(type, "b32 b64");
    if (instruction == PTX_RED && !is_integer)
        return strcmp(op, "add") == 0 && !fp8;
    if (strcmp(op, "add") == 0)
        return !is_integer || in(type, "u32 u64 s32");
    return in(type, "u32 s32 u64 s64") || (!is_integer && !in(type, "f32 f64"));
}

/* Proves legality of all 3 instructions x 6 operations x 18 types x vectors 1 to 16 on a target
 * that has fp8, and that each refusal names the instruction and the section. */
static void test_every_type_op_and_vector(void **state)
{
    (void)state;
    const PtxTarget target = {100, TRUE};
    guint legal = 0, refused = 0;
    for (guint i = 0; i < PTX_INSTRUCTIONS; i++)
        for (guint o = 0; o < NUMERIC_OPS; o++)
            for (guint t = 0; t < NUMERIC_TYPES; t++)
                for (guint vec = 1; vec <= 16; vec++) {
                    PtxMultimem form = {
                        .instruction = (PtxInstruction)i, .op = (NumericOp)o, .type = (NumericType)t, .vec = vec};
                    GError *error = NULL;
                    gboolean want = (vec == 1 || vec == 2 || vec == 4 || vec == 8) &&
                                    expected(form.instruction, numeric_op_name(form.op), numeric_type_name(form.type),
                                             vec);
                    gboolean got = ptx_check(&form, &target, &error);
                    if (got != want)
                        fail_msg("%s: legal is %d", ptx_spell(&form), got);
                    if (got) {
                        legal++;
                        assert_true(ptx_bytes(&form) == 4 || ptx_bytes(&form) == 8 || ptx_bytes(&form) == 16);
                        continue;
                    }
                    refused++;
                    char *spelled = ptx_spell(&form);
                    assert_true(g_str_has_prefix(error->message, spelled));
                    assert_non_null(strstr(error->message, "PTX ISA 9.0"));
                    g_free(spelled);
                    g_error_free(error);
                }
    assert_true(legal > 200 && refused > 4000);
}

static void check(PtxMultimem form, PtxTarget target, const char *rule)
{
    GError *error = NULL;
    gboolean ok = ptx_check(&form, &target, &error);
    if (!rule) {
        assert_true(ok);
        return;
    }
    assert_false(ok);
    assert_non_null(strstr(error->message, rule));
    g_error_free(error);
}

/* Proves which accumulator goes with which type, and that only ld_reduce.add has one. */
static void test_accumulators(void **state)
{
    (void)state;
    const PtxTarget blackwell = {100, TRUE};
    for (guint t = 0; t < NUMERIC_TYPES; t++)
        for (guint a = PTX_ACC_F16; a <= PTX_ACC_F32; a++) {
            guint element = numeric_type_bytes((NumericType)t);
            PtxMultimem form = {PTX_LD_REDUCE, NUMERIC_ADD, (NumericType)t,   MAX(1, 4 / element),
                                (PtxAcc)a,     PTX_WEAK,    PTX_SCOPE_DEFAULT};
            const char *name = numeric_type_name((NumericType)t);
            gboolean half = strstr(name, "f16") != NULL;
            gboolean legal = a == PTX_ACC_F32 ? half : name[0] == 'e';
            gboolean no_add = t == NUMERIC_S64 || t == NUMERIC_B32 || t == NUMERIC_B64;
            check(form, blackwell, legal ? NULL : no_add ? "types" : "accumulation in");
        }
    PtxMultimem max = {PTX_LD_REDUCE, NUMERIC_MAX, NUMERIC_F16X2, 4, PTX_ACC_F32, PTX_WEAK, 0};
    check(max, blackwell, "add only");
    PtxMultimem red = {PTX_RED, NUMERIC_ADD, NUMERIC_F16X2, 4, PTX_ACC_F32, PTX_RELAXED, PTX_SYS};
    check(red, blackwell, "only ld_reduce");
}

/* Proves the ordering semantics of each instruction, and that a weak access has no scope. */
static void test_order_and_scope(void **state)
{
    (void)state;
    const PtxTarget hopper = {90, FALSE};
    static const gboolean legal[PTX_INSTRUCTIONS][5] = {
        [PTX_LD_REDUCE] = {TRUE, TRUE, TRUE, TRUE, FALSE},
        [PTX_ST] = {TRUE, TRUE, TRUE, FALSE, TRUE},
        [PTX_RED] = {TRUE, FALSE, TRUE, FALSE, TRUE},
    };
    for (guint i = 0; i < PTX_INSTRUCTIONS; i++)
        for (guint s = PTX_SEM_DEFAULT; s <= PTX_RELEASE; s++) {
            PtxMultimem form = {(PtxInstruction)i, NUMERIC_ADD, NUMERIC_F32, 4, 0, (PtxSem)s, 0};
            check(form, hopper, legal[i][s] ? NULL : " is ");
            form.scope = PTX_SYS;
            gboolean weak = s == PTX_WEAK || (s == PTX_SEM_DEFAULT && i != PTX_RED);
            if (legal[i][s])
                check(form, hopper, weak ? "no scope" : NULL);
        }
}

/* Proves that multimem needs sm_90, and fp8 one of the targets that have it. */
static void test_targets(void **state)
{
    (void)state;
    PtxMultimem f32 = {PTX_ST, 0, NUMERIC_F32, 4, 0, PTX_WEAK, 0};
    PtxMultimem fp8 = {PTX_LD_REDUCE, NUMERIC_ADD, NUMERIC_E4M3X4, 4, PTX_ACC_F16, PTX_WEAK, 0};
    check(f32, (PtxTarget){80, FALSE}, "sm_90");
    check(f32, (PtxTarget){90, FALSE}, NULL);
    check(fp8, (PtxTarget){90, TRUE}, "sm_100a");
    check(fp8, (PtxTarget){100, FALSE}, "sm_100a");
    check(fp8, (PtxTarget){100, TRUE}, NULL);
}

/* Proves that an address must be a multiple of what one thread accesses. */
static void test_alignment(void **state)
{
    (void)state;
    PtxMultimem form = {PTX_ST, 0, NUMERIC_F32, 4, 0, PTX_WEAK, 0};
    GError *error = NULL;
    assert_true(ptx_check_address(&form, 0x1010, &error));
    assert_false(ptx_check_address(&form, 0x1008, &error));
    assert_non_null(strstr(error->message, "0x1008"));
    g_error_free(error);
}

/* Proves the text of an instruction: qualifiers in PTX's order. */
static void test_spelling(void **state)
{
    (void)state;
    PtxMultimem form = {PTX_LD_REDUCE, NUMERIC_ADD, NUMERIC_BF16X2, 4, PTX_ACC_F32, PTX_ACQUIRE, PTX_SYS};
    char *text = ptx_spell(&form);
    assert_string_equal(text, "multimem.ld_reduce.acquire.sys.add.acc::f32.v4.bf16x2");
    g_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type_op_and_vector),
        cmocka_unit_test(test_accumulators),
        cmocka_unit_test(test_order_and_scope),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_spelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
