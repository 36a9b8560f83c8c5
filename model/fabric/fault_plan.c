#include "model/fabric/fault_plan.h"

#include <string.h>

#include "model/fabric/fault.h"
#include "model/fabric/topology.h"
#include "model/switch/switch.h"

/* What stands behind a key: the kind of part, and what its amount is. */
typedef enum { PART_LINK, PART_SWITCH, PART_GPU } FaultPart;
static const struct {
    const char *name;
    gsize text; /* of the string in FaultSpec */
    FaultPart part;
    guint64 least, most; /* of the amount; 0: it has none */
    gboolean needs;      /* an amount */
    const char *example;
} fault_keys[FAULT_KEYS] = {
    {"link_down", G_STRUCT_OFFSET(FaultSpec, link_down), PART_LINK, 0, 0, FALSE, "gpu0.link3@20us"},
    {"link_degraded", G_STRUCT_OFFSET(FaultSpec, link_degraded), PART_LINK, 1, 100, FALSE, "gpu0.link3:50@20us"},
    {"link_errors", G_STRUCT_OFFSET(FaultSpec, link_errors), PART_LINK, 1, 900000000, TRUE,
     "gpu0.link3:1000000@20us-50us"},
    {"switch_down", G_STRUCT_OFFSET(FaultSpec, switch_down), PART_SWITCH, 0, 0, FALSE, "switch1@20us"},
    {"gpu_silent", G_STRUCT_OFFSET(FaultSpec, gpu_silent), PART_GPU, 0, 0, FALSE, "gpu3@20us"},
    {"gpu_slow", G_STRUCT_OFFSET(FaultSpec, gpu_slow), PART_GPU, 1, 100, TRUE, "gpu3:50@20us"},
    {"member_leaves", G_STRUCT_OFFSET(FaultSpec, member_leaves), PART_GPU, 0, 0, FALSE, "gpu3@20us"},
    {"entries_taken", G_STRUCT_OFFSET(FaultSpec, entries_taken), PART_SWITCH, 1, 1u << 20, TRUE, "switch1:120"},
    {"extended_taken", G_STRUCT_OFFSET(FaultSpec, extended_taken), PART_SWITCH, 1, 1u << 20, TRUE, "switch1:16"},
};
const char *fault_key_name(FaultKey key) { return fault_keys[key].name; }

static const char *fault_text(const FaultSpec *spec, FaultKey key)
{
    return *(char *const *)(const void *)((const char *)spec + fault_keys[key].text);
}

static gboolean fault_refuse(const FaultItem *item, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);
static gboolean fault_refuse(const FaultItem *item, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *why = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE, "[fault] %s: '%s': %s", fault_keys[item->key].name, item->name,
                why);
    return FALSE;
}

/* ---- names of parts */

/* "gpu3.link1" with first = "gpu", second = ".link"; nothing may follow. */
static gboolean fault_scan(const char *name, const char *first, const char *second, guint64 numbers[2])
{
    const char *prefix[2] = {first, second};
    for (int i = 0; i < 2 && prefix[i]; i++) {
        if (!g_str_has_prefix(name, prefix[i]) || !g_ascii_isdigit(name[strlen(prefix[i])]))
            return FALSE;
        char *end;
        numbers[i] = g_ascii_strtoull(name + strlen(prefix[i]), &end, 10);
        name = end;
    }
    return *name == '\0';
}

static gboolean fault_find_switch(const Fabric *fabric, const char *name, guint32 *found)
{
    for (guint32 s = 0; s < fabric->n_switches; s++)
        if (strcmp(fabric->sw[s].path, name) == 0) {
            *found = s;
            return TRUE;
        }
    return FALSE;
}

/* A trunk by either of its ports, "leaf0.port32" or "spine1.port0". */
static gboolean fault_find_trunk(const Fabric *fabric, const char *name, FaultItem *item)
{
    for (guint32 t = 0; t < fabric->n_trunks; t++) {
        const Trunk *trunk = &g_array_index(fabric->topology->trunks, Trunk, t);
        g_autofree char *leaf = g_strdup_printf("%s.port%u", fabric->sw[trunk->leaf].path, fabric->trunk_port[2 * t]);
        g_autofree char *spine = g_strdup_printf("%s.port%u", fabric->sw[trunk->spine].path,
                                                 fabric->trunk_port[2 * t + 1]);
        if (strcmp(name, leaf) == 0 || strcmp(name, spine) == 0) {
            item->trunk = TRUE;
            item->part = t;
            return TRUE;
        }
    }
    return FALSE;
}

