/* What several processes have in common: memory and multicast objects, each one thing in the model. See server.h.
 *
 * The memfd behind memory or a team's page is its identity. The first process that shows it makes it in the engine;
 * each further one gets a number of its own for the same thing. */
#include "machine/wire/server_parts.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "machine/wire/cut.h"
#include "machine/wire/sealed.h"
#include "model/memory/memory.h"

#define BINDS_MAX (1u << 20)        /* of one object, in its life */
#define PART_MAX ((guint64)1 << 42) /* bytes of one registration */
#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

/* A file that no process can make shorter under the owner's mapping, and what it is. */
static gboolean file_is_sound(int fd, SharedIdentity *identity, guint64 *bytes)
{
    guint64 file[2];

    if (!sealed_is_sound(fd) || !sealed_identity(fd, file, bytes))
        return FALSE;
    *identity = (SharedIdentity){file[0], file[1], 0, 0};
    return TRUE;
}

/* A file of memory that a client has made or imported: all of it, of a GPU or the host. */
static gboolean file_has_memory(const ServerSpec *spec, int fd, const EngineRequest *r, SharedIdentity *identity)
{
    guint64 bytes;

    return file_is_sound(fd, identity, &bytes) && r->offset == 0 && r->bytes != 0 && r->bytes <= bytes &&
           (r->gpu < spec->gpus || r->gpu == MEMORY_HOST) &&
           r->bytes <= (r->gpu == MEMORY_HOST ? PART_MAX : spec->memory_bytes);
}

/* A file that a client has registered a part of. Others may make it shorter: cut.h. Of a file system that answers by
 * itself: reading a page must not wait for a server. */
static gboolean file_has_part(int fd, const EngineRequest *r, SharedIdentity *identity)
{
    const guint64 page = (guint64)sysconf(_SC_PAGESIZE);
    struct stat st;
    struct statfs system;
    int mode = fcntl(fd, F_GETFL);

    if (fd < 0 || fstat(fd, &st) != 0 || fstatfs(fd, &system) != 0 || !S_ISREG(st.st_mode) || mode < 0 ||
        (mode & O_ACCMODE) != O_RDWR || r->gpu != MEMORY_HOST || r->value != 0 || r->bytes == 0 ||
        r->bytes > PART_MAX || r->bytes % page != 0 || r->offset % page != 0 || st.st_size < 0 ||
        r->offset > (guint64)st.st_size || r->bytes > ((guint64)st.st_size + page - 1) / page * page - r->offset)
        return FALSE;
    switch ((guint32)system.f_type) {
    case TMPFS_MAGIC:
    case RAMFS_MAGIC:
    case HUGETLBFS_MAGIC:
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case OVERLAYFS_SUPER_MAGIC: break;
    default: return FALSE;
    }
    *identity = (SharedIdentity){st.st_dev, st.st_ino, r->offset, r->bytes};
    return TRUE;
}

guint shared_identity_hash(gconstpointer identity)
{
    const SharedIdentity *id = identity;
    const guint64 words[] = {id->device, id->inode, id->offset, id->part};

    return sealed_identity_hash(words, G_N_ELEMENTS(words));
}

gboolean shared_identity_equal(gconstpointer a, gconstpointer b)
{
    const SharedIdentity *x = a, *y = b;
    return x->device == y->device && x->inode == y->inode && x->offset == y->offset && x->part == y->part;
}

SharedRegion *shared_region(const ServerClient *client, guint32 number)
{
    return server_number_find(client->regions, number);
}
SharedObject *shared_object(const ServerClient *client, guint32 number)
{
    return server_number_find(client->objects, number);
}

/* ---- memory */

static gboolean is_gone(void *engine, guint32 region) { return !engine_region_bytes(engine, region); }

/* Files of registered memory that have become shorter. */
void shared_tell_lost(Server *server)
{
    guint32 region;

    while ((region = cut_take()) != 0)
        log_line(server->spec.log, LOG_CUDA, LOG_ERROR, engine_seen_ps(server->engine),
                 "a file that processes have registered as memory (region %u) was made shorter meanwhile: what was "
                 "there reads as zeros from now on, and writes to it are lost",
                 region);
}

