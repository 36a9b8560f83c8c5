#include "tests/ptx/matrix_kernels.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
const char matrix_head[] = ".version 8.7\n.target sm_90a\n.address_size 64\n";
const char *const matrix_styles[STYLES] = {"narrow", "wide", "tiny", "special", "cancel", "huge"};

enum { F16, BF16, TF32, F32, F64, E4M3, E5M2, S8, U8, S4, U4, B1, S32, B16, TYPES };
static const struct { const char *name; unsigned bits, e, m; } types[TYPES] = {
    [F16] = {"f16", 16, 5, 10}, [BF16] = {"bf16", 16, 8, 7}, [TF32] = {"tf32", 32, 8, 23}, [F32] = {"f32", 32, 8, 23},
    [F64] = {"f64", 64, 11, 52}, [E4M3] = {"e4m3", 8, 4, 3}, [E5M2] = {"e5m2", 8, 5, 2}, [S8] = {"s8", 8, 0, 0},
    [U8] = {"u8", 8, 0, 0}, [S4] = {"s4", 4, 0, 0}, [U4] = {"u4", 4, 0, 0}, [B1] = {"b1", 1, 0, 0},
    [S32] = {"s32", 32, 0, 0}, [B16] = {"b16", 16, 0, 0}};
/* clang-format on */

/* ---- the list */

static MatrixKernel list[400];
static size_t n_list;

static MatrixKernel *add(MatrixKind kind, unsigned threads, const char *format, ...)
{
    MatrixKernel *k = &list[n_list++];
    va_list args;
    va_start(args, format);
    vsnprintf(k->name, sizeof k->name, format, args);
    va_end(args);
    k->kind = kind;
    k->threads = threads;
    k->bytes = 4;
    return k;
}

static void add_mma(unsigned m, unsigned n, unsigned k, const char *words, unsigned d, unsigned a, unsigned b,
                    unsigned c, const char *tail)
{
    const int is_first = m == 8 && n == 8 && k == 4 && a == F16;
    MatrixKernel *x = add(MATRIX_MMA, 32, "mma.sync.aligned.m%un%uk%u.%s.%s.%s.%s.%s%s", m, n, k, words, types[d].name,
                          types[a].name, types[b].name, types[c].name, tail);
    x->type_d = d, x->type_a = a, x->type_b = b, x->type_c = c;
    x->bytes = d == F64 ? 8 : 4;
    unsigned bits = 8 * x->bytes;
    x->a = is_first ? 2 : m * k * types[a].bits / 32 / bits;
    x->b = is_first ? 2 : n * k * types[b].bits / 32 / bits;
    x->c = is_first ? (c == F32 ? 8 : 4) : m * n * types[c].bits / 32 / bits;
    x->d = is_first ? (d == F32 ? 8 : 4) : m * n * types[d].bits / 32 / bits;
}

static void list_mma(void)
{
    static const char *const orders[] = {"row.row", "row.col", "col.row", "col.col"};
    for (unsigned o = 0; o < 4; o++) {
        add_mma(8, 8, 4, orders[o], F16, F16, F16, F16, "");
        add_mma(8, 8, 4, orders[o], F32, F16, F16, F32, "");
        add_mma(8, 8, 4, orders[o], F32, F16, F16, F16, "");
    }
    for (unsigned k = 8; k <= 16; k += 8) {
        add_mma(16, 8, k, "row.col", F16, F16, F16, F16, "");
        add_mma(16, 8, k, "row.col", F32, F16, F16, F32, "");
        add_mma(16, 8, k, "row.col", F32, BF16, BF16, F32, "");
        add_mma(16, 8, k / 2, "row.col", F32, TF32, TF32, F32, "");
        for (unsigned ab = 0; ab < 4; ab++) {
            add_mma(16, 8, 2 * k, "row.col", F32, ab & 2 ? E5M2 : E4M3, ab & 1 ? E5M2 : E4M3, F32, "");
            add_mma(16, 8, 2 * k, "row.col", F16, ab & 2 ? E5M2 : E4M3, ab & 1 ? E5M2 : E4M3, F16, "");
        }
    }
    add_mma(8, 8, 4, "row.col", F64, F64, F64, F64, "");
    for (unsigned k = 4; k <= 16; k *= 2)
        add_mma(16, 8, k, "row.col", F64, F64, F64, F64, "");
    add_mma(16, 8, 8, "row.col", F64, F64, F64, F64, ".rz");
    add_mma(16, 8, 8, "row.col", F64, F64, F64, F64, ".rm");
    add_mma(16, 8, 8, "row.col", F64, F64, F64, F64, ".rp");
    for (unsigned s = 0; s < 2; s++)
        for (unsigned ab = 0; ab < 4; ab++)
            for (unsigned four = 0; four < 2; four++) {
                const char *words = s ? "row.col.satfinite" : "row.col";
                unsigned a = four     ? (ab & 2 ? U4 : S4)
                             : ab & 2 ? U8
                                      : S8,
                         b = four     ? (ab & 1 ? U4 : S4)
                             : ab & 1 ? U8
                                      : S8;
                add_mma(8, 8, 16 << four, words, S32, a, b, S32, "");
                add_mma(16, 8, 16 << four, words, S32, a, b, S32, "");
                add_mma(16, 8, 32 << four, words, S32, a, b, S32, "");
            }
    for (unsigned o = 0; o < 2; o++) {
        const char *tail = o ? ".and.popc" : ".xor.popc";
        add_mma(8, 8, 128, "row.col", S32, B1, B1, S32, tail);
        add_mma(16, 8, 128, "row.col", S32, B1, B1, S32, tail);
        add_mma(16, 8, 256, "row.col", S32, B1, B1, S32, tail);
    }
}

