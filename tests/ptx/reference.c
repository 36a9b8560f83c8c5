#include "tests/ptx/reference.h"

#include <math.h>
#include <string.h>
/* clang-format off */ /* rows and one-line cases, read by column */
/* ---- trees */

typedef enum { NODE_LIST, NODE_OP, NODE_IF, NODE_LOOP, NODE_SHUFFLE, NODE_BALLOT, NODE_NEIGHBOUR } NodeKind;

/* One row an operation: how it is written, and what its operands are: r, q, f, p; i: a number. */
typedef enum {
    ADD, SUB, MUL, MULHI_U, MULHI_S, MAD, MIN_S, MAX_S, MIN_U, MAX_U, AND, OR, XOR, NOT, NEG, ABS, SHL, SHR_U,
    SHR_S, POPC, CLZ, BREV, BFE_U, BFE_S, BFI, PRMT, LOP3, SHF_L, SHF_R, DIV_U, REM_U, DIV_S, REM_S, SELP, SAD,
    FIND, QADD, QSUB, QMUL, QAND, QXOR, QSHL, QSHR_U, QSHR_S, WIDE_U, WIDE_S, QLOW, QHIGH, FADD, FSUB, FMUL,
    FFMA, FMIN, FMAX, FNEG, FABS, FBITS, FFROM_S, FFROM_U, FTO_S, SET_LT_S, SET_GE_U, SET_EQ, SET_LT_F,
    SET_NE_F, PAND, PXOR, CARRY, LD8, LD16S, LD32, LD64, ST8, ST16, ST32, SLD32, SST32, SST8, RED_ADD, RED_MAX,
    RED_XOR, OPS
} Op;

