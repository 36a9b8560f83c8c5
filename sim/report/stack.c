/* Bars across, each of parts one after the other: what makes up a whole. See CHART_STACKED. */
#include <string.h>

#include "sim/report/parts.h"

#define STACK_LEFT 150.0
#define STACK_WIDTH 640.0
#define STACK_TOP 10.0
#define STACK_ROW 44.0
#define STACK_BAR 26.0
#define STACK_LETTERS 20 /* of a bar's name stand before it; the rest is said when it is pointed at */
#define STACK_LEGEND_COLUMNS 4u

static const char *stack_text(const Chart *chart, guint row, guint column)
{
    const char *text = column < chart->table->n_columns ? table_cell(chart->table, row, column)->text : NULL;
    return text ? text : "";
}

static double stack_value(const Chart *chart, guint row)
{
    const char *text = table_cell(chart->table, row, chart->y[0])->text;
    return text ? g_ascii_strtod(text, NULL) : 0;
}

static gboolean stack_is_of(const Chart *chart, guint row, const char *run, const char *bar)
{
    return strcmp(stack_text(chart, row, chart->split), run) == 0 && strcmp(stack_text(chart, row, chart->x), bar) == 0;
}

static double stack_whole(const Chart *chart, const char *run, const char *bar)
{
    double sum = 0;
    for (guint r = 0; r < table_rows(chart->table); r++)
        if (stack_is_of(chart, r, run, bar))
            sum += stack_value(chart, r);
    return sum;
}

static guint stack_find(GPtrArray *names, const char *name)
{
    guint at;
    if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, &at)) {
        at = names->len;
        g_ptr_array_add(names, (gpointer)name);
    }
    return at;
}

static void stack_bar(const Chart *chart, const char *run, const char *bar, double most, double y, GPtrArray *colours,
                      GString *out)
{
    const Column *column = &chart->table->columns[chart->y[0]];
    const double whole = stack_whole(chart, run, bar);
    char text[G_ASCII_DTOSTR_BUF_SIZE], share[G_ASCII_DTOSTR_BUF_SIZE];
    double x = STACK_LEFT;
    g_ascii_formatd(text, sizeof text, "%.1f", whole);
    const glong letters = g_utf8_strlen(bar, -1);
    const gboolean fits = letters <= STACK_LETTERS;
    g_autofree char *brief = g_utf8_substring(bar, 0, fits ? letters : STACK_LETTERS - 1);
    markup_append(out, "<text x=\"0\" y=\"%d\"><title>%s</title>%s%s</text>", (int)(y + 12), bar, brief,
                  fits ? "" : "\u2026");
    markup_append(out, "<text x=\"0\" y=\"%d\">%s %s</text>\n", (int)(y + 27), text, column->unit);
    for (guint r = 0; r < table_rows(chart->table); r++) {
        if (!stack_is_of(chart, r, run, bar))
            continue;
        const char *part = stack_text(chart, r, chart->series);
        const double value = stack_value(chart, r), width = most > 0 ? STACK_WIDTH * value / most : 0;
        g_ascii_formatd(share, sizeof share, "%.1f", whole > 0 ? 100 * value / whole : 0);
        g_string_append_printf(out, "<rect class=\"f%u\" height=\"%d\"", stack_find(colours, part) % MARKUP_COLOURS,
                               (int)STACK_BAR);
        markup_number(out, "%.2f", "x", x);
        markup_number(out, "%.2f", "y", y + 4);
        markup_number(out, "%.2f", "width", width);
        markup_append(out, "><title>%s: %s %s, %s %%</title></rect>\n", part,
                      table_cell(chart->table, r, chart->y[0])->text, column->unit, share);
        x += width;
    }
}

static void stack_write(const Chart *chart, const char *run, const char *title, GPtrArray *bars, double most,
                        const GPtrArray *parts, GPtrArray *colours, GString *out)
{
    GString *body = g_string_new(NULL);
    double y = STACK_TOP;
    for (guint b = 0; b < bars->len; b++) {
        const char *bar = g_ptr_array_index(bars, b);
        if (stack_whole(chart, run, bar) <= 0)
            continue;
        stack_bar(chart, run, bar, most, y, colours, body);
        y += STACK_ROW;
    }
    for (guint p = 0; p < parts->len; p++) {
        const double at_x = 198 * (double)(p % STACK_LEGEND_COLUMNS);
        const double at_y = y + 18 * (double)(p / STACK_LEGEND_COLUMNS);
        const char *name = g_ptr_array_index(parts, p);
        g_string_append_printf(body, "<rect width=\"12\" height=\"12\" class=\"f%u\"",
                               stack_find(colours, name) % MARKUP_COLOURS);
        markup_number(body, "%.2f", "x", at_x);
        markup_number(body, "%.2f", "y", at_y);
        g_autofree char *brief = g_strndup(name, strcspn(name, ":"));
        markup_append(body, "/><text x=\"%d\" y=\"%d\">%s</text>\n", (int)at_x + 17, (int)at_y + 10, brief);
    }
    y += 18 * ((double)((parts->len + STACK_LEGEND_COLUMNS - 1) / STACK_LEGEND_COLUMNS));
    markup_append(out, "<figure tabindex=\"0\"><svg viewBox=\"0 0 %d %d\" role=\"img\"><title>%s</title>\n",
                  (int)(STACK_LEFT + STACK_WIDTH + 10), (int)y + 8, title);
    g_string_append(out, body->str);
    markup_append(out, "</svg><figcaption>%s</figcaption></figure>\n", title);
    g_string_free(body, TRUE);
}

void report_write_stack(const Chart *chart, GPtrArray *colours, GString *out)
{
    g_autoptr(GPtrArray) runs = g_ptr_array_new(), bars = g_ptr_array_new(), parts = g_ptr_array_new();
    double most = 0;
    for (guint r = 0; r < table_rows(chart->table); r++) {
        stack_find(runs, stack_text(chart, r, chart->split));
        stack_find(bars, stack_text(chart, r, chart->x));
        stack_find(parts, stack_text(chart, r, chart->series));
    }
    for (guint i = 0; i < runs->len; i++)
        for (guint b = 0; b < bars->len; b++)
            most = MAX(most, stack_whole(chart, g_ptr_array_index(runs, i), g_ptr_array_index(bars, b)));
    if (runs->len > 1)
        g_string_append(out, "<div class=\"side\">\n");
    for (guint i = 0; i < runs->len; i++) {
        const char *run = g_ptr_array_index(runs, i);
        g_autofree char *title = runs->len > 1 ? g_strdup_printf("%s: %s", chart->title, run) : g_strdup(chart->title);
        stack_write(chart, run, title, bars, most, parts, colours, out);
    }
    if (runs->len > 1)
        g_string_append(out, "</div>\n");
}