/* flags: t A is transposed, T B is, n A is negated, N B is, r A lies in registers, s .satfinite, a digit: the layout */
static void add_wgmma(unsigned n, unsigned d, unsigned a, unsigned b, const char *flags)
{
    unsigned k = 256 / types[a].bits;
    MatrixKernel *x = add(MATRIX_WGMMA, 128, "wgmma.mma_async.sync.aligned.m64n%uk%u.%s.%s.%s%s%s %s", n, k,
                          types[d].name, types[a].name, types[b].name, strchr(flags, 's') ? ".satfinite" : "",
                          a == B1 ? ".and.popc" : "", flags);
    x->type_d = x->type_c = d, x->type_a = a, x->type_b = b;
    x->n = n;
    x->d = x->c = n * types[d].bits / 64;
    x->a_in_registers = strchr(flags, 'r') != NULL;
    x->a = 4;
    x->trans_a = strchr(flags, 't') != NULL;
    x->trans_b = strchr(flags, 'T') != NULL;
    x->negate_a = strchr(flags, 'n') != NULL;
    x->negate_b = strchr(flags, 'N') != NULL;
    for (unsigned l = 1; l < 4; l++)
        if (strchr(flags, (int)('0' + l)))
            x->layout = l;
}

static void list_wgmma(void)
{
    static const char *const flags[] = {"0",  "1",  "2",  "3",  "r1",  "t0",  "t1", "t2", "t3",
                                        "T0", "T1", "T2", "T3", "tT1", "rT2", "n3", "N0", "rn0"};
    static const unsigned sizes[] = {8, 16, 24, 64, 96, 128, 200, 256};
    for (unsigned f = 0; f < sizeof flags / sizeof *flags; f++)
        add_wgmma(32, F32, F16, F16, flags[f]);
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
        add_wgmma(sizes[s], F32, F16, F16, s % 2 ? "1" : "0");
    add_wgmma(64, F16, F16, F16, "1");
    add_wgmma(8, F16, F16, F16, "r0");
    add_wgmma(64, F16, F16, F16, "tTN2");
    add_wgmma(64, F32, BF16, BF16, "1");
    add_wgmma(16, F32, BF16, BF16, "r3");
    add_wgmma(16, F32, BF16, BF16, "tTn3");
    for (unsigned l = 0; l < 4; l++) {
        char layout[4] = {(char)('0' + l), 0}, reg[4] = {'r', (char)('0' + l), 0};
        add_wgmma(16, F32, TF32, TF32, layout);
        add_wgmma(16, F32, TF32, TF32, reg);
        add_wgmma(16, F32, E4M3, E4M3, layout);
        add_wgmma(16, S32, S8, S8, layout);
    }
    for (unsigned ab = 0; ab < 4; ab++) {
        unsigned a = ab & 2 ? E5M2 : E4M3, b = ab & 1 ? E5M2 : E4M3, i = ab & 2 ? U8 : S8, j = ab & 1 ? U8 : S8;
        add_wgmma(32, F32, a, b, "1");
        add_wgmma(32, F16, a, b, "1");
        add_wgmma(32, F32, a, b, "rn1");
        add_wgmma(32, S32, i, j, "1");
        add_wgmma(32, S32, i, j, "r1");
        add_wgmma(32, S32, i, j, "s1");
    }
    add_wgmma(32, S32, B1, B1, "1");
    add_wgmma(32, S32, B1, B1, "r1");
}

