/* See process.h. The record is made by the first call of any thread; cuInit starts the engine.
 *
 * Options come from the environment (machine/options.h). */
#include "api/cuda/context/process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/class.h"
#include "api/cuda/context/part.h"
#include "api/cuda/memory/range.h"
#include "machine/options.h"
#include "machine/machine.h"
#include "machine/wire/client.h"
#include "machine/wire/tray.h"

/* The front end's process record: the one global that the driver API's shape asks for. */
static Cuda *process;
static gint forked;  /* atomic: this is a child that did not exec */
static gint exiting; /* atomic: exit handlers are running */

static void on_fork_child(void)
{
    g_atomic_int_set(&forked, 1);
    wire_close_after_fork(process->engine);
}
static void on_exit_handler(void)
{
    if (g_atomic_int_get(&forked))
        return;
    cuda_parts_close(process, "exit");
    g_atomic_int_set(&exiting, 1);
}

static void on_hard_exit(void) { cuda_parts_close(process, "_exit"); }

/* A function of a library that `fanout exec` preloads; NULL: it did not. */
static GCallback hook_find(const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    GCallback set;

    memcpy(&set, &symbol, sizeof set);
    return set;
}

/* libfanout_exit.so */
static void hook_hard_exit(void)
{
    void (*set)(void (*)(void)) = (void (*)(void (*)(void)))hook_find("fo_exit_hook");

    if (set)
        set(on_hard_exit);
}

static guint64 clock_ps(void) { return engine_seen_ps(process->engine); }

/* libfanout_clock.so, with --clock simulated */
static void hook_clock(void)
{
    void (*set)(guint64(*)(void)) = (void (*)(guint64(*)(void)))hook_find("fo_clock_hook");

    if (set)
        set(clock_ps);
}

static Cuda *process_new(void)
{
    Cuda *cuda = g_new0(Cuda, 1);
    GError *error = NULL;
    const char *spec = g_getenv("FANOUT_LOG");

    pthread_mutex_init(&cuda->lock, NULL);
    pthread_mutex_init(&cuda->report_lock, NULL);
    cuda->log = log_new();
    if (spec && !log_parse(cuda->log, spec, &error)) {
        log_line(cuda->log, LOG_CUDA, LOG_ERROR, 0, "FANOUT_LOG: %s", error->message);
        g_clear_error(&error);
    }
    cuda->handles = handle_table_new();
    cuda->ranges = ranges_new();
    cuda->calls = g_hash_table_new(g_str_hash, g_str_equal);
    cuda->diagnostics = g_array_new(FALSE, FALSE, sizeof(Diagnostic));
    cuda->slabs = g_ptr_array_new();
    cuda->next_id = 1;
    cuda_parts_open(cuda);
    pthread_atfork(NULL, NULL, on_fork_child);
    atexit(on_exit_handler);
    hook_hard_exit();
    return cuda;
}

static void process_make(void) { process = process_new(); }

Cuda *cuda_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, process_make);
    return process;
}

gboolean cuda_exiting(void) { return g_atomic_int_get(&exiting); }

/* CUDA_VISIBLE_DEVICES: ordinals up to the first that does not exist, as the real driver reads it.
 */
static guint visible_devices(const Cuda *cuda, guint gpus, guint16 *chosen)
{
    const char *list = g_getenv("CUDA_VISIBLE_DEVICES");
    guint n = 0;
    guint limit = cuda->spec.devices != 0 && cuda->spec.devices < gpus ? (guint)cuda->spec.devices : gpus;

    if (!list) {
        for (n = 0; n < limit; n++)
            chosen[n] = (guint16)n;
        return n;
    }
    g_auto(GStrv) parts = g_strsplit(list, ",", -1);
    for (guint i = 0; parts[i] && n < limit; i++) {
        char *end;
        guint64 gpu = g_ascii_strtoull(g_strstrip(parts[i]), &end, 10);
        if (end == parts[i] || *end != '\0' || gpu >= limit)
            break;
        chosen[n++] = (guint16)gpu;
    }
    return n;
}

