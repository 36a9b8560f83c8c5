#include "tests/ptx/flat_host.h"

#include <string.h>

#include "ptx/run/exec.h"

Flat *flat_new(gsize bytes)
{
    Flat *flat = g_new0(Flat, 1);
    flat->bytes = g_malloc0(bytes);
    flat->size = bytes;
    flat->printed = g_string_new(NULL);
    flat->slice = 1000;
    return flat;
}

void flat_free(Flat *flat)
{
    g_free(flat->bytes);
    g_string_free(flat->printed, TRUE);
    g_free(flat);
}

guint64 flat_alloc(Flat *flat, gsize bytes)
{
    guint64 va = FLAT_BASE + flat->used;
    flat->used += (bytes + 255u) & ~(gsize)255u;
    g_assert(flat->used <= flat->size);
    return va;
}

void *flat_at(Flat *flat, guint64 va) { return flat->bytes + (va - FLAT_BASE); }

static gboolean inside(const Flat *flat, guint64 va, gsize bytes)
{
    return va >= FLAT_BASE && va + bytes <= FLAT_BASE + flat->size && va + bytes >= va;
}

static guint64 host_now(void *user) { return ((Flat *)user)->now_ps; }

static gboolean host_read(void *user, guint64 va, void *bytes, gsize n)
{
    Flat *flat = user;
    if (!inside(flat, va, n))
        return FALSE;
    memcpy(bytes, flat_at(flat, va), n);
    return TRUE;
}

static void host_print(void *user, PtxCta *cta, const char *text)
{
    (void)cta;
    g_string_append(((Flat *)user)->printed, text);
}

static guint64 host_allocate(void *user, guint64 bytes)
{
    Flat *flat = user;
    return flat->used + bytes + 256 < flat->size ? flat_alloc(flat, bytes) : 0;
}

static const PtxHost host = {
    .now_ps = host_now, .read = host_read, .print = host_print, .allocate = host_allocate, .clock_ps = 505};

static gboolean do_piece(Flat *flat, const PtxAccess *access, guint64 va, guint32 at, guint32 bytes)
{
    if (!inside(flat, va, bytes))
        return FALSE;
    guint8 *memory = flat_at(flat, va), *block = access->block + at;
    guint element = ptx_types[access->type].memory;
    switch (access->kind) {
    case PTX_ACCESS_BULK_LOAD: memcpy(block, memory, bytes); break;
    case PTX_ACCESS_BULK_STORE:
    case PTX_ACCESS_BULK_MC_STORE: memcpy(memory, block, bytes); break;
    default:
        for (guint32 i = 0; i + element <= bytes; i += element)
            ptx_atomic_apply((PtxType)access->type, (PtxWord)access->op, element, memory + i, block + i, NULL, NULL,
                             TRUE);
    }
    return TRUE;
}

static gboolean do_block(Flat *flat, const PtxAccess *access)
{
    if (!access->piece_va)
        return do_piece(flat, access, access->va[0], 0, access->block_bytes);
    for (guint32 at = 0; at < access->block_bytes; at += 16)
        if (!do_piece(flat, access, access->piece_va[at / 16], at, 16))
            return FALSE;
    return TRUE;
}

/* One lane. A multicast address is like any other here: a team of one. */
static gboolean do_lane(Flat *flat, PtxAccess *access, guint lane)
{
    guint8 *bytes = access->bytes + lane * access->width;
    if (!inside(flat, access->va[lane], access->width))
        return FALSE;
    guint8 *memory = flat_at(flat, access->va[lane]);
    guint element = ptx_types[access->type].memory;
    switch (access->kind) {
    case PTX_ACCESS_LOAD:
    case PTX_ACCESS_MC_LOAD: memcpy(bytes, memory, access->width); break;
    case PTX_ACCESS_STORE:
    case PTX_ACCESS_MC_STORE: memcpy(memory, bytes, access->width); break;
    default:
        for (guint e = 0; e < access->width; e += element)
            ptx_atomic_apply((PtxType)access->type, (PtxWord)access->op, element, memory + e, bytes + e,
                             access->compare + lane * 16, bytes + e, TRUE);
    }
    return TRUE;
}

