/* Drawn matrix products: see drawn_matrix.h. */
#include "tests/ptx/drawn_matrix.h"

#include <fenv.h>
#include <string.h>

#include "tests/ptx/scalar_matrix.h"

#define M_MAX 64u
#define N_MAX 256u
#define K_MAX 256u
#define REGISTERS 128u
#define THREADS 128u
#define SHARED 49152u
#define ROOM_A 16384u /* of it; B's follows */

/* A matrix in shared memory, as its descriptor says. */
typedef struct {
    guint base, leading, stride;
    guint width; /* bytes of a row of the swizzle's pattern; 16: none */
    gboolean transposed;
} Lie;

typedef struct {
    guint64 state;
    ScalarRule rule;
    guint m, n, k;
    gboolean a_col, b_row; /* Volta's */
    gboolean a_in_registers, adds;
    guint products; /* Volta: four at once */
    guint threads;
    Lie lie[2];
    guint64 a[4][M_MAX * K_MAX], b[4][N_MAX * K_MAX], c[4][M_MAX * N_MAX]; /* by rows; b by columns */
    guint64 reg[4][REGISTERS][THREADS];                                    /* A, B, C, D */
    guint8 shared[SHARED];
} Product;

static guint64 draw(Product *x)
{
    guint64 z = x->state += G_GUINT64_CONSTANT(0x9e3779b97f4a7c15); /* splitmix64 */
    z = (z ^ z >> 30) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static guint below(Product *x, guint n) { return (guint)(draw(x) >> 20) % n; }

/* ---- forms */

static void draw_types(Product *x, ScalarType a)
{
    ScalarRule *rule = &x->rule;
    rule->a = rule->b = a;
    rule->c = rule->d = SCALAR_F32;
    switch (a) {
    case SCALAR_E4M3:
        rule->a = below(x, 2) ? SCALAR_E4M3 : SCALAR_E5M2;
        rule->b = below(x, 2) ? SCALAR_E4M3 : SCALAR_E5M2;
        if (below(x, 2))
            rule->c = rule->d = SCALAR_F16;
        break;
    case SCALAR_F16:
        if (below(x, 2))
            rule->c = rule->d = SCALAR_F16;
        break;
    case SCALAR_F64: rule->c = rule->d = SCALAR_F64; break;
    case SCALAR_S8:
    case SCALAR_S4:
        rule->a = a + below(x, 2);
        rule->b = a + below(x, 2);
        rule->saturate = below(x, 2) == 1;
        rule->c = rule->d = SCALAR_S32;
        break;
    case SCALAR_B1: rule->c = rule->d = SCALAR_S32; break;
    default: break;
    }
}

static void draw_mma(Product *x)
{
    static const struct {
        ScalarType a;
        guint m, k;
    } shapes[] = {{SCALAR_F16, 8, 4},    {SCALAR_F16, 16, 8},  {SCALAR_F16, 16, 16}, {SCALAR_BF16, 16, 8},
                  {SCALAR_BF16, 16, 16}, {SCALAR_TF32, 16, 4}, {SCALAR_TF32, 16, 8}, {SCALAR_E4M3, 16, 16},
                  {SCALAR_E4M3, 16, 32}, {SCALAR_F64, 8, 4},   {SCALAR_F64, 16, 4},  {SCALAR_F64, 16, 8},
                  {SCALAR_F64, 16, 16},  {SCALAR_S8, 8, 16},   {SCALAR_S8, 16, 16},  {SCALAR_S8, 16, 32},
                  {SCALAR_S4, 8, 32},    {SCALAR_S4, 16, 32},  {SCALAR_S4, 16, 64},  {SCALAR_B1, 8, 128},
                  {SCALAR_B1, 16, 128},  {SCALAR_B1, 16, 256}};
    static const int roundings[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    guint at = below(x, G_N_ELEMENTS(shapes));
    x->m = shapes[at].m;
    x->n = 8;
    x->k = shapes[at].k;
    x->threads = 32;
    x->products = 1;
    x->adds = TRUE;
    draw_types(x, shapes[at].a);
    x->rule.is_xor = x->rule.a == SCALAR_B1 && below(x, 2);
    x->rule.rounding = roundings[below(x, 4)];
    if (at == 0) {
        x->rule.way = SCALAR_VOLTA;
        x->products = 4;
        x->a_col = below(x, 2) == 1;
        x->b_row = below(x, 2) == 1;
        x->rule.c = x->rule.d == SCALAR_F32 && below(x, 2) ? SCALAR_F16 : x->rule.d;
    }
}

/* Two strides, one within the other, with gaps where there is room. */
static void draw_strides(Product *x, guint piece, guint n_first, guint n_second, guint room, guint *first,
                         guint *second)
{
    guint inner = below(x, 2), n_inner = inner ? n_second : n_first, n_outer = inner ? n_first : n_second;
    guint step = piece * (1 + below(x, 3)), next;
    if (step * n_inner * n_outer > room)
        step = piece;
    next = step * n_inner + piece * below(x, 3);
    if (next * n_outer > room)
        next = step * n_inner;
    *first = inner ? next : step;
    *second = inner ? step : next;
}

static void draw_lie(Product *x, guint operand, guint rows)
{
    static const guint widths[] = {16, 32, 64, 128};
    Lie *lie = &x->lie[operand];
    const guint room = operand ? SHARED - ROOM_A : ROOM_A, k_bytes = 32;
    lie->width = widths[below(x, 4)];
    lie->transposed = scalar_bits[x->rule.a] == 16 && below(x, 2);
    lie->base = operand ? ROOM_A : 0;
    if (lie->transposed && lie->width == 16) {
        draw_strides(x, 128, x->k / 8, rows / 8, room, &lie->leading, &lie->stride);
    } else if (lie->transposed) {
        draw_strides(x, 8 * lie->width, (2 * rows + lie->width - 1) / lie->width, x->k / 8, room, &lie->leading,
                     &lie->stride);
    } else if (lie->width == 16) {
        draw_strides(x, 128, k_bytes / 16, rows / 8, room, &lie->leading, &lie->stride);
    } else { /* the matrix may begin inside its pattern's rows: the next step of k */
        draw_strides(x, 8 * lie->width, 1, rows / 8, room, &lie->leading, &lie->stride);
        lie->leading = 16 * below(x, 64);
        lie->base += k_bytes * below(x, lie->width / k_bytes);
    }
}

static void draw_wgmma(Product *x)
{
    static const ScalarType types[] = {SCALAR_F16,  SCALAR_F16, SCALAR_BF16, SCALAR_TF32,
                                       SCALAR_E4M3, SCALAR_S8,  SCALAR_B1};
    draw_types(x, types[below(x, G_N_ELEMENTS(types))]);
    gboolean integers = x->rule.d == SCALAR_S32;
    x->rule.way = SCALAR_WGMMA;
    x->m = 64;
    x->n = 8 * (1 + below(x, below(x, 4) ? 12 : 32)); /* mostly small, for the sake of time */
    if (integers && x->n > 32)
        x->n -= x->n % 16;
    x->k = 256 / scalar_bits[x->rule.a];
    x->threads = 128;
    x->products = 1;
    x->adds = below(x, 4) != 0;
    x->a_in_registers = below(x, 3) == 0;
    x->rule.negate_a = !integers && below(x, 3) == 0;
    x->rule.negate_b = !integers && below(x, 3) == 0;
    draw_lie(x, 0, 64);
    draw_lie(x, 1, x->n);
}

/* ---- numbers */

static guint64 draw_float(Product *x, guint style, guint fraction, guint field)
{
    guint64 bits = draw(x);
    int last = (1 << field) - 1, bias = last / 2, far = field == 4 ? 6 : field == 5 ? 13 : 20, exponent;
    switch (style) {
    case 0: exponent = bias - 2 + (int)below(x, 4); break;
    case 1: exponent = bias - far + (int)below(x, 2 * (guint)far + 1); break;
    case 2: exponent = (int)below(x, 3); break;
    case 3: /* mostly near; some infinite, no numbers, zero or subnormal */
        exponent = below(x, 24) ? bias - 2 + (int)below(x, 4) : below(x, 2) ? last : 0;
        bits &= below(x, 3) ? ~(guint64)0 : (guint64)1 << fraction;
        break;
    default: /* any, of small fields; else high and low ones that overflow and vanish */
        exponent = field < 8 ? (int)below(x, (guint)last + 1) : bias + (below(x, 2) ? 1 : -1) * (int)below(x, 80);
    }
    if (field == 11 && exponent >= last) /* which NaN of several comes out is another matter */
        exponent = bias;
    guint64 sign = bits >> 63;
    return (sign << field | (guint64)exponent) << fraction | (bits & (((guint64)1 << fraction) - 1));
}

static guint64 draw_element(Product *x, ScalarType type, guint style)
{
    switch (type) {
    case SCALAR_F16: return draw_float(x, style, 10, 5);
    case SCALAR_BF16: return draw_float(x, style, 7, 8);
    case SCALAR_E4M3: return draw_float(x, style, 3, 4);
    case SCALAR_E5M2: return draw_float(x, style, 2, 5);
    case SCALAR_F64: return draw_float(x, style, 52, 11);
    case SCALAR_TF32:
    case SCALAR_F32: return draw_float(x, style, 23, 8);
    case SCALAR_S32:
        if (style == 0)
            return (guint32)(below(x, 2) ? G_MAXINT32 - (gint)below(x, 256) : G_MININT32 + (gint)below(x, 256));
        return (guint32)draw(x);
    default: return draw(x) & ((1u << scalar_bits[type]) - 1);
    }
}

static void draw_numbers(Product *x)
{
    const guint style = below(x, 5);
    for (guint p = 0; p < x->products; p++) {
        for (guint i = 0; i < x->m * x->k; i++)
            x->a[p][i] = draw_element(x, x->rule.a, style);
        for (guint i = 0; i < x->n * x->k; i++)
            x->b[p][i] = draw_element(x, x->rule.b, style);
        for (guint i = 0; i < x->m * x->n; i++)
            x->c[p][i] = draw_element(x, x->rule.c, style);
    }
}

/* ---- where elements go */

static guint register_bits(const Product *x) { return x->rule.d == SCALAR_F64 ? 64 : 32; }

/* Element number `element` of what a thread has of an operand. */
static void put_element(Product *x, guint operand, ScalarType type, guint thread, guint element, guint64 bits)
{
    guint width = scalar_bits[type], each = register_bits(x) / width;
    guint64 *reg = &x->reg[operand][element / each][thread];
    guint shift = element % each * width;
    guint64 mask = width == 64 ? ~(guint64)0 : (((guint64)1 << width) - 1) << shift;
    *reg = (*reg & ~mask) | (bits << shift & mask);
}

/* A (row, k) or B (column, k): runs of one register lie in four lanes, then in the next register; rows 8 further on, of
 * A, between. */
static void put_factor(Product *x, guint operand, ScalarType type, guint row, guint k, guint64 bits)
{
    guint each = register_bits(x) / scalar_bits[type], run = k / each;
    guint lane = row % 8 * 4 + run % 4, in = run / 4;
    if (operand == 0 && x->m > 8)
        in = 2 * in + row / 8 % 2;
    put_element(x, operand, type, row / 16 % 4 * 32 * (operand == 0) + lane, in * each + k % each, bits);
}

static void put_sum(Product *x, guint operand, ScalarType type, guint row, guint col, guint64 bits)
{
    guint lane = row % 8 * 4 + col % 8 / 2, of = x->m > 8 ? 4 * (col / 8) + 2 * (row / 8 % 2) : 0;
    put_element(x, operand, type, row / 16 * 32 + lane, of + col % 2, bits);
}

static void put_volta(Product *x, guint p)
{
    for (guint row = 0; row < 8; row++) /* of A, a column of B */
        for (guint k = 0; k < 4; k++) {
            guint by_row = 4 * p + row % 4 + row / 4 * 16, by_k = 4 * p + k + row / 4 * 16;
            put_element(x, 0, SCALAR_F16, x->a_col ? by_k : by_row, x->a_col ? row % 4 : k, x->a[p][row * 4 + k]);
            put_element(x, 1, SCALAR_F16, x->b_row ? by_k : by_row, x->b_row ? row % 4 : k, x->b[p][row * 4 + k]);
        }
}

static void put_volta_sum(Product *x, guint p, guint operand, ScalarType type, guint row, guint col, guint64 bits)
{
    if (type == SCALAR_F16)
        put_element(x, operand, type, 4 * p + row % 4 + row / 4 * 16, col, bits);
    else
        put_element(x, operand, type, 4 * p + row % 2 + (col & 2) + row / 4 * 16, (row & 2) + (col & 4) + (col & 1),
                    bits);
}

/* Bytes of shared memory are numbered piece by piece; a piece has 8 rows of its width. */
static guint shared_at(const Lie *lie, guint row, guint k, guint bits)
{
    guint across = lie->transposed ? k : row, along = (lie->transposed ? row : k) * bits / 8; /* bytes */
    guint line = across % 8, at = lie->base + line * lie->width, chunk, start = 0;
    if (lie->width == 16) {
        guint rows = row / 8 * lie->stride, ks = (lie->transposed ? k / 8 : along / 16) * lie->leading;
        return at + rows + ks + along % 16;
    }
    if (lie->transposed) {
        at += along / lie->width * lie->leading + k / 8 * lie->stride;
    } else {
        at += row / 8 * lie->stride;
        start = lie->base % lie->width;
        at -= start;
    }
    along = (along + start) % lie->width;
    chunk = along / 16 ^ line * lie->width / 128; /* swizzled */
    return at + chunk * 16 + along % 16;
}

static void put_shared(Product *x, guint operand, ScalarType type, guint row, guint k, guint64 value)
{
    guint bits = scalar_bits[type];
    guint8 *to = x->shared + shared_at(&x->lie[operand], row, k, bits);
    if (bits == 1)
        *to = (guint8)((*to & ~(1u << k % 8)) | value << k % 8);
    else
        memcpy(to, &value, bits / 8);
}

static void put_all(Product *x)
{
    gboolean shared = x->rule.way == SCALAR_WGMMA;
    for (guint i = 0; i < SHARED; i++)
        x->shared[i] = (guint8)draw(x);
    for (guint p = 0; p < x->products; p++) {
        gboolean volta = x->rule.way == SCALAR_VOLTA;
        if (volta)
            put_volta(x, p);
        for (guint i = 0; i < x->m * x->k && !volta; i++)
            if (shared && !x->a_in_registers)
                put_shared(x, 0, x->rule.a, i / x->k, i % x->k, x->a[p][i]);
            else
                put_factor(x, 0, x->rule.a, i / x->k, i % x->k, x->a[p][i]);
        for (guint i = 0; i < x->n * x->k && !volta; i++)
            if (shared)
                put_shared(x, 1, x->rule.b, i / x->k, i % x->k, x->b[p][i]);
            else
                put_factor(x, 1, x->rule.b, i / x->k, i % x->k, x->b[p][i]);
        for (guint i = 0; i < x->m * x->n; i++) {
            guint row = i / x->n, col = i % x->n;
            guint64 sum = scalar_dot(&x->rule, &x->a[p][row * x->k], &x->b[p][col * x->k], x->adds ? x->c[p][i] : 0);
            if (volta) {
                put_volta_sum(x, p, 2, x->rule.c, row, col, x->c[p][i]);
                put_volta_sum(x, p, 3, x->rule.d, row, col, sum);
            } else {
                put_sum(x, 2, x->rule.c, row, col, x->c[p][i]);
                put_sum(x, 3, x->rule.d, row, col, sum);
            }
        }
    }
}

/* ---- texts */

static guint registers_of(const Product *x, guint operand)
{
    guint elements = operand == 0 ? x->m * x->k : operand == 1 ? x->n * x->k : x->m * x->n;
    ScalarType type = operand == 0 ? x->rule.a : operand == 1 ? x->rule.b : operand == 2 ? x->rule.c : x->rule.d;
    if (x->rule.way == SCALAR_WGMMA && (operand == 1 || (operand == 0 && !x->a_in_registers)))
        return 0;
    return elements * x->products * scalar_bits[type] / x->threads / register_bits(x);
}

static char *instruction_of(const Product *x)
{
    static const char *const f64[] = {".rn", ".rz", ".rm", ".rp"};
    static const int roundings[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    const ScalarRule *r = &x->rule;
    const char *tail = "";
    for (guint i = 1; i < 4; i++)
        if (r->a == SCALAR_F64 && x->k > 4 && r->rounding == roundings[i])
            tail = f64[i];
    if (r->a == SCALAR_B1)
        tail = r->is_xor ? ".xor.popc" : ".and.popc";
    const char *const *n = scalar_names;
    if (r->way == SCALAR_WGMMA)
        return g_strdup_printf("wgmma.mma_async.sync.aligned.m64n%uk%u.%s.%s.%s%s%s", x->n, x->k, n[r->d], n[r->a],
                               n[r->b], r->saturate ? ".satfinite" : "", tail);
    return g_strdup_printf("mma.sync.aligned.m%un%uk%u.%s.%s%s.%s.%s.%s.%s%s", x->m, x->n, x->k,
                           x->a_col ? "col" : "row", x->b_row ? "row" : "col", r->saturate ? ".satfinite" : "", n[r->d],
                           n[r->a], n[r->b], n[r->c], tail);
}

static void put_vector(GString *t, char reg, guint n)
{
    for (guint i = 0; i < n; i++)
        g_string_append_printf(t, "%s%%%c%u", i ? "," : "{", reg, i);
    g_string_append_c(t, '}');
}

static guint64 descriptor_of(const Lie *lie)
{
    static const guint modes[] = {0, 3, 2, 0, 1}; /* by width / 32 */
    return lie->base >> 4 | (guint64)(lie->leading >> 4) << 16 | (guint64)(lie->stride >> 4) << 32 |
           (guint64)modes[lie->width / 32] << 62;
}

static void put_wgmma(GString *t, const Product *x, const char *instruction)
{
    gboolean floats = x->rule.d != SCALAR_S32;
    g_string_append_printf(t,
                           "shr.u32 %%s,%%s,4; cvt.u64.u32 %%t,%%s; add.u64 %%da,%%t,0x%" G_GINT64_MODIFIER
                           "x; add.u64 %%db,%%t,0x%" G_GINT64_MODIFIER "x; setp.eq.u32 %%p,%u,1;\n",
                           descriptor_of(&x->lie[0]), descriptor_of(&x->lie[1]), x->adds);
    g_string_append_printf(t, "wgmma.fence.sync.aligned;\n%s ", instruction);
    put_vector(t, 'c', registers_of(x, 2));
    g_string_append_c(t, ',');
    if (x->a_in_registers)
        put_vector(t, 'a', registers_of(x, 0));
    else
        g_string_append(t, "%da");
    g_string_append(t, ",%db,%p");
    if (floats)
        g_string_append_printf(t, ",%d,%d", x->rule.negate_a ? -1 : 1, x->rule.negate_b ? -1 : 1);
    if (floats && scalar_bits[x->rule.a] == 16 && !x->a_in_registers)
        g_string_append_printf(t, ",%d", x->lie[0].transposed);
    if (floats && scalar_bits[x->rule.a] == 16)
        g_string_append_printf(t, ",%d", x->lie[1].transposed);
    g_string_append(t, ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
}

/* D may be a register of its own, C's or A's. */
static char put_mma(GString *t, Product *x, const char *instruction)
{
    static const char names[] = {'a', 'b', 'c'};
    guint n = registers_of(x, 3), shared = below(x, 3);
    char to = shared == 1 && registers_of(x, 2) >= n ? 'c' : shared == 2 && registers_of(x, 0) >= n ? 'a' : 'd';
    g_string_append_printf(t, "%s ", instruction);
    put_vector(t, to, n);
    for (guint i = 0; i < 3; i++) {
        g_string_append_c(t, ',');
        put_vector(t, names[i], registers_of(x, i));
    }
    g_string_append(t, ";\n");
    return to;
}

static char *text_of(Product *x, const char *instruction)
{
    guint bytes = register_bits(x) / 8, row = x->threads * bytes, at = 0;
    gboolean wgmma = x->rule.way == SCALAR_WGMMA;
    GString *t = g_string_new(".version 8.7\n.target sm_90a\n.address_size 64\n"
                              ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b64 "
                              "%in,%out,%t,%da,%db; .reg .b32 %s,%at,%lane,%x<4>; .reg .pred %p;\n");
    g_string_append_printf(t, ".reg .b%u %%a<8>,%%b<8>,%%c<128>,%%d<8>;\n.shared .align 1024 .b8 sh[%u];\n", 8 * bytes,
                           SHARED);
    g_string_append_printf(t,
                           "ld.param.u64 %%in,[in]; ld.param.u64 %%out,[out]; mov.u32 %%lane,%%tid.x;\n"
                           "mul.wide.u32 %%t,%%lane,%u; add.u64 %%in,%%in,%%t; add.u64 %%out,%%out,%%t; "
                           "mov.u32 %%s,sh;\n",
                           bytes);
    for (guint operand = 0; operand < 3; operand++)
        for (guint i = 0; i < registers_of(x, operand); i++, at += row)
            g_string_append_printf(t, "ld.global.b%u %%%c%u,[%%in+%u];\n", 8 * bytes, "abc"[operand], i, at);
    if (wgmma) /* 16 bytes a thread at a time; each thread's %in is 4 bytes further on already */
        g_string_append_printf(t,
                               "mul.lo.u32 %%at,%%lane,16; add.u32 %%at,%%at,%%s; mul.wide.u32 %%t,%%lane,12; "
                               "add.u64 %%in,%%in,%%t;\nFILL: ld.global.v4.b32 {%%x0,%%x1,%%x2,%%x3},[%%in+%u]; "
                               "st.shared.v4.b32 [%%at],{%%x0,%%x1,%%x2,%%x3};\nadd.u32 %%at,%%at,%u; "
                               "add.u64 %%in,%%in,%u; sub.u32 %%x0,%%at,%%s; setp.lt.u32 %%p,%%x0,%u; @%%p bra "
                               "FILL;\nfence.proxy.async; bar.sync 0;\n",
                               at, 16 * x->threads, 16 * x->threads, SHARED);
    char to = 'c';
    if (wgmma)
        put_wgmma(t, x, instruction);
    else
        to = put_mma(t, x, instruction);
    for (guint i = 0; i < registers_of(x, 3); i++)
        g_string_append_printf(t, "st.global.b%u [%%out+%u],%%%c%u;\n", 8 * bytes, i * row, to, i);
    g_string_append(t, "ret;\n}\n");
    return g_string_free(t, FALSE);
}

/* ---- all of it */

static void copy_out(DrawnMatrix *drawn, const Product *x)
{
    gsize bytes = register_bits(x) / 8, at = 0, n = 0;
    for (guint operand = 0; operand < 3; operand++)
        n += registers_of(x, operand);
    drawn->in_bytes = n * x->threads * bytes + (x->rule.way == SCALAR_WGMMA ? SHARED : 0);
    drawn->in = g_malloc0(drawn->in_bytes);
    for (guint operand = 0; operand < 3; operand++)
        for (guint i = 0; i < registers_of(x, operand); i++)
            for (guint thread = 0; thread < x->threads; thread++, at += bytes)
                memcpy(drawn->in + at, &x->reg[operand][i][thread], bytes);
    if (x->rule.way == SCALAR_WGMMA)
        memcpy(drawn->in + at, x->shared, SHARED);
    drawn->threads = x->threads;
    drawn->registers = registers_of(x, 3);
    drawn->register_bytes = (guint)bytes;
    drawn->right = g_new(guint64, drawn->registers * x->threads);
    for (guint i = 0; i < drawn->registers * x->threads; i++)
        drawn->right[i] = x->reg[3][i / x->threads][i % x->threads];
}

DrawnMatrix *drawn_matrix_new(guint64 seed)
{
    DrawnMatrix *drawn = g_new0(DrawnMatrix, 1);
    Product *x = g_new0(Product, 1);
    x->state = seed * G_GUINT64_CONSTANT(0xd1342543de82ef95);
    if (below(x, 2))
        draw_wgmma(x);
    else
        draw_mma(x);
    x->rule.k = x->k;
    if (x->rule.a == SCALAR_F64 && x->k == 4)
        x->rule.rounding = FE_TONEAREST;
    draw_numbers(x);
    put_all(x);
    g_autofree char *instruction = instruction_of(x);
    drawn->text = text_of(x, instruction);
    drawn->name = g_steal_pointer(&instruction);
    copy_out(drawn, x);
    g_free(x);
    return drawn;
}

void drawn_matrix_free(DrawnMatrix *drawn)
{
    g_free(drawn->name);
    g_free(drawn->text);
    g_free(drawn->in);
    g_free(drawn->right);
    g_free(drawn);
}
