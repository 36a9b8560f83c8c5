/* See tracks_parts.h. */
#include <string.h>

#include "model/gpu/gpu.h"
#include "observe/series/tracks_parts.h"
#include "model/sm/sm.h"

#define CTAS_MOST 20000u

typedef struct {
    const char *gpu;
    char *name; /* "all_reduce CTA 3" */
    guint32 sm, lane;
    SimTime start_ps, end_ps;
} CtaSlice;

struct Ctas {
    Fabric *fabric;
    GArray *slice;
    GHashTable *open; /* by Cta: number of its slice, and 1 */
    guint64 seen;
};

static void cta_slice_clear(gpointer slice) { g_free(((CtaSlice *)slice)->name); }

/* The first lane of its SM that no other is on. */
static guint32 ctas_lane(const Ctas *ctas, const Cta *cta, guint32 sm)
{
    guint32 lane = 0;
    GHashTableIter iter;
    gpointer number;
    for (gboolean again = TRUE; again;) {
        again = FALSE;
        g_hash_table_iter_init(&iter, ctas->open);
        while (g_hash_table_iter_next(&iter, NULL, &number)) {
            const CtaSlice *other = &g_array_index(ctas->slice, CtaSlice, GPOINTER_TO_UINT(number) - 1);
            if (other->gpu == cta->gpu->path && other->sm == sm && other->lane == lane) {
                lane++;
                again = TRUE;
            }
        }
    }
    return lane;
}

static void ctas_on_cta(void *user, const Cta *cta, gboolean begins, SimTime at_ps)
{
    Ctas *ctas = user;
    const guint number = GPOINTER_TO_UINT(g_hash_table_lookup(ctas->open, cta));
    if (!begins) {
        if (number)
            g_array_index(ctas->slice, CtaSlice, number - 1).end_ps = at_ps;
        g_hash_table_remove(ctas->open, cta);
    } else if (ctas->seen++ < CTAS_MOST) {
        const guint32 sm = (guint32)(cta->sm - cta->gpu->sm);
        const CtaSlice slice = {.gpu = cta->gpu->path,
                                .sm = sm,
                                .lane = ctas_lane(ctas, cta, sm),
                                .start_ps = at_ps,
                                .name = g_strdup_printf("%s CTA %u", cta->name ? cta->name : "a", cta->index)};
        g_array_append_val(ctas->slice, slice);
        g_hash_table_insert(ctas->open, (gpointer)cta, GUINT_TO_POINTER(ctas->slice->len));
    }
}

Ctas *ctas_new(Fabric *fabric)
{
    Ctas *ctas = g_new0(Ctas, 1);
    ctas->fabric = fabric;
    ctas->slice = g_array_new(FALSE, FALSE, sizeof(CtaSlice));
    g_array_set_clear_func(ctas->slice, cta_slice_clear);
    ctas->open = g_hash_table_new(g_direct_hash, g_direct_equal);
    fabric->on_cta = ctas_on_cta;
    fabric->on_cta_user = ctas;
    return ctas;
}

void ctas_end(Ctas *ctas, SimTime at_ps)
{
    GHashTableIter iter;
    gpointer number;
    g_hash_table_iter_init(&iter, ctas->open);
    while (g_hash_table_iter_next(&iter, NULL, &number))
        g_array_index(ctas->slice, CtaSlice, GPOINTER_TO_UINT(number) - 1).end_ps = at_ps;
    g_hash_table_remove_all(ctas->open);
    ctas->fabric->on_cta = NULL;
}

void ctas_free(Ctas *ctas)
{
    if (!ctas)
        return;
    g_array_free(ctas->slice, TRUE);
    g_hash_table_destroy(ctas->open);
    g_free(ctas);
}

/* ---- writing: by GPU, SM and lane */

static gint ctas_compare(gconstpointer a, gconstpointer b)
{
    const CtaSlice *x = *(const CtaSlice *const *)a, *y = *(const CtaSlice *const *)b;
    const gint gpu = strcmp(x->gpu, y->gpu);
    if (gpu)
        return strlen(x->gpu) != strlen(y->gpu) ? (strlen(x->gpu) < strlen(y->gpu) ? -1 : 1) : gpu;
    if (x->sm != y->sm)
        return x->sm < y->sm ? -1 : 1;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

void ctas_write(const Ctas *ctas, Timeline *timeline, const char *run, SimTime begin_ps)
{
    g_autoptr(GPtrArray) order = g_ptr_array_new();
    const CtaSlice *before = NULL;
    guint32 track = 0;
    for (guint i = 0; i < ctas->slice->len; i++)
        g_ptr_array_add(order, &g_array_index(ctas->slice, CtaSlice, i));
    g_ptr_array_sort(order, ctas_compare);
    for (guint i = 0; i < order->len && timeline_has_room(timeline); i++) {
        const CtaSlice *slice = order->pdata[i];
        if (!before || before->gpu != slice->gpu || before->sm != slice->sm || before->lane != slice->lane) {
            g_autofree char *name = slice->lane ? g_strdup_printf("SM %u (%u)", slice->sm, slice->lane + 1)
                                                : g_strdup_printf("SM %u", slice->sm);
            track = timeline_find_track(timeline, tracks_group(timeline, run, slice->gpu, strlen(slice->gpu)), name);
        }
        timeline_add_slice(timeline, track, slice->name, begin_ps + slice->start_ps, begin_ps + slice->end_ps);
        before = slice;
    }
    if (ctas->seen > ctas->slice->len)
        timeline_leave_out(timeline, "all but the first %u CTAs%s%s", ctas->slice->len, run ? " of " : "",
                           run ? run : "");
}