EngineStatus shared_region_new(ServerClient *client, EngineCall *call, int fd)
{
    Server *server = client->server;
    EngineRequest *r = &call->request;
    SharedIdentity identity;

    gboolean part = r->source != 0; /* the client's own address of it, which means nothing here */
    r->source = 0;
    if (part ? !file_has_part(fd, r, &identity) : !file_has_memory(&server->spec, fd, r, &identity))
        return ENGINE_INVALID;
    SharedRegion *region = g_hash_table_lookup(server->regions, &identity);
    if (region) {
        if (region->bytes != r->bytes || region->gpu != r->gpu)
            return ENGINE_INVALID;
        region->refs++;
        call->reply.value = server_number_add(client->regions, client->free[SERVER_REGIONS], region);
        return ENGINE_OK;
    }
    guint64 *used = r->gpu != MEMORY_HOST ? &server->page->used_bytes[r->gpu] : NULL;
    if (used && r->value == 0)
        used = NULL;
    if (used && r->bytes > server->spec.memory_bytes - MIN(*used, server->spec.memory_bytes))
        return ENGINE_NO_MEMORY;
    r->fd = fd;
    r->argument = 0; /* one engine needs no lock against others */
    r->width = arena_of(client, r->gpu);
    if (!engine_take(server->engine, call))
        return ENGINE_INVALID;
    if (call->reply.status != ENGINE_OK)
        return (EngineStatus)call->reply.status;
    region = g_new0(SharedRegion, 1);
    *region = (SharedRegion){identity, (guint32)call->reply.value, 1, (guint16)r->gpu, r->bytes, 0, client->number};
    if (used) {
        region->charged = r->bytes;
        __atomic_add_fetch(used, r->bytes, __ATOMIC_RELAXED);
    }
    if (part)
        cut_sweep(is_gone, server->engine);
    if (part)
        cut_watch(engine_region_bytes(server->engine, region->region), r->bytes, region->region);
    g_hash_table_insert(server->regions, &region->identity, region);
    call->reply.value = server_number_add(client->regions, client->free[SERVER_REGIONS], region);
    return ENGINE_OK;
}

void shared_region_leave(ServerClient *client, SharedRegion *region)
{
    Server *server = client->server;

    if (region->maker == client->number) { /* what others still hold is not counted: they do not know that they do */
        region->maker = 0;
        if (region->charged)
            __atomic_sub_fetch(&server->page->used_bytes[region->gpu], region->charged, __ATOMIC_RELAXED);
    }
    shared_region_unref(server, region);
}

void shared_region_unref(Server *server, SharedRegion *region)
{
    EngineCall call = {.request = {.op = ENGINE_REGION_FREE, .region = region->region}};

    if (--region->refs > 0)
        return;
    engine_take(server->engine, &call);
    g_hash_table_remove(server->regions, &region->identity);
    g_free(region);
}

/* ---- multicast objects */

EngineStatus shared_object_new(ServerClient *client, EngineCall *call, int fd)
{
    Server *server = client->server;
    EngineRequest *r = &call->request;
    SharedIdentity identity;
    guint64 bytes;

    if (!file_is_sound(fd, &identity, &bytes) || r->bytes == 0 || r->bytes > (guint64)1 << 48 || r->value == 0 ||
        r->value > server->spec.gpus || r->access >= ENGINE_OBJECT_KINDS)
        return ENGINE_INVALID;
    SharedObject *object = g_hash_table_lookup(server->objects, &identity);
    if (object) {
        if (object->bytes != r->bytes || object->team != r->value || object->kind != r->access)
            return ENGINE_INVALID;
        object->refs++;
        call->reply.value = server_number_add(client->objects, client->free[SERVER_OBJECTS], object);
        return ENGINE_OK;
    }
    if (!engine_take(server->engine, call) || call->reply.status != ENGINE_OK)
        return ENGINE_INVALID;
    object = g_new0(SharedObject, 1);
    *object = (SharedObject){.identity = identity,
                             .object = (guint32)call->reply.value,
                             .refs = 1,
                             .team = (guint32)r->value,
                             .kind = r->access,
                             .bytes = r->bytes};
    object->members = g_array_new(FALSE, FALSE, sizeof(guint16));
    object->binds = g_array_new(FALSE, FALSE, sizeof(SharedBind));
    object->waiting = g_ptr_array_new();
    g_hash_table_insert(server->objects, &object->identity, object);
    call->reply.value = server_number_add(client->objects, client->free[SERVER_OBJECTS], object);
    return ENGINE_OK;
}

void shared_object_unref(Server *server, SharedObject *object)
{
    EngineCall call = {.request = {.op = ENGINE_OBJECT_FREE, .object = object->object}};

    if (--object->refs > 0)
        return;
    while (object->waiting->len > 0)
        engine_answer_now(server->engine, g_ptr_array_steal_index(object->waiting, 0), ENGINE_INVALID);
    engine_take(server->engine, &call);
    for (guint i = 0; i < object->binds->len; i++) {
        const SharedBind *bind = &g_array_index(object->binds, SharedBind, i);
        if (!bind->retired)
            shared_region_unref(server, bind->region);
    }
    g_hash_table_remove(server->objects, &object->identity);
    g_array_unref(object->members);
    g_array_unref(object->binds);
    g_ptr_array_unref(object->waiting);
    g_free(object);
}

static gint compare_gpus(gconstpointer a, gconstpointer b) { return *(const guint16 *)a - *(const guint16 *)b; }