static void list_moves(void)
{
    for (unsigned x = 1; x <= 4; x *= 2)
        for (unsigned t = 0; t < 2; t++) {
            MatrixKernel *load = add(MATRIX_LOAD, 32, "ldmatrix.sync.aligned.m8n8.x%u%s.shared.b16", x,
                                     t ? ".trans" : "");
            load->d = x;
            MatrixKernel *store = add(MATRIX_STORE, 32, "stmatrix.sync.aligned.m8n8.x%u%s.shared.b16", x,
                                      t ? ".trans" : "");
            store->a = x;
        }
    MatrixKernel *move = add(MATRIX_MOVE, 32, "movmatrix.sync.aligned.m8n8.trans.b16");
    move->a = move->d = 1;
}

size_t matrix_kernels(const MatrixKernel **kernels)
{
    if (!n_list) {
        list_mma();
        list_wgmma();
        list_moves();
    }
    *kernels = list;
    return n_list;
}

/* ---- texts */

typedef struct {
    char *text;
    size_t n, room;
} Text;

static void put(Text *t, const char *format, ...)
{
    va_list args;
    if (t->room < t->n + 512)
        t->text = realloc(t->text, t->room = 2 * t->room + 4096);
    va_start(args, format);
    t->n += (size_t)vsnprintf(t->text + t->n, 512, format, args);
    va_end(args);
}

static void put_vector(Text *t, const char *reg, unsigned n)
{
    put(t, "{");
    for (unsigned i = 0; i < n; i++)
        put(t, "%s%%%s%u", i ? "," : "", reg, i);
    put(t, "}");
}

/* Registers from and to memory: register r of thread t at (r * threads + t) * bytes behind %in or %out. */
static unsigned put_loads(Text *t, const MatrixKernel *k, const char *reg, unsigned n, unsigned at)
{
    for (unsigned i = 0; i < n; i++)
        put(t, "ld.global.b%u %%%s%u,[%%in+%u];\n", 8 * k->bytes, reg, i, at + i * k->threads * k->bytes);
    return at + n * k->threads * k->bytes;
}

static void put_stores(Text *t, const MatrixKernel *k, const char *reg, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        put(t, "st.global.b%u [%%out+%u],%%%s%u;\n", 8 * k->bytes, i * k->threads * k->bytes, reg, i);
}

static void put_head(Text *t, const MatrixKernel *k, const char *entry)
{
    const unsigned bits = 8 * k->bytes;
    put(t,
        ".visible .entry %s(.param .u64 in, .param .u64 out)\n{\n.reg .b64 %%in,%%out,%%t,%%da,%%db,%%from; .reg .b32 "
        "%%block,%%lane,%%s,%%w,%%q,%%at,%%i; .reg .pred %%p;\n",
        entry);
    put(t, ".reg .b%u %%d<128>,%%a<8>,%%b<8>,%%c<128>;\n", bits);
    if (k->kind != MATRIX_MMA && k->kind != MATRIX_MOVE)
        put(t, ".shared .align 1024 .b8 sh[%u];\n", MATRIX_SHARED);
    put(t, "ld.param.u64 %%in,[in]; ld.param.u64 %%out,[out]; mov.u32 %%lane,%%tid.x; mov.u32 %%block,%%ctaid.x;\n");
    put(t,
        "mul.wide.u32 %%t,%%block,%u; add.u64 %%in,%%in,%%t; mul.wide.u32 %%t,%%block,%u; add.u64 %%out,%%out,%%t;\n",
        (unsigned)matrix_in_bytes(k), (unsigned)matrix_out_bytes(k));
}

/* The first MATRIX_SHARED bytes of the input go to shared memory, 16 bytes a thread at a time. */
static void put_shared(Text *t, const MatrixKernel *k)
{
    put(t,
        "mov.u32 %%s,sh; mul.lo.u32 %%i,%%lane,16;\nFILL: cvt.u64.u32 %%t,%%i; add.u64 %%from,%%in,%%t; add.u32 "
        "%%at,%%s,%%i;\n"
        "{ .reg .b32 %%x<4>; ld.global.v4.b32 {%%x0,%%x1,%%x2,%%x3},[%%from]; st.shared.v4.b32 "
        "[%%at],{%%x0,%%x1,%%x2,%%x3}; }\n"
        "add.u32 %%i,%%i,%u; setp.lt.u32 %%p,%%i,%u; @%%p bra FILL;\nfence.proxy.async; bar.sync 0;\n",
        16 * k->threads, MATRIX_SHARED);
}

