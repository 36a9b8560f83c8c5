/* Which warp of which kernel is to be traced: "KERNEL:CTA:WARP".
 *
 * KERNEL is the name in the PTX, or of a C++ function that name's own part ("scale" for _Z5scalePfi, in any namespace);
 * "*" is any kernel. CTA is its number (x + y * grid.x + z * grid.x * grid.y) or X,Y,Z; WARP its number in the CTA. */
#ifndef DEVICE_KERNEL_TRACE_H
#define DEVICE_KERNEL_TRACE_H

#include "device/kernel/kernel.h"

struct KernelTrace {
    char *kernel;
    gboolean by_number;
    guint64 number; /* of the CTA */
    guint32 cta[3], warp;
};

/* NULL: *error (KERNEL_ERROR_SHAPE) says what is wrong with the text, in one sentence. */
KernelTrace *kernel_trace_new(const char *text, GError **error);
void kernel_trace_free(KernelTrace *trace); /* NULL: nothing */
gboolean kernel_trace_wants(const KernelTrace *trace, const char *kernel);
gboolean kernel_trace_is(const KernelTrace *trace, const PtxCta *cta, guint32 warp);

#endif
