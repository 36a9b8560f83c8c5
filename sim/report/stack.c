/* Bars across, each of parts one after the other: what makes up a whole. See CHART_STACKED. */
#include <string.h>

#include "sim/report/parts.h"

#define STACK_WIDTH 650.0
#define STACK_TOP 4.0
#define STACK_NAME 24.0 /* a line for the bar's name and what it is in all, over it */
#define STACK_ROW 60.0
#define STACK_BAR 26.0

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
    double x = 0;
    g_ascii_formatd(text, sizeof text, "%.1f", whole);
    markup_append(out, "<text x=\"0\" y=\"%d\">%s: %s %s</text>\n", (int)(y + 16), bar, text, column->unit);
    for (guint r = 0; r < table_rows(chart->table); r++) {
        if (!stack_is_of(chart, r, run, bar))
            continue;
        const char *part = stack_text(chart, r, chart->series);
        const double value = stack_value(chart, r), width = most > 0 ? STACK_WIDTH * value / most : 0;
        g_ascii_formatd(share, sizeof share, "%.1f", whole > 0 ? 100 * value / whole : 0);
        g_string_append_printf(out, "<rect class=\"f%u\" height=\"%d\"", stack_find(colours, part) % MARKUP_COLOURS,
                               (int)STACK_BAR);
        markup_number(out, "%.2f", "x", x);
        markup_number(out, "%.2f", "y", y + STACK_NAME);
        markup_number(out, "%.2f", "width", width);
        markup_append(out, "><title>%s: %s %s, %s %%</title></rect>\n", part,
                      table_cell(chart->table, r, chart->y[0])->text, column->unit, share);
        x += width;
    }
}

/* The words before a colon: what is behind it explains, and the table has it. */
static void stack_legend(const GPtrArray *parts, GPtrArray *colours, GString *out)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autofree guint *colour = g_new0(guint, parts->len + 1);
    for (guint p = 0; p < parts->len; p++) {
        const char *name = g_ptr_array_index(parts, p);
        colour[p] = stack_find(colours, name);
        g_ptr_array_add(names, g_strndup(name, strcspn(name, ":")));
    }
    report_write_legend((const char *const *)names->pdata, names->len, TRUE, colour, out);
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
    markup_append(out, "<figure class=\"chart\" tabindex=\"0\"><figcaption>%s</figcaption>\n", title);
    g_string_append_printf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\">", (int)STACK_WIDTH, (int)y + 8);
    markup_append(out, "<title>%s</title>\n", title);
    g_string_append(out, body->str);
    g_string_append(out, "</svg>\n");
    stack_legend(parts, colours, out);
    g_string_append(out, "</figure>\n");
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