static void put_lane_pointers(Text *t, const MatrixKernel *k)
{
    put(t, "mul.wide.u32 %%t,%%lane,%u; add.u64 %%in,%%in,%%t; add.u64 %%out,%%out,%%t;\n", k->bytes);
}

static const char *instruction(const MatrixKernel *k)
{
    static char name[96];
    snprintf(name, sizeof name, "%s", k->name);
    char *blank = strchr(name, ' ');
    if (blank)
        *blank = 0;
    return name;
}

static void put_mma(Text *t, const MatrixKernel *k)
{
    put_lane_pointers(t, k);
    unsigned at = put_loads(t, k, "a", k->a, 0);
    at = put_loads(t, k, "b", k->b, at);
    put_loads(t, k, "c", k->c, at);
    put(t, "%s ", instruction(k));
    put_vector(t, "d", k->d);
    put(t, ",");
    put_vector(t, "a", k->a);
    put(t, ",");
    put_vector(t, "b", k->b);
    put(t, ",");
    put_vector(t, "c", k->c);
    put(t, ";\n");
    put_stores(t, k, "d", k->d);
}

#define WGMMA_WORDS 32u /* behind the shared memory's image: two descriptors, scale-d */

static void put_wgmma(Text *t, const MatrixKernel *k)
{
    put_shared(t, k);
    put(t, "ld.global.u64 %%da,[%%in+%u]; ld.global.u64 %%db,[%%in+%u]; ld.global.u32 %%w,[%%in+%u];\n", MATRIX_SHARED,
        MATRIX_SHARED + 8, MATRIX_SHARED + 16);
    put(t, "shr.u32 %%q,%%s,4; cvt.u64.u32 %%t,%%q; add.u64 %%da,%%da,%%t; add.u64 %%db,%%db,%%t; setp.ne.u32 "
           "%%p,%%w,0;\n");
    put_lane_pointers(t, k);
    unsigned at = put_loads(t, k, "d", k->d, MATRIX_SHARED + WGMMA_WORDS);
    put_loads(t, k, "a", k->a, at);
    put(t, "wgmma.fence.sync.aligned;\n%s ", instruction(k));
    put_vector(t, "d", k->d);
    put(t, ",");
    if (k->a_in_registers)
        put_vector(t, "a", 4);
    else
        put(t, "%%da");
    put(t, ",%%db,%%p");
    if (k->type_d != S32) {
        put(t, ",%d,%d", k->negate_a ? -1 : 1, k->negate_b ? -1 : 1);
        if (types[k->type_a].bits == 16)
            put(t, k->a_in_registers ? ",%d" : ",%d,%d", k->a_in_registers ? k->trans_b : k->trans_a, k->trans_b);
    }
    put(t, ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
    put_stores(t, k, "d", k->d);
}

/* Each lane's row lies where its word of the input says. */
static void put_move(Text *t, const MatrixKernel *k)
{
    if (k->kind == MATRIX_MOVE) {
        put_lane_pointers(t, k);
        put_loads(t, k, "a", 1, 0);
        put(t, "%s %%d0,%%a0;\n", k->name);
        put_stores(t, k, "d", 1);
        return;
    }
    put_shared(t, k);
    put_lane_pointers(t, k);
    put(t, "ld.global.u32 %%w,[%%in+%u]; add.u32 %%w,%%w,%%s;\n", MATRIX_SHARED);
    if (k->kind == MATRIX_LOAD) {
        put(t, "%s ", k->name);
        put_vector(t, "d", k->d);
        put(t, ",[%%w];\n");
        put_stores(t, k, "d", k->d);
        return;
    }
    put_loads(t, k, "a", k->a, MATRIX_SHARED + 128);
    put(t, "%s [%%w],", k->name);
    put_vector(t, "a", k->a);
    put(t, ";\nbar.sync 0;\nmul.lo.u32 %%i,%%lane,4; add.u32 %%i,%%i,%%s;\n");
    for (unsigned i = 0; i < 32; i++) /* the first 4 KiB, where rows are */
        put(t, "ld.shared.b32 %%d0,[%%i+%u]; st.global.b32 [%%out+%u],%%d0;\n", i * 128, i * 128);
}

char *matrix_kernel_text(const MatrixKernel *k, const char *entry)
{
    Text t = {0};
    put_head(&t, k, entry);
    if (k->kind == MATRIX_MMA)
        put_mma(&t, k);
    else if (k->kind == MATRIX_WGMMA)
        put_wgmma(&t, k);
    else
        put_move(&t, k);
    put(&t, "ret;\n}\n");
    return t.text;
}

size_t matrix_in_bytes(const MatrixKernel *k)
{
    switch (k->kind) {
    case MATRIX_WGMMA: return MATRIX_SHARED + WGMMA_WORDS + (k->d + k->a) * 512u;
    case MATRIX_LOAD:
    case MATRIX_STORE: return MATRIX_SHARED + 128 + k->a * 128u;
    default: return (size_t)(k->a + k->b + k->c) * k->threads * k->bytes;
    }
}

size_t matrix_out_bytes(const MatrixKernel *k)
{
    return k->kind == MATRIX_STORE ? 4096 : (size_t)k->d * k->threads * k->bytes;
}

/* ---- numbers */

uint64_t matrix_hash(const void *bytes, size_t n, uint64_t hash)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ at[i]) * 1099511628211u;
    return hash;
}

