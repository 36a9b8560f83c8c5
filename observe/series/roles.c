/* See roles.h. */
#include "observe/series/roles.h"

#include <string.h>

static const struct {
    const char *statistic, *where; /* where: the end of its path */
    gsize sum, most;               /* in SeriesPoint; most: 0 for none */
} roles[] = {
#define SUM(f) G_STRUCT_OFFSET(SeriesPoint, f)
    {"flits", ".up", SUM(up_flits), 0},
    {"flits", ".down", SUM(down_flits), 0},
    {"queue", "", SUM(queued), 0},
    {"outstanding", "", SUM(outstanding), 0},
    {"multicast_tags", "", SUM(multicast_tags), SUM(multicast_tags_most)},
    {"reduction_tags", "", SUM(reduction_tags), SUM(reduction_tags_most)},
    {"reduction_bytes", "", SUM(reduction_bytes), SUM(reduction_bytes_most)},
    {"credit_stalls", "", SUM(credit_stalls), 0},
    {"stalls_tag", "", SUM(tag_stalls), 0},
    {"stalls_buffer", "", SUM(buffer_stalls), 0},
    {"stalls_rounds", "", SUM(round_stalls), 0},
#undef SUM
};

guint8 series_role(const char *path, const StatRow *row)
{
    for (guint8 r = 0; r < G_N_ELEMENTS(roles); r++)
        if (strcmp(roles[r].statistic, row->name) == 0 && g_str_has_suffix(path, roles[r].where) &&
            (*roles[r].where == '\0' || g_str_has_prefix(path, "gpu")))
            return r + 1;
    return 0;
}

void series_role_add(guint8 role, SeriesPoint *point, guint64 value)
{
    if (role == 0)
        return;
    const gsize most = roles[role - 1].most;
    G_STRUCT_MEMBER(guint64, point, roles[role - 1].sum) += value;
    if (most)
        G_STRUCT_MEMBER(guint64, point, most) = MAX(G_STRUCT_MEMBER(guint64, point, most), value);
}
