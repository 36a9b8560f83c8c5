/* The multimem rules of the PTX ISA as data (sections "multimem.ld_reduce, multimem.st,
 * multimem.red" and "Addresses as Operands", PTX ISA 9.0) and the walk over them. */
#include "ptx/forms.h"

#define PTX_WHERE "PTX ISA 9.0, section \"multimem.ld_reduce, multimem.st, multimem.red\""

G_DEFINE_QUARK(ptx - error - quark, ptx_error)

#define ADD (1u << NUMERIC_ADD)
#define MINMAX (1u << NUMERIC_MIN | 1u << NUMERIC_MAX)
#define BITS (1u << NUMERIC_AND | 1u << NUMERIC_OR | 1u << NUMERIC_XOR)
#define V(n) (1u << (n))

/* One row a type: operations of ld_reduce, whether st takes it, operations of red, legal vector
 * lengths (bit n: n elements; 1 means no .vec), and the accumulator that may be asked for. */
typedef struct {
    guint ld_reduce_ops;
    gboolean st;
    guint red_ops;
    guint vecs;
    PtxAcc acc;
    gboolean fp8;
} TypeRule;

static const TypeRule type_rules[NUMERIC_TYPES] = {
    [NUMERIC_U32] = {ADD | MINMAX, TRUE, ADD | MINMAX, V(1), PTX_ACC_DEFAULT, FALSE},
    [NUMERIC_U64] = {ADD | MINMAX, TRUE, ADD | MINMAX, V(1), PTX_ACC_DEFAULT, FALSE},
    [NUMERIC_S32] = {ADD | MINMAX, TRUE, ADD | MINMAX, V(1), PTX_ACC_DEFAULT, FALSE},
    [NUMERIC_S64] = {MINMAX, TRUE, MINMAX, V(1), PTX_ACC_DEFAULT, FALSE},
    [NUMERIC_B32] = {BITS, TRUE, BITS, V(1), PTX_ACC_DEFAULT, FALSE},
    [NUMERIC_B64] = {BITS, TRUE, BITS, V(1), PTX_ACC_DEFAULT, FALSE},
    [NUMERIC_F16] = {ADD | MINMAX, TRUE, ADD, V(2) | V(4) | V(8), PTX_ACC_F32, FALSE},
    [NUMERIC_F16X2] = {ADD | MINMAX, TRUE, ADD, V(1) | V(2) | V(4), PTX_ACC_F32, FALSE},
    [NUMERIC_BF16] = {ADD | MINMAX, TRUE, ADD, V(2) | V(4) | V(8), PTX_ACC_F32, FALSE},
    [NUMERIC_BF16X2] = {ADD | MINMAX, TRUE, ADD, V(1) | V(2) | V(4), PTX_ACC_F32, FALSE},
    [NUMERIC_F32] = {ADD, TRUE, ADD, V(1) | V(2) | V(4), PTX_ACC_DEFAULT, FALSE},
    [NUMERIC_F64] = {ADD, TRUE, ADD, V(1), PTX_ACC_DEFAULT, FALSE},
    [NUMERIC_E4M3] = {ADD | MINMAX, TRUE, 0, V(4) | V(8), PTX_ACC_F16, TRUE},
    [NUMERIC_E4M3X2] = {ADD | MINMAX, TRUE, 0, V(2) | V(4) | V(8), PTX_ACC_F16, TRUE},
    [NUMERIC_E4M3X4] = {ADD | MINMAX, TRUE, 0, V(1) | V(2) | V(4), PTX_ACC_F16, TRUE},
    [NUMERIC_E5M2] = {ADD | MINMAX, TRUE, 0, V(4) | V(8), PTX_ACC_F16, TRUE},
    [NUMERIC_E5M2X2] = {ADD | MINMAX, TRUE, 0, V(2) | V(4) | V(8), PTX_ACC_F16, TRUE},
    [NUMERIC_E5M2X4] = {ADD | MINMAX, TRUE, 0, V(1) | V(2) | V(4), PTX_ACC_F16, TRUE},
};

