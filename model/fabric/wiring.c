#include "model/fabric/wiring.h"

#include <string.h>

#include "model/fabric/expression.h"

#define WIRING_NUMBERS_MAX 65536u /* of one set */

/* One side of a rule: "gpu*.link[0-8]", "leaf{gpu/8}.port*". */
typedef struct {
    const char *unit, *end;           /* "gpu", "leaf", "spine"; "link", "port", "trunk" */
    const char *unit_text, *end_text; /* what stands behind each: "*", "[0-8]", "{gpu/8}" */
    gsize unit_length, end_length;
} Half;

typedef struct {
    Topology *topology;
    const char *rule; /* as it is told */
    GHashTable *used; /* "leaf0.port3" to "gpu3.link0", for who has a port */
    GArray *next[2];  /* guint32: lowest port of each leaf, of each spine, that may be free */
    guint32 spines;
} Wiring;

static gboolean wiring_fail(const Wiring *wiring, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);
static gboolean wiring_fail(const Wiring *wiring, GError **error, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    g_autofree char *text = g_strdup_vprintf(format, list);
    va_end(list);
    g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE, "[topology] wire: '%s': %s", wiring->rule, text);
    return FALSE;
}

/* ---- grammar */

static const char *wiring_word(const char **at, const char *const *words)
{
    for (; *words; words++)
        if (g_str_has_prefix(*at, *words)) {
            *at += strlen(*words);
            return *words;
        }
    return NULL;
}

/* "*", digits, or what stands in brackets or braces, with them. */
static gsize wiring_number_text(const char *at)
{
    if (*at == '*')
        return 1;
    if (*at == '[' || *at == '{') {
        const char *end = strchr(at, *at == '[' ? ']' : '}');
        return end ? (gsize)(end + 1 - at) : 0;
    }
    return strspn(at, "0123456789");
}

static gboolean wiring_parse_half(const Wiring *wiring, const char *text, gboolean left, Half *half, GError **error)
{
    static const char *const left_units[] = {"gpu", "leaf", NULL}, *const right_units[] = {"leaf", "spine", NULL};
    static const char *const gpu_ends[] = {"link", NULL}, *const leaf_ends[] = {"port", "trunk", NULL};
    static const char *const right_ends[] = {"port", NULL};
    const char *at = text;
    half->unit = wiring_word(&at, left ? left_units : right_units);
    half->unit_text = at;
    half->unit_length = wiring_number_text(at);
    at += half->unit_length;
    const gboolean dot = half->unit && half->unit_length && *at == '.';
    at += dot;
    half->end = !dot ? NULL : wiring_word(&at, !left ? right_ends : half->unit[0] == 'g' ? gpu_ends : leaf_ends);
    half->end_text = at;
    half->end_length = half->end ? wiring_number_text(at) : 0;
    if (half->end_length && at[half->end_length] == '\0')
        return TRUE;
    return wiring_fail(wiring, error, "'%s' is no %s; write %s", text, left ? "left side" : "right side",
                       left ? "gpu*.link[0-8], leaf*.port[40-47] or leaf*.trunk[0-7]"
                            : "leaf{gpu/8}.port* or spine{port % 4}.port3");
}

/* The numbers of "*" (all of `all`), "3", "[0-8]" or "[0,2,4-7]", in the order in which they are written. */
static gboolean wiring_set(const Wiring *wiring, const char *text, gsize length, guint32 all, GArray *numbers,
                           GError **error)
{
    const char *at = text + (*text == '['), *end = text + length - (*text == '[');
    for (guint32 i = 0; *text == '*' && i < all; i++)
        g_array_append_val(numbers, i);
    while (*text != '*' && at < end) {
        char *next;
        guint64 first = g_ascii_strtoull(at, &next, 10), last = first;
        const gboolean digits = g_ascii_isdigit(*at) && next <= end;
        if (digits && *next == '-' && g_ascii_isdigit(next[1]))
            last = g_ascii_strtoull(next + 1, &next, 10);
        if (!digits || last < first || last >= WIRING_NUMBERS_MAX || (next < end && *next != ','))
            return wiring_fail(wiring, error, "'%.*s' is no set of numbers below %u; write *, 3, [0-8] or [0,2,4-7]",
                               (int)length, text, WIRING_NUMBERS_MAX);
        for (guint32 i = (guint32)first; i <= last; i++)
            g_array_append_val(numbers, i);
        at = next + (next < end);
    }
    if (numbers->len == 0)
        return wiring_fail(wiring, error,
                           "'%.*s' means none: leaf switches that '*' stands for are those that the "
                           "rules before wire to GPUs",
                           (int)length, text);
    return TRUE;
}

