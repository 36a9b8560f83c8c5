#include "ptx/read/fatbin.h"

#include <lz4.h>
#include <string.h>
#include <zstd.h>

#define HEADER_BYTES 16u
#define ENTRY_BYTES 64u
#define KIND_PTX 1u
#define FLAG_LZ4 0x2000u
#define FLAG_ZSTD 0x8000u

static guint16 get16(const guint8 *at) { return (guint16)(at[0] | at[1] << 8); }
static guint32 get32(const guint8 *at) { return get16(at) | (guint32)get16(at + 2) << 16; }
static guint64 get64(const guint8 *at) { return get32(at) | (guint64)get32(at + 4) << 32; }

static gboolean image_fail(const char *name, guint64 at, GError **error, const char *format, ...) G_GNUC_PRINTF(4, 5);
static gboolean image_fail(const char *name, guint64 at, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, PTX_LOAD_ERROR, PTX_LOAD_ERROR_IMAGE, "%s: fatbinary, byte %" G_GUINT64_FORMAT ": %s", name, at,
                text);
    return FALSE;
}

guint64 ptx_fatbin_bytes(const void *image)
{
    const guint8 *at = image;
    if (get32(at) != PTX_FATBIN_MAGIC || get16(at + 6) < HEADER_BYTES)
        return 0;
    guint64 size = get64(at + 8);
    return size > G_MAXINT64 ? 0 : size + get16(at + 6);
}

/* The number of -maxrregcount among an entry's options, 0: none. Options that are out of place say nothing. */
static guint read_registers_max(const guint8 *head, guint32 header)
{
    static const char key[] = "maxrregcount";
    guint32 options = get32(head + 20);
    if (options < ENTRY_BYTES || options > header || header - options < 8)
        return 0;
    guint32 at = get32(head + options), n = get32(head + options + 4);
    if (at > header || n > header - at)
        return 0;
    g_autofree char *text = g_strndup((const char *)head + at, n);
    const char *found = strstr(text, key);
    if (!found)
        return 0;
    found += sizeof key - 1;
    while (*found == '=' || *found == ' ')
        found++;
    return (guint)MIN(g_ascii_strtoull(found, NULL, 10), 255u);
}

static gboolean read_entry(const char *name, const guint8 *image, gsize end, gsize *at, GArray *entries, GError **error)
{
    const guint8 *head = image + *at;
    if (end - *at < ENTRY_BYTES)
        return image_fail(name, *at, error, "it ends within an entry's header");
    guint32 header = get32(head + 4);
    guint64 payload = get64(head + 8);
    if (header < ENTRY_BYTES || header > end - *at || payload > end - *at - header)
        return image_fail(name, *at, error, "an entry of %" G_GUINT64_FORMAT " bytes does not fit", payload);
    guint32 packed = get32(head + 16);
    PtxFatbinEntry entry = {.is_ptx = get16(head) == KIND_PTX,
                            .arch = get32(head + 28),
                            .flags = get64(head + 40),
                            .version = get16(head + 26) * 10u + get16(head + 24),
                            .payload = head + header};
    entry.registers_max = read_registers_max(head, header);
    entry.packed_bytes = packed ? packed : payload;
    entry.bytes = entry.flags & (FLAG_LZ4 | FLAG_ZSTD) ? get64(head + 56) : payload;
    if (entry.packed_bytes > payload)
        return image_fail(name, *at, error, "%" G_GSIZE_FORMAT " packed bytes in a payload of %" G_GUINT64_FORMAT,
                          entry.packed_bytes, payload);
    g_array_append_val(entries, entry);
    *at += header + payload;
    return TRUE;
}

GArray *ptx_fatbin_entries(const char *name, const guint8 *image, gsize bytes, GError **error)
{
    GArray *entries = g_array_new(FALSE, FALSE, sizeof(PtxFatbinEntry));
    gsize at = 0;
    gboolean good = TRUE;
    while (good && (at == 0 || bytes - at >= HEADER_BYTES)) {
        guint64 size = bytes - at >= HEADER_BYTES ? ptx_fatbin_bytes(image + at) : 0;
        if (size == 0 && at > 0)
            break; /* padding */
        if (size == 0 || size > bytes - at) {
            good = image_fail(name, at, error, size ? "it is shorter than its header says" : "it has no header");
            break;
        }
        gsize end = at + size;
        for (at += get16(image + at + 6); good && at < end;)
            good = read_entry(name, image, end, &at, entries, error);
        at = (end + 7u) & ~(gsize)7u;
        if (at >= bytes)
            break;
    }
    if (good)
        return entries;
    g_array_unref(entries);
    return NULL;
}

