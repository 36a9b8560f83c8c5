/* The engine's mirror of a team: members and binds of all processes; and what freed memory leaves
 * behind. See team.h. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "api/cuda/multicast/team.h"

/* The memory of a bind: ours by identity, another process's through its descriptor. */
static Phys *bind_memory(Call *call, const TeamBind *bind)
{
    Phys *phys = g_hash_table_lookup(call->cuda->phys, bind->identity);

    if (phys != NULL) {
        phys_ref(phys);
        return phys;
    }
    g_autofree char *path = g_strdup_printf("/proc/%d/fd/%d", bind->pid, bind->fd);
    int fd = cuda_own_fd(open(path, O_RDWR | O_CLOEXEC));
    guint64 identity[2], bytes;
    if (fd >= 0 && identity_of_fd(fd, identity, &bytes) &&
        identity_equal(identity, bind->identity) && phys_import(call, fd, &phys) == CUDA_SUCCESS) {
        close(fd);
        return phys;
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

static void mirror_add(Call *call, Team *team, const TeamBind *bind)
{
    EngineRequest request = {.op = ENGINE_OBJECT_BIND,
                             .object = team->object,
                             .gpu = bind->gpu,
                             .address = bind->offset,
                             .bytes = bind->bytes,
                             .offset = bind->memory_offset};
    Phys *phys = bind_memory(call, bind);
    TeamMirror mirror = {bind->serial, (guint16)bind->gpu, bind->offset, bind->bytes, phys};

    if (phys == NULL) {
        cuda_diagnose(call, team->handle, cuda_ordinal_of_gpu(call->cuda, (guint16)bind->gpu), 0,
                      "memory that process %d bound cannot be reached", bind->pid);
        return;
    }
    request.region = phys->region;
    cuda_engine(call, &request, NULL);
    g_array_append_val(team->mirror, mirror);
}

static gboolean page_has_serial(const TeamBind *binds, guint32 n, guint32 serial)
{
    for (guint32 i = 0; i < n; i++)
        if (binds[i].serial == serial)
            return TRUE;
    return FALSE;
}

static gboolean mirror_has_serial(const Team *team, guint32 serial)
{
    for (guint i = 0; i < team->mirror->len; i++)
        if (g_array_index(team->mirror, TeamMirror, i).serial == serial)
            return TRUE;
    return FALSE;
}

static void mirror_binds(Call *call, Team *team, const TeamBind *binds, guint32 n)
{
    for (guint i = 0; i < team->mirror->len; i++) {
        TeamMirror *m = &g_array_index(team->mirror, TeamMirror, i);
        if (page_has_serial(binds, n, m->serial))
            continue;
        EngineRequest request = {.op = ENGINE_OBJECT_UNBIND,
                                 .object = team->object,
                                 .gpu = m->gpu,
                                 .address = m->offset,
                                 .bytes = m->bytes};
        cuda_engine(call, &request, NULL);
        phys_unref(call, m->phys);
        g_array_remove_index(team->mirror, i--);
    }
    for (guint32 i = 0; i < n; i++)
        if (!mirror_has_serial(team, binds[i].serial))
            mirror_add(call, team, &binds[i]);
}

void team_sync(Call *call, Team *team)
{
    TeamPage *page = team->page;
    guint16 member[TEAM_MEMBERS_MAX];

    if (g_atomic_int_get(&page->sequence) == team->seen)
        return;
    team_lock(team);
    guint32 n_members = page->n_members;
    guint32 n_binds = page->n_binds;
    memcpy(member, page->member, sizeof member);
    g_autofree TeamBind *binds = g_memdup2(page->bind, n_binds * sizeof *binds);
    team->seen = g_atomic_int_get(&page->sequence);
    team_unlock(team);
    for (guint32 i = team->members_seen; i < n_members; i++) {
        EngineRequest request = {
            .op = ENGINE_OBJECT_MEMBER, .object = team->object, .gpu = member[i]};
        cuda_engine(call, &request, NULL);
    }
    team->members_seen = n_members;
    mirror_binds(call, team, binds, n_binds);
}

static void detach_from(Call *call, Team *team, const Phys *phys)
{
    TeamPage *page = team->page;

    team_lock(team);
    for (guint32 i = 0; i < page->n_binds; i++) {
        const TeamBind *b = &page->bind[i];
        if (!identity_equal(b->identity, phys->identity))
            continue;
        cuda_diagnose(call, team->handle, cuda_ordinal_of_gpu(call->cuda, (guint16)b->gpu), 0,
                      "bound memory was freed: [0x%" G_GINT64_MODIFIER "x, +0x%" G_GINT64_MODIFIER
                      "x) of the object is unbound now",
                      b->offset, b->bytes);
        page->bind[i--] = page->bind[--page->n_binds];
        team_changed(team);
    }
    team_unlock(team);
    team_sync(call, team);
}

void team_detach(Call *call, const Phys *phys)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, call->cuda->teams);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        detach_from(call, value, phys);
}

void team_sync_all(Call *call)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, call->cuda->teams);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        team_sync(call, value);
}

gboolean team_others_live(void *data)
{
    Cuda *cuda = data;
    GHashTableIter iter;
    gpointer value;
    gboolean live = FALSE;

    if (pthread_mutex_trylock(&cuda->lock) != 0)
        return TRUE;
    g_hash_table_iter_init(&iter, cuda->teams);
    while (!live && g_hash_table_iter_next(&iter, NULL, &value))
        live = team_held_elsewhere(value);
    g_hash_table_iter_init(&iter, cuda->phys);
    while (!live && g_hash_table_iter_next(&iter, NULL, &value))
        live = phys_held_elsewhere(value);
    pthread_mutex_unlock(&cuda->lock);
    return live;
}
