/* Plain stores from GPU to GPU, as NCCL's send does them: a kernel on the sender copies its buffer
 * into the receiver's memory, 512 threads a CTA, 16 bytes a thread, one CTA for each 64 KiB up
 * to 16. */
#include "device/device.h"
#include "traces/replay/episode.h"

#define TRANSFER_THREADS 512u
#define TRANSFER_CTA_BYTES (64u << 10)
#define TRANSFER_CTAS_MAX 16u

typedef struct {
    MemRegion *from, *to;
    guint64 from_va, to_va, bytes;
} Buffers;

typedef struct {
    Fabric *fabric;
    Vas *vas;
    Buffers *buffers;
    guint32 n, running;
    TransferDone done;
    void *user;
} Transfer;

static void transfer_program(FoCta *cta, const void *args)
{
    const Buffers *b = args;
    FoLoop loop = {.bytes = b->bytes, .width = 16, .unroll = 4, .sources = 1, .destinations = 1};
    loop.source[0] = (FoStream){FO_LD, b->from_va};
    loop.destination[0] = (FoStream){FO_ST, b->to_va};
    fo_loop(cta, &loop);
}

static void transfer_free(Transfer *transfer)
{
    for (guint32 i = 0; i < transfer->n; i++) {
        Buffers *b = &transfer->buffers[i];
        if (b->from_va != 0)
            vas_unmap(transfer->vas, b->from_va, b->bytes);
        if (b->to_va != 0)
            vas_unmap(transfer->vas, b->to_va, b->bytes);
        if (b->from)
            memory_region_unref(transfer->fabric->memory, b->from);
        if (b->to)
            memory_region_unref(transfer->fabric->memory, b->to);
    }
    vas_free(transfer->vas);
    g_free(transfer->buffers);
    g_free(transfer);
}

static void on_launch_done(const DeviceLaunch *launch, void *user)
{
    (void)launch;
    Transfer *transfer = user;
    if (--transfer->running == 0) {
        TransferDone done = transfer->done;
        void *done_user = transfer->user;
        transfer_free(transfer);
        done(done_user);
    }
}

static MemRegion *buffer_new(Transfer *transfer, guint16 gpu, guint16 other, guint64 bytes, guint64 *va, GError **error)
{
    MemRegion *region = memory_region_new(transfer->fabric->memory, gpu, bytes, error);
    if (region) {
        memory_set_cached(transfer->fabric->memory, region, bytes <= transfer->fabric->spec.gpu.l2_bytes);
        *va = vas_choose(transfer->vas, bytes, 2u << 20);
        VasMapping *mapping = vas_map(transfer->vas, *va, bytes, region, NULL, 0);
        vas_set_access(mapping, gpu, VAS_ACCESS_READWRITE);
        vas_set_access(mapping, other, VAS_ACCESS_READWRITE);
    }
    return region;
}

gboolean transfer_start(Fabric *fabric, const TransferPart *parts, guint32 n, TransferDone done, void *user,
                        GError **error)
{
    for (guint32 i = 0; i < n; i++) {
        if (parts[i].bytes > COLL_BYTES_MAX) {
            g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE,
                        "%" G_GUINT64_FORMAT
                        " bytes are more than a simulated GPU holds; the largest message that fits "
                        "has %" G_GUINT64_FORMAT,
                        parts[i].bytes, (guint64)COLL_BYTES_MAX);
            return FALSE;
        }
    }
    Transfer *transfer = g_new0(Transfer, 1);
    transfer->fabric = fabric;
    transfer->vas = vas_new(fabric->memory, (guint32)fabric->spec.system.gpus);
    transfer->buffers = g_new0(Buffers, n);
    transfer->n = n;
    transfer->done = done;
    transfer->user = user;
    for (guint32 i = 0; i < n; i++) {
        Buffers *b = &transfer->buffers[i];
        b->bytes = (parts[i].bytes + 15) / 16 * 16;
        b->from = buffer_new(transfer, parts[i].from, parts[i].to, b->bytes, &b->from_va, error);
        b->to = b->from ? buffer_new(transfer, parts[i].to, parts[i].from, b->bytes, &b->to_va, error) : NULL;
        if (!b->to) {
            transfer_free(transfer);
            return FALSE;
        }
    }
    transfer->running = n;
    for (guint32 i = 0; i < n; i++) {
        const Buffers *b = &transfer->buffers[i];
        FoKernel kernel = {
            .name = "transfer",
            .program = transfer_program,
            .args = b,
            .args_bytes = sizeof *b,
            .ctas = CLAMP(b->bytes / TRANSFER_CTA_BYTES, 1, TRANSFER_CTAS_MAX),
            .threads = TRANSFER_THREADS,
        };
        DeviceLaunch *launch = device_launch(fabric, parts[i].from, transfer->vas, &kernel, on_launch_done, transfer,
                                             NULL);
        g_assert(launch != NULL); /* the grid is small */
    }
    return TRUE;
}
