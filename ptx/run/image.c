/* A module in a context: each function's constants, with the addresses of variables filled in. */
#include <string.h>

#include "ptx/run/exec.h"

PtxImage *ptx_image_new(PtxModule *module, guint64 global_base, guint64 const_base)
{
    PtxImage *image = g_new0(PtxImage, 1);
    image->module = module;
    image->global_base = global_base;
    image->const_base = const_base;
    image->pools = g_new0(guint8 *, module->functions->len + 1u);
    return image;
}

void ptx_image_free(PtxImage *image)
{
    if (!image)
        return;
    for (guint i = 0; i < image->module->functions->len; i++)
        g_aligned_free(image->pools[i]);
    g_free(image->pools);
    g_free(image);
}

/* A kernel's own shared variables lie behind those of module scope, where it or a callee uses these. */
static guint32 own_shared_base(const PtxCode *code)
{
    PtxUsage usage;
    const PtxModule *module = code->function->unit->module;
    guint32 base = (module->shared_bytes + 127u) & ~127u;
    if (!code->function->entry)
        return code->shared_at;
    return ptx_function_usage(code->function, &usage, NULL) &&
                   usage.shared_bytes - usage.functions_shared > code->shared_bytes
               ? base
               : 0;
}

const guint8 *ptx_image_pool(PtxImage *image, const PtxCode *code)
{
    guint8 **pool = &image->pools[code->function->index];
    if (*pool)
        return *pool;
    *pool = g_aligned_alloc0(1, code->pool_bytes + 64u, 64);
    if (code->pool_bytes)
        memcpy(*pool, code->pool, code->pool_bytes);
    for (guint r = 0; r < code->relocs->len; r++) {
        const PtxPoolReloc *reloc = &g_array_index(code->relocs, PtxPoolReloc, r);
        guint64 value = reloc->addend + (reloc->symbol
                                             ? ptx_symbol_address(reloc->symbol, image->global_base, image->const_base)
                                             : own_shared_base(code));
        for (guint l = 0; l < PTX_LANES; l++)
            memcpy(*pool + reloc->place + l * reloc->bytes, &value, reloc->bytes);
    }
    return *pool;
}
