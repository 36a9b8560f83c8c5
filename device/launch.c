/* Launches and CTAs: from a kernel to processes that feed warps (queue.c). */
#include "device/device.h"
#include "device/launch_time.h"
#include "model/sm/place.h"

G_DEFINE_QUARK(device - error - quark, device_error)

/* ---- a CTA's life */

static void device_reg_free(void *data)
{
    FoReg *reg = data;
    for (guint32 w = 0; w < reg->n_warps; w++)
        if (reg->warp[w])
            reg_free(reg->warp[w]);
    g_free(reg->warp);
    g_free(reg);
}

static void device_place_next(DeviceLaunch *launch);

static void device_on_idle(Warp *warp, SimTime now_ps)
{
    FoCta *cta = warp->cta->user;
    (void)now_ps;
    sim_wake(cta->sim, cta->process);
}

static void device_on_issued(void *arg, SimTime now_ps)
{
    DeviceLaunch *launch = arg;
    launch->issued_ps = MAX(launch->issued_ps, now_ps);
}

static void device_finish(DeviceLaunch *launch)
{
    Sim *sim = launch->fabric->sim;
    launch->drained_ps = sim_now_ps(sim);
    sim_at(sim, &launch->end,
           launch->inside ? launch->drained_ps
                          : launch_time_end_ps(&launch->fabric->spec, launch->issued_ps, launch->drained_ps),
           EVENT_PRIORITY_DEVICE);
}

/* Loads whose values nothing has used: they are made, and the CTA keeps their registers until they are back. */
static void device_await_loads(FoCta *cta)
{
    gboolean any = FALSE;
    for (guint i = 0; i < cta->regs->len; i++) {
        const FoReg *reg = g_ptr_array_index(cta->regs, i);
        for (guint32 w = 0; w < reg->n_warps; w++) {
            Uop wait = {.kind = UOP_ARITH, .lanes = 1, .src = reg->warp[w]};
            if (!reg->warp[w] || !reg->warp[w]->pending)
                continue;
            device_push(cta, w, &wait);
            any = TRUE;
        }
    }
    if (any)
        device_drain(cta, 0, cta->cta->n_warps, "its last loads");
}

static void device_cta_free(FoCta *cta, void (*give)(Cta *cta))
{
    g_queue_unlink(&cta->launch->alive, &cta->alive);
    g_ptr_array_free(cta->regs, TRUE);
    g_clear_pointer(&cta->last, device_uop_unref);
    for (guint32 w = 0; w < cta->cta->n_warps; w++)
        g_free(cta->warp[w].scratch);
    g_free(cta->warp);
    give(cta->cta);
    g_free(cta);
}

/* In the middle of what it does: its operations, and loads that will never be back. */
static void device_cta_drop(FoCta *cta)
{
    for (guint32 w = 0; w < cta->cta->n_warps; w++) {
        const Warp *warp = &cta->cta->warp[w];
        if (warp->have) /* taken from its queue, and not performed */
            device_constant_drop(&warp->current);
        device_queue_drop(&cta->warp[w], device_constant_drop);
    }
    if (cta->holds)
        device_op_free(cta->held, device_constant_drop);
    for (guint i = 0; i < cta->regs->len; i++) {
        const FoReg *reg = g_ptr_array_index(cta->regs, i);
        for (guint32 w = 0; w < reg->n_warps; w++)
            if (reg->warp[w])
                reg->warp[w]->pending = 0;
    }
    device_cta_free(cta, cta_drop);
}

static void device_cta_main(void *arg)
{
    FoCta *cta = arg;
    DeviceLaunch *launch = cta->launch;
    launch->program(cta, launch->args);
    Uop issued = {.kind = UOP_CALL, .lanes = 1, .call = device_on_issued, .arg = launch};
    Uop drain = {.kind = UOP_DRAIN, .lanes = 1};
    for (guint32 w = 0; w < cta->cta->n_warps; w++) {
        device_push(cta, w, &issued);
        device_push(cta, w, &drain);
    }
    device_drain(cta, 0, cta->cta->n_warps, "the CTA's last operations");
    device_await_loads(cta);
    /* The markers fire inside the warps' generators; those come to their end at their next turn. */
    for (guint32 w = 0; w < cta->cta->n_warps; w++)
        while (cta->cta->warp[w].state != WARP_IDLE) {
            cta->cta->warp[w].on_idle = device_on_idle;
            sim_block(cta->sim, "its warps' end");
        }
    for (guint32 w = 0; w < cta->cta->n_warps; w++)
        device_op_clear(&cta->warp[w].ring);
    device_cta_free(cta, cta_free);
    if (++launch->done_ctas == launch->ctas)
        device_finish(launch);
}

static void device_on_placed(Cta *first, SimTime now_ps)
{
    DeviceLaunch *launch = ((FoCta *)first->user)->launch;
    (void)now_ps;
    launch->waiting = FALSE;
    for (Cta *placed = first; placed; placed = placed->group) {
        FoCta *cta = placed->user;
        char name[96];
        g_snprintf(name, sizeof name, "%s gpu%u cta%u", launch->name, launch->gpu->id, placed->index);
        cta->process = sim_spawn(cta->sim, name, device_cta_main, cta, launch->stack_bytes);
    }
    device_place_next(launch);
}