static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Where exponents lie: of A and B about the bias, of C about those of their products. */
static uint64_t draw_float(unsigned type, unsigned style, char operand, uint64_t *state)
{
    const unsigned e = types[type].e, m = types[type].m;
    const int bias = (1 << (e - 1)) - 1, most = (1 << e) - 2, far = e == 4 ? 6 : e == 5 ? 13 : operand == 'c' ? 36 : 18;
    uint64_t h = draw(state), sign = h & 1, mantissa = (h >> 1) & ((1ull << m) - 1), pick = draw(state) >> 8;
    int exponent = bias;
    switch (style) {
    case STYLE_NARROW: exponent = bias - 2 + (int)(pick % 4); break;
    case STYLE_WIDE: exponent = bias - far + (int)(pick % (unsigned)(2 * far + 1)); break;
    case STYLE_TINY:
        exponent = operand == 'b' ? bias + (int)(pick % (unsigned)(e == 8 ? 24 : e == 11 ? 60 : 4)) : (int)(pick % 4);
        if (operand == 'c' && e == 8)
            exponent = (int)(pick % 24);
        break;
    case STYLE_SPECIAL:
        exponent = bias - 2 + (int)(pick % 4);
        if ((pick >> 20) % 24 == 0) {
            static const unsigned kinds[] = {0, 0, 1, 2, 3, 4};
            switch (kinds[(pick >> 32) % 6]) {
            case 0: exponent = 0, mantissa = 0; break;
            case 1: exponent = most + 1, mantissa = 0; break;
            case 2: exponent = most + 1, mantissa |= 1; break;
            case 3: exponent = most, mantissa = (1ull << m) - 1; break;
            default: exponent = 0, mantissa = 1;
            }
        }
        break;
    case STYLE_CANCEL:
        exponent = bias + (int)(pick % (unsigned)(operand == 'c' ? 27 : 14)) - (operand == 'c' ? 13 : 7);
        mantissa = (pick >> 20) % 3 == 0 ? 0 : (pick >> 20) % 3 == 1 ? 1ull << ((pick >> 32) % m) : mantissa;
        break;
    default:
        exponent = operand == 'c' ? most - (int)(pick % 3)
                                  : (e == 4 || e == 5 ? most : bias + bias / 2 + 1) - (int)(pick % 3);
    }
    exponent = exponent < 0 ? 0 : exponent > most + 1 ? most + 1 : exponent;
    return sign << (e + m) | (uint64_t)exponent << m | mantissa;
}

static uint64_t draw_element(unsigned type, unsigned style, char operand, uint64_t *state)
{
    if (types[type].e)
        return draw_float(type, style, operand, state);
    uint64_t bits = draw(state) >> 16;
    if (type == S32) /* near the ends, where sums overflow, or anything */
        return style == STYLE_HUGE     ? 0x7fffff00u + bits % 512
               : style == STYLE_NARROW ? bits % 65536
                                       : bits & 0xffffffffu;
    return bits & ((1ull << types[type].bits) - 1);
}