static const struct {
    const char *name;
    guint sems; /* bit 1 << PtxSem */
} instruction_rules[PTX_INSTRUCTIONS] = {
    [PTX_LD_REDUCE] = {"multimem.ld_reduce", V(PTX_WEAK) | V(PTX_RELAXED) | V(PTX_ACQUIRE)},
    [PTX_ST] = {"multimem.st", V(PTX_WEAK) | V(PTX_RELAXED) | V(PTX_RELEASE)},
    [PTX_RED] = {"multimem.red", V(PTX_RELAXED) | V(PTX_RELEASE)},
};
static const char *const sem_text[] = {"", ".weak", ".relaxed", ".acquire", ".release"};
static const char *const scope_text[] = {"", ".cta", ".cluster", ".gpu", ".sys"};
static const char *const acc_text[] = {"", ".acc::f16", ".acc::f32"};

/* fp8 kinds are a feature of these targets only. */
static gboolean target_has_fp8(const PtxTarget *target)
{
    return (target->exact &&
            (target->sm == 100 || target->sm == 101 || target->sm == 103 || target->sm == 120 || target->sm == 121)) ||
           target->sm == 110;
}

guint ptx_bytes(const PtxMultimem *form) { return numeric_type_bytes(form->type) * form->vec; }

char *ptx_spell(const PtxMultimem *form)
{
    GString *s = g_string_new(instruction_rules[form->instruction].name);
    g_string_append(s, sem_text[form->sem]);
    g_string_append(s, scope_text[form->scope]);
    if (form->instruction != PTX_ST)
        g_string_append_printf(s, ".%s", numeric_op_name(form->op));
    g_string_append(s, acc_text[form->acc]);
    if (form->vec != 1)
        g_string_append_printf(s, ".v%u", form->vec);
    g_string_append_printf(s, ".%s", numeric_type_name(form->type));
    return g_string_free(s, FALSE);
}

static gboolean refuse(const PtxMultimem *form, int code, GError **error, const char *rule)
{
    char *spelled = ptx_spell(form);
    g_set_error(error, PTX_ERROR, code, "%s: %s (%s)", spelled, rule, PTX_WHERE);
    g_free(spelled);
    return FALSE;
}

/* The rule that forbids the operation on the type, or NULL. */
static const char *broken_op_rule(const PtxMultimem *form)
{
    const TypeRule *rule = &type_rules[form->type];
    guint ops = form->instruction == PTX_RED ? rule->red_ops : rule->ld_reduce_ops;
    if (form->instruction == PTX_ST || ops >> form->op & 1)
        return NULL;
    if (form->instruction == PTX_RED && rule->fp8)
        return "red takes no fp8 type; its float types are f16, f16x2, bf16, bf16x2, f32, f64";
    if (form->instruction == PTX_RED && numeric_is_float(form->type))
        return "the only operation of red on floating-point types is add";
    if (BITS >> form->op & 1)
        return "and, or, xor are for the types b32 and b64";
    if (form->op == NUMERIC_ADD)
        return "integer add is for the types u32, u64 and s32";
    if (numeric_is_float(form->type))
        return "min and max on floating-point types are for f16, bf16 and fp8, not for f32 and f64";
    return "min and max on integers are for the types u32, s32, u64 and s64";
}

static const char *broken_vec_rule(const PtxMultimem *form)
{
    guint vec = form->vec;
    if (vec < 32 && type_rules[form->type].vecs & V(vec))
        return NULL;
    if (vec != 1 && vec != 2 && vec != 4 && vec != 8)
        return "a vector has 2, 4 or 8 elements";
    if (vec != 1 && !numeric_is_float(form->type))
        return "vectors are for floating-point types only";
    if (vec != 1 && form->type == NUMERIC_F64)
        return "f64 cannot be a vector";
    return "type and vector together must be 32, 64 or 128 bits wide";
}

static const char *broken_order_rule(const PtxMultimem *form)
{
    if (form->sem != PTX_SEM_DEFAULT && !(instruction_rules[form->instruction].sems & V(form->sem)))
        return form->instruction == PTX_LD_REDUCE ? "ld_reduce is weak, relaxed or acquire"
               : form->instruction == PTX_ST      ? "st is weak, relaxed or release"
                                                  : "red is relaxed or release";
    gboolean weak = form->sem == PTX_WEAK || (form->sem == PTX_SEM_DEFAULT && form->instruction != PTX_RED);
    if (weak && form->scope != PTX_SCOPE_DEFAULT)
        return "a weak access has no scope";
    return NULL;
}

static const char *broken_acc_rule(const PtxMultimem *form)
{
    if (form->acc == PTX_ACC_DEFAULT || form->acc == type_rules[form->type].acc) {
        if (form->acc == PTX_ACC_DEFAULT)
            return NULL;
        if (form->instruction != PTX_LD_REDUCE)
            return "only ld_reduce has an accumulator precision";
        return form->op == NUMERIC_ADD ? NULL : "an accumulator precision goes with add only";
    }
    return form->acc == PTX_ACC_F32 ? "accumulation in f32 is for f16, f16x2, bf16 and bf16x2"
                                    : "accumulation in f16 is for the e4m3 and e5m2 types";
}

