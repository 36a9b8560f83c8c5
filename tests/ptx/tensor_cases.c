/* Draws copies by tensor maps, and writes their kernels: see tensor_cases.h. */
#include "tests/ptx/tensor_cases.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const tensor_ops[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};

/* ---- draws */

typedef struct {
    uint64_t state;
} Draw;

static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint32_t draw(Draw *d, uint32_t n) /* 0 .. n - 1 */
{
    d->state += 0x9e3779b97f4a7c15u;
    return (uint32_t)((mix(d->state) >> 32) * n >> 32);
}

static uint32_t draw_of(Draw *d, uint32_t from, uint32_t to) { return from + draw(d, to - from + 1); }

unsigned tensor_type_bytes(unsigned type)
{
    static const unsigned bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 1, 1, 1};
    return type < 16 ? bytes[type] : 1;
}

static int is_float(unsigned type) { return type >= 6 && type <= 12; }

static void draw_strides(Draw *d, TensorCase *x)
{
    uint64_t unit = x->interleave == 2 ? 32 : 16;
    uint64_t bytes = x->dim[0] * (x->interleave ? unit : tensor_type_bytes(x->type));
    for (unsigned i = 0; i + 1 < x->rank; i++) {
        x->stride[i] = (bytes + unit - 1) / unit * unit + unit * draw(d, 3);
        bytes = x->stride[i] * x->dim[i + 1];
    }
}

static uint64_t extent(const TensorCase *x)
{
    uint64_t most = x->dim[0] * (x->interleave ? 32 : tensor_type_bytes(x->type));
    for (unsigned i = 0; i + 1 < x->rank; i++)
        most += x->stride[i] * x->dim[i + 1];
    return most;
}

static uint32_t span(unsigned swizzle) { return swizzle == 0 ? 256u * 8 : 16u << swizzle; }

static void draw_inner(Draw *d, TensorCase *x, uint32_t *inner)
{
    uint32_t bytes = tensor_type_bytes(x->type), unit = 16 / bytes;
    if (x->interleave) {
        *inner = 16u * x->interleave / bytes * draw_of(d, 1, 4);
        return;
    }
    uint32_t most = 256u / unit;
    if (most * 16 > span(x->swizzle))
        most = span(x->swizzle) / 16;
    *inner = unit * (draw(d, 2) ? draw_of(d, 1, most > 8 ? 8 : most) : most);
}

/* The first coordinate of most copies is a multiple of 16 bytes, and those of most stores are not negative. */
static void draw_corner(Draw *d, TensorCase *x)
{
    int32_t unit = (int32_t)(16u * (x->interleave ? x->interleave : 1) / tensor_type_bytes(x->type));
    if (draw(d, 24))
        x->at[0] = x->at[0] / unit * unit;
    if (x->work >= TENSOR_STORE && draw(d, 12))
        for (unsigned i = 0; i < x->rank; i++)
            x->at[i] = x->at[i] < 0 ? -x->at[i] / unit * unit : x->at[i];
}

static int try_tiled(Draw *d, TensorCase *x)
{
    uint32_t steps = x->work == TENSOR_LOAD && draw(d, 3) == 0;
    x->dim[0] = draw_of(d, 1, x->interleave ? 40 : 120);
    for (unsigned i = 0; i < 5; i++) {
        if (i)
            x->dim[i] = draw_of(d, 1, x->rank > 3 ? 9 : 20);
        x->box[i] = draw_of(d, 1, x->rank > 3 ? 5 : 12);
        x->element[i] = steps ? draw_of(d, 1, 4) : 1;
        x->at[i] = (int32_t)draw_of(d, 0, (uint32_t)x->dim[i] + 4) - 3;
    }
    draw_corner(d, x);
    draw_inner(d, x, &x->box[0]);
    draw_strides(d, x);
    x->bytes = x->interleave ? 16u * x->interleave * ((x->box[0] + x->element[0] - 1) / x->element[0])
                             : x->box[0] * tensor_type_bytes(x->type);
    for (unsigned i = 1; i < x->rank; i++) /* of the slices of channels, a copy has one */
        if (!x->interleave || i != x->rank - 2)
            x->bytes *= (x->box[i] + x->element[i] - 1) / x->element[i];
    return x->bytes <= 16384 && extent(x) <= TENSOR_MEMORY / 2;
}

