/* Copies and fills of the model: in one dimension and two, between host and devices, to teams, on streams. */
#include "tests/api/cuda_model.h"

#define ROWS 8

/* Where bytes stand: of a team, in each member's memory. */
typedef struct {
    CUdeviceptr va;
    size_t bytes;
    guint8 *image[MODEL_DEVICES];
    int images;
} Area;

static gboolean area_of_range(const Model *model, const ModelRange *range, Area *area)
{
    if (!range->va || !range->access || (range->team && model->current >= range->team->n))
        return FALSE;
    *area = (Area){.va = range->va, .bytes = range->bytes};
    if (range->memory) {
        area->image[area->images++] = range->memory->image;
        return TRUE;
    }
    for (int d = 0; range->team && d < range->team->n; d++) {
        if (!range->team->bound[d])
            return FALSE; /* a store there is an error */
        area->image[area->images++] = range->team->bound[d]->image;
    }
    return range->team != NULL;
}

/* Any that can be touched now; to read from: no team. */
static gboolean area_pick(Model *model, gboolean reads, Area *area)
{
    for (int tries = 0; tries < 8; tries++) {
        guint slot = model_below(model, MODEL_SLOTS);
        if (model_below(model, 3) == 0 && model->block[slot].va) {
            const ModelBlock *block = &model->block[slot];
            *area = (Area){block->va, block->bytes, {block->image}, 1};
            return TRUE;
        }
        if (area_of_range(model, &model->range[slot], area) && (area->images == 1 || !reads) &&
            !(reads && model->range[slot].team))
            return TRUE;
    }
    return FALSE;
}

void model_look(Model *model, CUdeviceptr va, const guint8 *image, size_t bytes)
{
    g_autofree guint8 *have = g_malloc(bytes);
    if (!model_expect(model, CUDA_SUCCESS, cuMemcpyDtoH(have, va, bytes), "cuMemcpyDtoH(0x%llx, %zu)", va, bytes))
        return;
    for (size_t i = 0; i < bytes; i++)
        if (have[i] != image[i]) {
            model_complain(model, "byte %zu of 0x%llx is 0x%02x; 0x%02x is right", i, va, have[i], image[i]);
            return;
        }
}

static void copies_fill(Model *model, guint8 *bytes, size_t n)
{
    guint32 word = g_rand_int(model->rand);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (guint8)((word += 0x9e3779b9u) >> 24);
}

/* ---- in one dimension; on a stream or, without one, at once */

static void copy_in(Model *model, const Area *to, size_t at, size_t n, guint8 *host, CUstream stream)
{
    copies_fill(model, host, n);
    for (int i = 0; i < to->images; i++)
        memcpy(to->image[i] + at, host, n);
    CUresult got = stream ? cuMemcpyHtoDAsync(to->va + at, host, n, stream) : cuMemcpyHtoD(to->va + at, host, n);
    model_expect(model, CUDA_SUCCESS, got, "cuMemcpyHtoD(0x%llx + %zu, %zu) on %p", to->va, at, n, (void *)stream);
}

static void copy_across(Model *model, const Area *to, size_t at, size_t n, CUstream stream)
{
    Area from;
    if (!area_pick(model, TRUE, &from))
        return;
    n = MIN(n, from.bytes);
    size_t source = model_below(model, (guint)(from.bytes - n) + 1);
    for (int i = 0; i < to->images; i++)
        if (to->image[i] == from.image[0] && source < at + n && at < source + n)
            return; /* overlap: undefined */
    for (int i = 0; i < to->images; i++)
        memcpy(to->image[i] + at, from.image[0] + source, n);
    CUresult got = stream ? cuMemcpyDtoDAsync(to->va + at, from.va + source, n, stream)
                          : cuMemcpyDtoD(to->va + at, from.va + source, n);
    model_expect(model, CUDA_SUCCESS, got, "cuMemcpyDtoD(0x%llx + %zu, 0x%llx + %zu, %zu) on %p", to->va, at, from.va,
                 source, n, (void *)stream);
}

static void fill(Model *model, const Area *to, size_t at, size_t n, CUstream stream)
{
    static const guint widths[] = {1, 2, 4};
    guint width = widths[model_below(model, 3)], value = g_rand_int(model->rand);
    CUdeviceptr va = to->va + at / width * width;
    CUresult got;
    n /= width;
    for (size_t i = 0; i < n * width; i++)
        to->image[0][at / width * width + i] = (guint8)(value >> 8 * (i % width));
    if (width == 1)
        got = stream ? cuMemsetD8Async(va, (guint8)value, n, stream) : cuMemsetD8(va, (guint8)value, n);
    else if (width == 2)
        got = stream ? cuMemsetD16Async(va, (guint16)value, n, stream) : cuMemsetD16(va, (guint16)value, n);
    else
        got = stream ? cuMemsetD32Async(va, value, n, stream) : cuMemsetD32(va, value, n);
    model_expect(model, CUDA_SUCCESS, got, "cuMemsetD%u(0x%llx, 0x%x, %zu) on %p", 8 * width, va, value, n,
                 (void *)stream);
}

/* ---- in two */