/* Processes add their GPUs in the order in which the host lets them run: members are told to the engine by number. */
void shared_object_order(Server *server, SharedObject *object)
{
    if (object->ready)
        return;
    object->ready = TRUE;
    g_array_sort(object->members, compare_gpus);
    for (guint i = 0; i < object->members->len; i++) {
        EngineCall call = {.request = {.op = ENGINE_OBJECT_MEMBER,
                                       .object = object->object,
                                       .gpu = g_array_index(object->members, guint16, i)}};
        engine_take(server->engine, &call);
    }
}

static gboolean has_member(const SharedObject *object, guint32 gpu)
{
    for (guint i = 0; i < object->members->len; i++)
        if (g_array_index(object->members, guint16, i) == gpu)
            return TRUE;
    return FALSE;
}

EngineStatus shared_object_member(Server *server, SharedObject *object, EngineCall *call)
{
    guint16 gpu = (guint16)call->request.gpu;

    if (call->request.gpu >= server->spec.gpus)
        return ENGINE_INVALID;
    if (has_member(object, gpu))
        return ENGINE_OK;
    if (object->members->len >= object->team)
        return ENGINE_INVALID;
    g_array_append_val(object->members, gpu);
    return ENGINE_OK;
}

static SharedBind *bind_find(const SharedObject *object, guint32 serial)
{
    for (guint i = 0; i < object->binds->len; i++) {
        SharedBind *bind = &g_array_index(object->binds, SharedBind, i);
        if (bind->serial == serial)
            return bind;
    }
    return NULL;
}

static gboolean fits(guint64 offset, guint64 bytes, guint64 room) { return bytes <= room && offset <= room - bytes; }

EngineStatus shared_object_bind(ServerClient *client, SharedObject *object, EngineCall *call)
{
    EngineRequest *r = &call->request;
    SharedRegion *region = shared_region(client, r->region);
    guint32 serial = (guint32)r->value;

    if (bind_find(object, serial)) /* made already by another process of the team, or taken back since */
        return ENGINE_OK;
    if (!region || object->binds->len >= BINDS_MAX || !has_member(object, r->gpu) || r->bytes == 0 ||
        (r->bytes | r->address | r->offset) % WIRE_LINE != 0 || !fits(r->address, r->bytes, object->bytes) ||
        !fits(r->offset, r->bytes, region->bytes))
        return ENGINE_INVALID;
    r->object = object->object;
    r->region = region->region;
    if (!engine_take(client->server->engine, call) || call->reply.status != ENGINE_OK)
        return ENGINE_INVALID;
    SharedBind bind = {serial, FALSE, (guint16)r->gpu, r->address, r->bytes, region};
    region->refs++;
    g_array_append_val(object->binds, bind);
    return ENGINE_OK;
}

EngineStatus shared_object_unbind(Server *server, SharedObject *object, EngineCall *call)
{
    guint32 serial = (guint32)call->request.value;
    SharedBind *bind = bind_find(object, serial);

    if (!bind && object->binds->len >= BINDS_MAX)
        return ENGINE_NO_MEMORY;
    if (!bind) { /* of a process that was ahead of the one that made it: it is not to be made any more */
        SharedBind retired = {.serial = serial, .retired = TRUE};
        g_array_append_val(object->binds, retired);
        return ENGINE_OK;
    }
    if (bind->retired)
        return ENGINE_OK;
    bind->retired = TRUE;
    call->request = (EngineRequest){.op = ENGINE_OBJECT_UNBIND,
                                    .object = object->object,
                                    .gpu = bind->gpu,
                                    .address = bind->offset,
                                    .bytes = bind->bytes};
    engine_take(server->engine, call);
    shared_region_unref(server, bind->region);
    return ENGINE_OK;
}

/* The team's page has changed: those that wait for that look again. */
void shared_object_changed(Server *server, SharedObject *object, guint32 sequence)
{
    object->changes = sequence;
    while (object->waiting->len > 0) {
        EngineCall *call = g_ptr_array_steal_index(object->waiting, 0);
        engine_answer_now(server->engine, call, ENGINE_OK);
    }
}

/* By whatever came: a change that it waited for, that nothing can come any more, or the connection's end. */
void shared_object_left(ServerConnection *connection)
{
    if (connection->object)
        g_ptr_array_remove(connection->object->waiting, &connection->call);
    connection->object = NULL;
}

/* ---- events */

/* The page in which processes count an event's records, mapped; NULL: there is none, or it is no such page. */
EventPage *shared_event_page(int fd)
{
    SharedIdentity identity;
    guint64 bytes;

    if (!file_is_sound(fd, &identity, &bytes) || bytes != sizeof(EventPage))
        return NULL;
    void *page = mmap(NULL, sizeof(EventPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return page == MAP_FAILED ? NULL : page;
}
