/* 2,000 drawn copies by tensor maps against a reference that goes element by element, and shares no code with what
 * it judges: beside the copies that an H100 has made (test_ptx_tensor.c), others of the same draws. */
#include "tests/test.h"

#include "tests/ptx/flat_host.h"
#include "tests/ptx/tensor_maps.h"

#define FIRST 10000u /* draws that were not measured */
#define DRAWS 2000u

/* ---- the reference */

typedef struct {
    const TensorCase *x;
    guint8 *memory, *shared; /* TENSOR_MEMORY, 4 * TENSOR_SHARED bytes */
    guint size, slice;       /* bytes of an element; of one of the first dimension */
} Reference;

static gboolean is_refused(const TensorCase *x, guint size)
{
    gboolean puts = x->work >= TENSOR_STORE, refused = FALSE;
    if (!x->interleave)
        refused = (gint64)x->at[0] * size % 16 != 0;
    for (guint i = 0; i < x->rank && puts; i++)
        refused |= x->at[i] < 0;
    for (guint i = 0; i + 2 < x->rank && puts && x->im2col; i++)
        refused |= x->lower[i] < 0 || x->upper[i] > 0;
    return refused;
}

static guint64 number_of(const guint8 *at, guint bytes)
{
    guint64 value = 0;
    for (guint i = bytes; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static void put_number(guint8 *at, guint bytes, guint64 value)
{
    for (guint i = 0; i < bytes; i++, value >>= 8)
        at[i] = (guint8)value;
}

static guint64 reduced(const TensorCase *x, guint64 a, guint64 b)
{
    guint bits = x->type == 2 || x->type == 3 ? 32 : 64;
    gboolean is_signed = x->type == 3 || x->type == 5;
    gint64 p = (gint64)(a << (64 - bits)), q = (gint64)(b << (64 - bits));
    gboolean less = is_signed ? p < q : a < b;
    switch (x->op) {
    case 0: return a + b;
    case 1: return less ? a : b;
    case 2: return less ? b : a;
    case 3: return a >= b ? 0 : a + 1;
    case 4: return a == 0 || a > b ? b : a - 1;
    case 5: return a & b;
    case 6: return a | b;
    default: return a ^ b;
    }
}

/* To 10 bits of mantissa, by the distance to either neighbour. */
static guint64 rounded(guint64 value)
{
    guint64 below = value / 8192 * 8192, above = below + 8192;
    if ((value & 0x7f800000) == 0x7f800000)
        return value & 0x7fffff ? 0x7fffe000 : value;
    if (value - below != above - value)
        return value - below < above - value ? below : above;
    return below / 8192 % 2 ? above : below;
}

/* One element: in shared memory `linear` bytes behind the copy's begin but for the swizzle, in memory at `at` if it is
 * inside the tensor. `piece`: the first element of its 16 bytes is inside. */
static void move(const Reference *r, guint32 linear, gint64 at, gboolean inside, gboolean piece)
{
    const TensorCase *x = r->x;
    guint32 place = x->shared + linear, line = place / 128, chunk = place / 16 % 8;
    static const guint32 parts[] = {1, 2, 4, 8};
    chunk ^= line % parts[x->swizzle];
    guint8 *shared = r->shared + line * 128 + chunk * 16 + place % 16;
    if (x->work <= TENSOR_MULTICAST) {
        guint64 value = inside ? number_of(r->memory + at, r->size) : x->fill && r->size > 1 ? 0x7ff77ff77ff77ff7u : 0;
        put_number(shared, r->size, inside && x->type >= 11 ? rounded(value) : value);
    } else if (piece) {
        guint64 value = number_of(shared, r->size);
        if (x->work == TENSOR_REDUCE)
            value = reduced(x, number_of(r->memory + at, r->size), value);
        put_number(r->memory + at, r->size, value);
    }
}

/* All of one row: `place` has the coordinates of the others. */
static void move_row(const Reference *r, guint32 row, guint count, guint32 pitch, const gint64 place[5])
{
    const TensorCase *x = r->x;
    gint64 base = (gint64)x->offset;
    gboolean row_inside = TRUE;
    for (guint i = 1; i < x->rank; i++) {
        row_inside &= place[i] >= 0 && place[i] < (gint64)x->dim[i];
        base += place[i] * (gint64)x->stride[i - 1];
    }
    for (guint e = 0; e < count; e++) {
        gint64 at = x->at[0] + (gint64)e * (x->interleave ? x->element[0] : 1);
        gboolean inside = row_inside && at >= 0 && at < (gint64)x->dim[0];
        guint first = x->interleave ? e : e / (16 / r->size) * (16 / r->size);
        gint64 begin = x->at[0] + (gint64)first * (x->interleave ? x->element[0] : 1);
        gboolean piece = row_inside && begin >= 0 && begin < (gint64)x->dim[0];
        for (guint b = 0; b < r->slice; b += r->size)
            move(r, row * pitch + e * r->slice + b, base + at * r->slice + b, inside, piece);
    }
}

static void move_tiles(const Reference *r)
{
    const TensorCase *x = r->x;
    guint count[5] = {1, 1, 1, 1, 1}, rows = 1;
    for (guint i = 0; i < x->rank; i++) {
        guint step = i == 0 && !x->interleave ? 1 : x->element[i];
        count[i] = (x->box[i] + step - 1) / step;
        if (x->interleave && i == x->rank - 2)
            count[i] = 1;
        rows *= i ? count[i] : 1;
    }
    guint32 pitch = x->swizzle && !x->interleave ? 16u << x->swizzle : count[0] * r->slice;
    for (guint row = 0; row < rows; row++) {
        gint64 place[5] = {0};
        guint left = row;
        for (guint i = 1; i < x->rank; i++, left /= count[i - 1])
            place[i] = x->at[i] + (gint64)(left % count[i]) * x->element[i];
        move_row(r, row, count[0], pitch, place);
    }
}

static void move_pixels(const Reference *r)
{
    const TensorCase *x = r->x;
    guint32 pitch = x->swizzle ? 16u << x->swizzle : x->channels * r->slice;
    gint64 pixel[5], place[5];
    for (guint i = 0; i < x->rank; i++)
        pixel[i] = x->at[i];
    for (guint row = 0; row < x->pixels; row++) {
        for (guint i = 1; i < x->rank; i++)
            place[i] = pixel[i] + (i + 1 < x->rank ? x->shift[i - 1] : 0);
        move_row(r, row, x->channels, pitch, place);
        for (guint i = 1; i < x->rank; i++) {
            pixel[i] += x->element[i];
            if (i + 1 == x->rank || pixel[i] < (gint64)x->dim[i] + x->upper[i - 1])
                break;
            pixel[i] = x->lower[i - 1];
        }
    }
}

/* ---- and what is judged */

typedef struct {
    FlatModule *loaded;
    guint64 memory, out, in;
    guint judged, refused;
} Bench;

static gboolean launch(Bench *bench, const TensorCase *x, GError **error)
{
    struct {
        guint8 map[PTX_TENSOR_MAP_BYTES];
        TensorParam par;
    } args = {.par = {.shared = x->shared, .bytes = x->bytes, .out = bench->out, .in = bench->in, .mask = 3}};
    const guint32 ctas = x->work == TENSOR_MULTICAST ? 2 : 1, dim[3] = {ctas, 1, 1}, block[3] = {128, 1, 1};
    Flat *flat = bench->loaded->flat;
    PtxTensorMap map = tensor_map_of(x, bench->memory);
    char name[64];
    assert_null(ptx_tensor_map_broken(&map));
    ptx_tensor_map_pack(&map, args.map);
    memcpy(args.par.at, x->at, sizeof x->at);
    memcpy(args.par.shift, x->shift, sizeof x->shift);
    tensor_memory_fill(x, flat_at(flat, bench->memory));
    tensor_shared_fill(x, flat_at(flat, bench->in));
    tensor_kernel_name(x, name, sizeof name);
    return flat_launch_shape(bench->loaded, name, dim, block, ctas > 1 ? dim : NULL, 0, &args, error);
}

/* A text that says what is wrong; NULL: nothing. */
static const char *judge(Bench *bench, const TensorCase *x)
{
    static guint8 memory[TENSOR_MEMORY], shared[4 * TENSOR_SHARED];
    Reference r = {x, memory, shared, tensor_type_bytes(x->type), 0};
    Flat *flat = bench->loaded->flat;
    GError *error = NULL;
    gboolean ran = launch(bench, x, &error), refused = is_refused(x, r.size);
    g_clear_error(&error);
    bench->judged++;
    bench->refused += refused;
    if (ran == refused)
        return ran ? "ran, and should be refused" : "is refused";
    if (refused)
        return NULL;
    tensor_memory_fill(x, memory);
    memset(shared, 0xee, sizeof shared);
    if (x->work >= TENSOR_STORE)
        tensor_shared_fill(x, shared);
    r.slice = x->interleave ? 16 * x->interleave : r.size;
    if (x->im2col)
        move_pixels(&r);
    else
        move_tiles(&r);
    for (guint c = 0; c < (x->work == TENSOR_MULTICAST ? 2u : 1u) && x->work <= TENSOR_MULTICAST; c++)
        if (memcmp(flat_at(flat, bench->out + c * (TENSOR_SHARED + 16)), shared, TENSOR_SHARED))
            return "has other bytes in shared memory";
    return memcmp(flat_at(flat, bench->memory), memory, TENSOR_MEMORY) ? "has other bytes in memory" : NULL;
}

/* Proves of 2,000 drawn copies that each leaves what the reference leaves, in shared memory and memory, or is refused
 * where it says so. Reductions of floating-point numbers are left out here: an H100 has judged them. */
static void test_drawn(void **state)
{
    g_autofree char *text = tensor_text();
    Flat *flat = flat_new(4 << 20);
    GError *error = NULL;
    Bench bench = {.loaded = flat_load(flat, "tensor.ptx", text, -1, &error)};
    guint wrong = 0;
    (void)state;
    if (!bench.loaded)
        fail_msg("%s", error->message);
    bench.memory = flat_alloc(flat, 1 << 20);
    bench.out = flat_alloc(flat, 1 << 20);
    bench.in = flat_alloc(flat, TENSOR_SHARED);
    for (guint i = FIRST; bench.judged < DRAWS; i++) {
        TensorCase x;
        tensor_case_draw(i, &x);
        if (x.work == TENSOR_REDUCE && x.type >= 6)
            continue;
        const char *what = judge(&bench, &x);
        if (what)
            print_error("draw %u %s\n", i, what);
        wrong += what != NULL;
    }
    flat_unload(bench.loaded);
    flat_free(flat);
    assert_int_equal(wrong, 0);
    assert_in_range(bench.refused, DRAWS / 50, DRAWS / 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_drawn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
