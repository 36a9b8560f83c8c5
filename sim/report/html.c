/* HTML: one self-contained page, no file beside it. Its style is page.css; scene.js plays its scenes, and everything
 * else is there without a script. */
#include "config.h"

#include <string.h>

#include "sim/report/page.gen.h"
#include "sim/report/parts.h"

/* Of the style: words, a few of them, a sentence. */
static const char *html_text_class(const char *text)
{
    const gsize length = text ? strlen(text) : 0;
    return length > 40 ? "t long" : length > 20 ? "t some" : "t";
}

static void html_cell(GString *out, const Cell *cell)
{
    gboolean is_no = cell->type == CELL_BOOL && cell->text && cell->text[0] == 'f';
    if (cell->type == CELL_TEXT)
        g_string_append_printf(out, "<td class=\"%s\">", html_text_class(cell->text));
    else
        g_string_append(out, is_no ? "<td class=\"no\">" : "<td>");
    if (cell->type == CELL_BOOL && cell->text)
        g_string_append(out, is_no ? "NO" : "yes");
    else if (cell->type == CELL_FLAG && cell->text)
        g_string_append(out, cell->text[0] == 't' ? "yes" : "");
    else
        markup_text(out, cell->text ? cell->text : "\xe2\x80\x93");
    g_string_append(out, "</td>");
}

static void html_table(GString *out, const Table *table)
{
    if (*table->title)
        markup_append(out, "<h2>%s</h2>\n", table->title);
    if (table_rows(table) == 0) {
        markup_append(out, "<p>none</p>\n");
        return;
    }
    if (table->flags & TABLE_FOLDED)
        g_string_append_printf(out, "<details><summary>%u rows</summary>\n", table_rows(table));
    /* It scrolls in a box of its own, which the keyboard reaches: a page as wide as its widest table cannot be read. */
    markup_append(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">",
                  *table->title ? table->title : table->key);
    g_string_append(out, "<table><thead><tr>");
    for (guint c = 0; c < table->n_columns; c++) {
        const Column *column = &table->columns[c];
        markup_append(out,
                      column->type == CELL_TEXT ? "<th scope=\"col\" class=\"t\" title=\"%s\">%s"
                                                : "<th scope=\"col\" title=\"%s\">%s",
                      column->text, column->head);
        if (*column->unit)
            markup_append(out, "<small>%s</small>", column->unit);
        g_string_append(out, "</th>");
    }
    g_string_append(out, "</tr></thead><tbody>\n");
    for (guint r = 0; r < table_rows(table); r++) {
        g_string_append(out, "<tr>");
        for (guint c = 0; c < table->n_columns; c++)
            html_cell(out, table_cell(table, r, c));
        g_string_append(out, "</tr>\n");
    }
    g_string_append(out, "</tbody></table></div>\n");
    if (table->flags & TABLE_FOLDED)
        g_string_append(out, "</details>\n");
}

static void html_part(GString *out, const char *path)
{
    g_autoptr(GBytes) bytes = g_resource_lookup_data(page_get_resource(), path, 0, NULL);
    g_assert(bytes);
    gsize size;
    const char *text = g_bytes_get_data(bytes, &size);
    g_string_append_len(out, text, (gssize)size);
}

static void html_style(GString *out)
{
    g_string_append(out, "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><style>\n");
    html_part(out, "/fanout/page/page.css");
    g_string_append(out, "</style></head><body><main>\n");
}

/* The keyboard gets into it; what is reached or pointed at is said below. */
static void html_map(GString *out, const Picture *picture)
{
    markup_append(out, "<section class=\"mapped\" aria-label=\"%s\"><h2>%s</h2>\n<figure class=\"map\">",
                  picture->title, picture->title);
    g_string_append(out, picture->svg);
    g_string_append(out, "<figcaption class=\"said\" aria-live=\"polite\">Point at a part, or press the arrow keys "
                         "in the picture, for its numbers.</figcaption></figure></section>\n");
}

/* One that another program drew for white paper keeps it in the dark; page.css tells them apart. */
static void html_picture(GString *out, const Picture *picture)
{
    if (picture->map)
        return;
    markup_append(out, "<figure class=\"drawn\" tabindex=\"0\" role=\"img\" aria-label=\"%s\">", picture->title);
    g_string_append(out, picture->svg);
    markup_append(out, "<figcaption>%s</figcaption></figure>\n", picture->title);
}

/* What scene.js fills: an empty picture and the scene as data. */
static void html_scene(GString *out, const Scene *scene)
{
    markup_append(out, "<section class=\"scene\" aria-label=\"%s\"><h2>%s</h2>\n", report_scene_title(scene),
                  report_scene_title(scene));
    g_string_append(out, "<noscript><p>The animation needs JavaScript; the tables below need none.</p></noscript>"
                         "\n<svg class=\"stage\" role=\"img\" viewBox=\"0 0 1 1\" "
                         "aria-label=\"what is where at this time\"></svg>\n"
                         "<script type=\"application/json\">");
    report_write_scene(scene, out);
    g_string_append(out, "</script>\n");
    if (*report_scene_note(scene))
        markup_append(out, "<p>%s</p>\n", report_scene_note(scene));
    g_string_append(out, "</section>\n");
}