static int try_im2col(Draw *d, TensorCase *x)
{
    uint32_t steps = draw(d, 3) == 0;
    x->dim[0] = draw_of(d, 1, 100);
    for (unsigned i = 0; i < 5; i++) {
        if (i)
            x->dim[i] = draw_of(d, 1, x->rank > 3 ? 9 : 20);
        x->element[i] = steps ? draw_of(d, 1, 3) : 1;
    }
    for (unsigned i = 0; i < 3; i++) {
        int inside = x->work == TENSOR_STORE && draw(d, 12); /* a store wants its box inside the tensor */
        x->lower[i] = inside ? (int32_t)draw(d, 3) : (int32_t)draw(d, 6) - 3;
        x->upper[i] = inside ? -(int32_t)draw(d, 3) : (int32_t)draw(d, 6) - 3;
        x->shift[i] = x->work == TENSOR_STORE ? 0 : draw(d, 2) ? 0 : draw(d, 5);
    }
    draw_inner(d, x, &x->channels);
    x->pixels = draw_of(d, 1, draw(d, 2) ? 16 : 100);
    draw_strides(d, x);
    x->at[0] = (int32_t)draw_of(d, 0, (uint32_t)x->dim[0] + 4) - 3;
    for (unsigned i = 1; i + 1 < x->rank; i++) { /* inside the box, which is not empty */
        int32_t low = x->lower[i - 1], high = (int32_t)x->dim[i] - 1 + x->upper[i - 1];
        if (high < low)
            return 0;
        x->at[i] = low + (int32_t)draw(d, (uint32_t)(high - low + 1));
    }
    x->at[x->rank - 1] = (int32_t)draw_of(d, 0, (uint32_t)x->dim[x->rank - 1] + 1);
    draw_corner(d, x);
    x->bytes = x->channels * tensor_type_bytes(x->type) * x->pixels;
    return x->bytes <= 16384 && extent(x) <= TENSOR_MEMORY / 2;
}

/* What a type can be reduced by; -1: nothing. */
static int draw_op(Draw *d, unsigned type)
{
    switch (type) {
    case 2: return (int)draw(d, 8);            /* u32 */
    case 3: return (int)draw(d, 3);            /* s32 */
    case 4: return "\0\1\2\5\6\7"[draw(d, 6)]; /* u64 */
    case 5: return "\1\2"[draw(d, 2)];         /* s64 */
    case 6:
    case 9: return (int)draw(d, 3); /* f16, bf16 */
    case 7:
    case 8: return 0; /* f32, f64 */
    default: return -1;
    }
}

void tensor_case_draw(unsigned index, TensorCase *x)
{
    Draw d = {.state = mix(index + 1)};
    int good = 0;
    do {
        memset(x, 0, sizeof *x);
        x->work = index % 20 < 11   ? TENSOR_LOAD
                  : index % 20 < 12 ? TENSOR_MULTICAST
                  : index % 20 < 16 ? TENSOR_STORE
                                    : TENSOR_REDUCE;
        x->im2col = draw(&d, 5) < 2 && x->work != TENSOR_REDUCE;
        x->type = draw(&d, 13);
        x->interleave = x->im2col || draw(&d, 6) ? 0 : draw_of(&d, 1, 2);
        x->rank = x->im2col || x->interleave ? draw_of(&d, 3, 5) : draw_of(&d, 1, 5);
        x->swizzle = x->interleave == 2 ? 1 : draw(&d, 4);
        x->fill = is_float(x->type) ? draw(&d, 2) : 0;
        x->random = draw(&d, 2);
        x->offset = 65536 + (x->interleave == 2 ? 32 : 16) * draw(&d, 8);
        x->shared = 128 * draw(&d, draw(&d, 2) ? 1 : 9);
        int op = draw_op(&d, x->type);
        if (x->work == TENSOR_REDUCE && op < 0)
            continue;
        x->op = op < 0 ? 0 : (unsigned)op;
        good = x->im2col ? try_im2col(&d, x) : try_tiled(&d, x);
    } while (!good);
}