static void fill_rows(Model *model, const Area *to)
{
    guint width = model_below(model, 2) ? 4 : 1, columns = 1 + model_below(model, 300), value = g_rand_int(model->rand);
    guint pitch = (columns + model_below(model, 100)) * width, rows = 1 + model_below(model, ROWS);
    size_t at = (size_t)model_below(model, 4096) * 4;
    for (guint r = 0; r < rows; r++)
        for (guint i = 0; i < columns * width; i++)
            to->image[0][at + r * pitch + i] = (guint8)(value >> 8 * (i % width));
    CUresult got = width == 4 ? cuMemsetD2D32(to->va + at, pitch, value, columns, rows)
                              : cuMemsetD2D8(to->va + at, pitch, (guint8)value, columns, rows);
    model_expect(model, CUDA_SUCCESS, got, "cuMemsetD2D%u(0x%llx + %zu, pitch %u, %u x %u)", 8 * width, to->va, at,
                 pitch, columns, rows);
}

typedef struct {
    guint x, y, pitch;
    guint8 *bytes; /* of the host, or of the image */
} Side;

static void side_draw(Model *model, Side *side, guint width, guint8 *bytes)
{
    side->x = model_below(model, 50);
    side->y = model_below(model, 4);
    side->pitch = side->x + width + model_below(model, 50);
    side->bytes = bytes;
}

static void copy_rows(Model *model, const Area *to)
{
    static guint8 none[1];
    guint kind = model_below(model, 3), width = 1 + model_below(model, 300), rows = 1 + model_below(model, ROWS);
    g_autofree guint8 *host = g_malloc0(ROWS * 2 * 512);
    Area from;
    Side s, d;
    if (kind != 0 && !area_pick(model, TRUE, &from))
        return;
    for (int i = 0; kind == 1 && i < to->images; i++)
        if (from.image[0] == to->image[i])
            return; /* rows may overlap: undefined */
    if (kind == 0)
        copies_fill(model, host, ROWS * 2 * 512);
    side_draw(model, &s, width, kind == 0 ? host : from.image[0]);
    side_draw(model, &d, width, kind == 2 ? host : none);
    for (guint r = 0; r < rows; r++) {
        const guint8 *row = s.bytes + (s.y + r) * s.pitch + s.x;
        for (int i = 0; i < (kind == 2 ? 0 : to->images); i++)
            memcpy(to->image[i] + (d.y + r) * d.pitch + d.x, row, width);
    }
    CUDA_MEMCPY2D copy = {.srcXInBytes = s.x,
                          .srcY = s.y,
                          .srcPitch = s.pitch,
                          .dstXInBytes = d.x,
                          .dstY = d.y,
                          .dstPitch = d.pitch,
                          .WidthInBytes = width,
                          .Height = rows,
                          .srcHost = host,
                          .dstHost = host};
    copy.srcMemoryType = kind == 0 ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    copy.dstMemoryType = kind == 2 ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = kind == 0 ? 0 : from.va;
    copy.dstDevice = to->va;
    if (!model_expect(model, CUDA_SUCCESS, cuMemcpy2D(&copy), "cuMemcpy2D(0x%llx to 0x%llx, %u x %u, pitches %u, %u)",
                      copy.srcDevice, copy.dstDevice, width, rows, s.pitch, d.pitch) ||
        kind != 2)
        return;
    for (guint r = 0; r < rows; r++)
        if (memcmp(host + (d.y + r) * d.pitch + d.x, s.bytes + (s.y + r) * s.pitch + s.x, width) != 0)
            model_complain(model, "row %u of what cuMemcpy2D read is wrong", r);
}

/* ---- */

static void copy_one(Model *model, guint8 *host, CUstream stream)
{
    Area to;
    if (!area_pick(model, FALSE, &to))
        return;
    model->team_writes += to.images > 1;
    size_t n = 1 + model_below(model, model_below(model, 10) ? 4096 : 100000);
    size_t at = model_below(model, (guint)(to.bytes - n));
    switch (model_below(model, 4)) {
    case 0: copy_in(model, &to, at, n, host, stream); break;
    case 1: copy_across(model, &to, at, n, stream); break;
    case 2:
        if (to.images == 1)
            fill(model, &to, at, n, stream);
        break;
    default:
        if (area_pick(model, TRUE, &to)) {
            at = model_below(model, (guint)(to.bytes - n));
            if (!stream)
                model_look(model, to.va + at, to.image[0] + at, n);
        }
    }
}

/* On two streams, each call after the one before it; host memory lives until they are done. */
static void copy_burst(Model *model)
{
    guint8 *host[MODEL_BURST] = {NULL};
    guint n = 1 + model_below(model, MODEL_BURST), on = model_below(model, 2);
    model_context(model, 0);
    for (guint i = 0; i < n; i++) {
        host[i] = g_malloc(100000);
        copy_one(model, host[i], model->stream[on]);
        if (model_below(model, 3) == 0) {
            model_expect(model, CUDA_SUCCESS, cuEventRecord(model->event, model->stream[on]), "cuEventRecord");
            on = !on;
            CUresult got = cuStreamWaitEvent(model->stream[on], model->event, 0);
            model_expect(model, CUDA_SUCCESS, got, "cuStreamWaitEvent");
        }
    }
    model_expect(model, CUDA_SUCCESS, cuStreamSynchronize(model->stream[on]), "cuStreamSynchronize");
    for (guint i = 0; i < n; i++)
        g_free(host[i]);
}

void model_copy(Model *model)
{
    Area to;
    guint kind = model_below(model, 6);
    if (kind == 0) {
        copy_burst(model);
    } else if (kind <= 2) {
        if (area_pick(model, FALSE, &to) && kind == 1)
            copy_rows(model, &to);
        else if (area_pick(model, TRUE, &to))
            fill_rows(model, &to);
    } else {
        g_autofree guint8 *host = g_malloc(100000);
        copy_one(model, host, NULL);
    }
}