static void html_scenes(GString *out, const Report *report)
{
    for (guint i = 0; i < report->scenes->len; i++)
        html_scene(out, g_ptr_array_index(report->scenes, i));
    if (report->scenes->len == 0)
        return;
    g_string_append(out, "<script>\n");
    html_part(out, "/fanout/page/scene.js");
    g_string_append(out, "</script>\n");
}

static void html_maps(GString *out, const Report *report)
{
    guint n = 0;
    for (guint i = 0; i < report->pictures->len; i++)
        n += g_array_index(report->pictures, Picture, i).map;
    if (n == 0)
        return;
    g_string_append(out, n > 1 ? "<div class=\"side\">\n" : "");
    for (guint i = 0; i < report->pictures->len; i++)
        if (g_array_index(report->pictures, Picture, i).map)
            html_map(out, &g_array_index(report->pictures, Picture, i));
    g_string_append(out, n > 1 ? "</div>\n<script>\n" : "<script>\n");
    html_part(out, "/fanout/page/map.js");
    g_string_append(out, "</script>\n");
}

static void html_chart(const Chart *chart, GPtrArray *colours, GString *out)
{
    if (chart->flags & CHART_STACKED)
        report_write_stack(chart, colours, out);
    else
        report_write_chart(chart, out);
}

/* Of the first table, or of the others. */
static void html_charts(GString *out, const Report *report, gboolean first, GPtrArray *colours)
{
    g_autoptr(GString) charts = g_string_new(NULL);
    for (guint i = 0; i < report->charts->len; i++) {
        const Chart *chart = &g_array_index(report->charts, Chart, i);
        if ((chart->table == g_ptr_array_index(report->tables, 0)) == first)
            html_chart(chart, colours, charts);
    }
    if (charts->len)
        g_string_append_printf(out, "<div class=\"charts\">\n%s</div>\n", charts->str);
}

/* How the page was made. */
static void html_about(GString *out, const Report *report)
{
    if (report->command)
        markup_append(out, "<h2>To repeat it</h2>\n<pre tabindex=\"0\">%s</pre>\n", report->command);
    markup_append(out, "<dl>\n<dt>version</dt><dd>%s</dd>\n", PACKAGE_VERSION);
    for (guint i = 0; i < report->facts->len; i++) {
        const Fact *fact = &g_array_index(report->facts, Fact, i);
        markup_append(out, "<dt>%s</dt><dd>%s %s</dd>\n", fact->key, fact->cell.text ? fact->cell.text : "\xe2\x80\x93",
                      fact->unit);
    }
    g_string_append(out, "</dl>\n");
}

static void html_answer(GString *out, const Report *report)
{
    if (report->answers->len == 0)
        return;
    g_string_append(out, "<div class=\"answer\">\n");
    for (guint i = 0; i < report->answers->len; i++)
        markup_append(out, "<p>%s</p>\n", (char *)g_ptr_array_index(report->answers, i));
    g_string_append(out, "</div>\n");
}

/* Rows of a first table that stand before everything else, and that stand before all but its charts. */
#define HTML_SHORT 8u
#define HTML_MIDDLE 40u

/* The answer, then what it was taken from, as far as that is short; then how it was made, and all the rest. */
void report_write_html(const Report *report, GString *out)
{
    g_autoptr(GPtrArray) colours = g_ptr_array_new();
    const Table *first = report->tables->len ? g_ptr_array_index(report->tables, 0) : NULL;
    const guint rows = first && !(first->flags & TABLE_FOLDED) ? table_rows(first) : G_MAXUINT;
    g_string_append(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    markup_append(out, "<title>fanout %s: %s</title>", report->kind, report->title);
    html_style(out);
    markup_append(out, "<h1>fanout %s: %s</h1>\n", report->kind, report->title);
    html_answer(out, report);
    if (rows <= HTML_SHORT)
        html_table(out, first);
    if (first)
        html_charts(out, report, TRUE, colours);
    for (guint i = 0; i < report->pictures->len; i++)
        html_picture(out, &g_array_index(report->pictures, Picture, i));
    if (rows > HTML_SHORT && rows <= HTML_MIDDLE && report->scenes->len == 0)
        html_table(out, first);
    html_scenes(out, report);
    html_about(out, report);
    html_maps(out, report);
    if (first)
        html_charts(out, report, FALSE, colours);
    for (guint i = 0; i < report->page_notes->len; i++)
        markup_append(out, "<p>%s</p>\n", (char *)g_ptr_array_index(report->page_notes, i));
    for (guint i = 0; i < report->tables->len; i++)
        if (i > 0 || rows > (report->scenes->len ? HTML_SHORT : HTML_MIDDLE))
            html_table(out, g_ptr_array_index(report->tables, i));
    for (guint i = 0; i < report->notes->len; i++)
        markup_append(out, "<p>%s</p>\n", (char *)g_ptr_array_index(report->notes, i));
    g_string_append(out, "</main></body></html>\n");
}
