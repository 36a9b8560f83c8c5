/* What random programs leave in memory. It shares nothing with the model, its arithmetic included: values are small, so
 * that every sum is exact in its type, in whatever order. */
#include "tests/random/program.h"

#include <math.h>
#include <string.h>

#include "sim/rng.h"

const ProgramType program_types[PROGRAM_TYPES] = {
    {FO_U32, 4, 4, FALSE, "u32"},    {FO_U64, 8, 8, FALSE, "u64"},      {FO_S32, 4, 4, FALSE, "s32"},
    {FO_S64, 8, 8, FALSE, "s64"},    {FO_B32, 4, 4, FALSE, "b32"},      {FO_B64, 8, 8, FALSE, "b64"},
    {FO_F16X2, 4, 2, TRUE, "f16x2"}, {FO_BF16X2, 4, 2, TRUE, "bf16x2"}, {FO_F32, 4, 4, TRUE, "f32"},
    {FO_F64, 8, 8, TRUE, "f64"},
};

/* ---- elements */

static double oracle_f16(guint16 bits)
{
    int exponent = (bits >> 10) & 31;
    double fraction = (bits & 1023) / 1024.0;
    double value = exponent == 0 ? ldexp(fraction, -14) : ldexp(1 + fraction, exponent - 15);
    return bits & 0x8000 ? -value : value;
}

/* Of a number that f16 has. */
static guint16 oracle_to_f16(double value)
{
    int exponent;
    double m = frexp(fabs(value), &exponent); /* 0.5 to 1 */
    if (value == 0)
        return 0;
    return (guint16)((value < 0 ? 0x8000 : 0) | (exponent + 14) << 10 | (int)((2 * m - 1) * 1024));
}

static double oracle_get(const ProgramType *type, const guint8 *at)
{
    guint16 half;
    guint32 word;
    float f;
    double d;
    if (type->element == 8) {
        memcpy(&d, at, 8);
        return d;
    }
    if (type->element == 4) {
        memcpy(&f, at, 4);
        return (double)f;
    }
    memcpy(&half, at, 2);
    if (type->type == FO_F16X2)
        return oracle_f16(half);
    word = (guint32)half << 16;
    memcpy(&f, &word, 4);
    return (double)f;
}

static void oracle_put(const ProgramType *type, guint8 *at, double value)
{
    float f = (float)value;
    guint32 word;
    if (type->element == 8) {
        memcpy(at, &value, 8);
        return;
    }
    memcpy(&word, &f, 4);
    guint16 half = type->type == FO_F16X2 ? oracle_to_f16(value) : (guint16)(word >> 16);
    memcpy(at, type->element == 4 ? (const void *)&word : (const void *)&half, type->element);
}

static guint64 oracle_integer(const ProgramType *type, FoOp op, guint64 a, guint64 b)
{
    gint64 sa = type->element == 4 ? (gint32)a : (gint64)a, sb = type->element == 4 ? (gint32)b : (gint64)b;
    gboolean is_signed = type->type == FO_S32 || type->type == FO_S64;
    gboolean less = is_signed ? sa < sb : a < b;
    switch (op) {
    case FO_ADD: return a + b;
    case FO_MIN: return less ? a : b;
    case FO_MAX: return less ? b : a;
    case FO_AND: return a & b;
    case FO_OR: return a | b;
    default: return a ^ b;
    }
}

/* d = d op s, so many bytes. */
static void oracle_apply(guint8 number, FoOp op, guint8 *d, const guint8 *s, guint32 bytes)
{
    const ProgramType *type = &program_types[number];
    for (guint32 i = 0; i < bytes; i += type->element) {
        if (type->is_float) {
            double a = oracle_get(type, d + i), b = oracle_get(type, s + i);
            oracle_put(type, d + i, op == FO_ADD ? a + b : op == FO_MIN ? MIN(a, b) : MAX(a, b));
        } else {
            guint64 a = 0, b = 0;
            memcpy(&a, d + i, type->element);
            memcpy(&b, s + i, type->element);
            a = oracle_integer(type, op, a, b);
            memcpy(d + i, &a, type->element);
        }
    }
}