gboolean ptx_check(const PtxMultimem *form, const PtxTarget *target, GError **error)
{
    g_assert(form->type < NUMERIC_TYPES && form->instruction < PTX_INSTRUCTIONS);
    const char *(*const rules[])(const PtxMultimem *) = {broken_op_rule, broken_vec_rule, broken_acc_rule,
                                                         broken_order_rule};
    for (guint i = 0; i < G_N_ELEMENTS(rules); i++) {
        const char *broken = rules[i](form);
        if (broken)
            return refuse(form, PTX_ERROR_ILLEGAL, error, broken);
    }
    if (target->sm < 90) {
        g_autofree char *text = g_strdup_printf("multimem needs sm_90 or later, and sm.arch is %u", target->sm);
        return refuse(form, PTX_ERROR_TARGET, error, text);
    }
    if (type_rules[form->type].fp8 && !target_has_fp8(target))
        return refuse(form, PTX_ERROR_TARGET, error, "fp8 types need sm_100a, sm_103a, sm_110, sm_120a or sm_121a");
    return TRUE;
}

/* Operations of a scalar, and of a vector of several. Of scalars of 2 B there are no registers here. */
typedef struct {
    guint scalar_ops, vector_ops;
} AtomicRule;

static const AtomicRule atomic_rules[NUMERIC_TYPES] = {
    [NUMERIC_U32] = {ADD | MINMAX, 0},  [NUMERIC_U64] = {ADD | MINMAX, 0},
    [NUMERIC_S32] = {ADD | MINMAX, 0},  [NUMERIC_S64] = {MINMAX, 0},
    [NUMERIC_B32] = {BITS, 0},          [NUMERIC_B64] = {BITS, 0},
    [NUMERIC_F16] = {0, ADD | MINMAX},  [NUMERIC_F16X2] = {ADD, ADD | MINMAX},
    [NUMERIC_BF16] = {0, ADD | MINMAX}, [NUMERIC_BF16X2] = {ADD, ADD | MINMAX},
    [NUMERIC_F32] = {ADD, ADD},         [NUMERIC_F64] = {ADD, 0},
};

gboolean ptx_check_atomic(gboolean returns, NumericType type, NumericOp op, guint width, GError **error)
{
    const AtomicRule *rule = &atomic_rules[type];
    guint bytes = numeric_type_bytes(type), n = width / bytes;
    const char *where = returns ? "atom" : "red", *broken = NULL;
    g_assert(type < NUMERIC_TYPES && op < NUMERIC_OPS);
    if (!rule->scalar_ops && !rule->vector_ops)
        broken = "fp8 types have no atomic operations";
    else if (width % bytes || n == 0 || (n > 1 && !rule->vector_ops))
        broken = "the width is not the type's, and only f16, f16x2, bf16, bf16x2 and f32 have vectors";
    else if (!((n > 1 ? rule->vector_ops : rule->scalar_ops) >> op & 1))
        broken = BITS >> op & 1           ? "and, or, xor are for the types b32 and b64"
                 : numeric_is_float(type) ? "of floating-point types, vectors of f16 and bf16 alone have min and max"
                 : op == NUMERIC_ADD      ? "integer add is for the types u32, u64 and s32"
                                          : "min and max on integers are for the types u32, s32, u64 and s64";
    if (broken)
        g_set_error(error, PTX_ERROR, PTX_ERROR_ILLEGAL, "%s.%s.%s of %u B: %s (PTX ISA 9.0, section \"%s\")", where,
                    numeric_op_name(op), numeric_type_name(type), width, broken, where);
    return !broken;
}

gboolean ptx_check_address(const PtxMultimem *form, guint64 address, GError **error)
{
    if (address % ptx_bytes(form) == 0)
        return TRUE;
    char *spelled = ptx_spell(form);
    g_set_error(error, PTX_ERROR, PTX_ERROR_ALIGNMENT,
                "%s: address 0x%" G_GINT64_MODIFIER "x is no multiple of the access's %u bytes "
                "(PTX ISA 9.0, section \"Addresses as Operands\")",
                spelled, address, ptx_bytes(form));
    g_free(spelled);
    return FALSE;
}
