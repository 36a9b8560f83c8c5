/* See team.h: life of the shared page and of this process's view. */
#include "api/cuda/multicast/team.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

GHashTable *team_table_new(void)
{
    return g_hash_table_new(identity_hash, identity_equal);
}

void team_lock(Team *team)
{
    int rc = pthread_mutex_lock(&team->page->lock);

    if (rc == EOWNERDEAD) /* every change is complete or harmless at any point */
        pthread_mutex_consistent(&team->page->lock);
    else
        g_assert(rc == 0);
}

void team_unlock(Team *team)
{
    pthread_mutex_unlock(&team->page->lock);
}

void team_changed(Team *team)
{
    g_atomic_int_inc(&team->page->sequence);
    syscall(SYS_futex, &team->page->sequence, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

gboolean team_has(const Team *team, guint16 gpu)
{
    for (guint32 i = 0; i < team->page->n_members; i++)
        if (team->page->member[i] == gpu)
            return TRUE;
    return FALSE;
}

void team_shared_lock_init(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(lock, &attr);
    pthread_mutexattr_destroy(&attr);
}

static void page_init(TeamPage *page, const CUmulticastObjectProp *prop)
{
    page->bytes = prop->size;
    page->handle_types = prop->handleTypes;
    page->n_devices = prop->numDevices;
    page->creator_pid = getpid();
    team_shared_lock_init(&page->lock);
    page->magic = TEAM_MAGIC;
}

/* Enters this process among the holders; those that died are dropped. */
static void holder_enter(Team *team)
{
    TeamPage *page = team->page;
    guint32 n = 0;

    team_lock(team);
    for (guint32 i = 0; i < page->n_holders; i++)
        if (page->holder[i] != getpid() && kill(page->holder[i], 0) == 0)
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
    team->page = page;
    team->fd = fd;
    team->refs = 1;
    team->identity[0] = identity[0];
    team->identity[1] = identity[1];
    team->mirror = g_array_new(FALSE, FALSE, sizeof(TeamMirror));
    team->seen = -1;
    g_hash_table_insert(call->cuda->teams, team->identity, team);
    return team;
}

static gboolean engine_object(Call *call, Team *team)
{
    EngineRequest request = {
        .op = ENGINE_OBJECT_NEW, .bytes = team->page->bytes, .value = team->page->n_devices};
    EngineReply reply;

    if (!cuda_engine(call, &request, &reply))
        return FALSE;
    team->object = (guint32)reply.value;
    return TRUE;
}

CUresult team_new(Call *call, const CUmulticastObjectProp *prop, Team **team)
{
    guint64 identity[2], bytes;
    int fd = cuda_own_fd(memfd_create("fanout-multicast", MFD_CLOEXEC));

    if (fd < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (ftruncate(fd, sizeof(TeamPage)) != 0 || !identity_of_fd(fd, identity, &bytes)) {
        close(fd);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *team = team_around(call, fd, identity);
    if (*team == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    page_init((*team)->page, prop);
    holder_enter(*team);
    return engine_object(call, *team) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

gboolean team_is_fd(int fd)
{
    guint64 identity[2], bytes, magic = 0;

    return identity_of_fd(fd, identity, &bytes) && bytes == sizeof(TeamPage) &&
           pread(fd, &magic, sizeof magic, 0) == sizeof magic && magic == TEAM_MAGIC;
}

CUresult team_import(Call *call, int fd, Team **team)
{
    guint64 identity[2], bytes;

    if (!team_is_fd(fd) || !identity_of_fd(fd, identity, &bytes))
        return CUDA_ERROR_INVALID_VALUE;
    Team *known = g_hash_table_lookup(call->cuda->teams, identity);
    if (known != NULL) {
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
    if (*team == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*team)->imported = TRUE;
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

void team_ref(Team *team)
{
    team->refs++;
}

gboolean team_held_elsewhere(Team *team)
{
    TeamPage *page = team->page;
    gboolean held = FALSE;

    team_lock(team);
    for (guint32 i = 0; i < page->n_holders && !held; i++)
        held = page->holder[i] != getpid() && kill(page->holder[i], 0) == 0;
    team_unlock(team);
    return held;
}

static void leave(Team *team)
{
    TeamPage *page = team->page;

    team_lock(team);
    for (guint32 i = 0; i < page->n_holders; i++)
        if (page->holder[i] == getpid())
            page->holder[i--] = page->holder[--page->n_holders];
    team_unlock(team);
}

static gboolean binds_are_ours(Team *team)
{
    gboolean ours = FALSE;

    team_lock(team);
    for (guint32 i = 0; i < team->page->n_binds && !ours; i++)
        ours = team->page->bind[i].pid == getpid();
    team_unlock(team);
    return ours;
}

static void team_end(Call *call, Team *team)
{
    EngineRequest request = {.op = ENGINE_OBJECT_FREE, .object = team->object};

    team_give_slot_back(call, team);
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