/* One or two numbers of a good map are changed, often to what is not allowed. */
static void spoil(Draw *d, TensorCase *x)
{
    static const uint64_t numbers[] = {0,
                                       1,
                                       2,
                                       3,
                                       7,
                                       8,
                                       9,
                                       15,
                                       16,
                                       24,
                                       32,
                                       48,
                                       64,
                                       128,
                                       255,
                                       256,
                                       257,
                                       1024,
                                       1025,
                                       1ull << 32,
                                       (1ull << 32) + 1,
                                       (1ull << 40) - 16,
                                       1ull << 40,
                                       (1ull << 40) - 32};
    uint64_t number = numbers[draw(d, sizeof numbers / sizeof *numbers)];
    unsigned i = draw(d, x->rank > 5 ? 5 : x->rank ? x->rank : 1);
    switch (draw(d, 14)) {
    case 0: x->type = draw(d, 18); break;
    case 1: x->rank = draw(d, 7); break;
    case 2: x->interleave = draw(d, 4); break;
    case 3: x->swizzle = draw(d, 8); break;
    case 4: x->fill = draw(d, 3); break;
    case 5: x->offset += number; break;
    case 6: x->dim[i] = number; break;
    case 7:
    case 8: x->stride[i < 4 ? i : 3] = number; break;
    case 9: x->element[i] = (uint32_t)number; break;
    case 10: x->lower[i % 3] = (int32_t)draw(d, 70000) - 35000 + (int32_t)draw(d, 2) * 32768; break;
    case 11: x->upper[i % 3] = (int32_t)draw(d, 40) - 20; break;
    case 12: x->pixels = (uint32_t)number; break;
    default: x->box[i] = (uint32_t)number; x->channels = (uint32_t)number;
    }
}

void tensor_map_draw(unsigned index, TensorCase *x)
{
    Draw d = {.state = mix(index + 1000003)};
    tensor_case_draw(index, x);
    for (unsigned n = draw_of(&d, 0, 2); n; n--)
        spoil(&d, x);
    if (draw(&d, 40) == 0)
        x->im2col = 1;
    if (x->im2col && draw(&d, 6) == 0)
        x->interleave = draw_of(&d, 1, 2);
}

void tensor_memory_fill(const TensorCase *x, uint8_t *memory)
{
    for (uint32_t at = 0; at < TENSOR_MEMORY; at += 4) {
        uint32_t word = x->random ? (uint32_t)mix(at * 77u + x->dim[0]) : at;
        memcpy(memory + at, &word, 4);
    }
}

void tensor_shared_fill(const TensorCase *x, uint8_t *shared)
{
    for (uint32_t at = 0; at < TENSOR_SHARED; at += 4) {
        uint32_t word = x->random ? (uint32_t)mix(at * 99u + x->dim[0]) : 0x40000000u | at;
        memcpy(shared + at, &word, 4);
    }
}

/* ---- texts */

typedef struct {
    char *text;
    size_t used, room;
} Text;

__attribute__((format(printf, 2, 3))) static void add(Text *t, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    size_t n = (size_t)vsnprintf(NULL, 0, format, args);
    if (t->used + n + 1 > t->room) {
        t->room = (t->used + n + 1) * 2;
        t->text = realloc(t->text, t->room);
    }
    vsnprintf(t->text + t->used, n + 1, format, again);
    t->used += n;
    va_end(args);
    va_end(again);
}

