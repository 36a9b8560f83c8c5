/* See owner.h. */
#include "machine/wire/owner.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "machine/options.h"
#include "machine/class.h"
#include "machine/run_report.h"
#include "machine/wire/server.h"

#define LATE_MS 2000 /* so long the job's other processes have to end when the first has */

struct Owner {
    Log *log;
    ParamSet *params;
    CudaSpec spec;
    FabricSpec fabric;
    char *system;
    gint16 ordinal[VAS_GPUS_MAX];
    Server *server;
    EngineSpec engine_spec;
    Engine *engine;
    GThread *thread; /* that starts the engine, when the first process comes */
    int stop_fd;
    gint failed;
};

Owner *owner_new(GError **error)
{
    Owner *owner = g_new0(Owner, 1);
    const char *log = options_env("FANOUT_LOG", NULL);

    owner->log = log_new();
    owner->params = param_set_new();
    owner->stop_fd = eventfd(0, EFD_CLOEXEC);
    if ((log && !log_parse(owner->log, log, error)) ||
        !options_load(owner->params, &owner->spec, &owner->fabric, &owner->system, error))
        return NULL;
    const struct CudaClass *kind = cuda_class((CudaGpu)owner->spec.gpu);
    ServerSpec server = {.gpus = (guint32)owner->fabric.system.gpus,
                         .memory_bytes = owner->spec.memory_bytes ? owner->spec.memory_bytes : kind->memory_bytes,
                         .manager = (guint32)owner->spec.fm_state,
                         .log = owner->log};
    owner->server = server_new(&server, error);
    return owner->server ? owner : NULL;
}

const char *owner_name(const Owner *owner) { return server_name(owner->server); }
char *owner_page_path(const Owner *owner) { return server_page_path(owner->server); }

static gboolean signal_comes(void) { return FALSE; } /* to the owner it does not: kernels are ended for an interrupt */

static gpointer owner_main(gpointer data)
{
    Owner *owner = data;
    g_autoptr(GError) error = NULL;
    struct pollfd either[2] = {{server_listens(owner->server), POLLIN, 0}, {owner->stop_fd, POLLIN, 0}};

    while (poll(either, 2, -1) < 0 && errno == EINTR)
        continue;
    if (!(either[0].revents & POLLIN))
        return NULL;
    Engine *engine = engine_new(&owner->engine_spec, &error);
    if (!engine) {
        log_line(owner->log, LOG_CUDA, LOG_ERROR, 0, "%s", error->message);
        g_atomic_int_set(&owner->failed, 1);
        server_refuse(owner->server);
        return NULL;
    }
    owner->engine = engine;
    server_begin(owner->server, engine);
    return NULL;
}

void owner_begin(Owner *owner, pid_t root, const gint *interrupts, const gint *ending, WatchPage *watch)
{
    owner->engine_spec = options_engine(&owner->spec, &owner->fabric);
    for (guint i = 0; i < VAS_GPUS_MAX; i++)
        owner->ordinal[i] = i < owner->fabric.system.gpus ? (gint16)i : -1;
    options_raise_descriptors();
    owner->engine_spec.ordinal = owner->ordinal;
    owner->engine_spec.log = owner->log;
    owner->engine_spec.gate = server_gate(owner->server);
    owner->engine_spec.tree_root = root;
    owner->engine_spec.interrupts = interrupts;
    owner->engine_spec.ending = ending;
    owner->engine_spec.signal_comes = signal_comes;
    owner->engine_spec.watch = watch;
    owner->thread = g_thread_new("fanout-owner", owner_main, owner);
}

static void rank_clear(gpointer data) { run_part_free((RunPart *)(guintptr)((RunRank *)data)->part); }

/* What each process left. *all: their sum. */
static GArray *ranks_of(Owner *owner, const char *why, RunPart **all)
{
    g_autoptr(GArray) infos = server_clients(owner->server);
    GArray *ranks = g_array_new(FALSE, FALSE, sizeof(RunRank));

    g_array_set_clear_func(ranks, rank_clear);
    *all = NULL;
    for (guint i = 0; i < infos->len; i++) {
        const ServerClientInfo *info = &g_array_index(infos, ServerClientInfo, i);
        RunPart *part = info->left ? run_part_unpack(info->part, info->part_bytes) : NULL;
        const char *ended = part ? part->why : infos->len == 1 && why ? why : "killed";
        RunRank rank = {info->rank, info->number, info->program, ended, info->calls, part};
        g_array_append_val(ranks, rank);
        if (!*all)
            *all = run_part_new(info->program, ended, 0);
        if (part)
            run_part_join(*all, part);
    }
    return ranks;
}

OwnerEnd owner_end(Owner *owner, const char *why)
{
    const guint64 one = 1;
    OwnerEnd end = {0};
    RunPart *all = NULL;

    for (guint waited_ms = 0; owner->engine && server_live(owner->server) > 0 && waited_ms < LATE_MS; waited_ms += 5)
        g_usleep(5000);
    if (write(owner->stop_fd, &one, sizeof one) != sizeof one)
        g_warning("eventfd: %s", g_strerror(errno));
    g_thread_join(owner->thread);
    end.processes = server_ever(owner->server);
    end.unwritten = g_atomic_int_get(&owner->failed) != 0;
    if (!owner->engine)
        return end;
    end.stuck = engine_is_stuck(owner->engine);
    if (end.processes > 0 && run_report_wanted()) {
        g_autoptr(GArray) ranks = ranks_of(owner, why, &all);
        RunReport run = {.engine = owner->engine,
                         .system = owner->system,
                         .driver_version = owner->spec.driver_version,
                         .part = all,
                         .ranks = ranks};
        end.unwritten |= !run_report_write_ranks(&run);
        if (ranks->len == 1)
            run.ranks = NULL;
        end.unwritten |= !run_report_write(&run);
    }
    run_part_free(all);
    return end;
}