static const struct {
    const char *text, *operands; /* operands in the order of %s */
} ops[OPS] = {
    [ADD] = {"add.u32 %s, %s, %s;", "rrr"}, [SUB] = {"sub.s32 %s, %s, %s;", "rrr"},
    [MUL] = {"mul.lo.u32 %s, %s, %s;", "rrr"}, [MULHI_U] = {"mul.hi.u32 %s, %s, %s;", "rrr"},
    [MULHI_S] = {"mul.hi.s32 %s, %s, %s;", "rrr"}, [MAD] = {"mad.lo.s32 %s, %s, %s, %s;", "rrrr"},
    [MIN_S] = {"min.s32 %s, %s, %s;", "rrr"}, [MAX_S] = {"max.s32 %s, %s, %s;", "rrr"},
    [MIN_U] = {"min.u32 %s, %s, %s;", "rrr"}, [MAX_U] = {"max.u32 %s, %s, %s;", "rrr"},
    [AND] = {"and.b32 %s, %s, %s;", "rrr"}, [OR] = {"or.b32 %s, %s, %s;", "rrr"},
    [XOR] = {"xor.b32 %s, %s, %s;", "rrr"}, [NOT] = {"not.b32 %s, %s;", "rr"}, [NEG] = {"neg.s32 %s, %s;", "rr"},
    [ABS] = {"abs.s32 %s, %s;", "rr"}, [SHL] = {"shl.b32 %s, %s, %s;", "rrr"}, [SHR_U] = {"shr.u32 %s, %s, %s;", "rrr"},
    [SHR_S] = {"shr.s32 %s, %s, %s;", "rrr"}, [POPC] = {"popc.b32 %s, %s;", "rr"}, [CLZ] = {"clz.b32 %s, %s;", "rr"},
    [BREV] = {"brev.b32 %s, %s;", "rr"}, [BFE_U] = {"bfe.u32 %s, %s, %s, %s;", "rrrr"},
    [BFE_S] = {"bfe.s32 %s, %s, %s, %s;", "rrrr"}, [BFI] = {"bfi.b32 %s, %s, %s, %s, %s;", "rrrii"},
    [PRMT] = {"prmt.b32 %s, %s, %s, %s;", "rrrr"}, [LOP3] = {"lop3.b32 %s, %s, %s, %s, %s;", "rrrrl"},
    [SHF_L] = {"shf.l.wrap.b32 %s, %s, %s, %s;", "rrrr"}, [SHF_R] = {"shf.r.clamp.b32 %s, %s, %s, %s;", "rrrr"},
    [DIV_U] = {"or.b32 %%t, %3$s, 1; div.u32 %1$s, %2$s, %%t;", "rrr"},
    [REM_U] = {"or.b32 %%t, %3$s, 1; rem.u32 %1$s, %2$s, %%t;", "rrr"},
    [DIV_S] = {"or.b32 %%t, %3$s, 1; and.b32 %%t, %%t, 65535; div.s32 %1$s, %2$s, %%t;", "rrr"},
    [REM_S] = {"or.b32 %%t, %3$s, 1; and.b32 %%t, %%t, 65535; rem.s32 %1$s, %2$s, %%t;", "rrr"},
    [SELP] = {"selp.b32 %s, %s, %s, %s;", "rrrp"}, [SAD] = {"sad.u32 %s, %s, %s, %s;", "rrrr"},
    [FIND] = {"bfind.u32 %s, %s;", "rr"},
    [QADD] = {"add.u64 %s, %s, %s;", "qqq"}, [QSUB] = {"sub.s64 %s, %s, %s;", "qqq"},
    [QMUL] = {"mul.lo.u64 %s, %s, %s;", "qqq"}, [QAND] = {"and.b64 %s, %s, %s;", "qqq"},
    [QXOR] = {"xor.b64 %s, %s, %s;", "qqq"}, [QSHL] = {"shl.b64 %s, %s, %s;", "qqr"},
    [QSHR_U] = {"shr.u64 %s, %s, %s;", "qqr"}, [QSHR_S] = {"shr.s64 %s, %s, %s;", "qqr"},
    [WIDE_U] = {"mul.wide.u32 %s, %s, %s;", "qrr"}, [WIDE_S] = {"mul.wide.s32 %s, %s, %s;", "qrr"},
    [QLOW] = {"cvt.u32.u64 %s, %s;", "rq"}, [QHIGH] = {"mov.b64 {%%t, %s}, %s;", "rq"},
    [FADD] = {"add.rn.f32 %s, %s, %s;", "fff"}, [FSUB] = {"sub.rn.f32 %s, %s, %s;", "fff"},
    [FMUL] = {"mul.rn.f32 %s, %s, %s;", "fff"}, [FFMA] = {"fma.rn.f32 %s, %s, %s, %s;", "ffff"},
    [FMIN] = {"min.f32 %s, %s, %s;", "fff"},
    [FMAX] = {"max.f32 %s, %s, %s;", "fff"}, [FNEG] = {"neg.f32 %s, %s;", "ff"},
    [FABS] = {"abs.f32 %s, %s;", "ff"}, [FBITS] = {"mov.b32 %s, %s;", "rf"},
    [FFROM_S] = {"cvt.rn.f32.s32 %s, %s;", "fr"}, [FFROM_U] = {"cvt.rn.f32.u32 %s, %s;", "fr"},
    [FTO_S] = {"cvt.rzi.s32.f32 %s, %s;", "rf"},
    [SET_LT_S] = {"setp.lt.s32 %s, %s, %s;", "prr"}, [SET_GE_U] = {"setp.ge.u32 %s, %s, %s;", "prr"},
    [SET_EQ] = {"setp.eq.u32 %s, %s, %s;", "prr"}, [SET_LT_F] = {"setp.lt.f32 %s, %s, %s;", "pff"},
    [SET_NE_F] = {"setp.neu.f32 %s, %s, %s;", "pff"}, [PAND] = {"and.pred %s, %s, %s;", "ppp"},
    [PXOR] = {"xor.pred %s, %s, %s;", "ppp"},
    [CARRY] = {"add.cc.u32 %1$s, %3$s, %4$s; addc.u32 %2$s, %5$s, 0;", "rrrrr"},
    [LD8] = {"ld.global.u8 %s, [%%slot+%s];", "rB"}, [LD16S] = {"ld.global.s16 %s, [%%slot+%s];", "rH"},
    [LD32] = {"ld.global.u32 %s, [%%slot+%s];", "rW"}, [LD64] = {"ld.global.u64 %s, [%%slot+%s];", "qQ"},
    [ST8] = {"st.global.u8 [%%slot+%2$s], %1$s;", "rB"}, [ST16] = {"st.global.u16 [%%slot+%2$s], %%h; // %1$s", "rH"},
    [ST32] = {"st.global.u32 [%%slot+%2$s], %1$s;", "rW"}, [SLD32] = {"ld.shared.u32 %s, [%%own+%s];", "rW"},
    [SST32] = {"st.shared.u32 [%%own+%2$s], %1$s;", "rW"}, [SST8] = {"st.shared.u8 [%%own+%2$s], %1$s;", "rB"},
    [RED_ADD] = {"red.global.add.u32 [%%all+%2$s], %1$s;", "rC"},
    [RED_MAX] = {"red.global.max.u32 [%%all+%2$s], %1$s;", "rD"},
    [RED_XOR] = {"red.global.xor.b32 [%%all+%2$s], %1$s;", "rE"},
};