/* What its model has, unless the configuration takes it away. */
static gboolean can_multicast(const Cuda *cuda, const CudaDevice *device)
{
    int value = 0;

    return cuda->spec.multicast && cuda->fabric.mctable.entries > 0 &&
           cuda_class_attribute(device->kind, device->gpu, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED,
                                (int)cuda->spec.driver_version, &value) &&
           value != 0;
}

/* With trays a process sees the GPUs of its own. */
static gboolean devices_make(Cuda *cuda, guint gpus, GError **error)
{
    guint16 chosen[CUDA_DEVICES_MAX];
    guint first = 0;

    cuda->tray = wire_tray(&cuda->tray_gpus);
    if (cuda->tray_gpus > 0) {
        first = cuda->tray * cuda->tray_gpus;
        if (first >= gpus) {
            g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                        "rank %d would be on tray %u of %u GPUs each, and the system has %u GPUs: at most %u ranks",
                        wire_rank(), cuda->tray, cuda->tray_gpus, gpus, gpus);
            return FALSE;
        }
        gpus = MIN(gpus - first, cuda->tray_gpus);
    }
    cuda->n_devices = visible_devices(cuda, MIN(gpus, CUDA_DEVICES_MAX), chosen);
    for (guint i = 0; i < CUDA_DEVICES_MAX; i++)
        cuda->ordinal[i] = -1;
    for (guint i = 0; i < cuda->n_devices; i++) {
        CudaDevice *device = &cuda->device[i];
        device->slot = chosen[i];
        device->gpu = (guint16)(first + chosen[i]);
        cuda->ordinal[device->gpu] = (gint16)i;
        device->kind = cuda_class((CudaGpu)cuda->spec.gpu);
        device->total_bytes = cuda->spec.memory_bytes != 0 ? cuda->spec.memory_bytes : device->kind->memory_bytes;
        machine_uuid(&device->uuid, cuda->system, device->gpu);
        device->multicast = can_multicast(cuda, device);
        cuda->multicast |= device->multicast;
    }
    return TRUE;
}

static gboolean load(Cuda *cuda, GError **error)
{
    cuda->params = param_set_new();
    if (!options_load(cuda->params, &cuda->spec, &cuda->fabric, &cuda->system, error))
        return FALSE;
    cuda->fails = cuda_fails_new(cuda->spec.fail, NULL); /* it was checked */
    const char *unknown = cuda_fails_unknown(cuda->fails, cuda_parts_know);
    if (unknown)
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE, "cuda.fail: '%s' is no function of the driver API", unknown);
    return !unknown;
}

static void say_wrong(Cuda *cuda, const GError *error)
{
    log_line(cuda->log, LOG_CUDA, LOG_ERROR, 0, "%s", error->message);
    cuda_parts_wrong();
}

/* Lock held. Wrong options are said once; everything then fails with INVALID_VALUE. */
static gboolean configure(Cuda *cuda)
{
    g_autoptr(GError) error = NULL;

    if (g_atomic_int_get(&cuda->configured) != 0)
        return cuda->configured > 0;
    if (!load(cuda, &error))
        say_wrong(cuda, error);
    g_atomic_int_set(&cuda->configured, !error ? 1 : -1);
    return !error;
}

guint64 cuda_configured_version(Cuda *cuda)
{
    if (g_atomic_int_get(&cuda->configured) == 0) {
        pthread_mutex_lock(&cuda->lock);
        configure(cuda);
        pthread_mutex_unlock(&cuda->lock);
    }
    return cuda->configured > 0 ? cuda->spec.driver_version : CUDA_VERSION_DEFAULT;
}

/* Below `fanout exec` the machine is its own, and this process a client; else the engine is here. */
static gboolean start(Cuda *cuda, GError **error)
{
    const char *owner = options_env(WIRE_ENV, NULL);

    options_raise_descriptors();
    if (!devices_make(cuda, (guint)cuda->fabric.system.gpus, error))
        return FALSE;
    if (owner) {
        EngineSpec signals = {.log = cuda->log};
        cuda->engine = wire_connect(owner, error);
        cuda_parts_start(cuda, &signals);
        if (cuda->engine && signals.signalled)
            wire_on_signal(cuda->engine, signals.signalled, signals.on_signal);
    } else {
        EngineSpec spec = options_engine(&cuda->spec, &cuda->fabric);
        spec.ordinal = cuda->ordinal;
        spec.log = cuda->log;
        cuda_parts_start(cuda, &spec);
        cuda->engine = engine_new(&spec, error);
    }
    if (cuda->engine)
        hook_clock();
    return cuda->engine != NULL;
}

