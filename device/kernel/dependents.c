/* Programmatic dependent launch: a kernel tells when others may start beside it, and waits for the one before it.
 *
 * A launch has triggered when each of its CTAs has executed griddepcontrol.launch_dependents or has ended. Its maker is
 * told (KernelSpec.reaches), and starts what depends on it. griddepcontrol.wait of a launch that depends holds its
 * lanes until kernel_release(), which comes when the kernel before has ended and its stores are performed. */
#include "device/kernel/internal.h"

static void on_trigger(Event *event, SimTime now_ps)
{
    KernelLaunch *launch = EVENT_OWNER(event, KernelLaunch, trigger);
    (void)now_ps;
    launch->spec.reaches(launch, KERNEL_TRIGGERED, launch->user);
}

void kernel_triggered(KernelCta *cta, SimTime at_ps)
{
    KernelLaunch *launch = cta->launch;
    if (cta->triggered)
        return;
    cta->triggered = TRUE;
    launch->triggered_ps = MAX(launch->triggered_ps, at_ps);
    if (++launch->triggered == launch->clusters * cta->cluster->size && launch->spec.reaches)
        sim_at(launch->fabric->sim, &launch->trigger, launch->triggered_ps, EVENT_PRIORITY_DEVICE);
}

void kernel_performed(KernelLaunch *launch)
{
    if (launch->spec.reaches)
        launch->spec.reaches(launch, KERNEL_PERFORMED, launch->user);
}

void kernel_launch_dependents(void *user, PtxCta *ptx)
{
    KernelLaunch *launch = user;
    kernel_triggered(ptx->user, launch->host.now_ps(launch));
}

gboolean kernel_grid_dependency(void *user, PtxWarp *ptx)
{
    const KernelLaunch *launch = user;
    (void)ptx;
    return !launch->spec.depends || launch->released;
}

static void on_release(Event *event, SimTime now_ps)
{
    KernelLaunch *launch = EVENT_OWNER(event, KernelLaunch, release);
    (void)now_ps;
    launch->released = TRUE;
    for (KernelCluster *cluster = launch->live; cluster; cluster = cluster->next)
        for (guint32 c = 0; cluster->placed && c < cluster->size; c++)
            for (guint32 w = 0; w < launch->grid->n_warps; w++) {
                KernelWarp *warp = &cluster->cta[c].warp[w];
                if (warp->ptx && warp->stage == KERNEL_RUNS && ptx_warp_met(warp->ptx))
                    warp_unpark(warp->warp);
            }
}

void kernel_release(KernelLaunch *launch, SimTime at_ps)
{
    sim_at(launch->fabric->sim, &launch->release, at_ps, EVENT_PRIORITY_DEVICE);
}

void kernel_dependents_init(KernelLaunch *launch)
{
    event_init(&launch->trigger, on_trigger);
    event_init(&launch->release, on_release);
}

void kernel_dependents_end(KernelLaunch *launch)
{
    sim_cancel(launch->fabric->sim, &launch->trigger);
    sim_cancel(launch->fabric->sim, &launch->release);
}
