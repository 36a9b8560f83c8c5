/* See team.h: life of the shared page and of this process's view. */
#include "api/cuda/multicast/team.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

GHashTable *team_table_new(void) { return g_hash_table_new(identity_hash, identity_equal); }

void team_lock(Team *team)
{
    if (!team->unlockable)
        team->locked = robust_lock_take(&team->page->lock);
    team->unlockable = !team->locked;
}

void team_unlock(Team *team)
{
    if (team->locked)
        pthread_mutex_unlock(&team->page->lock);
    team->locked = FALSE;
}

void team_changed(Team *team)
{
    g_atomic_int_inc(&team->page->sequence);
    syscall(SYS_futex, &team->page->sequence, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    if (engine_remote_self(team->engine)) { /* who waits there waits in the owner's engine */
        EngineRequest request = {.op = ENGINE_OBJECT_CHANGED,
                                 .object = team->object,
                                 .value = (guint32)g_atomic_int_get(&team->page->sequence)};
        EngineReply reply;
        engine_call(team->engine, &request, &reply);
    }
}

guint32 team_members(const Team *team)
{
    guint32 n = *(volatile guint32 *)&team->page->n_members;
    return MIN(n, team->n_devices);
}

guint32 team_binds(const Team *team)
{
    guint32 n = *(volatile guint32 *)&team->page->n_binds;
    return MIN(n, TEAM_BINDS_MAX);
}

void team_drop_bind(Team *team, guint32 i)
{
    guint32 n = team_binds(team);

    if (i >= n)
        return;
    team->page->bind[i] = team->page->bind[n - 1];
    team->page->n_binds = n - 1;
}

static guint32 holders(const Team *team)
{
    guint32 n = *(volatile guint32 *)&team->page->n_holders;
    return MIN(n, TEAM_HOLDERS_MAX);
}

gboolean team_has(const Team *team, guint16 gpu)
{
    for (guint32 i = 0; i < team_members(team); i++)
        if (team->page->member[i] == gpu)
            return TRUE;
    return FALSE;
}

static gboolean page_write(const Cuda *cuda, int fd, const CUmulticastObjectProp *prop, EngineObjectKind kind,
                           guint32 flags, guint16 gpu)
{
    TeamPage *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (page == MAP_FAILED)
        return FALSE;
    page->bytes = prop->size;
    page->handle_types = prop->handleTypes;
    page->n_devices = prop->numDevices;
    page->creator_pid = getpid();
    page->era = cuda_manager_era(cuda);
    page->tray = cuda->tray;
    page->kind = kind;
    page->flags = flags;
    if (kind == ENGINE_OBJECT_ENDPOINT_UNICAST) {
        page->member[0] = gpu;
        page->n_members = 1;
    }
    robust_lock_init(&page->lock);
    page->magic = TEAM_MAGIC;
    munmap(page, sizeof *page);
    return TRUE;
}

/* Enters this process among the holders; those that died are dropped. */
static void holder_enter(Team *team)
{
    TeamPage *page = team->page;
    guint32 n = 0;

    team_lock(team);
    for (guint32 i = 0; i < holders(team); i++)
        if (page->holder[i] != getpid() && shared_file_holder_lives(page->holder[i]))
            page->holder[n++] = page->holder[i];
    if (n < TEAM_HOLDERS_MAX)
        page->holder[n++] = getpid();
    page->n_holders = n;
    team_unlock(team);
}

static Team *team_around(Call *call, int fd, const guint64 identity[2])
{
    TeamPage *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (page == MAP_FAILED) {
        close(fd);
        return NULL;
    }
    Team *team = g_new0(Team, 1);
    team->engine = call->cuda->engine;
    team->page = page;
    team->bytes = page->bytes;
    team->handle_types = page->handle_types;
    team->n_devices = page->n_devices;
    team->kind = (EngineObjectKind)page->kind;
    team->flags = page->flags;
    team->creator_pid = page->creator_pid;
    team->fd = fd;
    team->refs = 1;
    team->identity[0] = identity[0];
    team->identity[1] = identity[1];
    team->mirror = g_array_new(FALSE, FALSE, sizeof(TeamMirror));
    team->seen = -1;
    g_hash_table_insert(call->cuda->teams, team->identity, team);
    return team;
}

/* Its entry of the multicast table, if it has one. */
static void release_entry(Call *call, Team *team)
{
    if (team->has_slot)
        call->cuda->teams_ready--;
    team->has_slot = FALSE;
}

static void team_end(Call *call, Team *team)
{
    EngineRequest request = {.op = ENGINE_OBJECT_FREE, .object = team->object};

    release_entry(call, team);
    if (team->object != 0)
        cuda_engine(call, &request, NULL);
    for (guint i = 0; i < team->mirror->len; i++)
        phys_unref(call, g_array_index(team->mirror, TeamMirror, i).phys);
    g_hash_table_remove(call->cuda->teams, team->identity);
    g_array_unref(team->mirror);
    munmap(team->page, sizeof *team->page);
    close(team->fd);
    g_free(team);
}

static gboolean engine_object(Call *call, Team *team)
{
    EngineRequest request = {
        .op = ENGINE_OBJECT_NEW, .fd = team->fd, .bytes = team->bytes, .value = team->n_devices, .access = team->kind};
    EngineReply reply;

    if (!cuda_engine(call, &request, &reply))
        return FALSE;
    team->object = (guint32)reply.value;
    return TRUE;
}

CUresult team_new_endpoint(Call *call, const CUmulticastObjectProp *prop, EngineObjectKind kind, guint32 flags,
                           guint16 gpu, Team **team)
{
    guint64 identity[2], bytes;
    int fd = sealed_new("fanout-multicast", sizeof(TeamPage));

    if (fd < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!page_write(call->cuda, fd, prop, kind, flags, gpu) || !sealed_identity(fd, identity, &bytes)) {
        close(fd);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *team = team_around(call, fd, identity);
    if (!*team)
        return CUDA_ERROR_OUT_OF_MEMORY;
    holder_enter(*team);
    return engine_object(call, *team) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult team_new(Call *call, const CUmulticastObjectProp *prop, Team **team)
{
    return team_new_endpoint(call, prop, ENGINE_OBJECT_MULTICAST, 0, 0, team);
}

gboolean team_is_fd(int fd)
{
    guint64 identity[2], bytes, magic = 0;

    return sealed_identity(fd, identity, &bytes) && bytes == sizeof(TeamPage) &&
           pread(fd, &magic, sizeof magic, 0) == sizeof magic && magic == TEAM_MAGIC;
}

/* Properties that cuMulticastCreate or cuLogicalEndpointCreate would have taken. What stands behind them is checked
 * where it is read. */
static gboolean team_is_sound(const Cuda *cuda, const Team *team)
{
    guint64 types = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT |
                    CU_MEM_HANDLE_TYPE_FABRIC;

    guint64 granularity = team->kind == ENGINE_OBJECT_MULTICAST ? cuda->spec.multicast_min_bytes
                                                                : cuda->spec.endpoint_align_bytes;

    if (team->kind >= ENGINE_OBJECT_KINDS || (team->kind == ENGINE_OBJECT_ENDPOINT_UNICAST && team->n_devices != 1))
        return FALSE;
    return team->n_devices >= 1 && team->n_devices <= TEAM_MEMBERS_MAX && team->bytes != 0 &&
           team->bytes % granularity == 0 && team->handle_types != 0 && (team->handle_types & ~types) == 0 &&
           robust_lock_sound(&team->page->lock);
}

CUresult team_import(Call *call, int fd, Team **team)
{
    guint64 identity[2], bytes;

    if (!team_is_fd(fd) || !sealed_identity(fd, identity, &bytes) || !sealed_is_sound(fd))
        return CUDA_ERROR_INVALID_VALUE;
    Team *known = g_hash_table_lookup(call->cuda->teams, identity);
    if (known) {
        if (known->refs == 0)
            holder_enter(known);
        team_ref(known);
        *team = known;
        return CUDA_SUCCESS;
    }
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (own < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    *team = team_around(call, own, identity);
    if (!*team)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*team)->imported = TRUE;
    if (!team_is_sound(call->cuda, *team)) {
        team_end(call, *team);
        return CUDA_ERROR_INVALID_VALUE;
    }
    holder_enter(*team);
    if (!engine_object(call, *team))
        return CUDA_ERROR_OUT_OF_MEMORY;
    team_sync(call, *team);
    return CUDA_SUCCESS;
}

void team_name(Call *call, Team *team, guint64 handle)
{
    EngineRequest request = {.op = ENGINE_OBJECT_HANDLE, .object = team->object, .value = handle};

    if (team->handle != 0)
        return;
    team->handle = handle;
    cuda_engine(call, &request, NULL);
}

void team_ref(Team *team) { team->refs++; }

gboolean team_held_elsewhere(Team *team)
{
    TeamPage *page = team->page;
    gboolean held = FALSE;

    team_lock(team);
    for (guint32 i = 0; i < holders(team) && !held; i++)
        held = page->holder[i] != getpid() && shared_file_holder_lives(page->holder[i]);
    team_unlock(team);
    return held;
}

static void leave(Team *team)
{
    TeamPage *page = team->page;

    team_lock(team);
    guint32 n = holders(team), kept = 0;
    for (guint32 i = 0; i < n; i++)
        if (page->holder[i] != getpid())
            page->holder[kept++] = page->holder[i];
    page->n_holders = kept;
    team_unlock(team);
}

static gboolean binds_are_ours(Team *team)
{
    gboolean ours = FALSE;

    team_lock(team);
    for (guint32 i = 0; i < team_binds(team) && !ours; i++)
        ours = team->page->bind[i].pid == getpid();
    team_unlock(team);
    return ours;
}

void team_sweep(Call *call)
{
    GHashTableIter iter;
    gpointer value;
    gboolean again;

    do {
        again = FALSE;
        g_hash_table_iter_init(&iter, call->cuda->teams);
        while (!again && g_hash_table_iter_next(&iter, NULL, &value)) {
            Team *team = value;
            if (team->refs == 0 && !team_held_elsewhere(team)) {
                team_end(call, team);
                again = TRUE;
            }
        }
    } while (again);
}

void team_unref(Call *call, Team *team)
{
    g_assert(team->refs > 0);
    if (--team->refs == 0) {
        leave(team); /* kept for others or not: two that wait for each other would both stay */
        if (!(binds_are_ours(team) && team_held_elsewhere(team)))
            team_end(call, team);
    }
    team_sweep(call);
}