struct RefNode {
    NodeKind kind;
    Op op;
    guint32 operand[5];
    gboolean guarded, negated; /* by predicate `guard` */
    guint32 guard, depth;
    GPtrArray *then, *other;
};

/* ---- drawing */

typedef struct {
    guint64 state;
    RefProgram *program;
} Draw;

static guint32 draw(Draw *d, guint32 below)
{
    d->state += G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    guint64 x = d->state;
    x = (x ^ x >> 30) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
    return (guint32)((x ^ x >> 31) % below);
}

static guint32 draw_operand(Draw *d, char kind)
{
    switch (kind) {
    case 'r': return draw(d, REF_WORDS);
    case 'q': return draw(d, REF_LONGS);
    case 'f': return draw(d, REF_FLOATS);
    case 'p': return draw(d, REF_PREDICATES);
    case 'i': return draw(d, 40);
    case 'l': return draw(d, 256);
    case 'B': return draw(d, draw(d, 2) ? REF_SLOT : 8); /* the same words often */
    case 'H': return draw(d, draw(d, 2) ? REF_SLOT / 2 : 4) * 2;
    case 'W': return draw(d, draw(d, 2) ? REF_SLOT / 4 : 2) * 4;
    case 'Q': return draw(d, draw(d, 2) ? REF_SLOT / 8 : 1) * 8;
    case 'C': return draw(d, 3) * 4; /* each operation has counters of its own, so that the order does not matter */
    case 'D': return (3 + draw(d, 2)) * 4;
    default: return (5 + draw(d, 3)) * 4;
    }
}

static RefNode *draw_node(Draw *d, guint depth);

static GPtrArray *draw_list(Draw *d, guint depth, guint most)
{
    GPtrArray *list = g_ptr_array_new();
    for (guint n = 1 + draw(d, most); n > 0; n--)
        g_ptr_array_add(list, draw_node(d, depth));
    return list;
}

static RefNode *draw_node(Draw *d, guint depth)
{
    RefNode *node = g_new0(RefNode, 1);
    guint32 what = draw(d, 20);
    d->program->nodes++;
    node->depth = depth;
    node->guard = draw(d, REF_PREDICATES);
    node->negated = draw(d, 2);
    if (depth == 0 && what == 0) {
        node->kind = NODE_SHUFFLE + (NodeKind)draw(d, 3);
        node->operand[0] = draw(d, REF_WORDS);
        node->operand[1] = draw(d, REF_WORDS);
        node->operand[2] = draw(d, 32);
        return node;
    }
    if (depth < 3 && what <= 2) {
        node->kind = what == 1 ? NODE_IF : NODE_LOOP;
        node->then = draw_list(d, depth + 1, 6);
        if (what == 1 && draw(d, 2))
            node->other = draw_list(d, depth + 1, 6);
        node->operand[0] = draw(d, REF_WORDS);
        return node;
    }
    node->kind = NODE_OP;
    do
        node->op = draw(d, 4) ? (Op)draw(d, OPS) : (Op)(LD8 + draw(d, SST8 + 1 - LD8)); /* memory often */
    while (node->op == ST16);
    node->guarded = draw(d, 5) == 0 && node->op != CARRY && node->op != DIV_U && node->op != REM_U &&
                    node->op != DIV_S && node->op != REM_S;
    for (guint i = 0; ops[node->op].operands[i]; i++)
        node->operand[i] = draw_operand(d, ops[node->op].operands[i]);
    return node;
}