CUresult cuda_start(Cuda *cuda)
{
    g_autoptr(GError) error = NULL;

    if (g_atomic_int_get(&forked))
        return CUDA_ERROR_NOT_INITIALIZED;
    if (cuda_exiting())
        return CUDA_ERROR_DEINITIALIZED;
    pthread_mutex_lock(&cuda->lock);
    if (!g_atomic_int_get(&cuda->ready)) {
        if (!configure(cuda) || !start(cuda, &error)) {
            if (error)
                say_wrong(cuda, error);
            pthread_mutex_unlock(&cuda->lock);
            return g_error_matches(error, G_IO_ERROR, G_IO_ERROR_NO_SPACE) ? CUDA_ERROR_OUT_OF_MEMORY
                                                                           : CUDA_ERROR_INVALID_VALUE;
        }
        g_atomic_int_set(&cuda->ready, 1);
    }
    pthread_mutex_unlock(&cuda->lock);
    return cuda->n_devices > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

CUresult cuda_fail_now(Cuda *cuda, const char *function)
{
    CUresult code = CUDA_SUCCESS;

    pthread_mutex_lock(&cuda->lock);
    if (configure(cuda))
        code = cuda_fails_take(cuda->fails, function);
    pthread_mutex_unlock(&cuda->lock);
    return code;
}

CUresult cuda_begin(Call *call)
{
    Cuda *cuda = cuda_get();

    if (cuda_exiting())
        return call->result = CUDA_ERROR_DEINITIALIZED;
    if (!g_atomic_int_get(&cuda->ready) || g_atomic_int_get(&forked))
        return call->result = CUDA_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&cuda->lock);
    call->cuda = cuda;
    call->locked = TRUE;
    return call->result = cuda_fails_take(cuda->fails, call->name);
}

static void pay_host_cost(const Call *call)
{
    EngineRequest request = {.op = ENGINE_SLEEP, .time_ps = cuda_host_cost_ps(call->name)};
    EngineReply reply;

    if (request.time_ps != 0)
        engine_call(call->cuda->engine, &request, &reply);
}

static void log_error(const Call *call)
{
    log_line(call->cuda->log, LOG_CUDA, LOG_DEBUG, 0, "%s: %s", call->name, cuda_error_name(call->result));
}

void cuda_end(Call *call)
{
    if (!call->cuda)
        return;
    if (!call->locked)
        cuda_relock(call);
    CallCount *count = g_hash_table_lookup(call->cuda->calls, call->name);
    if (!count) {
        count = g_new0(CallCount, 1);
        g_hash_table_insert(call->cuda->calls, (char *)call->name, count);
    }
    count->calls++;
    count->errors += call->result != CUDA_SUCCESS && call->result != CUDA_ERROR_NOT_READY;
    cuda_unlock(call);
    if (call->result != CUDA_SUCCESS)
        log_error(call);
    if (call->cuda->spec.host_cost)
        pay_host_cost(call);
}

void cuda_unlock(Call *call)
{
    g_assert(call->locked);
    call->locked = FALSE;
    pthread_mutex_unlock(&call->cuda->lock);
}

void cuda_relock(Call *call)
{
    g_assert(!call->locked);
    pthread_mutex_lock(&call->cuda->lock);
    call->locked = TRUE;
}

guint64 cuda_device_used(const Cuda *cuda, const CudaDevice *device)
{
    const MachinePage *page = cuda->engine ? wire_page(cuda->engine) : NULL;

    return page ? __atomic_load_n(&page->used_bytes[device->gpu], __ATOMIC_RELAXED) : device->used_bytes;
}

int cuda_ordinal_of_gpu(const Cuda *cuda, guint16 gpu) { return gpu < CUDA_DEVICES_MAX ? cuda->ordinal[gpu] : -1; }

gboolean cuda_engine(Call *call, const EngineRequest *request, EngineReply *reply)
{
    EngineReply unused;
    return engine_call(call->cuda->engine, request, reply ? reply : &unused) == ENGINE_OK;
}