static gboolean fault_find_part(const Fabric *fabric, const char *name, FaultItem *item)
{
    const guint64 gpus = fabric->spec.system.gpus;
    guint64 number[2] = {0, 0};
    switch (fault_keys[item->key].part) {
    case PART_LINK:
        if (fault_scan(name, "gpu", ".link", number) && number[0] < gpus && number[1] < fabric->links) {
            item->part = (guint32)(number[0] * fabric->links + number[1]);
            return TRUE;
        }
        return fault_find_trunk(fabric, name, item);
    case PART_SWITCH: return fault_find_switch(fabric, name, &item->part);
    default:
        if (!fault_scan(name, "gpu", NULL, number) || number[0] >= gpus)
            return FALSE;
        item->part = (guint32)number[0];
        return TRUE;
    }
}

static gboolean fault_name_error(const Fabric *fabric, const FaultItem *item, const char *part, GError **error)
{
    const Switch *first = &fabric->sw[0], *last = &fabric->sw[fabric->topology->leaves - 1];
    g_autofree char *spines = NULL;
    if (fabric->n_trunks)
        spines = g_strdup_printf(", spine0 to %s, trunks as %s.port%u", fabric->sw[fabric->n_switches - 1].path,
                                 first->path, fabric->trunk_port[0]);
    g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                "[fault] %s: '%s' is nothing this system has; it has gpu0 to gpu%" G_GUINT64_FORMAT
                ", link0 to link%u of each, %s to %s%s; one is written as %s",
                fault_keys[item->key].name, part, fabric->spec.system.gpus - 1, fabric->links - 1, first->path,
                last->path, spines ? spines : "", fault_keys[item->key].example);
    return FALSE;
}

/* ---- times */

/* "20us", "1.5ms": whole picoseconds, as of any parameter, but never without a unit. */
static gboolean fault_parse_time(const char *text, SimTime *time_ps)
{
    static const ParamRow row = {.name = "time", .type = PARAM_U64_T, .unit = "ps", .min = 0, .max = SIMTIME_LAST_PS};
    g_autofree char *normal = NULL, *wrong = NULL;
    return g_ascii_isdigit(*text) && g_ascii_isalpha(text[strlen(text) - 1]) &&
           param_row_parse(&row, text, time_ps, &normal, &wrong);
}

static gboolean fault_read_times(FaultItem *item, char *text, GError **error)
{
    char *dash = strchr(text, '-');
    if (dash)
        *dash = '\0';
    char *const part[2] = {text, dash ? dash + 1 : NULL};
    SimTime *const to[2] = {&item->from_ps, &item->until_ps};
    for (int i = 0; i < 2 && part[i]; i++)
        if (!fault_parse_time(part[i], to[i]))
            return fault_refuse(item, error,
                                "'%s' is no time of at most %" G_GUINT64_FORMAT " s in whole picoseconds; "
                                "write a number and ps, ns, us, ms or s, as 20us or 20us-50us",
                                part[i], SIMTIME_LAST_PS / PS_PER_S);
    if (item->until_ps <= item->from_ps)
        return fault_refuse(item, error, "it ends before it begins; write FROM-UNTIL, as 20us-50us");
    return TRUE;
}

static gboolean fault_read_amount(FaultItem *item, const char *text, GError **error)
{
    const guint64 least = fault_keys[item->key].least, most = fault_keys[item->key].most;
    if (!text && !fault_keys[item->key].needs)
        return TRUE;
    if (text && most == 0)
        return fault_refuse(item, error, "'%s' has no amount; write it as %s", fault_keys[item->key].name,
                            fault_keys[item->key].example);
    if (!text || !g_ascii_string_to_unsigned(text, 10, least, most, &item->amount, NULL))
        return fault_refuse(item, error,
                            "behind ':' stands a whole number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
                            ", as in %s",
                            least, most, fault_keys[item->key].example);
    return TRUE;
}

/* ---- links */