/* ---- memory */

static void image_fill(Rng *rng, const ProgramType *type, guint8 *at, guint32 bytes)
{
    for (guint32 i = 0; i < bytes; i += type->element) {
        guint64 bits = rng_next(rng);
        if (type->is_float)
            oracle_put(type, at + i, (double)(bits % 4));
        else
            memcpy(at + i, &bits, type->element);
    }
}

Image *image_new(const Program *program)
{
    Image *image = g_new0(Image, 1);
    for (guint32 g = 0; g < program->gpus; g++)
        for (guint32 m = 0; m < 2; m++) {
            guint8 *bytes = image->bytes[g][m] = g_malloc0(PROGRAM_BYTES);
            Rng rng;
            rng_init(&rng, program->seed * 16 + g * 2 + m, "random programs: memory");
            for (guint32 b = 0; b < 2 * PROGRAM_READ_BLOCKS; b++)
                image_fill(&rng, &program_types[b % PROGRAM_TYPES], bytes + b * PROGRAM_BLOCK, PROGRAM_BLOCK);
            image_fill(&rng, &program_types[0], bytes + PROGRAM_WRITES, PROGRAM_BYTES - PROGRAM_WRITES);
        }
    return image;
}

void image_free(Image *image)
{
    for (guint32 g = 0; g < PROGRAM_GPUS; g++)
        for (guint32 m = 0; m < 2; m++)
            g_free(image->bytes[g][m]);
    g_free(image);
}

guint8 *image_at(const Image *image, Place place)
{
    guint8 gpu = place.memory == MEMORY_MULTICAST ? 0 : place.gpu;
    return image->bytes[gpu][place.memory == MEMORY_OWN ? MEMORY_OWN : MEMORY_TEAM] + place.offset;
}

static void image_write(const Program *program, Image *image, Place place, const guint8 *from, guint32 bytes)
{
    if (place.memory != MEMORY_MULTICAST)
        memcpy(image_at(image, place), from, bytes);
    for (guint32 g = 0; place.memory == MEMORY_MULTICAST && g < program->gpus; g++)
        memcpy(image->bytes[g][MEMORY_TEAM] + place.offset, from, bytes);
}

/* What all members have there, summed. */
static void image_sum(const Program *program, const Image *image, const Step *step, Place place, guint8 *to,
                      guint32 bytes)
{
    memcpy(to, image_at(image, place), bytes);
    for (guint32 g = 1; g < program->gpus; g++)
        oracle_apply(step->type, step->op, to, image->bytes[g][MEMORY_TEAM] + place.offset, bytes);
}

/* ---- steps */

guint32 program_count(const Program *program, const Step *step)
{
    return step->count ? step->count : program->threads[step->phase];
}

Place program_gather(const Program *program, const Step *step, guint32 t)
{
    guint64 bits = rng_hash(step->number + t);
    guint32 units = PROGRAM_READ_BLOCKS * PROGRAM_BLOCK / step->width;
    return (Place){bits & 1 ? MEMORY_OWN : MEMORY_TEAM, (guint8)((bits >> 1) % program->gpus),
                   (guint32)((bits >> 16) % units) * step->width};
}

guint32 program_scatter(const Step *step, guint32 count, guint32 t)
{
    return (guint32)((2 * count - 1 - t + step->number % count) % count);
}

