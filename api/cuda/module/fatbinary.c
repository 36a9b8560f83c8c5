/* Fatbinaries, and the wrapper that compilers put before them: see program.h. ptx/read/fatbin.h has the format. */
#include <string.h>

#include "api/cuda/module/program.h"
#include "ptx/read/fatbin.h"

typedef struct {
    guint32 magic, version;
    const void *fatbin;
    const void *more; /* version 2: a list, ended by NULL, of fatbinaries to link */
} Wrapper;

/* Why it cannot be taken stands in *why. */
static CUresult take_fatbin(guint sm, const char *name, const guint8 *image, gsize bytes, GPtrArray *units, char **why)
{
    g_autoptr(GError) error = NULL;
    guint64 whole = bytes >= 16 ? ptx_fatbin_bytes(image) : 0;
    gsize text_bytes;
    guint registers_max;

    if (whole == 0 || whole > bytes) {
        *why = g_strdup("the image is cut off, or no fatbinary");
        return CUDA_ERROR_INVALID_IMAGE;
    }
    char *text = ptx_fatbin_choose(name, image, whole, sm, &text_bytes, &registers_max, &error);
    if (!text) {
        *why = g_strdup(error->message);
        GArray *entries = ptx_fatbin_entries(name, image, whole, NULL);
        gboolean sound = entries && entries->len > 0 && !strstr(error->message, "damaged");
        g_clear_pointer(&entries, g_array_unref);
        return sound ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_ERROR_INVALID_IMAGE;
    }
    units_take(units, name, text, text_bytes, registers_max);
    return CUDA_SUCCESS;
}

CUresult units_from_fatbin(Call *call, JitOptions *jit, guint sm, const char *name, const guint8 *image, gsize bytes,
                           GPtrArray *units)
{
    g_autofree char *why = NULL;
    CUresult result = take_fatbin(sm, name, image, bytes, units, &why);

    if (result != CUDA_SUCCESS)
        unit_fail(call, jit, why);
    return result;
}

/* Of relocatable code that was linked on the host, a part may be a library that comes as machine code alone, such as
 * libcudadevrt, which NCCL's link takes in whole. Such a part is left out: a symbol of it that is called is then one
 * that the linker does not find, and is refused by name. An image whose every part is so is refused as a whole. */
static CUresult from_parts(Call *call, JitOptions *jit, guint sm, const char *name, const void *const *part,
                           GPtrArray *units)
{
    g_autofree char *without = NULL;
    const guint before = units->len;

    for (guint i = 0; part[i] != NULL; i++) {
        g_autofree char *one = g_strdup_printf("%s, part %u", name, i + 1);
        g_autofree char *why = NULL;
        CUresult result = take_fatbin(sm, one, part[i], IMAGE_BYTES_UNKNOWN, units, &why);
        if (result == CUDA_ERROR_NO_BINARY_FOR_GPU) {
            g_free(without);
            without = g_steal_pointer(&why);
        } else if (result != CUDA_SUCCESS) {
            unit_fail(call, jit, why);
            return result;
        }
    }
    if (units->len > before || !without)
        return CUDA_SUCCESS;
    unit_fail(call, jit, without);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

static gboolean has_ptx(const GArray *entries, guint sm)
{
    for (guint i = 0; i < entries->len; i++) {
        const PtxFatbinEntry *entry = &g_array_index(entries, PtxFatbinEntry, i);
        if (entry->is_ptx && entry->arch <= sm)
            return TRUE;
    }
    return FALSE;
}

char *parts_left_out(guint sm, const void *image, gsize bytes)
{
    const Wrapper *wrapper = image;
    g_autoptr(GString) list = g_string_new(NULL);

    if (bytes != IMAGE_BYTES_UNKNOWN || wrapper->magic != WRAPPER_MAGIC || wrapper->version != 2)
        return NULL;
    const void *const *part = wrapper->more;
    for (guint i = 0; part && part[i]; i++) {
        g_autoptr(GArray) entries = ptx_fatbin_entries("", part[i], ptx_fatbin_bytes(part[i]), NULL);
        if (!entries || has_ptx(entries, sm))
            continue;
        g_autofree char *targets = ptx_fatbin_targets(entries);
        g_string_append_printf(list, "%spart %u (%s)", list->len ? ", " : "", i + 1, targets);
    }
    if (list->len == 0)
        return NULL;
    return g_strdup_printf("left out of the image, since they have no PTX for sm_%u: %s; build them with nvcc -gencode "
                           "arch=compute_%u,code=compute_%u",
                           sm, list->str, sm, sm);
}

CUresult units_from_wrapper(Call *call, JitOptions *jit, guint sm, const char *name, const void *image,
                            GPtrArray *units)
{
    const Wrapper *wrapper = image;
    const void *const *more = wrapper->version == 2 ? wrapper->more : NULL;

    if (more)
        return from_parts(call, jit, sm, name, more, units);
    return wrapper->fatbin ? units_from_fatbin(call, jit, sm, name, wrapper->fatbin, IMAGE_BYTES_UNKNOWN, units)
                           : CUDA_ERROR_INVALID_IMAGE;
}