static void kernel_name(TensorWork work, int im2col, unsigned rank, unsigned op, char *name, size_t room)
{
    static const char *const works[] = {"load", "multicast", "store", "reduce"};
    snprintf(name, room, "%s_%s_%ud_%s", works[work], im2col ? "im2col" : "tile", rank,
             work == TENSOR_REDUCE ? tensor_ops[op] : "copy");
}

void tensor_kernel_name(const TensorCase *x, char *name, size_t room)
{
    kernel_name(x->work, x->im2col, x->rank, x->op, name, room);
}

/* Parameters, and shared memory filled by all threads: with what is at `in`, or with a pattern. */
static void add_begin(Text *t, const char *name, int multicast, int fills)
{
    add(t, ".visible .entry %s(.param .align 64 .b8 map[128], .param .align 8 .b8 par[64])%s\n{\n", name,
        multicast ? " .explicitcluster .reqnctapercluster 2, 1, 1" : "");
    add(t, " .reg .b32 %%c<5>, %%r<20>;\n .reg .b16 %%o<3>, %%m;\n .reg .b64 %%d<12>;\n .reg .pred %%p<6>;\n"
           " .shared .align 1024 .b8 buf[33792];\n .shared .align 8 .b8 bar[8];\n"
           " mov.b64 %%d0, map;\n cvta.param.u64 %%d1, %%d0;\n mov.u32 %%r0, %%tid.x;\n");
    for (unsigned i = 0; i < 5; i++)
        add(t, " ld.param.u32 %%c%u, [par+%u];\n", i, i * 4);
    for (unsigned i = 0; i < 3; i++)
        add(t, " ld.param.u16 %%o%u, [par+%u];\n", i, 20 + i * 4);
    add(t,
        " ld.param.u32 %%r10, [par+32];\n ld.param.u32 %%r11, [par+36];\n ld.param.u64 %%d2, [par+40];\n"
        " ld.param.u64 %%d3, [par+48];\n ld.param.u16 %%m, [par+56];\n"
        " mov.u32 %%r1, buf;\n mov.u32 %%r4, bar;\n add.u32 %%r10, %%r10, %%r1;\n shl.b32 %%r2, %%r0, 2;\n"
        "fill:\n setp.ge.u32 %%p0, %%r2, %u;\n @%%p0 bra filled;\n add.u32 %%r3, %%r1, %%r2;\n"
        " mov.u32 %%r5, 0xeeeeeeee;\n",
        TENSOR_SHARED);
    if (fills)
        add(t, " cvt.u64.u32 %%d4, %%r2;\n add.u64 %%d4, %%d4, %%d3;\n ld.global.u32 %%r5, [%%d4];\n");
    add(t,
        " st.shared.u32 [%%r3], %%r5;\n add.u32 %%r2, %%r2, 512;\n bra fill;\nfilled:\n setp.ne.u32 %%p1, %%r0, 0;\n");
}

static const char *coordinates(unsigned rank)
{
    static const char *const lists[] = {
        "", "{%c0}", "{%c0, %c1}", "{%c0, %c1, %c2}", "{%c0, %c1, %c2, %c3}", "{%c0, %c1, %c2, %c3, %c4}"};
    return lists[rank];
}

static const char *shifts(int im2col, unsigned rank)
{
    static const char *const lists[] = {", {%o0}", ", {%o0, %o1}", ", {%o0, %o1, %o2}"};
    return im2col ? lists[rank - 3] : "";
}