static void fault_add_link(FaultItem *item, Link *link)
{
    FaultLink add = {.link = link};
    g_array_append_val(item->links, add);
}

static void fault_add_gpu_link(const Fabric *fabric, FaultItem *item, guint32 at)
{
    const guint32 g = at / fabric->links, l = at % fabric->links;
    fault_add_link(item, &fabric->link[2 * (gsize)g * fabric->links + l]);
    fault_add_link(item, &fabric->link[(2 * (gsize)g + 1) * fabric->links + l]);
}

static void fault_find_links(const Fabric *fabric, FaultItem *item)
{
    const Topology *topology = fabric->topology;
    const FaultPart part = fault_keys[item->key].part;
    if (part == PART_LINK && !item->trunk)
        fault_add_gpu_link(fabric, item, item->part);
    for (guint32 at = 0; item->key == FAULT_SWITCH_DOWN && at < topology->gpus * topology->links; at++)
        if (topology->leaf[at] == item->part)
            fault_add_gpu_link(fabric, item, at);
    for (guint32 t = 0; t < fabric->n_trunks; t++) {
        const Trunk *trunk = &g_array_index(topology->trunks, Trunk, t);
        const gboolean named = part == PART_LINK && item->trunk && item->part == t;
        if (!named && (item->key != FAULT_SWITCH_DOWN || (trunk->leaf != item->part && trunk->spine != item->part)))
            continue;
        fault_add_link(item, &fabric->trunk[2 * t]);
        fault_add_link(item, &fabric->trunk[2 * t + 1]);
    }
}

/* ---- all of it */

/* The fabric manager knows from the start what is down from the start, and reacts to all else after a time. What is up
 * again by then it never sees. */
static void fault_find_reactions(const FaultSpec *spec, FaultItem *item)
{
    if (item->key != FAULT_LINK_DOWN && item->key != FAULT_SWITCH_DOWN) {
        item->known_ps = item->restored_ps = SIMTIME_NEVER;
        return;
    }
    const SimTime reaction_ps = spec->manager_ps ? spec->manager_ps : SIMTIME_NEVER;
    item->known_ps = item->from_ps == 0 ? 0 : MIN(SIMTIME_NEVER - item->from_ps, reaction_ps) + item->from_ps;
    item->restored_ps = MIN(SIMTIME_NEVER - item->until_ps, reaction_ps) + item->until_ps;
    if (item->until_ps <= item->known_ps)
        item->known_ps = item->restored_ps = SIMTIME_NEVER;
}

/* What came before this fabric's clock began is so from its start. */
static void fault_take_off(FaultItem *item, SimTime begin_ps)
{
    SimTime *const at[4] = {&item->from_ps, &item->until_ps, &item->known_ps, &item->restored_ps};
    for (guint i = 0; i < 4; i++) {
        item->told_ps[i] = *at[i];
        if (*at[i] != SIMTIME_NEVER)
            *at[i] -= MIN(*at[i], begin_ps);
    }
}

static gboolean fault_read_item(const Fabric *fabric, FaultItem *item, GError **error)
{
    g_autofree char *text = g_strdup(item->name);
    char *times = strchr(text, '@'), *amount = NULL;
    if (times)
        *times++ = '\0';
    if ((amount = strchr(text, ':')))
        *amount++ = '\0';
    item->until_ps = SIMTIME_NEVER;
    if (!fault_find_part(fabric, text, item))
        return fault_name_error(fabric, item, text, error);
    if (!fault_read_amount(item, amount, error) || (times && !fault_read_times(item, times, error)))
        return FALSE;
    fault_find_links(fabric, item);
    fault_find_reactions(&fabric->spec.fault, item);
    fault_take_off(item, fabric->spec.fault.begin_ps);
    return TRUE;
}

static void fault_item_free(gpointer of)
{
    FaultItem *item = of;
    g_array_unref(item->links);
    g_free(item->slow_sm);
    g_free(item->slow_gpu);
    g_free(item->name);
    g_free(item);
}