RefProgram *ref_draw(guint64 seed)
{
    RefProgram *program = g_new0(RefProgram, 1);
    Draw d = {seed, program};
    program->root = g_new0(RefNode, 1);
    program->root->then = draw_list(&d, 0, 60);
    return program;
}

static void free_list(GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        RefNode *node = list->pdata[i];
        free_list(node->then);
        free_list(node->other);
        g_free(node);
    }
    if (list)
        g_ptr_array_unref(list);
}

void ref_free(RefProgram *program)
{
    free_list(program->root->then);
    g_free(program->root);
    g_free(program);
}

/* ---- as PTX */

static void print_operand(char kind, guint32 value, char *text, gsize size)
{
    static const char *const names[] = {['r'] = "%r", ['q'] = "%q", ['f'] = "%f", ['p'] = "%p"};
    gboolean is_register = kind >= 'f' && names[(guint)kind];
    g_snprintf(text, size, "%s%u", is_register ? names[(guint)kind] : "", value);
}

static void print_op(const RefNode *node, GString *out)
{
    char text[5][16] = {{0}};
    for (guint i = 0; ops[node->op].operands[i]; i++)
        print_operand(ops[node->op].operands[i], node->operand[i], text[i], sizeof text[i]);
    if (node->guarded)
        g_string_append_printf(out, "@%s%%p%u ", node->negated ? "!" : "", node->guard);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    g_string_append_printf(out, ops[node->op].text, text[0], text[1], text[2], text[3], text[4]);
#pragma GCC diagnostic pop
    g_string_append_c(out, '\n');
}

static void print_list(const GPtrArray *list, GString *out, guint *label);

static void print_node(const RefNode *node, GString *out, guint *label)
{
    guint at = (*label)++;
    switch (node->kind) {
    case NODE_OP: print_op(node, out); break;
    case NODE_IF:
        g_string_append_printf(out, "@%s%%p%u bra $O%u;\n", node->negated ? "!" : "", node->guard, at);
        print_list(node->then, out, label);
        if (node->other) {
            g_string_append_printf(out, "bra $E%u;\n$O%u:\n", at, at);
            print_list(node->other, out, label);
            g_string_append_printf(out, "$E%u:\n", at);
        } else {
            g_string_append_printf(out, "$O%u:\n", at);
        }
        break;
    case NODE_LOOP: /* one to four times, by a register's low bits */
        g_string_append_printf(out, "and.b32 %%c%u, %%r%u, 3;\n$L%u:\n", node->depth, node->operand[0], at);
        print_list(node->then, out, label);
        g_string_append_printf(out, "setp.ne.u32 %%z, %%c%u, 0; sub.u32 %%c%u, %%c%u, 1; @%%z bra $L%u;\n",
                               node->depth, node->depth, node->depth, at);
        break;
    case NODE_SHUFFLE:
        g_string_append_printf(out, "shfl.sync.bfly.b32 %%r%u, %%r%u, %u, 31, -1;\n", node->operand[0],
                               node->operand[1], node->operand[2]);
        break;
    case NODE_BALLOT:
        g_string_append_printf(out, "vote.sync.ballot.b32 %%r%u, %%p%u, -1;\n", node->operand[0], node->guard);
        break;
    default: /* a word of the next thread, which lies in shared memory between two barriers */
        g_string_append_printf(out, "st.shared.u32 [%%own], %%r%u; bar.sync 0; ld.shared.u32 %%r%u, [%%next]; "
                                    "bar.sync 0;\n", node->operand[1], node->operand[0]);
        break;
    }
}

static void print_list(const GPtrArray *list, GString *out, guint *label)
{
    for (guint i = 0; i < list->len; i++)
        print_node(list->pdata[i], out, label);
}