/* The text of an entry; g_free it; it ends in a NUL that *bytes does not count. */
static char *ptx_fatbin_unpack(const char *name, const PtxFatbinEntry *entry, gsize *bytes, GError **error)
{
    if (entry->bytes > PTX_FATBIN_BYTES_MAX ||
        (entry->flags & FLAG_LZ4 && MAX(entry->bytes, entry->packed_bytes) > G_MAXINT)) {
        image_fail(name, 0, error, "a text of %" G_GSIZE_FORMAT " bytes", entry->bytes);
        return NULL;
    }
    char *text = g_try_malloc(entry->bytes + 1);
    gsize got = 0;
    if (!text) {
        image_fail(name, 0, error, "no memory for a text of %" G_GSIZE_FORMAT " bytes", entry->bytes);
        return NULL;
    }
    if (entry->flags & FLAG_ZSTD) {
        got = ZSTD_decompress(text, entry->bytes, entry->payload, entry->packed_bytes);
        got = ZSTD_isError(got) ? G_MAXSIZE : got;
    } else if (entry->flags & FLAG_LZ4) {
        int done = LZ4_decompress_safe((const char *)entry->payload, text, (int)entry->packed_bytes, (int)entry->bytes);
        got = done < 0 ? G_MAXSIZE : (gsize)done;
    } else {
        got = entry->bytes;
        memcpy(text, entry->payload, got);
    }
    if (got != entry->bytes) {
        image_fail(name, 0, error, "its %s data is damaged", entry->flags & FLAG_ZSTD ? "zstd" : "LZ4");
        g_free(text);
        return NULL;
    }
    while (got > 0 && text[got - 1] == 0)
        got--;
    text[got] = 0;
    *bytes = got;
    return text;
}

char *ptx_fatbin_targets(const GArray *entries)
{
    GString *list = g_string_new(NULL);
    for (guint i = 0; i < entries->len; i++) {
        const PtxFatbinEntry *entry = &g_array_index(entries, PtxFatbinEntry, i);
        g_autofree char *one = g_strdup_printf("%s_%u", entry->is_ptx ? "compute" : "sm", entry->arch);
        if (!strstr(list->str, one))
            g_string_append_printf(list, "%s%s", list->len ? ", " : "", one);
    }
    return g_string_free(list, FALSE);
}

static void refuse(const char *name, const GArray *entries, guint sm, GError **error)
{
    g_autofree char *list = ptx_fatbin_targets(entries);
    gboolean any_ptx = FALSE;
    for (guint i = 0; i < entries->len; i++)
        any_ptx |= g_array_index(entries, PtxFatbinEntry, i).is_ptx;
    if (any_ptx)
        g_set_error(error, PTX_LOAD_ERROR, PTX_LOAD_ERROR_IMAGE,
                    "%s: the image has no PTX for sm_%u or below, only %s; build it with -gencode "
                    "arch=compute_%u,code=compute_%u",
                    name, sm, list, sm, sm);
    else
        g_set_error(
            error, PTX_LOAD_ERROR, PTX_LOAD_ERROR_IMAGE,
            "%s: the image holds machine code only (%s), which is not simulated; build it with PTX: nvcc -gencode "
            "arch=compute_%u,code=compute_%u",
            name, list[0] ? list : "nothing", sm ? sm : 90, sm ? sm : 90);
}

char *ptx_fatbin_choose(const char *name, const guint8 *image, gsize bytes, guint sm, gsize *text_bytes,
                        guint *registers_max, GError **error)
{
    GArray *entries = ptx_fatbin_entries(name, image, bytes, error);
    const PtxFatbinEntry *best = NULL;
    char *text = NULL;
    if (!entries)
        return NULL;
    for (guint i = 0; i < entries->len; i++) {
        const PtxFatbinEntry *entry = &g_array_index(entries, PtxFatbinEntry, i);
        if (entry->is_ptx && (sm == 0 || entry->arch <= sm) && (!best || entry->arch > best->arch))
            best = entry;
    }
    if (best)
        text = ptx_fatbin_unpack(name, best, text_bytes, error);
    else
        refuse(name, entries, sm, error);
    if (registers_max)
        *registers_max = best ? best->registers_max : 0;
    g_array_unref(entries);
    return text;
}
