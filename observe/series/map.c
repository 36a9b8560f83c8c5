/* The picture of a system: GPUs below, switches above them, spine switches on top, and for each pair that links join
 * two lines, one a direction, coloured and as wide as they were busy. Each part has a title: what it is, and its
 * numbers, which map.js shows when it is pointed at or reached by keys. */
#include "observe/series/tables.h"
#include "observe/series/use.h"

#define MAP_WIDTH 1000.0
#define MAP_ROW 170.0 /* from one level to the next */
#define MAP_BOX 34.0  /* high */
#define MAP_NAMED 80  /* wide: in a narrower one is a number instead of a name, which would not fit in large letters */
#define MAP_TOP 30.0
#define MAP_MANY 300u   /* pairs that links join: from so many on lines are thin */
#define MAP_PAIRS 2000u /* more are no picture any more, and make a page slow */

typedef struct {
    const Fabric *fabric;
    SimTime passed_ps;
    GString *out;
    double gpu_y, leaf_y, spine_y;
} Map;

static void map_number(GString *out, const char *name, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(text, sizeof text, "%.1f", value);
    g_string_append_printf(out, " %s=\"%s\"", name, text);
}

/* Numbers in the C locale. */
static char *map_pct(const LinksUse *use)
{
    char mean[G_ASCII_DTOSTR_BUF_SIZE], least[G_ASCII_DTOSTR_BUF_SIZE], most[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(mean, sizeof mean, "%.1f", links_use_mean(use));
    g_ascii_formatd(least, sizeof least, "%.1f", use->least_pct);
    g_ascii_formatd(most, sizeof most, "%.1f", use->most_pct);
    const char *down = use->down ? ", some of them down at the end" : "";
    return use->n > 1 ? g_strdup_printf("%s %% busy (the links: %s to %s)%s", mean, least, most, down)
                      : g_strdup_printf("%s %% busy%s", mean, use->down ? ", down at the end" : "");
}

static double map_x(guint i, guint n) { return MAP_WIDTH * (i + 0.5) / n; }

static void map_box(Map *map, const char *kind, const char *name, const char *label, const char *text, guint i, guint n,
                    double y)
{
    const double width = MIN(MAP_WIDTH / n * 0.86, 110), x = map_x(i, n);
    g_string_append_printf(map->out, "<g class=\"part %s\" role=\"img\" tabindex=\"-1\"><title>%s: %s</title><rect",
                           kind, name, text);
    map_number(map->out, "x", x - width / 2);
    map_number(map->out, "y", y - MAP_BOX / 2);
    map_number(map->out, "width", width);
    g_string_append_printf(map->out, " height=\"%.0f\" rx=\"4\"/><text", MAP_BOX);
    map_number(map->out, "x", x);
    map_number(map->out, "y", y + 4);
    g_string_append_printf(map->out, " text-anchor=\"middle\"%s>%s</text></g>\n", width < 26 ? " class=\"small\"" : "",
                           width < MAP_NAMED ? label : name);
}

static void map_line(GString *out, const LinksUse *use, double x1, double y1, double x2, double y2)
{
    static const double steps[] = {0.05, 20, 40, 60, 80};
    const double pct = links_use_mean(use);
    guint level = 0;
    while (level < G_N_ELEMENTS(steps) && pct >= steps[level])
        level++;
    g_string_append_printf(out, "<line class=\"u%u%s\"", level, use->down ? " broken" : "");
    map_number(out, "x1", x1);
    map_number(out, "y1", y1);
    map_number(out, "x2", x2);
    map_number(out, "y2", y2);
    g_string_append(out, "/>");
}

/* The links between two boxes, those that go up and those that go down. */
static void map_bundle(Map *map, const char *below, const char *above, const LinksUse *up, const LinksUse *down,
                       double x1, double y1, double x2, double y2)
{
    const double apart = 2.5;
    g_autofree char *up_text = map_pct(up), *down_text = map_pct(down);
    g_string_append_printf(map->out,
                           "<g class=\"part link\" role=\"img\" tabindex=\"-1\"><title>%s and %s, %u link%s: "
                           "to %s %s; to %s %s</title>",
                           below, above, up->n, up->n == 1 ? "" : "s", above, up_text, below, down_text);
    map_line(map->out, up, x1 - apart, y1, x2 - apart, y2);
    map_line(map->out, down, x1 + apart, y1, x2 + apart, y2);
    g_string_append(map->out, "</g>\n");
}

static void map_gpu_links(Map *map, guint32 g, guint32 s)
{
    const Fabric *fabric = map->fabric;
    const Gpu *gpu = &fabric->gpu[g];
    const guint32 gpus = (guint32)fabric->spec.system.gpus;
    LinksUse up = {0}, down = {0};
    for (guint32 l = 0; l < fabric->links; l++)
        if (fabric->topology->leaf[g * fabric->links + l] == s) {
            links_use_add(&up, &gpu->up[l], map->passed_ps);
            links_use_add(&down, &gpu->down[l], map->passed_ps);
        }
    if (up.n)
        map_bundle(map, gpu->path, fabric->sw[s].path, &up, &down, map_x(g, gpus), map->gpu_y - MAP_BOX / 2,
                   map_x(s, fabric->topology->leaves), map->leaf_y + MAP_BOX / 2);
}

/* All trunks between a leaf and a spine. */
static void map_trunks(Map *map, guint32 leaf, guint32 spine)
{
    const Fabric *fabric = map->fabric;
    LinksUse up = {0}, down = {0};
    for (guint32 t = 0; t < fabric->n_trunks; t++) {
        const Trunk *trunk = &g_array_index(fabric->topology->trunks, Trunk, t);
        if (trunk->leaf == leaf && trunk->spine == spine) {
            links_use_add(&up, &fabric->trunk[2 * t], map->passed_ps);
            links_use_add(&down, &fabric->trunk[2 * t + 1], map->passed_ps);
        }
    }
    if (up.n)
        map_bundle(map, fabric->sw[leaf].path, fabric->sw[spine].path, &up, &down,
                   map_x(leaf, fabric->topology->leaves), map->leaf_y - MAP_BOX / 2,
                   map_x(spine - fabric->topology->leaves, fabric->topology->spines), map->spine_y + MAP_BOX / 2);
}

static void map_gpu(Map *map, guint32 g)
{
    const Fabric *fabric = map->fabric;
    const Gpu *gpu = &fabric->gpu[g];
    LinksUse up = {0}, down = {0};
    for (guint32 l = 0; l < fabric->links; l++) {
        links_use_add(&up, &gpu->up[l], map->passed_ps);
        links_use_add(&down, &gpu->down[l], map->passed_ps);
    }
    g_autofree char *up_text = map_pct(&up), *down_text = map_pct(&down), *label = g_strdup_printf("%u", g);
    g_autofree char *text = g_strdup_printf("to the switches %s, from them %s; sent %" G_GUINT64_FORMAT
                                            " requests, served %" G_GUINT64_FORMAT,
                                            up_text, down_text, gpu->requests, gpu->served);
    map_box(map, "gpu", gpu->path, label, text, g, (guint)fabric->spec.system.gpus, map->gpu_y);
}

static void map_switch(Map *map, guint32 s)
{
    const Topology *topology = map->fabric->topology;
    const Switch *sw = &map->fabric->sw[s];
    const gboolean spine = s >= topology->leaves;
    LinksUse in = {0}, out = {0};
    guint64 tags = 0;
    for (guint32 p = 0; p < sw->ports; p++) {
        if (sw->in[p])
            links_use_add(&in, sw->in[p], map->passed_ps);
        if (sw->out[p])
            links_use_add(&out, sw->out[p], map->passed_ps);
        tags += sw->port[p].stalls_tag;
    }
    const guint32 i = spine ? s - topology->leaves : s;
    g_autofree char *in_text = map_pct(&in), *out_text = map_pct(&out), *label = g_strdup_printf("%u", i);
    g_autofree char *text = g_strdup_printf("in %s, out %s; %" G_GUINT64_FORMAT
                                            " multicast requests became %" G_GUINT64_FORMAT
                                            " replicas, and %" G_GUINT64_FORMAT " times one waited for a tag",
                                            in_text, out_text, sw->multicast_requests, sw->replicated, tags);
    map_box(map, "switch", sw->path, label, text, i, spine ? topology->spines : topology->leaves,
            spine ? map->spine_y : map->leaf_y);
}

/* In two lines, whose words may be large. */
static void map_legend(Map *map, double y)
{
    static const char *const names[] = {"idle",       "below 20 %", "20 to 40 %",
                                        "40 to 60 %", "60 to 80 %", "80 % and more"};
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        const double x = 20 + 330 * (i % 3), at = y + 34 * (i / 3);
        g_string_append_printf(map->out, "<line class=\"u%u\"", i);
        map_number(map->out, "x1", x);
        map_number(map->out, "y1", at);
        map_number(map->out, "x2", x + 34);
        map_number(map->out, "y2", at);
        g_string_append(map->out, "/><text");
        map_number(map->out, "x", x + 42);
        map_number(map->out, "y", at + 6);
        g_string_append_printf(map->out, ">%s</text>\n", names[i]);
    }
}