char *ref_print(const RefProgram *program)
{
    GString *out = g_string_new(".version 8.6\n.target sm_90\n.address_size 64\n");
    guint label = 0;
    g_string_append_printf(out, ".shared .align 8 .b8 memory[%u];\n"
                           ".visible .entry k(.param .u64 slots, .param .u64 out, "
                           ".param .u64 counters)\n{\n.reg .b32 %%r<9>, %%c<4>, %%t, %%own, %%next; .reg .b64 %%q<5>, "
                           "%%slot, %%all, %%to, %%x; .reg .f32 %%f<5>; .reg .pred %%p<5>, %%z;\n",
                           REF_THREADS * REF_SLOT);
    g_string_append_printf(out, "mov.u32 %%t, %%tid.x; ld.param.u64 %%slot, [slots]; ld.param.u64 %%to, [out]; "
                           "ld.param.u64 %%all, [counters]; mul.wide.u32 %%x, %%t, %u; add.s64 %%slot, %%slot, %%x; "
                           "mul.wide.u32 %%x, %%t, %u; add.s64 %%to, %%to, %%x; mov.u32 %%own, memory; "
                           "mad.lo.u32 %%own, %%t, %u, %%own; add.u32 %%next, %%t, 1; and.b32 %%next, %%next, %u; "
                           "mov.u32 %%c0, memory; mad.lo.u32 %%next, %%next, %u, %%c0;\n",
                           REF_SLOT, REF_OUT, REF_SLOT, REF_THREADS - 1, REF_SLOT);
    for (guint i = 0; i < REF_SLOT / 4; i++)
        g_string_append_printf(out, "mov.u32 %%c1, 0; st.shared.u32 [%%own+%u], %%c1;\n", i * 4);
    for (guint i = 0; i < REF_WORDS; i++)
        g_string_append_printf(out, "ld.global.u32 %%r%u, [%%slot+%u];\n", i, i * 4);
    for (guint i = 0; i < REF_LONGS; i++)
        g_string_append_printf(out, "ld.global.u64 %%q%u, [%%slot+%u];\n", i, i * 8 + 16);
    for (guint i = 0; i < REF_FLOATS; i++)
        g_string_append_printf(out, "cvt.rn.f32.s32 %%f%u, %%r%u; setp.lt.s32 %%p%u, %%r%u, 0;\n", i, i + 2, i, i);
    print_list(program->root->then, out, &label);
    for (guint i = 0; i < REF_WORDS; i++)
        g_string_append_printf(out, "st.global.u32 [%%to+%u], %%r%u;\n", i * 4, i);
    for (guint i = 0; i < REF_LONGS; i++)
        g_string_append_printf(out, "st.global.u64 [%%to+%u], %%q%u;\n", REF_WORDS * 4 + i * 8, i);
    for (guint i = 0; i < REF_FLOATS; i++)
        g_string_append_printf(out, "st.global.f32 [%%to+%u], %%f%u; selp.u32 %%t, 1, 0, %%p%u; "
                               "st.global.u32 [%%to+%u], %%t;\n", REF_WORDS * 4 + REF_LONGS * 8 + i * 4, i, i,
                               REF_WORDS * 4 + REF_LONGS * 8 + REF_FLOATS * 4 + i * 4);
    g_string_append(out, "ret;\n}\n");
    return g_string_free(out, FALSE);
}

/* ---- as it is meant */

static float canonical(float x)
{
    guint32 bits = 0x7fffffff;
    if (isnan(x))
        memcpy(&x, &bits, 4);
    return x;
}

static float smaller(float a, float b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? canonical(b) : a;
    return a < b || (a == b && signbit(a)) ? a : b;
}

static guint32 prmt(guint32 a, guint32 b, guint32 how)
{
    guint64 all = (guint64)b << 32 | a;
    guint32 result = 0;
    for (guint i = 0; i < 4; i++) {
        guint32 pick = how >> (4 * i) & 15, byte = (guint32)(all >> (8 * (pick & 7))) & 255;
        if (pick & 8)
            byte = byte & 128 ? 255 : 0;
        result |= byte << (8 * i);
    }
    return result;
}

