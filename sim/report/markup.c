/* Text and numbers inside the markup of pages and of their pictures. */
#include "sim/report/parts.h"

#include <string.h>

void markup_append(GString *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = g_markup_vprintf_escaped(format, args);
    va_end(args);
    g_string_append(out, text);
    g_free(text);
}

gboolean markup_is_plain(const char *text, const char *special)
{
    for (; *text; text++)
        if ((guchar)*text < ' ' || (guchar)*text > '~' || strchr(special, *text))
            return FALSE;
    return TRUE;
}

void markup_text(GString *out, const char *text)
{
    g_autofree char *escaped = markup_is_plain(text, "&<>\"'") ? NULL : g_markup_escape_text(text, -1);
    g_string_append(out, escaped ? escaped : text);
}

void markup_number(GString *out, const char *format, const char *name, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(text, sizeof text, format, value);
    g_string_append_printf(out, " %s=\"%s\"", name, text);
}