/* The kernel waits for some time only: 1 behind the bytes says that they did not all come. */
static void add_load(Text *t, TensorWork work, int im2col, unsigned rank)
{
    char name[64];
    int multicast = work == TENSOR_MULTICAST;
    kernel_name(work, im2col, rank, 0, name, sizeof name);
    add_begin(t, name, multicast, 0);
    add(t, " @%%p1 bra ready;\n mbarrier.init.shared.b64 [%%r4], 1;\n fence.mbarrier_init.release.cluster;\n"
           " mbarrier.arrive.expect_tx.shared.b64 _, [%%r4], %%r11;\nready:\n fence.proxy.async;\n bar.sync 0;\n");
    if (multicast)
        add(t,
            " barrier.cluster.arrive;\n barrier.cluster.wait;\n mov.u32 %%r6, %%cluster_ctarank;\n"
            " setp.ne.or.u32 %%p1, %%r6, 0, %%p1;\n mul.wide.u32 %%d5, %%r6, %u;\n add.u64 %%d2, %%d2, %%d5;\n",
            TENSOR_SHARED + 16);
    add(t,
        " @%%p1 bra wait;\n cp.async.bulk.tensor.%ud.shared::cluster.global.%s.mbarrier::complete_tx::bytes%s"
        " [%%r10], [%%d1, %s], [%%r4]%s%s;\nwait:\n mov.u32 %%r7, 0;\n mov.u32 %%r8, 0;\nagain:\n"
        " mbarrier.test_wait.parity.shared.b64 %%p2, [%%r4], 0;\n @%%p2 bra come;\n add.u32 %%r7, %%r7, 1;\n"
        " setp.lt.u32 %%p3, %%r7, 100000;\n @%%p3 bra again;\n mov.u32 %%r8, 1;\ncome:\n bar.sync 0;\n"
        " shl.b32 %%r2, %%r0, 2;\nback:\n setp.ge.u32 %%p0, %%r2, %u;\n @%%p0 bra done;\n"
        " add.u32 %%r3, %%r1, %%r2;\n ld.shared.u32 %%r5, [%%r3];\n cvt.u64.u32 %%d4, %%r2;\n"
        " add.u64 %%d4, %%d4, %%d2;\n st.global.u32 [%%d4], %%r5;\n add.u32 %%r2, %%r2, 512;\n bra back;\ndone:\n"
        " st.global.u32 [%%d2+%u], %%r8;\n",
        rank, im2col ? "im2col" : "tile", multicast ? ".multicast::cluster" : "", coordinates(rank),
        shifts(im2col, rank), multicast ? ", %m" : "", TENSOR_SHARED, TENSOR_SHARED);
    if (multicast)
        add(t, " barrier.cluster.arrive;\n barrier.cluster.wait;\n");
    add(t, " ret;\n}\n");
}

static void add_store(Text *t, TensorWork work, int im2col, unsigned rank, unsigned op)
{
    char name[64];
    kernel_name(work, im2col, rank, op, name, sizeof name);
    add_begin(t, name, 0, 1);
    add(t,
        " fence.proxy.async;\n bar.sync 0;\n @%%p1 bra done;\n cp.%sasync.bulk.tensor.%ud.global.shared::cta%s%s.%s"
        ".bulk_group [%%d1, %s], [%%r10];\n cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;\ndone:\n"
        " ret;\n}\n",
        work == TENSOR_REDUCE ? "reduce." : "", rank, work == TENSOR_REDUCE ? "." : "",
        work == TENSOR_REDUCE ? tensor_ops[op] : "", im2col ? "im2col_no_offs" : "tile", coordinates(rank));
}

char *tensor_text(void)
{
    Text t = {NULL, 0, 0};
    add(&t, ".version 8.0\n.target sm_90a\n.address_size 64\n");
    for (int im2col = 0; im2col < 2; im2col++)
        for (unsigned rank = im2col ? 3 : 1; rank <= 5; rank++) {
            add_load(&t, TENSOR_LOAD, im2col, rank);
            add_load(&t, TENSOR_MULTICAST, im2col, rank);
            add_store(&t, TENSOR_STORE, im2col, rank, 0);
            for (unsigned op = 0; op < 8 && !im2col; op++)
                add_store(&t, TENSOR_REDUCE, 0, rank, op);
        }
    return t.text;
}

uint64_t tensor_hash(const void *bytes, size_t n)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * 1099511628211u;
    return hash;
}
