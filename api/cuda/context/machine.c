/* See machine.h. */
#include "api/cuda/context/machine.h"

#include <sys/mman.h>
#include <unistd.h>

#include "api/cuda/context/ctx.h"
#include "machine/options.h"
#include "machine/wire/client.h"
#include "machine/wire/control.h"
#include "machine/wire/tray.h"

static const Machine *machine_make(void)
{
    Cuda *cuda = cuda_get();
    g_autoptr(GError) error = NULL;
    guint32 gpus, tray = wire_tray(&gpus);

    cuda_configured_version(cuda); /* loads the options */
    if (g_atomic_int_get(&cuda->configured) <= 0)
        return NULL;
    Machine *machine = machine_new(&cuda->spec, &cuda->fabric, cuda->system, gpus > 0 ? (gint)tray : -1, &error);
    if (!machine)
        log_line(cuda->log, LOG_CUDA, LOG_ERROR, 0, "%s", error->message);
    return machine;
}

CUDA_ALIAS_PTSZ const Machine *fo_machine(void)
{
    static gsize made;
    static const Machine *machine;

    if (g_once_init_enter(&made)) {
        machine = machine_make();
        g_once_init_leave(&made, 1);
    }
    return machine;
}

/* The page of the machine, which a program of NVML alone has, too: it need not be a client for that. NULL: there is no
 * owner. */
static const MachinePage *page_find(void)
{
    const char *owner = options_env(WIRE_ENV, NULL);
    WireHello hello;
    WireWelcome welcome;
    int page_fd = -1;

    if (!owner)
        return NULL;
    wire_introduce(&hello, WIRE_ROLE_CONTROL, FALSE);
    int fd = wire_dial(owner, &hello, &welcome, &page_fd);
    if (fd < 0)
        return NULL;
    close(fd);
    void *page = page_fd >= 0 ? mmap(NULL, sizeof(MachinePage), PROT_READ, MAP_SHARED, page_fd, 0) : MAP_FAILED;
    if (page_fd >= 0)
        close(page_fd);
    return page != MAP_FAILED && ((const MachinePage *)page)->magic == MACHINE_PAGE_MAGIC ? page : NULL;
}

static const MachinePage *machine_page(void)
{
    static gsize found;
    static const MachinePage *page;

    if (g_once_init_enter(&found)) {
        page = page_find();
        g_once_init_leave(&found, 1);
    }
    return page;
}

CUDA_ALIAS_PTSZ CudaFmState fo_machine_manager(guint gpu)
{
    Cuda *cuda = cuda_get();
    const MachinePage *page = machine_page();

    return page ? cuda_manager_of(page, (int)gpu) : cuda_manager(cuda, (int)gpu);
}

/* ---- what is used */

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

/* Of this process alone. */
static guint64 own_use(guint gpu, gboolean *context)
{
    Cuda *cuda = cuda_get();
    guint64 used = 0;

    *context = FALSE;
    if (!g_atomic_int_get(&cuda->ready) || cuda_exiting())
        return 0;
    pthread_mutex_lock(&cuda->lock);
    ContextOf of = {.device = cuda_ordinal_of_gpu(cuda, (guint16)gpu)};
    if (of.device >= 0) {
        handle_visit(cuda->handles, HANDLE_CONTEXT, note_context, &of);
        used = cuda->device[of.device].used_bytes;
    }
    pthread_mutex_unlock(&cuda->lock);
    *context = of.found;
    return used;
}

CUDA_ALIAS_PTSZ guint64 fo_machine_used(guint gpu)
{
    gboolean context;
    const MachinePage *page = machine_page();

    return page ? __atomic_load_n(&page->used_bytes[gpu], __ATOMIC_RELAXED) : own_use(gpu, &context);
}

/* FALSE: there is no owner that could be asked. */
static gboolean ask_owner(guint gpu, GArray *processes)
{
    const char *owner = options_env(WIRE_ENV, NULL);
    WireControl asked = {.what = WIRE_CONTROL_PROCESSES, .value = gpu};
    WireControlled answer;
    g_autoptr(GArray) rows = NULL;

    if (!owner || !control_ask(owner, &asked, &answer, &rows, NULL))
        return FALSE;
    for (guint i = 0; i < rows->len; i++) {
        const WireProcess *row = &g_array_index(rows, WireProcess, i);
        MachineProcess process = {(guint32)row->pid, row->bytes};
        g_array_append_val(processes, process);
    }
    return TRUE;
}

CUDA_ALIAS_PTSZ GArray *fo_machine_processes(guint gpu)
{
    gboolean context = FALSE;
    GArray *processes = g_array_new(FALSE, TRUE, sizeof(MachineProcess));

    if (ask_owner(gpu, processes))
        return processes;
    MachineProcess own = {.pid = (guint32)getpid(), .bytes = own_use(gpu, &context)};
    if (context)
        g_array_append_val(processes, own);
    return processes;
}