static Cta *device_make_cta(DeviceLaunch *launch)
{
    Cta *made = cta_new(launch->gpu, launch->vas, launch->next_cta++, launch->threads, launch->name);
    FoCta *cta = g_new0(FoCta, 1);
    cta->table = &device_calls;
    cta->launch = launch;
    cta->cta = made;
    cta->sim = launch->fabric->sim;
    cta->count = launch->threads;
    cta->warp = g_new0(DeviceWarp, made->n_warps);
    for (guint32 w = 0; w < made->n_warps; w++)
        cta->warp[w].cta = cta;
    cta->regs = g_ptr_array_new_with_free_func(device_reg_free);
    cta->alive.data = cta;
    g_queue_push_tail_link(&launch->alive, &cta->alive);
    made->user = cta;
    made->cause = launch->user;
    return made;
}

static void device_make_cluster(DeviceLaunch *launch)
{
    Cta *first = device_make_cta(launch), *last = first;
    for (guint32 c = 1; c < launch->cluster; c++)
        last = last->group = device_make_cta(launch);
    launch->waiting = TRUE;
    cta_place(first, device_on_placed);
}

/* Creates CTAs as long as SMs take them at once; the first that has to wait is the last for now, so that a
 * grid of 65,535 CTAs never exists as a whole. device_on_placed comes back here when an SM has room. */
static void device_place_next(DeviceLaunch *launch)
{
    if (launch->placing)
        return;
    launch->placing = TRUE;
    while (!launch->waiting && launch->next_cta < launch->ctas)
        device_make_cluster(launch);
    launch->placing = FALSE;
}

/* ---- launches */

static void device_on_start(Event *event, SimTime now_ps)
{
    DeviceLaunch *launch = EVENT_OWNER(event, DeviceLaunch, start);
    launch->start_ps = now_ps;
    device_place_next(launch);
}

static void device_launch_free(DeviceLaunch *launch)
{
    g_queue_unlink(&launch->fabric->launches, &launch->under_way);
    g_free(launch->args);
    g_free(launch);
}

void device_abandon(Fabric *fabric)
{
    while (fabric->launches.head) {
        DeviceLaunch *launch = fabric->launches.head->data;
        while (launch->alive.head)
            device_cta_drop(launch->alive.head->data);
        device_launch_free(launch);
    }
}

static void device_on_end(Event *event, SimTime now_ps)
{
    DeviceLaunch *launch = EVENT_OWNER(event, DeviceLaunch, end);
    launch->end_ps = now_ps;
    if (launch->done)
        launch->done(launch, launch->user);
    device_launch_free(launch);
}

/* NCCL, too, launches without clusters where they would not come out even (enqueue.cc). */
void device_launch_cluster(DeviceLaunch *launch, guint32 cluster)
{
    g_assert(launch->next_cta == 0 && cluster <= CLUSTER_CTAS_MAX);
    launch->cluster = cluster == 0 || launch->ctas % cluster ? 1 : cluster;
}

DeviceLaunch *device_launch(Fabric *fabric, guint16 gpu, Vas *vas, const FoKernel *kernel, DeviceDone done, void *user,
                            GError **error)
{
    return device_launch_after(fabric, gpu, vas, kernel, launch_time_alone_ps(&fabric->spec), done, user, error);
}

DeviceLaunch *device_launch_after(Fabric *fabric, guint16 gpu, Vas *vas, const FoKernel *kernel, guint64 delay_ps,
                                  DeviceDone done, void *user, GError **error)
{
    const SmSpec *spec = &fabric->spec.sm;
    guint32 warps = (kernel->threads + WARP_LANES - 1) / WARP_LANES;
    if (kernel->ctas == 0 || kernel->ctas > 65535 || kernel->threads == 0 || kernel->threads > 1024 ||
        warps > spec->warps_max) {
        g_set_error(error, DEVICE_ERROR, DEVICE_ERROR_GRID,
                    "kernel '%s': a grid of %u CTAs x %u threads is impossible; 1 to 65535 CTAs of 1 to %u "
                    "threads are right%s",
                    kernel->name ? kernel->name : "?", kernel->ctas, kernel->threads,
                    (guint)MIN(1024, spec->warps_max * WARP_LANES),
                    spec->warps_max * WARP_LANES < 1024 ? " (sm.warps_max)" : "");
        return NULL;
    }
    DeviceLaunch *launch = g_new0(DeviceLaunch, 1);
    launch->fabric = fabric;
    launch->gpu = &fabric->gpu[gpu];
    launch->vas = vas;
    launch->name = g_intern_string(kernel->name ? kernel->name : "kernel"); /* reports keep it */
    launch->program = kernel->program;
    launch->args = g_memdup2(kernel->args, kernel->args_bytes);
    launch->ctas = kernel->ctas;
    launch->threads = kernel->threads;
    launch->cluster = 1;
    launch->submitted_ps = sim_now_ps(fabric->sim);
    launch->done = done;
    launch->user = user;
    launch->under_way.data = launch;
    g_queue_push_tail_link(&fabric->launches, &launch->under_way);
    event_init(&launch->start, device_on_start);
    event_init(&launch->end, device_on_end);
    sim_after(fabric->sim, &launch->start, delay_ps, EVENT_PRIORITY_DEVICE);
    return launch;
}

DeviceLaunch *device_launch_inside(Fabric *fabric, guint16 gpu, Vas *vas, const FoKernel *kernel, DeviceDone done,
                                   void *user, GError **error)
{
    DeviceLaunch *launch = device_launch_after(fabric, gpu, vas, kernel, 0, done, user, error);
    if (launch)
        launch->inside = TRUE;
    return launch;
}
