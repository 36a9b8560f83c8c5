/* Text and numbers inside the markup of pages and of their pictures. */
#include "sim/report/parts.h"

void markup_append(GString *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = g_markup_vprintf_escaped(format, args);
    va_end(args);
    g_string_append(out, text);
    g_free(text);
}

void markup_number(GString *out, const char *format, const char *name, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(text, sizeof text, format, value);
    g_string_append_printf(out, " %s=\"%s\"", name, text);
}
