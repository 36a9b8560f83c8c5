/* Launches, and their clusters of CTAs. */
#include "ptx/run/exec.h"

/* ---- launches */

static gboolean launch_fail(const PtxFunction *entry, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);
static gboolean launch_fail(const PtxFunction *entry, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, PTX_LOAD_ERROR, PTX_LOAD_ERROR_LIMIT, "launch of %s: %s", entry->symbol->name, text);
    return FALSE;
}

static gboolean check_shape(const PtxGrid *grid, GError **error)
{
    const PtxFunction *entry = grid->entry;
    static const guint32 block_max[] = {1024, 1024, 64}, grid_max[] = {G_MAXINT32, 65535, 65535};
    guint64 threads = 1, size = 1, wanted = 1, most = 1;
    for (guint i = 0; i < 3; i++) {
        if (grid->dim[i] == 0 || grid->dim[i] > grid_max[i])
            return launch_fail(entry, error, "%u CTAs in dimension %u; 1 to %u", grid->dim[i], i, grid_max[i]);
        if (grid->block[i] == 0 || grid->block[i] > block_max[i])
            return launch_fail(entry, error, "%u threads in dimension %u; 1 to %u", grid->block[i], i, block_max[i]);
        if (grid->cluster[i] == 0 || grid->cluster[i] > 16 || grid->dim[i] % grid->cluster[i])
            return launch_fail(entry, error, "clusters of %u CTAs do not divide a grid of %u", grid->cluster[i],
                               grid->dim[i]);
        threads *= grid->block[i];
        size *= grid->cluster[i];
        wanted *= MAX(entry->reqntid[i], 1u);
        most *= MAX(entry->maxntid[i], 1u);
        if (entry->reqntid[0] && entry->reqntid[i] != grid->block[i])
            return launch_fail(entry, error, ".reqntid asks for %u threads in dimension %u", entry->reqntid[i], i);
    }
    if (threads > 1024 || size > 16)
        return launch_fail(entry, error,
                           "%" G_GUINT64_FORMAT " threads, %" G_GUINT64_FORMAT " CTAs a cluster; at most 1024 and 16",
                           threads, size);
    if (entry->maxntid[0] && threads > most)
        return launch_fail(entry, error, "%" G_GUINT64_FORMAT " threads; .maxntid allows %" G_GUINT64_FORMAT, threads,
                           most);
    return TRUE;
}

PtxGrid *ptx_grid_new(PtxImage *image, PtxFunction *entry, const guint32 dim[3], const guint32 block[3],
                      const guint32 *cluster, guint32 dynamic_shared, const void *param, const PtxHost *host,
                      void *user, GError **error)
{
    PtxUsage usage;
    if (!ptx_function_usage(entry, &usage, error))
        return NULL;
    PtxGrid *grid = g_new0(PtxGrid, 1);
    grid->image = image;
    grid->entry = entry;
    grid->host = host;
    grid->bind = ptx_code_bind;
    grid->user = user;
    grid->back_branches = PTX_BACK_BRANCHES;
    grid->spin_branches = PTX_SPIN_BRANCHES;
    guint32 own = usage.shared_bytes - usage.functions_shared;
    grid->static_shared = usage.dynamic_shared ? (own + 127u) & ~127u : own;
    grid->functions_shared = usage.functions_shared;
    grid->functions_end = usage.functions_end;
    grid->dynamic_shared = dynamic_shared;
    for (guint i = 0; i < 3; i++) {
        grid->dim[i] = dim[i];
        grid->block[i] = block[i];
        grid->cluster[i] = cluster ? cluster[i] : MAX(entry->cluster[i], 1u);
    }
    grid->param = g_malloc0(entry->param_bytes + 1u);
    if (param && entry->param_bytes)
        memcpy(grid->param, param, entry->param_bytes);
    if (!check_shape(grid, error) || ((guint64)grid->static_shared + dynamic_shared > PTX_SHARED_BYTES_MAX &&
                                      !launch_fail(entry, error, "%u bytes of shared memory; at most %u",
                                                   grid->static_shared + dynamic_shared, PTX_SHARED_BYTES_MAX))) {
        ptx_grid_free(grid);
        return NULL;
    }
    grid->threads = block[0] * block[1] * block[2];
    grid->n_warps = (grid->threads + PTX_LANES - 1) / PTX_LANES;
    return grid;
}