char *series_map(const Fabric *fabric, SimTime passed_ps)
{
    const Topology *topology = fabric->topology;
    const guint32 gpus = (guint32)fabric->spec.system.gpus, leaves = topology->leaves;
    const guint32 pairs = gpus * MIN(fabric->links, leaves) + fabric->n_trunks;
    if (pairs > MAP_PAIRS)
        return NULL;
    Map map = {fabric, passed_ps, g_string_new(NULL), 0, 0, MAP_TOP};
    map.leaf_y = topology->spines ? map.spine_y + MAP_ROW : MAP_TOP;
    map.gpu_y = map.leaf_y + MAP_ROW;
    const double high = map.gpu_y + MAP_BOX / 2 + 88;
    g_string_append_printf(map.out,
                           "<svg viewBox=\"0 0 %.0f %.0f\" role=\"group\"%s tabindex=\"0\" aria-label="
                           "\"the system: %u GPUs and %u switches. Arrow keys go from part to part.\">\n",
                           MAP_WIDTH, high, pairs >= MAP_MANY ? " class=\"many\"" : "", gpus,
                           topology_switches(topology));
    for (guint32 g = 0; g < gpus; g++)
        for (guint32 s = 0; s < leaves; s++)
            map_gpu_links(&map, g, s);
    for (guint32 leaf = 0; topology->spines && leaf < leaves; leaf++)
        for (guint32 spine = leaves; spine < topology_switches(topology); spine++)
            map_trunks(&map, leaf, spine);
    for (guint32 g = 0; g < gpus; g++)
        map_gpu(&map, g);
    for (guint32 s = 0; s < topology_switches(topology); s++)
        map_switch(&map, s);
    map_legend(&map, high - 50);
    g_string_append(map.out, "</svg>\n");
    return g_string_free(map.out, FALSE);
}