static void fill(uint8_t *to, size_t bytes, unsigned type, unsigned style, char operand, uint64_t *state)
{
    const unsigned bits = types[type].bits;
    for (size_t at = 0; at < bytes; at += 8) {
        uint64_t word = 0;
        for (unsigned b = 0; b < 64; b += bits)
            word |= draw_element(type, style, operand, state) << b;
        memcpy(to + at, &word, 8);
    }
}

static uint64_t descriptor(unsigned at, unsigned leading, unsigned stride, unsigned layout)
{
    return (at >> 4) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | (uint64_t)layout << 62;
}

/* Where matrices lie: A in the first 16 KiB, B behind it, strides drawn; all within the shared memory. */
static void fill_wgmma(const MatrixKernel *k, unsigned style, uint8_t *in, uint64_t *state)
{
    static const unsigned widths[] = {16, 128, 64, 32};
    const unsigned width = widths[k->layout];
    uint64_t desc[2];
    fill(in, 16384, k->type_a, style, 'a', state);
    fill(in + 16384, MATRIX_SHARED - 16384, k->type_b, style, 'b', state);
    for (unsigned operand = 0; operand < 2; operand++) {
        const int trans = operand ? k->trans_b : k->trans_a;
        const unsigned rows = operand ? k->n : 64, base = operand ? 16384 : 0,
                       room = operand ? MATRIX_SHARED - 16384 : 16384;
        const unsigned atom = 8 * width, groups = rows / 8;
        unsigned leading, stride, shift = (unsigned)(draw(state) % 2);
        if (!trans && k->layout == 0) { /* chunks of 16 B follow each other, or rows do */
            leading = shift ? 128 : 128 * groups;
            stride = shift ? 256 : 128;
        } else if (!trans) { /* atoms of 8 rows, with a gap where there is room */
            leading = 16 * (1 + shift);
            stride = groups * (atom + 1024) <= room && shift ? atom + 1024 : atom;
        } else if (k->layout == 0) { /* of MN: stride between chunks of 8, leading between those of K */
            leading = shift ? 128 * groups : 128;
            stride = shift ? 128 : 256;
        } else {
            const unsigned across = (rows * 2 + width - 1) / width; /* atoms along MN */
            leading = shift ? atom : 2 * atom;
            stride = shift ? across * atom : atom;
        }
        unsigned at = base + (k->layout && !trans && (draw(state) & 1) ? (width > 32 ? 32 : 0) : 0);
        desc[operand] = descriptor(at, leading, stride, k->layout);
    }
    memset(in + MATRIX_SHARED, 0, WGMMA_WORDS);
    memcpy(in + MATRIX_SHARED, desc, sizeof desc);
    in[MATRIX_SHARED + 16] = draw(state) % 8 != 0; /* scale-d */
    fill(in + MATRIX_SHARED + WGMMA_WORDS, k->d * 512u, k->type_d, style, 'c', state);
    fill(in + MATRIX_SHARED + WGMMA_WORDS + k->d * 512u, k->a * 512u, k->type_a, style, 'a', state);
}

void matrix_fill(const MatrixKernel *k, unsigned style, unsigned vector, void *to)
{
    uint8_t *in = to;
    uint64_t state = matrix_hash(k->name, strlen(k->name), MATRIX_HASH) + style * 0x100000001u + vector * 0x10001u;
    size_t of = (size_t)k->threads * k->bytes;
    switch (k->kind) {
    case MATRIX_WGMMA: fill_wgmma(k, style, in, &state); break;
    case MATRIX_LOAD:
    case MATRIX_STORE:
        fill(in, MATRIX_SHARED, B16, style, 'a', &state);
        for (unsigned lane = 0; lane < 32; lane++) { /* rows of 16 B, all different */
            uint32_t at = ((lane * 7 + vector * 3) % 32 + 32 * (uint32_t)(draw(&state) % 8)) * 16;
            memcpy(in + MATRIX_SHARED + 4 * lane, &at, 4);
        }
        fill(in + MATRIX_SHARED + 128, k->a * 128u, B16, style, 'a', &state);
        break;
    case MATRIX_MOVE: fill(in, of, B16, style, 'a', &state); break;
    default:
        fill(in, k->a * of, k->type_a, style, 'a', &state);
        fill(in + k->a * of, k->b * of, k->type_b, style, 'b', &state);
        fill(in + (k->a + k->b) * of, k->c * of, k->type_c, style, 'c', &state);
    }
}
