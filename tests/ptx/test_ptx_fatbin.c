/* Fatbinaries, made here in the format that ptx/read/fatbin.h states. */
#include "tests/test.h"

#include <lz4.h>
#include <zstd.h>

#include "ptx/read/fatbin.h"

static const char text[] =
    ".version 8.0\n.target sm_90\n// a text that is long enough to be worth packing, packing, packing, packing\n";

static void put(GByteArray *image, guint64 value, guint bytes)
{
    for (guint i = 0; i < bytes; i++) {
        guint8 byte = i < sizeof value ? (guint8)(value >> (8 * i)) : 0; /* fields may be wider: zeros */
        g_byte_array_append(image, &byte, 1);
    }
}

static void add_entry(GByteArray *image, guint kind, guint arch, guint64 flags, const void *data, gsize packed,
                      gsize bytes)
{
    gsize padded = (packed + 7) & ~(gsize)7, header = kind == 1 ? 80 : 64;
    put(image, kind, 2);
    put(image, 0x101, 2);
    put(image, header, 4);
    put(image, padded, 8);
    put(image, flags & 0xa000 ? packed : 0, 4);
    put(image, 0x40, 4);
    put(image, 0, 2);
    put(image, 9, 2);
    put(image, arch, 4);
    put(image, 0, 8);
    put(image, flags, 8);
    put(image, 0, 8);
    put(image, bytes, 8);
    put(image, 0, (guint)header - 64);
    g_byte_array_append(image, data, (guint)packed);
    put(image, 0, (guint)(padded - packed));
}

static GByteArray *begin(void)
{
    GByteArray *image = g_byte_array_new();
    put(image, PTX_FATBIN_MAGIC, 4);
    put(image, 1, 2);
    put(image, 16, 2);
    put(image, 0, 8);
    return image;
}

static void end(GByteArray *image)
{
    guint64 size = image->len - 16;
    memcpy(image->data + 8, &size, 8); /* little-endian hosts only, as is the format */
}

static void add_text(GByteArray *image, guint arch, guint64 flags)
{
    char packed[512];
    gsize bytes = sizeof text - 1, n = bytes;
    if (flags & 0x8000)
        n = ZSTD_compress(packed, sizeof packed, text, bytes, 3);
    else if (flags & 0x2000)
        n = (gsize)LZ4_compress_default(text, packed, (int)bytes, sizeof packed);
    else
        memcpy(packed, text, bytes);
    add_entry(image, 1, arch, flags, packed, n, bytes);
}

/* Proves that plain, LZ4 and zstd entries give the text, and that the best architecture is chosen. */
static void test_modes(void **state)
{
    (void)state;
    static const guint64 flags[] = {0x11, 0x2011, 0x8011};
    for (guint i = 0; i < G_N_ELEMENTS(flags); i++) {
        GByteArray *image = begin();
        add_entry(image, 2, 90, 0x11, "ELF", 3, 3);
        add_text(image, 80, flags[i]);
        add_entry(image, 1, 100, 0x11, "newer", 5, 5);
        add_entry(image, 1, 70, 0x11, "older", 5, 5);
        end(image);
        GError *error = NULL;
        gsize bytes = 0;
        char *chosen = ptx_fatbin_choose("x", image->data, image->len, 90, &bytes, NULL, &error);
        if (!chosen)
            fail_msg("%s", error->message);
        assert_int_equal(bytes, sizeof text - 1);
        assert_string_equal(chosen, text);
        g_free(chosen);
        chosen = ptx_fatbin_choose("x", image->data, image->len, 0, &bytes, NULL, NULL);
        assert_string_equal(chosen, "newer");
        g_free(chosen);
        g_byte_array_unref(image);
    }
}

/* Proves that an image of machine code alone is refused with its architectures and the option that adds PTX. */
static void test_refused(void **state)
{
    (void)state;
    GByteArray *image = begin();
    GError *error = NULL;
    gsize bytes;
    add_entry(image, 2, 90, 0x11, "ELF", 3, 3);
    add_entry(image, 2, 100, 0x11, "ELF", 3, 3);
    end(image);
    assert_null(ptx_fatbin_choose("lib.so", image->data, image->len, 90, &bytes, NULL, &error));
    assert_non_null(strstr(error->message, "lib.so: the image holds machine code only (sm_90, sm_100)"));
    assert_non_null(strstr(error->message, "arch=compute_90,code=compute_90"));
    g_clear_error(&error);
    add_text(image, 100, 0x11);
    end(image);
    assert_null(ptx_fatbin_choose("lib.so", image->data, image->len, 90, &bytes, NULL, &error));
    assert_non_null(strstr(error->message, "no PTX for sm_90 or below, only sm_90, sm_100, compute_100"));
    g_clear_error(&error);
    g_byte_array_unref(image);
}

/* Proves that the number of registers that a text was compiled for is read from its entry's options, in both spellings,
 * and that options out of place say nothing. */
static void test_options(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        guint32 at;
        guint most;
    } rows[] = {{"-maxrregcount=96 --compile-only  ", 72, 96},
                {"--maxrregcount 128", 72, 128},
                {"--compile-only", 72, 0},
                {"-maxrregcount=96", 1000, 0}};
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        guint8 options[48] = {0};
        guint32 place[2] = {rows[i].at, (guint32)strlen(rows[i].text)};
        guint most = 1;
        gsize bytes;
        GByteArray *image = begin();
        add_text(image, 90, 0x11);
        memcpy(options, place, 8);
        memcpy(options + 8, rows[i].text, strlen(rows[i].text));
        /* the header that add_entry made has 16 bytes of options: they become 48 */
        g_byte_array_set_size(image, image->len + 32);
        memmove(image->data + 16 + 112, image->data + 16 + 80, image->len - 128);
        memcpy(image->data + 16 + 64, options, sizeof options);
        image->data[16 + 4] = 112;
        end(image);
        GError *error = NULL;
        char *chosen = ptx_fatbin_choose("x", image->data, image->len, 90, &bytes, &most, &error);
        if (!chosen)
            fail_msg("%s", error->message);
        assert_string_equal(chosen, text);
        assert_int_equal(most, rows[i].most);
        g_free(chosen);
        g_byte_array_unref(image);
    }
}

/* Proves that an image cut anywhere, or with any byte changed, gives a text or an error, never a crash. */
static void test_damaged(void **state)
{
    (void)state;
    GByteArray *image = begin();
    add_text(image, 80, 0x8011);
    add_text(image, 90, 0x2011);
    end(image);
    for (guint i = 0; i < 2 * image->len; i++) {
        gsize bytes = i < image->len ? i : image->len, got;
        guint8 *copy = g_memdup2(image->data, MAX(bytes, 1));
        GError *error = NULL;
        if (i >= image->len)
            copy[i - image->len] ^= (guint8)(1 + i % 255);
        char *chosen = ptx_fatbin_choose("x", copy, bytes, 90, &got, NULL, &error);
        assert_true((chosen != NULL) != (error != NULL));
        if (bytes < image->len)
            assert_null(chosen);
        g_free(chosen);
        g_clear_error(&error);
        g_free(copy);
    }
    g_byte_array_unref(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_modes), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_options), cmocka_unit_test(test_damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