static void oracle_loop(const Program *program, const Step *step, Image *image)
{
    g_autofree guint8 *sum = g_malloc(PROGRAM_BLOCK), *one = g_malloc(PROGRAM_BLOCK);
    for (guint32 i = 0; step->sources == 0 && i < step->bytes; i++)
        sum[i] = step->value[i % step->width];
    for (guint32 s = 0; s < step->sources; s++) {
        if (step->source[s].memory == MEMORY_MULTICAST)
            image_sum(program, image, step, step->source[s], one, step->bytes);
        else
            memcpy(one, image_at(image, step->source[s]), step->bytes);
        if (s == 0)
            memcpy(sum, one, step->bytes);
        else
            oracle_apply(step->type, step->op, sum, one, step->bytes);
    }
    for (guint32 d = 0; d < step->destinations; d++)
        image_write(program, image, step->destination[d], sum, step->bytes);
}

/* Steps that change what is in memory. out: what was there. */
static void oracle_change(const Program *program, const Step *step, Image *image, guint8 *out, guint32 bytes)
{
    guint8 *at = image_at(image, step->kind == STEP_COUNT ? step->dst : step->scratch);
    guint8 value[PROGRAM_BLOCK];
    for (guint32 i = 0; i < bytes; i++)
        value[i] = step->value[i % step->width];
    memcpy(out, at, bytes);
    if (step->kind == STEP_COUNT && step->dst.memory == MEMORY_MULTICAST)
        for (guint32 g = 0; g < program->gpus; g++)
            oracle_apply(step->type, step->op, image->bytes[g][MEMORY_TEAM] + step->dst.offset, value, bytes);
    else if (step->kind == STEP_COUNT || step->kind == STEP_ATOM)
        oracle_apply(step->type, step->op, at, value, bytes);
    else if (step->kind == STEP_EXCHANGE || memcmp(at, &step->number, bytes) == 0)
        memcpy(at, value, bytes);
}

static void oracle_step(const Program *program, const Step *step, Image *image)
{
    guint32 count = program_count(program, step), bytes = count * step->width;
    guint8 out[PROGRAM_BLOCK];
    switch (step->kind) {
    case STEP_SLEEP: return;
    case STEP_LOOP: oracle_loop(program, step, image); return;
    case STEP_GATHER:
        for (guint32 t = 0; t < count; t++)
            memcpy(out + t * step->width, image_at(image, program_gather(program, step, t)), step->width);
        break;
    case STEP_SCATTER:
        for (guint32 t = 0; t < count; t++)
            memcpy(out + program_scatter(step, count, t) * step->width, image_at(image, step->a) + t * step->width,
                   step->width);
        break;
    case STEP_FILL:
        for (guint32 i = 0; i < bytes; i++)
            out[i] = step->value[i % step->width];
        break;
    case STEP_LD_REDUCE: image_sum(program, image, step, step->a, out, bytes); break;
    case STEP_GET: {
        guint64 number = 0;
        memcpy(&number, image_at(image, step->a) + step->number * step->width, MIN(step->width, 8));
        number = number * 3 + 1;
        for (guint32 i = 0; i < bytes; i++)
            out[i] = (guint8)(i % step->width < 8 ? number >> 8 * (i % step->width) : 0);
        break;
    }
    case STEP_COUNT:
    case STEP_ATOM:
    case STEP_EXCHANGE:
    case STEP_CAS:
        oracle_change(program, step, image, out, bytes);
        if (step->kind == STEP_COUNT)
            return;
        break;
    case STEP_LINES:
        bytes = step->bytes; /* and on: */
        G_GNUC_FALLTHROUGH;
    default:
        memcpy(out, image_at(image, step->a), bytes);
        if (step->kind == STEP_COMBINE || step->kind == STEP_LINES)
            oracle_apply(step->type, step->op, out, image_at(image, step->b), bytes);
        if (step->kind == STEP_ROUND || step->kind == STEP_TEAM_ROUND || step->kind == STEP_MESSAGE)
            image_write(program, image, step->scratch, out, bytes);
    }
    image_write(program, image, step->dst, out, bytes);
}

void oracle_run(const Program *program, guint32 phase, Image *image)
{
    for (guint i = 0; i < program->step->len; i++) {
        const Step *step = &g_array_index(program->step, Step, i);
        if (step->phase == phase)
            oracle_step(program, step, image);
    }
}