static void perform(Flat *flat, PtxAccess *access)
{
    PtxWarp *warp = access->warp;
    flat->accesses++;
    if (access->kind == PTX_ACCESS_FENCE) {
        flat->fences++;
    } else if (access->kind >= PTX_ACCESS_BULK_LOAD) {
        if (!do_block(flat, access))
            ptx_fault(warp, access->ins, 0, PTX_FAULT_ILLEGAL_ADDRESS, access->va[0], "nothing lies there");
    } else {
        for (guint l = 0; l < PTX_LANES; l++)
            if ((access->mask >> l & 1) && !do_lane(flat, access, l))
                ptx_fault(warp, access->ins, l, PTX_FAULT_ILLEGAL_ADDRESS, access->va[l], "nothing lies there");
    }
}

/* ---- modules */

FlatModule *flat_load(Flat *flat, const char *file, const char *text, gssize bytes, GError **error)
{
    PtxModule *module = ptx_module_read(file, text, bytes < 0 ? strlen(text) : (gsize)bytes, error);
    if (!module)
        return NULL;
    FlatModule *loaded = g_new0(FlatModule, 1);
    loaded->flat = flat;
    loaded->module = module;
    if (module->global_bytes + module->const_bytes + 1024 > flat->size - flat->used) {
        g_set_error(error, PTX_LOAD_ERROR, PTX_LOAD_ERROR_LIMIT, "the variables do not fit");
        flat_unload(loaded);
        return NULL;
    }
    guint64 global_base = flat_alloc(flat, module->global_bytes), const_base = flat_alloc(flat, module->const_bytes);
    ptx_module_bank(module, SPACE_GLOBAL, global_base, const_base, flat_at(flat, global_base));
    ptx_module_bank(module, SPACE_CONST, global_base, const_base, flat_at(flat, const_base));
    loaded->image = ptx_image_new(module, global_base, const_base);
    return loaded;
}

void flat_unload(FlatModule *loaded)
{
    if (!loaded)
        return;
    ptx_image_free(loaded->image);
    ptx_module_free(loaded->module);
    g_free(loaded);
}

/* ---- launches */

typedef struct {
    Flat *flat;
    PtxGrid *grid;
    GPtrArray *clusters;
    GPtrArray *answers; /* accesses that are performed and not completed yet */
} Run;

static void answer(Run *run)
{
    for (guint i = 0; i < run->answers->len; i++)
        ptx_access_complete(run->answers->pdata[i]);
    g_ptr_array_set_size(run->answers, 0);
}

/* A warp's turn; TRUE: it did something. */
static gboolean turn(Run *run, PtxWarp *warp)
{
    Flat *flat = run->flat;
    PtxAccess *access;
    gboolean busy = FALSE;
    guint64 before = run->grid->instructions;
    while (!warp->ended && run->grid->fault.kind == PTX_FAULT_NONE) {
        PtxRun state = ptx_warp_run(warp, flat->slice, &access);
        if (state != PTX_RUN_ACCESS)
            break;
        busy = TRUE;
        perform(flat, access);
        g_ptr_array_add(run->answers, access);
        if (!flat->late)
            answer(run);
        else if (run->grid->instructions - before > flat->slice)
            break;
    }
    return busy || run->grid->instructions != before;
}

static gboolean turn_cluster(Run *run, PtxCluster *cluster, gboolean *busy, guint64 *wake_ps)
{
    gboolean alive = FALSE;
    for (guint32 c = 0; c < cluster->size; c++)
        for (guint32 w = 0; w < run->grid->n_warps; w++) {
            PtxWarp *warp = &cluster->cta[c]->warp[w];
            if (warp->ended)
                continue;
            *busy |= turn(run, warp);
            alive |= !warp->ended;
            if (!warp->ended)
                *wake_ps = MIN(*wake_ps, warp->wake_ps ? warp->wake_ps : G_MAXUINT64);
            if (!warp->ended && !run->flat->stuck)
                run->flat->stuck = ptx_warp_state(warp);
        }
    return alive;
}

