/* See machine.h. */
#include "api/cuda/context/machine.h"

#include "api/cuda/context/ctx.h"
#include "api/wire/tray.h"

static const Machine *machine_make(void)
{
    Cuda *cuda = cuda_get();
    g_autoptr(GError) error = NULL;
    guint32 gpus, tray = wire_tray(&gpus);

    cuda_configured_version(cuda); /* loads the options */
    if (g_atomic_int_get(&cuda->configured) <= 0)
        return NULL;
    Machine *machine = machine_new(&cuda->spec, &cuda->fabric, cuda->system, gpus > 0 ? (gint)tray : -1, &error);
    if (machine == NULL)
        log_line(cuda->log, LOG_CUDA, LOG_ERROR, 0, "%s", error->message);
    return machine;
}

CUDA_ALIAS_PTSZ const Machine *fo_machine(void) { static gsize made;
    static const Machine *machine;

    if (g_once_init_enter(&made)) {
        machine = machine_make();
        g_once_init_leave(&made, 1);
    }
    return machine;
}

CUDA_ALIAS_PTSZ CudaFmState fo_machine_manager(guint gpu) { Cuda *cuda = cuda_get();

    return cuda_manager(cuda, (int)gpu);
}

typedef struct {
    int device;
    gboolean found;
} ContextOf;

static void note_context(guint64 handle, void *object, void *user)
{
    ContextOf *of = user;
    (void)handle;
    of->found |= ((const Context *)object)->device == of->device;
}

CUDA_ALIAS_PTSZ guint64 fo_machine_used(guint gpu, gboolean *context) { Cuda *cuda = cuda_get();
    guint64 used = 0;

    *context = FALSE;
    if (!g_atomic_int_get(&cuda->ready) || cuda_exiting())
        return 0;
    pthread_mutex_lock(&cuda->lock);
    ContextOf of = {.device = cuda_ordinal_of_gpu(cuda, (guint16)gpu)};
    if (of.device >= 0) {
        handle_visit(cuda->handles, HANDLE_CONTEXT, note_context, &of);
        used = cuda_device_used(cuda, &cuda->device[of.device]);
    }
    pthread_mutex_unlock(&cuda->lock);
    *context = of.found;
    return used;
}
