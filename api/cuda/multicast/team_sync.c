/* The engine's mirror of a team: members and binds of all processes; and what freed memory leaves
 * behind. See team.h. */
#include <string.h>
#include <unistd.h>

#include "api/cuda/context/ctx.h"
#include "api/cuda/memory/mem.h"
#include "api/cuda/memory/vmm.h"
#include "api/cuda/memory/host_maps.h"
#include "api/cuda/multicast/team.h"

/* The memory of a bind: ours by identity, another process's through its descriptor. */
static Phys *bind_memory(Call *call, const TeamBind *bind)
{
    Phys *phys = g_hash_table_lookup(call->cuda->phys, bind->identity);

    if (phys) {
        phys_ref(phys);
        return phys;
    }
    int fd = shared_file_open(bind->pid, bind->fd, bind->identity);
    if (fd < 0)
        return NULL;
    CUresult result = phys_import(call, fd, &phys);
    close(fd);
    return result == CUDA_SUCCESS ? phys : NULL;
}

/* A bind that cuMulticastBindMem would have made: of a member, within the object. */
static gboolean bind_is_sound(const Team *team, const TeamBind *bind)
{
    gboolean member = FALSE;

    for (guint32 i = 0; i < team->members_seen && !member; i++)
        member = team->member[i] == bind->gpu;
    return member && bind->bytes != 0 && fits(bind->offset, bind->bytes, team->bytes);
}

/* The page's members that this system has, each once, in their order. */
static void mirror_members(Call *call, Team *team, const guint16 *member, guint32 n)
{
    for (guint32 i = 0; i < n && team->members_seen < team->n_devices; i++) {
        EngineRequest request = {.op = ENGINE_OBJECT_MEMBER, .object = team->object, .gpu = member[i]};
        gboolean known = member[i] >= call->cuda->fabric.system.gpus;
        for (guint32 k = 0; k < team->members_seen && !known; k++)
            known = team->member[k] == member[i];
        if (known)
            continue;
        cuda_engine(call, &request, NULL);
        team->member[team->members_seen++] = member[i];
    }
}

static void mirror_add(Call *call, Team *team, const TeamBind *bind)
{
    EngineRequest request = {.op = ENGINE_OBJECT_BIND,
                             .object = team->object,
                             .gpu = bind->gpu,
                             .address = bind->offset,
                             .bytes = bind->bytes,
                             .offset = bind->memory_offset,
                             .value = bind->serial};
    Phys *phys = bind_is_sound(team, bind) ? bind_memory(call, bind) : NULL;
    TeamMirror mirror = {bind->serial, (guint16)bind->gpu, bind->offset, bind->bytes, phys};

    if (phys && !fits(bind->memory_offset, bind->bytes, phys->page.bytes)) {
        phys_unref(call, phys);
        phys = NULL;
    }
    if (!phys) {
        cuda_diagnose(call, team->handle, cuda_ordinal_of_gpu(call->cuda, (guint16)bind->gpu), 0,
                      "memory that process %d bound cannot be reached", bind->pid);
        return;
    }
    request.region = phys->region;
    if (cuda_engine(call, &request, NULL)) {
        g_array_append_val(team->mirror, mirror);
        return;
    }
    cuda_diagnose(call, team->handle, cuda_ordinal_of_gpu(call->cuda, (guint16)bind->gpu), 0,
                  "the fabric refused the bind of process %d at offset 0x%" G_GINT64_MODIFIER "x: the object holds "
                  "another one there, or has had too many",
                  bind->pid, bind->offset);
    phys_unref(call, phys);
}

static gboolean page_has_serial(const TeamBind *binds, guint32 n, guint32 serial)
{
    for (guint32 i = 0; i < n; i++)
        if (binds[i].serial == serial)
            return TRUE;
    return FALSE;
}

gboolean team_mirrors(const Team *team, guint32 serial)
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
                                 .bytes = m->bytes,
                                 .value = m->serial};
        EngineReply reply = {0};
        cuda_engine(call, &request, &reply);
        if (reply.value)
            cuda_diagnose(call, team->handle, cuda_ordinal_of_gpu(call->cuda, m->gpu), 0,
                          "endpoint %" G_GUINT64_FORMAT " is unbound at 0x%" G_GINT64_MODIFIER
                          "x while %" G_GUINT64_FORMAT
                          " operations of kernels are under way there: what does not arrive "
                          "is reported at their mbarriers",
                          team->handle, m->offset, reply.value);
        phys_unref(call, m->phys);
        g_array_remove_index(team->mirror, i--);
    }
    for (guint32 i = 0; i < n; i++)
        if (!team_mirrors(team, binds[i].serial))
            mirror_add(call, team, &binds[i]);
}

void team_sync(Call *call, Team *team)
{
    TeamPage *page = team->page;
    guint16 member[TEAM_MEMBERS_MAX];

    if (g_atomic_int_get(&page->sequence) == team->seen)
        return;
    team_lock(team);
    guint32 n_members = team_members(team), n_binds = team_binds(team);
    memcpy(member, page->member, sizeof member);
    g_autofree TeamBind *binds = g_memdup2(page->bind, n_binds * sizeof *binds);
    team->seen = g_atomic_int_get(&page->sequence);
    team_unlock(team);
    mirror_members(call, team, member, n_members);
    mirror_binds(call, team, binds, n_binds);
}

static void detach_from(Call *call, Team *team, const Phys *phys)
{
    TeamPage *page = team->page;

    team_lock(team);
    for (guint32 i = 0; i < team_binds(team); i++) {
        const TeamBind *b = &page->bind[i];
        if (!identity_equal(b->identity, phys->identity))
            continue;
        cuda_diagnose(call, team->handle, cuda_ordinal_of_gpu(call->cuda, (guint16)b->gpu), 0,
                      "bound memory was freed: [0x%" G_GINT64_MODIFIER "x, +0x%" G_GINT64_MODIFIER
                      "x) of the object is unbound now",
                      b->offset, b->bytes);
        team_drop_bind(team, i--);
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

static void look_at_event(guint64 handle, void *object, void *live)
{
    (void)handle;
    *(gboolean *)live |= event_held_elsewhere(object);
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
    handle_visit(cuda->handles, HANDLE_EVENT, look_at_event, &live);
    live = live || host_held_elsewhere(cuda);
    pthread_mutex_unlock(&cuda->lock);
    return live;
}