/* Rounds until all clusters at hand have ended. */
static gboolean run_clusters(Run *run, GError **error)
{
    Flat *flat = run->flat;
    guint64 most = flat->turns_max ? flat->turns_max : 10000000;
    for (guint64 round = 0; run->grid->fault.kind == PTX_FAULT_NONE; round++) {
        gboolean alive = FALSE, busy = FALSE;
        guint64 wake_ps = G_MAXUINT64;
        flat->stuck = NULL;
        flat->now_ps += 1000;
        for (guint i = 0; i < run->clusters->len; i++)
            alive |= turn_cluster(run, run->clusters->pdata[i], &busy, &wake_ps);
        busy |= run->answers->len > 0;
        answer(run);
        if (!alive)
            return TRUE;
        if (!busy && wake_ps != G_MAXUINT64 && wake_ps > flat->now_ps) {
            flat->now_ps = wake_ps;
            continue;
        }
        if ((!busy && wake_ps == G_MAXUINT64) || round > most) {
            g_set_error(error, PTX_LOAD_ERROR, PTX_LOAD_ERROR_LIMIT, "stuck: a warp %s", flat->stuck);
            return FALSE;
        }
    }
    const PtxFault *fault = &run->grid->fault;
    g_set_error(error, PTX_LOAD_ERROR, PTX_LOAD_ERROR_SYNTAX, "fault %u in %s, line %u, cta %u, warp %u, lane %u: %s",
                fault->kind, fault->function->symbol->name, fault->line, fault->cta[0], fault->warp, fault->lane,
                fault->text);
    return FALSE;
}

static gboolean run_grid(Run *run, GError **error)
{
    const guint32 *dim = run->grid->dim, *size = run->grid->cluster;
    gboolean good = TRUE;
    for (guint32 z = 0; z < dim[2] && good; z += size[2])
        for (guint32 y = 0; y < dim[1] && good; y += size[1])
            for (guint32 x = 0; x < dim[0] && good; x += size[0]) {
                const guint32 index[3] = {x, y, z};
                g_ptr_array_add(run->clusters, ptx_cluster_new(run->grid, index));
                if (run->flat->side_by_side)
                    continue;
                good = run_clusters(run, error);
                answer(run);
                ptx_cluster_free(run->clusters->pdata[0]);
                g_ptr_array_set_size(run->clusters, 0);
            }
    if (run->flat->side_by_side) {
        good = run_clusters(run, error);
        answer(run);
        for (guint i = 0; i < run->clusters->len; i++)
            ptx_cluster_free(run->clusters->pdata[i]);
    }
    return good;
}

gboolean flat_launch_shape(FlatModule *loaded, const char *kernel, const guint32 dim[3], const guint32 block[3],
                           const guint32 *cluster, guint32 shared, const void *param, GError **error)
{
    PtxFunction *entry = ptx_module_entry(loaded->module, kernel);
    Run run = {.flat = loaded->flat};
    if (!entry) {
        g_set_error(error, PTX_LOAD_ERROR, PTX_LOAD_ERROR_SYMBOL, "no kernel %s", kernel);
        return FALSE;
    }
    run.grid = ptx_grid_new(loaded->image, entry, dim, block, cluster, shared, param, &host, loaded->flat, error);
    if (!run.grid)
        return FALSE;
    run.clusters = g_ptr_array_new();
    run.answers = g_ptr_array_new();
    gboolean good = run_grid(&run, error);
    loaded->flat->instructions = run.grid->instructions;
    loaded->flat->divergences = run.grid->divergences;
    loaded->flat->given_up = run.grid->joins_given_up;
    g_ptr_array_unref(run.clusters);
    g_ptr_array_unref(run.answers);
    ptx_grid_free(run.grid);
    return good;
}

gboolean flat_launch(FlatModule *loaded, const char *kernel, guint32 ctas, guint32 threads, guint32 shared,
                     const void *param, GError **error)
{
    const guint32 dim[3] = {ctas, 1, 1}, block[3] = {threads, 1, 1};
    return flat_launch_shape(loaded, kernel, dim, block, NULL, shared, param, error);
}
