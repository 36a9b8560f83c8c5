#include "model/fabric/fault.h"

#include <string.h>

#include "model/fabric/fabric.h"

const ParamRow fault_params[] = {
    PARAM_STRING(FaultSpec, link_down, "links that are down, as gpu0.link3,gpu1.link0; none"),
    PARAM_STRING(FaultSpec, link_degraded, "links that have lost rate, as gpu0.link3; none"),
    PARAM_U64(FaultSpec, degraded_percent, "%", 1, 100, "of its rate that a degraded link keeps"),
    PARAM_STRING(FaultSpec, switch_down, "switches that are down, as switch0; none"),
    PARAM_STRING(FaultSpec, gpu_silent, "GPUs that answer no request, as gpu3; none"),
    PARAM_U64(FaultSpec, multicast_timeout_ps, "ps", 0, 1000000000000,
              "until a multicast write with a silent member ends with an error (0: never)"),
    PARAM_U64(FaultSpec, reduction_timeout_ps, "ps", 0, 1000000000000,
              "until an ld_reduce with a silent member ends with an error (0: never)"),
    PARAM_END,
};

static gboolean fault_name_error(const Fabric *fabric, const char *key, const char *name, GError **error)
{
    g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                "[fault] %s: '%s' is nothing this system has; it has gpu0 to gpu%" G_GUINT64_FORMAT
                ", link0 to link%u of each, switch0 to switch%u",
                key, name, fabric->spec.system.gpus - 1, fabric->links - 1, fabric->n_switches - 1);
    return FALSE;
}

/* "gpu3.link1" with what = "gpu%u.link%u"; nothing may follow. */
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

void fault_lose_link(Fabric *fabric, guint32 g, guint32 l)
{
    if (!fabric->alive) {
        fabric->alive = g_new0(LinkSet, fabric->spec.system.gpus);
        for (guint64 i = 0; i < fabric->spec.system.gpus; i++)
            for (guint32 k = 0; k < fabric->links; k++)
                link_set_add(&fabric->alive[i], k);
    }
    link_set_remove(&fabric->alive[g], l);
    link_set_down(&fabric->gpu[g].up[l], TRUE);
    link_set_down(&fabric->gpu[g].down[l], TRUE);
}

static void fault_lose_switch(Fabric *fabric, guint64 s)
{
    for (guint32 g = 0; g < fabric->spec.system.gpus; g++)
        for (guint32 l = 0; l < fabric->links; l++)
            if (fabric->topology->leaf[(gsize)g * fabric->links + l] == s)
                fault_lose_link(fabric, g, l);
}

static void fault_degrade(Fabric *fabric, guint64 g, guint64 l)
{
    guint64 percent = fabric->spec.fault.degraded_percent;
    Link *way[2] = {&fabric->gpu[g].up[l], &fabric->gpu[g].down[l]};
    for (int i = 0; i < 2; i++)
        way[i]->flit_time = way[i]->flit_time * 100 / percent;
}

typedef enum { FAULT_LINK_DOWN, FAULT_LINK_DEGRADED, FAULT_SWITCH_DOWN, FAULT_GPU_SILENT } FaultKey;
static const char *const fault_keys[] = {"link_down", "link_degraded", "switch_down", "gpu_silent"};

static gboolean fault_apply_name(Fabric *fabric, FaultKey key, const char *name, GError **error)
{
    guint64 number[2] = {0, 0}, gpus = fabric->spec.system.gpus;
    gboolean good = FALSE;
    switch (key) {
    case FAULT_LINK_DOWN:
    case FAULT_LINK_DEGRADED:
        good = fault_scan(name, "gpu", ".link", number) && number[0] < gpus && number[1] < fabric->links;
        if (good && key == FAULT_LINK_DOWN)
            fault_lose_link(fabric, (guint32)number[0], (guint32)number[1]);
        else if (good)
            fault_degrade(fabric, number[0], number[1]);
        break;
    case FAULT_SWITCH_DOWN:
        good = fault_scan(name, "switch", NULL, number) && number[0] < fabric->n_switches;
        if (good)
            fault_lose_switch(fabric, number[0]);
        break;
    case FAULT_GPU_SILENT:
        good = fault_scan(name, "gpu", NULL, number) && number[0] < gpus;
        if (good && !fabric->silent)
            fabric->silent = g_new0(guint8, gpus);
        if (good)
            fabric->silent[number[0]] = TRUE;
        break;
    }
    return good || fault_name_error(fabric, fault_keys[key], name, error);
}

static gboolean fault_apply_list(Fabric *fabric, FaultKey key, const char *list, GError **error)
{
    if (!list || *list == '\0' || strcmp(list, "none") == 0)
        return TRUE;
    g_auto(GStrv) names = g_strsplit_set(list, ", ", -1);
    for (guint i = 0; names[i]; i++)
        if (*names[i] && !fault_apply_name(fabric, key, names[i], error))
            return FALSE;
    return TRUE;
}

/* Whether a list names this link of a GPU, or, with `second` NULL, this switch. */
static gboolean fault_lists(const char *list, const char *first, const char *second, guint64 a, guint64 b)
{
    g_auto(GStrv) names = g_strsplit_set(list != NULL ? list : "", ", ", -1);
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

static gboolean fault_check_paths(const Fabric *fabric, GError **error)
{
    for (guint64 a = 0; fabric->alive && a < fabric->spec.system.gpus; a++)
        for (guint64 b = a + 1; b < fabric->spec.system.gpus; b++)
            if (link_set_count(link_set_both(fabric->alive[a], fabric->alive[b])) == 0) {
                g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                            "[fault] link_down, switch_down: gpu%" G_GUINT64_FORMAT " and gpu%" G_GUINT64_FORMAT
                            " have no link left to a common switch port",
                            a, b);
                return FALSE;
            }
    return TRUE;
}

gboolean fault_apply(Fabric *fabric, GError **error)
{
    const FaultSpec *spec = &fabric->spec.fault;
    return fault_apply_list(fabric, FAULT_LINK_DOWN, spec->link_down, error) &&
           fault_apply_list(fabric, FAULT_LINK_DEGRADED, spec->link_degraded, error) &&
           fault_apply_list(fabric, FAULT_SWITCH_DOWN, spec->switch_down, error) &&
           fault_apply_list(fabric, FAULT_GPU_SILENT, spec->gpu_silent, error) &&
           fault_check_paths(fabric, error);
}