/* ---- one link */

static guint32 *wiring_next(Wiring *wiring, gboolean spine, guint32 number)
{
    GArray *next = wiring->next[spine];
    if (number >= next->len)
        g_array_set_size(next, number + 1); /* cleared */
    return &g_array_index(next, guint32, number);
}

static gboolean wiring_take_port(Wiring *wiring, gboolean spine, guint32 sw, gint64 port, const char *by,
                                 GError **error)
{
    const char *unit = spine ? "spine" : "leaf";
    char *key = NULL;
    for (guint32 *next = wiring_next(wiring, spine, sw);; (*next)++) {
        g_free(key);
        key = g_strdup_printf("%s%u.port%u", unit, sw, port < 0 ? *next : (guint32)port);
        const char *other = g_hash_table_lookup(wiring->used, key);
        if (!other)
            break;
        if (port < 0)
            continue;
        wiring_fail(wiring, error, "%s is wired twice: to %s and to %s", key, other, by);
        g_free(key);
        return FALSE;
    }
    g_hash_table_insert(wiring->used, key, g_strdup(by));
    return TRUE;
}

static gboolean wiring_number(const Wiring *wiring, const char *text, gsize length, const Variable *variables,
                              guint32 max, gint64 *value, GError **error)
{
    const char *wrong;
    const gboolean braces = *text == '{';
    if (*text == '[')
        return wiring_fail(wiring, error, "'%.*s': right of the arrow stands one number or {expression}", (int)length,
                           text);
    if (!expression_value(text + braces, length - 2 * braces, variables, value, &wrong))
        return wiring_fail(wiring, error, "'%.*s' has %s", (int)length, text, wrong);
    if (*value >= 0 && *value < max)
        return TRUE;
    return wiring_fail(
        wiring, error,
        "'%.*s' is %" G_GINT64_FORMAT " for %s%" G_GINT64_FORMAT ".%s%" G_GINT64_FORMAT "; 0 to %u can be", (int)length,
        text, *value, variables[0].name, variables[0].value, variables[1].name, variables[1].value, max - 1);
}

/* Wires what the left side's numbers a and b name. */
static gboolean wiring_join(Wiring *wiring, const Half *left, const Half *right, guint32 a, guint32 b, GError **error)
{
    Topology *topology = wiring->topology;
    const Variable variables[] = {{left->unit, a}, {left->end, b}, {NULL, 0}};
    const gboolean from_gpu = left->unit[0] == 'g', to_spine = right->unit[0] == 's';
    gint64 sw, port = -1;
    g_autofree char *by = g_strdup_printf("%s%u.%s%u", left->unit, a, left->end, b);
    if (!wiring_number(wiring, right->unit_text, right->unit_length, variables, TOPOLOGY_SWITCHES_MAX, &sw, error))
        return FALSE;
    if (*right->end_text != '*' &&
        !wiring_number(wiring, right->end_text, right->end_length, variables, TOPOLOGY_PORTS_MAX, &port, error))
        return FALSE;
    g_autofree char *to = g_strdup_printf("%s%" G_GINT64_FORMAT, right->unit, sw);
    if (!wiring_take_port(wiring, to_spine, (guint32)sw, port, by, error))
        return FALSE;
    if (!from_gpu) {
        Trunk trunk = {(guint16)a, (guint16)sw};
        g_array_append_val(topology->trunks, trunk);
        wiring->spines = MAX(wiring->spines, (guint32)sw + 1);
        return wiring_take_port(wiring, FALSE, a, left->end[0] == 't' ? -1 : (gint64)b, to, error);
    }
    if (a >= topology->gpus || b >= topology->links)
        return wiring_fail(wiring, error, "there is no %s: [system] has gpu0 to gpu%u with link0 to link%u each", by,
                           topology->gpus - 1, topology->links - 1);
    guint16 *leaf = &topology->leaf[(gsize)a * topology->links + b];
    if (*leaf != TOPOLOGY_NONE)
        return wiring_fail(wiring, error, "%s is wired twice: to leaf%u and to %s", by, *leaf, to);
    *leaf = (guint16)sw;
    topology->leaves = MAX(topology->leaves, (guint32)sw + 1);
    return TRUE;
}