static guint32 lop3(guint32 a, guint32 b, guint32 c, guint32 table)
{
    guint32 result = 0;
    for (guint i = 0; i < 32; i++)
        result |= (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
    return result;
}

static guint32 bfe(guint32 a, guint32 at, guint32 length, gboolean is_signed)
{
    guint32 result = 0;
    at &= 255;
    length &= 255;
    guint32 last = at + length - 1 < 31 ? at + length - 1 : 31; /* the sign is that of the last bit of the field */
    guint32 sign = is_signed && length ? a >> last & 1 : 0;
    for (guint i = 0; i < 32; i++)
        result |= (i < length && at + i < 32 ? a >> (at + i) & 1 : sign) << i;
    return result;
}

static guint32 bfi(guint32 a, guint32 b, guint32 at, guint32 length)
{
    for (guint i = 0; i < length && at + i < 32; i++)
        b = (b & ~(1u << (at + i))) | (a >> i & 1) << (at + i);
    return b;
}

static guint32 to_int(float x)
{
    if (isnan(x))
        return 0;
    return x >= 2147483648.0f ? 0x7fffffffu : x <= -2147483648.0f ? 0x80000000u : (guint32)(gint32)x;
}

static guint32 words(Op op, const guint32 v[5], const RefThread *t, const guint32 *at)
{
    guint32 a = v[1], b = v[2], c = v[3];
    gint32 x = (gint32)a, y = (gint32)b;
    switch (op) {
    case ADD: return a + b;
    case SUB: return a - b;
    case MUL: return a * b;
    case MULHI_U: return (guint32)((guint64)a * b >> 32);
    case MULHI_S: return (guint32)((guint64)((gint64)x * y) >> 32);
    case MAD: return a * b + c;
    case MIN_S: return x < y ? a : b;
    case MAX_S: return x > y ? a : b;
    case MIN_U: return a < b ? a : b;
    case MAX_U: return a > b ? a : b;
    case AND: return a & b;
    case OR: return a | b;
    case XOR: return a ^ b;
    case NOT: return ~a;
    case NEG: return 0 - a;
    case ABS: return x < 0 ? 0 - a : a;
    case SHL: return b > 31 ? 0 : a << b;
    case SHR_U: return b > 31 ? 0 : a >> b;
    case SHR_S: return (guint32)(x >> (b > 31 ? 31 : b));
    case POPC: {
        guint32 n = 0;
        for (; a; a &= a - 1)
            n++;
        return n;
    }
    case CLZ: {
        guint32 n = 0;
        while (n < 32 && !(a >> (31 - n) & 1))
            n++;
        return n;
    }
    case FIND: {
        guint32 n = 31;
        while (n != G_MAXUINT32 && !(a >> n & 1))
            n--;
        return n;
    }
    case BREV: {
        guint32 r = 0;
        for (guint i = 0; i < 32; i++)
            r |= (a >> i & 1) << (31 - i);
        return r;
    }
    case BFE_U: return bfe(a, b, c, FALSE);
    case BFE_S: return bfe(a, b, c, TRUE);
    case BFI: return bfi(a, b, at[3], at[4]);
    case PRMT: return prmt(a, b, c);
    case LOP3: return lop3(a, b, c, at[4]);
    case SHF_L: return (guint32)((((guint64)b << 32 | a) << (c & 31)) >> 32);
    case SHF_R: return (guint32)(((guint64)b << 32 | a) >> (c > 32 ? 32 : c));
    case DIV_U: return a / (b | 1);
    case REM_U: return a % (b | 1);
    case DIV_S: return (guint32)(x / (gint32)((b | 1) & 65535));
    case REM_S: return (guint32)(x % (gint32)((b | 1) & 65535));
    case SELP: return t->p[at[3]] ? a : b;
    default: return (a > b ? a - b : b - a) + c; /* SAD */
    }
}

static void run_longs(RefThread *t, const RefNode *node)
{
    const guint32 *o = node->operand;
    guint64 a = node->op == WIDE_U || node->op == WIDE_S ? 0 : t->q[o[1]];
    guint64 b = node->op >= QADD && node->op <= QXOR ? t->q[o[2]] : 0;
    guint32 shift = node->op >= QSHL && node->op <= QSHR_S ? t->r[o[2]] : 0;
    guint64 *d = o[0] < REF_LONGS ? &t->q[o[0]] : NULL; /* of those that write no word */
    switch (node->op) {
    case QADD: *d = a + b; break;
    case QSUB: *d = a - b; break;
    case QMUL: *d = a * b; break;
    case QAND: *d = a & b; break;
    case QXOR: *d = a ^ b; break;
    case QSHL: *d = shift > 63 ? 0 : a << shift; break;
    case QSHR_U: *d = shift > 63 ? 0 : a >> shift; break;
    case QSHR_S: *d = (guint64)((gint64)a >> (shift > 63 ? 63 : shift)); break;
    case WIDE_U: *d = (guint64)t->r[o[1]] * t->r[o[2]]; break;
    case WIDE_S: *d = (guint64)((gint64)(gint32)t->r[o[1]] * (gint32)t->r[o[2]]); break;
    case QLOW: t->r[o[0]] = (guint32)a; break;
    default: t->r[o[0]] = (guint32)(a >> 32); break;
    }
}

static void run_floats(RefThread *t, const RefNode *node)
{
    const guint32 *o = node->operand;
    float a = t->f[o[1] % REF_FLOATS], b = t->f[o[2] % REF_FLOATS], c = t->f[o[3] % REF_FLOATS];
    float *d = &t->f[o[0] % REF_FLOATS];
    guint32 bits;
    switch (node->op) {
    case FADD: *d = canonical(a + b); break;
    case FSUB: *d = canonical(a - b); break;
    case FMUL: *d = canonical(a * b); break;
    case FFMA: *d = canonical(fmaf(a, b, c)); break;
    case FMIN: *d = canonical(smaller(a, b)); break;
    case FMAX: *d = canonical(-smaller(-a, -b)); break;
    case FNEG: *d = canonical(-a); break;
    case FABS: *d = canonical(fabsf(a)); break;
    case FFROM_S: *d = (float)(gint32)t->r[o[1]]; break;
    case FFROM_U: *d = (float)t->r[o[1]]; break;
    case FTO_S: t->r[o[0]] = to_int(a); break;
    case SET_LT_F: t->p[o[0]] = a < b; break;
    case SET_NE_F: t->p[o[0]] = !(a == b); break;
    default:
        memcpy(&bits, &a, 4);
        t->r[o[0]] = bits;
        break;
    }
}

static void run_memory(RefThread *t, const RefNode *node, guint32 *counters)
{
    const guint32 *o = node->operand;
    guint32 *r = &t->r[o[0] % REF_WORDS];
    gint16 half;
    switch (node->op) {
    case LD8: *r = t->global[o[1]]; break;
    case LD16S:
        memcpy(&half, t->global + o[1], 2);
        *r = (guint32)(gint32)half;
        break;
    case LD32: memcpy(r, t->global + o[1], 4); break;
    case LD64: memcpy(&t->q[o[0]], t->global + o[1], 8); break;
    case ST8: t->global[o[1]] = (guint8)*r; break;
    case ST32: memcpy(t->global + o[1], r, 4); break;
    case SLD32: memcpy(r, t->shared + o[1], 4); break;
    case SST32: memcpy(t->shared + o[1], r, 4); break;
    case SST8: t->shared[o[1]] = (guint8)*r; break;
    case RED_ADD: counters[o[1] / 4] += *r; break;
    case RED_MAX: counters[o[1] / 4] = MAX(counters[o[1] / 4], *r); break;
    default: counters[o[1] / 4] ^= *r; break;
    }
}

static void run_op(RefThread *t, const RefNode *node, guint32 *counters)
{
    const guint32 *o = node->operand;
    guint32 v[5];
    for (guint i = 0; i < 5; i++)
        v[i] = t->r[o[i] % REF_WORDS];
    if (node->guarded && t->p[node->guard] == node->negated)
        return;
    switch (node->op) {
    case SET_LT_S: t->p[o[0]] = (gint32)v[1] < (gint32)v[2]; break;
    case SET_GE_U: t->p[o[0]] = v[1] >= v[2]; break;
    case SET_EQ: t->p[o[0]] = v[1] == v[2]; break;
    case PAND: t->p[o[0]] = t->p[o[1]] && t->p[o[2]]; break;
    case PXOR: t->p[o[0]] = t->p[o[1]] != t->p[o[2]]; break;
    case CARRY: { /* the second sum reads its operand after the first one is written */
        guint64 sum = (guint64)v[2] + v[3];
        t->r[o[0]] = (guint32)sum;
        t->r[o[1]] = t->r[o[4]] + (guint32)(sum >> 32);
        break;
    }
    default:
        if (node->op <= FIND)
            t->r[o[0]] = words(node->op, v, t, o);
        else if (node->op <= QHIGH)
            run_longs(t, node);
        else if (node->op <= SET_NE_F)
            run_floats(t, node);
        else
            run_memory(t, node, counters);
    }
}

static void run_list(const GPtrArray *list, RefThread *t, guint32 *counters)
{
    for (guint i = 0; list && i < list->len; i++) {
        const RefNode *node = list->pdata[i];
        if (node->kind == NODE_OP) {
            run_op(t, node, counters);
        } else if (node->kind == NODE_IF) {
            gboolean skip = t->p[node->guard] != node->negated;
            run_list(skip ? node->other : node->then, t, counters);
        } else {
            for (guint32 left = (t->r[node->operand[0]] & 3) + 1; left > 0; left--)
                run_list(node->then, t, counters);
        }
    }
}

/* What all threads do together: each one's result comes from what all had before. */
static void run_together(const RefNode *node, RefThread *threads)
{
    guint32 before[REF_THREADS], ballot[2] = {0, 0};
    for (guint i = 0; i < REF_THREADS; i++) {
        before[i] = threads[i].r[node->operand[1]];
        ballot[i / 32] |= (guint32)threads[i].p[node->guard] << (i % 32);
    }
    for (guint i = 0; i < REF_THREADS; i++) {
        guint32 *r = &threads[i].r[node->operand[0]];
        if (node->kind == NODE_SHUFFLE)
            *r = before[i ^ node->operand[2]];
        else if (node->kind == NODE_BALLOT)
            *r = ballot[i / 32];
        else
            *r = before[(i + 1) % REF_THREADS];
        if (node->kind == NODE_NEIGHBOUR)
            memcpy(threads[i].shared, &before[i], 4);
    }
}

void ref_run(const RefProgram *program, RefThread threads[REF_THREADS], guint32 counters[REF_COUNTERS])
{
    for (guint i = 0; i < REF_THREADS; i++) {
        RefThread *t = &threads[i];
        memset(t->shared, 0, sizeof t->shared);
        memcpy(t->r, t->global, sizeof t->r);
        memcpy(t->q, t->global + 16, sizeof t->q);
        for (guint k = 0; k < REF_FLOATS; k++) {
            t->f[k] = (float)(gint32)t->r[k + 2];
            t->p[k] = (gint32)t->r[k] < 0;
        }
    }
    const GPtrArray *list = program->root->then;
    for (guint n = 0; n < list->len; n++) {
        RefNode *node = list->pdata[n];
        if (node->kind >= NODE_SHUFFLE) {
            run_together(node, threads);
            continue;
        }
        GPtrArray *one = g_ptr_array_new();
        g_ptr_array_add(one, node);
        for (guint i = 0; i < REF_THREADS; i++)
            run_list(one, &threads[i], counters);
        g_ptr_array_unref(one);
    }
}

void ref_out(const RefThread *thread, guint8 out[REF_OUT])
{
    guint8 *at = out;
    memcpy(at, thread->r, sizeof thread->r);
    at += sizeof thread->r;
    memcpy(at, thread->q, sizeof thread->q);
    at += sizeof thread->q;
    memcpy(at, thread->f, sizeof thread->f);
    at += sizeof thread->f;
    for (guint i = 0; i < REF_PREDICATES; i++) {
        guint32 p = thread->p[i];
        memcpy(at + i * 4, &p, 4);
    }
}