static gboolean fault_read_list(FaultPlan *plan, const Fabric *fabric, FaultKey key, GError **error)
{
    const char *list = fault_text(&fabric->spec.fault, key);
    if (!list || strcmp(list, "none") == 0)
        return TRUE;
    g_auto(GStrv) names = g_strsplit_set(list, ", ", -1);
    for (guint i = 0; names[i]; i++) {
        if (!*names[i] || (fabric->spec.fault.lasting && strchr(names[i], '@')))
            continue;
        FaultItem *item = g_new0(FaultItem, 1);
        item->key = key;
        item->name = g_strdup(names[i]);
        item->links = g_array_new(FALSE, FALSE, sizeof(FaultLink));
        g_ptr_array_add(plan->items, item);
        if (!fault_read_item(fabric, item, error))
            return FALSE;
    }
    return TRUE;
}

FaultItem *fault_plan_add(const Fabric *fabric, const char *key, const char *part, SimTime from_ps, SimTime lasts_ps,
                          GError **error)
{
    FaultItem *item = g_new0(FaultItem, 1);
    while (item->key < FAULT_KEYS && strcmp(fault_keys[item->key].name, key) != 0)
        item->key++;
    item->name = g_strdup(part);
    item->links = g_array_new(FALSE, FALSE, sizeof(FaultLink));
    if (item->key == FAULT_KEYS) {
        g_autoptr(GString) names = g_string_new(NULL);
        for (guint i = 0; i < FAULT_KEYS; i++)
            g_string_append_printf(names, "%s%s", i ? ", " : "", fault_keys[i].name);
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE, "'%s' is no kind of fault; there are %s", key, names->str);
    } else if (strpbrk(part, "@, ")) {
        fault_refuse(item, error, "one part, without a time: it breaks now");
    } else if (fault_read_item(fabric, item, error)) {
        item->from_ps = from_ps;
        item->until_ps = lasts_ps ? from_ps + MIN(lasts_ps, SIMTIME_NEVER - from_ps) : SIMTIME_NEVER;
        fault_find_reactions(&fabric->spec.fault, item);
        fault_take_off(item, 0);
        g_ptr_array_add(fabric->plan->items, item);
        return item;
    }
    fault_item_free(item);
    return NULL;
}

FaultPlan *fault_plan_new(const Fabric *fabric, GError **error)
{
    FaultPlan *plan = g_new0(FaultPlan, 1);
    plan->items = g_ptr_array_new_with_free_func(fault_item_free);
    plan->events = g_ptr_array_new_with_free_func(g_free);
    for (guint key = 0; key < FAULT_KEYS; key++)
        if (!fault_read_list(plan, fabric, (FaultKey)key, error)) {
            fault_plan_free(plan);
            return NULL;
        }
    return plan;
}

void fault_plan_free(FaultPlan *plan)
{
    g_ptr_array_free(plan->items, TRUE);
    g_ptr_array_free(plan->events, TRUE);
    g_free(plan);
}

/* Whether a list names this link of a GPU, or, with `second` NULL, this switch, without a time. */
static gboolean fault_lists(const char *list, const char *first, const char *second, guint64 a, guint64 b)
{
    g_auto(GStrv) names = g_strsplit_set(list ? list : "", ", ", -1);
    guint64 number[2] = {0, 0};
    for (guint i = 0; names[i]; i++)
        if (fault_scan(names[i], first, second, number) && number[0] == a && number[1] == b)
            return TRUE;
    return FALSE;
}

gboolean fault_takes_link(const FaultSpec *spec, guint32 gpu, guint32 l, guint32 sw)
{
    return fault_lists(spec->link_down, "gpu", ".link", gpu, l) ||
           fault_lists(spec->switch_down, "switch", NULL, sw, 0);
}

gboolean fault_comes_or_goes(const FaultSpec *spec)
{
    for (guint key = 0; key < FAULT_KEYS; key++) {
        const char *text = fault_text(spec, (FaultKey)key);
        if (text && strchr(text, '@'))
            return TRUE;
    }
    return FALSE;
}

gboolean fault_needs_packets(const FaultSpec *spec)
{
    for (guint key = 0; key < FAULT_KEYS; key++) {
        const char *text = fault_text(spec, (FaultKey)key);
        if (text &&
            (strchr(text, '@') || ((key == FAULT_LINK_ERRORS || key == FAULT_GPU_SLOW || key == FAULT_MEMBER_LEAVES) &&
                                   strcmp(text, "none") != 0)))
            return TRUE;
    }
    return FALSE;
}