/* ---- one rule, all rules */

static gboolean wiring_check_halves(const Wiring *wiring, const Half *left, const Half *right, GError **error)
{
    const gboolean from_gpu = left->unit[0] == 'g', to_spine = right->unit[0] == 's';
    if (from_gpu && to_spine)
        return wiring_fail(wiring, error, "GPUs are wired to leaf switches; spine switches join leaves");
    if (!from_gpu && !to_spine)
        return wiring_fail(wiring, error,
                           "trunks run between a leaf and a spine switch, since packets that go up once "
                           "and down once cannot wait for each other in a circle");
    return TRUE;
}

static gboolean wiring_rule(Wiring *wiring, GError **error)
{
    g_autofree char *text = g_strdup(wiring->rule);
    char *arrow = strstr(text, "->");
    Half left, right;
    if (!arrow)
        return wiring_fail(wiring, error, "no '->'; kind=rules needs what is wired, '->', and where it goes");
    *arrow = '\0';
    if (!wiring_parse_half(wiring, g_strstrip(text), TRUE, &left, error) ||
        !wiring_parse_half(wiring, g_strstrip(arrow + 2), FALSE, &right, error) ||
        !wiring_check_halves(wiring, &left, &right, error))
        return FALSE;
    const Topology *topology = wiring->topology;
    const gboolean from_gpu = left.unit[0] == 'g';
    g_autoptr(GArray) a = g_array_new(FALSE, FALSE, sizeof(guint32)), b = g_array_new(FALSE, FALSE, sizeof(guint32));
    const guint32 units = from_gpu ? topology->gpus : topology->leaves;
    gboolean good = wiring_set(wiring, left.unit_text, left.unit_length, units, a, error) &&
                    wiring_set(wiring, left.end_text, left.end_length, from_gpu ? topology->links : 0, b, error);
    for (guint i = 0; good && i < a->len; i++)
        for (guint j = 0; good && j < b->len; j++)
            good = wiring_join(wiring, &left, &right, g_array_index(a, guint32, i), g_array_index(b, guint32, j),
                               error);
    return good;
}

static gboolean wiring_finish(const Wiring *wiring, GError **error)
{
    Topology *topology = wiring->topology;
    topology->spines = wiring->spines;
    if (topology->leaves == 0)
        return wiring_fail(wiring, error, "no rule wires a GPU");
    if (topology_switches(topology) > TOPOLOGY_SWITCHES_MAX)
        return wiring_fail(wiring, error, "%u switches; %u can be built", topology_switches(topology),
                           TOPOLOGY_SWITCHES_MAX);
    for (guint i = 0; i < topology->trunks->len; i++) {
        Trunk *trunk = &g_array_index(topology->trunks, Trunk, i);
        if (trunk->leaf >= topology->leaves)
            return wiring_fail(wiring, error, "leaf%u has trunks and no GPU", trunk->leaf);
        trunk->spine = (guint16)(trunk->spine + topology->leaves);
    }
    return TRUE;
}

gboolean wiring_apply(Topology *topology, const char *rules, GError **error)
{
    Wiring wiring = {.topology = topology,
                     .rule = rules ? rules : "",
                     .used = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
    gboolean good = TRUE;
    g_auto(GStrv) each = g_strsplit(wiring.rule, ";", -1);
    for (int i = 0; i < 2; i++)
        wiring.next[i] = g_array_new(FALSE, TRUE, sizeof(guint32));
    for (char **rule = each; *rule && good; rule++) {
        wiring.rule = g_strstrip(*rule);
        good = *wiring.rule == '\0' || wiring_rule(&wiring, error);
    }
    wiring.rule = rules ? rules : "";
    good = good && wiring_finish(&wiring, error);
    for (int i = 0; i < 2; i++)
        g_array_free(wiring.next[i], TRUE);
    g_hash_table_unref(wiring.used);
    return good;
}