void ptx_grid_free(PtxGrid *grid)
{
    if (!grid)
        return;
    g_free(grid->fault.text);
    g_free(grid->param);
    g_free(grid);
}

/* ---- CTAs */

static void warp_start(PtxWarp *warp, PtxCta *cta, guint32 index)
{
    guint32 left = cta->grid->threads - index * PTX_LANES;
    warp->cta = cta;
    warp->index = index;
    warp->live = left >= PTX_LANES ? PTX_FULL_MASK : (1u << left) - 1;
    warp->cluster_phase = G_MAXUINT32;
    PtxFrame *frame = ptx_frame_new(warp, cta->grid->entry->code, NULL);
    if (!frame) {
        ptx_fault(warp, NULL, 0, PTX_FAULT_STACK, 0, "the kernel needs more than %u bytes of local memory",
                  PTX_LOCAL_BYTES_MAX);
        return;
    }
    ptx_path_new(warp, frame, NULL, 0, warp->live);
    ptx_frame_unref(warp, frame);
}

static PtxCta *cta_new(PtxGrid *grid, PtxCluster *cluster, guint32 rank, const guint32 first[3])
{
    PtxCta *cta = g_new0(PtxCta, 1);
    const guint32 *size = grid->cluster;
    cta->grid = grid;
    cta->cluster_of = cluster;
    cta->rank = rank;
    cta->index[0] = first[0] + rank % size[0];
    cta->index[1] = first[1] + rank / size[0] % size[1];
    cta->index[2] = first[2] + rank / size[0] / size[1];
    cta->shared_bytes = MAX(grid->static_shared + grid->dynamic_shared, grid->functions_end);
    cta->shared = g_malloc0(cta->shared_bytes + 1u);
    cta->live = grid->threads;
    cta->warp = g_new0(PtxWarp, grid->n_warps);
    return cta;
}

PtxCluster *ptx_cluster_new(PtxGrid *grid, const guint32 index[3])
{
    PtxCluster *cluster = g_new0(PtxCluster, 1);
    cluster->size = grid->cluster[0] * grid->cluster[1] * grid->cluster[2];
    cluster->cta = g_new0(PtxCta *, cluster->size);
    cluster->live = cluster->size * grid->threads;
    for (guint32 c = 0; c < cluster->size; c++)
        cluster->cta[c] = cta_new(grid, cluster, c, index);
    for (guint32 c = 0; c < cluster->size; c++)
        for (guint32 w = 0; w < grid->n_warps; w++)
            warp_start(&cluster->cta[c]->warp[w], cluster->cta[c], w);
    return cluster;
}

static void warp_clear(PtxWarp *warp)
{
    while (warp->head)
        ptx_path_free(warp, warp->head);
    for (PtxAccess *lists[] = {warp->pending, warp->spare}, **list = lists; list < lists + 2; list++)
        while (*list) {
            PtxAccess *next = (*list)->next;
            if (list == lists) {
                ptx_access_clear(*list);
                ptx_frame_unref(warp, (*list)->frame);
            }
            g_free(*list);
            *list = next;
        }
    ptx_warp_clear_async(warp);
    g_free(warp->local);
    if (warp->traced)
        g_string_free(warp->traced, TRUE);
}

void ptx_cluster_free(PtxCluster *cluster)
{
    for (guint32 c = 0; c < cluster->size; c++) {
        PtxCta *cta = cluster->cta[c];
        for (guint32 w = 0; w < cta->grid->n_warps; w++)
            warp_clear(&cta->warp[w]);
        ptx_fabric_clear(cta);
        g_free(cta->warp);
        g_free(cta->shared);
        g_free(cta);
    }
    g_free(cluster->cta);
    g_free(cluster);
}
