/* Sizes: digits, at most one fraction, at most one suffix; no floating point, so 0.1K is refused.
 */
#include "sim/param/size.h"

#include <string.h>

#define SIZE_FRACTION_MAX 1000000 /* six digits behind the point suffice for anybody */

G_DEFINE_QUARK(fanout - size - error, size_error)

static gboolean size_shift(const char *suffix, guint *shift)
{
    static const char letters[] = "KMGT";
    *shift = 0;
    if (*suffix == '\0' || g_ascii_strcasecmp(suffix, "B") == 0)
        return TRUE;
    const char *at = strchr(letters, g_ascii_toupper(*suffix));
    if (!at || *at == '\0')
        return FALSE;
    *shift = 10 * (guint)(at - letters + 1);
    suffix++;
    return *suffix == '\0' || g_ascii_strcasecmp(suffix, "iB") == 0 || g_ascii_strcasecmp(suffix, "B") == 0;
}

static gboolean size_refuse(const char *what, const char *text, GError **error)
{
    g_set_error(error, SIZE_ERROR, SIZE_ERROR_SYNTAX,
                "%s: '%s' is not a size; write bytes or a number with K, M or G, as 4096, 8K, 64M, 1G", what, text);
    return FALSE;
}

static gboolean size_too_big(const char *what, const char *text, GError **error)
{
    g_set_error(error, SIZE_ERROR, SIZE_ERROR_RANGE, "%s: '%s' is more than the largest size, 2^63 - 1", what, text);
    return FALSE;
}

gboolean size_parse(const char *what, const char *text, guint64 *bytes, GError **error)
{
    guint64 whole = 0, fraction = 0, unit = 1;
    guint shift;
    const char *p = text;
    if (!g_ascii_isdigit(*p))
        return size_refuse(what, text, error);
    for (; g_ascii_isdigit(*p); p++)
        if (!g_uint64_checked_mul(&whole, whole, 10) || !g_uint64_checked_add(&whole, whole, (guint64)(*p - '0')))
            return size_too_big(what, text, error);
    if (*p == '.') {
        p++;
        if (!g_ascii_isdigit(*p))
            return size_refuse(what, text, error);
        for (; g_ascii_isdigit(*p) && unit < SIZE_FRACTION_MAX; p++) {
            fraction = fraction * 10 + (guint64)(*p - '0');
            unit *= 10;
        }
    }
    if (!size_shift(p, &shift))
        return size_refuse(what, text, error);
    guint64 scale = G_GUINT64_CONSTANT(1) << shift; /* at most 2^40, so that the product fits */
    if (fraction * scale % unit) {
        g_set_error(error, SIZE_ERROR, SIZE_ERROR_SYNTAX, "%s: '%s' is not a whole number of bytes", what, text);
        return FALSE;
    }
    if (!g_uint64_checked_mul(&whole, whole, scale) || !g_uint64_checked_add(&whole, whole, fraction * scale / unit) ||
        whole > G_MAXINT64)
        return size_too_big(what, text, error);
    *bytes = whole;
    return TRUE;
}

char *size_format(guint64 bytes)
{
    static const char letters[] = "KMGT";
    int at = -1;
    while (bytes && bytes % 1024 == 0 && at + 1 < (int)strlen(letters)) {
        bytes /= 1024;
        at++;
    }
    if (at < 0)
        return g_strdup_printf("%" G_GUINT64_FORMAT, bytes);
    return g_strdup_printf("%" G_GUINT64_FORMAT "%c", bytes, letters[at]);
}
