/* See phys.h. */
#include "api/cuda/memory/phys.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/cuda/context/part.h"
#include "model/memory/memory.h"

guint identity_hash(gconstpointer identity) { return sealed_identity_hash(identity, 2); }

gboolean identity_equal(gconstpointer a, gconstpointer b)
{
    const guint64 *x = a, *y = b;
    return x[0] == y[0] && x[1] == y[1];
}

GHashTable *phys_table_new(void) { return g_hash_table_new(identity_hash, identity_equal); }

gboolean phys_is_device(const Phys *phys) { return phys->page.location_type == CU_MEM_LOCATION_TYPE_DEVICE; }

static CudaDevice *device_of(Cuda *cuda, const PhysPage *page)
{
    return page->location_type == CU_MEM_LOCATION_TYPE_DEVICE
               ? cuda_device(cuda, cuda_ordinal_of_gpu(cuda, (guint16)page->location_id))
               : NULL;
}

/* charge: bytes that are taken from the device's memory for it, 0: another process did */
static gboolean region_make(Call *call, Phys *phys, guint64 charge)
{
    EngineRequest request = {
        .op = ENGINE_REGION_NEW,
        .fd = phys->fd,
        .bytes = phys->page.bytes,
        .gpu = phys_is_device(phys) ? (guint32)phys->page.location_id : MEMORY_HOST,
        .value = charge,
        .argument = (guint64)(guintptr)&phys->shared->lock,
    };
    EngineReply reply;

    if (!cuda_engine(call, &request, &reply))
        return FALSE;
    phys->region = (guint32)reply.value;
    return TRUE;
}

static Phys *phys_around(Call *call, const PhysPage *page, int fd, const guint64 identity[2], guint64 charge)
{
    PhysShared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)page->bytes);
    if (shared == MAP_FAILED) {
        close(fd);
        return NULL;
    }
    Phys *phys = g_new0(Phys, 1);
    phys->shared = shared;
    phys->page = *page;
    phys->fd = fd;
    phys->refs = 1;
    phys->identity[0] = identity[0];
    phys->identity[1] = identity[1];
    if (!region_make(call, phys, charge)) {
        munmap(shared, sizeof *shared);
        close(fd);
        g_free(phys);
        return NULL;
    }
    g_hash_table_insert(call->cuda->phys, phys->identity, phys);
    return phys;
}

CUresult phys_new(Call *call, const PhysPage *page, Phys **phys)
{
    CudaDevice *device = device_of(call->cuda, page);
    guint64 identity[2], bytes;
    PhysPage own = *page;

    own.magic = PHYS_MAGIC;
    own.tray = call->cuda->tray;
    if (device && page->bytes > device->total_bytes - MIN(cuda_device_used(call->cuda, device), device->total_bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    int fd = sealed_new("fanout-memory", page->bytes + SHARE_PAGE_BYTES);
    if (fd < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (pwrite(fd, &own, sizeof own, (off_t)page->bytes) != sizeof own || !sealed_identity(fd, identity, &bytes)) {
        close(fd);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *phys = phys_around(call, &own, fd, identity, device ? page->bytes : 0);
    if (!*phys)
        return CUDA_ERROR_OUT_OF_MEMORY;
    robust_lock_init(&(*phys)->shared->lock);
    if (device) {
        device->used_bytes += page->bytes;
        (*phys)->charged = page->bytes;
    }
    return CUDA_SUCCESS;
}

/* A page that a library like this one wrote: of a place that this system has, and of the file's size. */
static gboolean page_is_sound(const Cuda *cuda, const PhysPage *page, guint64 file_bytes)
{
    guint32 types = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC;
    guint64 places = page->location_type == CU_MEM_LOCATION_TYPE_DEVICE      ? cuda->fabric.system.gpus
                     : page->location_type == CU_MEM_LOCATION_TYPE_HOST_NUMA ? CUDA_NUMA_NODES
                                                                             : 0;

    return page->magic == PHYS_MAGIC && page->bytes == file_bytes - SHARE_PAGE_BYTES && page->bytes != 0 &&
           page->bytes % PHYS_GRAIN_BYTES == 0 && page->location_id >= 0 && (guint64)page->location_id < places &&
           (page->handle_types & ~types) == 0;
}

CUresult phys_import(Call *call, int fd, Phys **phys)
{
    guint64 identity[2], bytes;
    PhysPage page;

    if (!sealed_identity(fd, identity, &bytes) || bytes < SHARE_PAGE_BYTES || !sealed_is_sound(fd))
        return CUDA_ERROR_INVALID_VALUE;
    Phys *known = g_hash_table_lookup(call->cuda->phys, identity);
    if (known) {
        phys_ref(known);
        *phys = known;
        return CUDA_SUCCESS;
    }
    if (pread(fd, &page, sizeof page, (off_t)(bytes - SHARE_PAGE_BYTES)) != sizeof page ||
        !page_is_sound(call->cuda, &page, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (own < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    *phys = phys_around(call, &page, own, identity, 0);
    if (!*phys)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!robust_lock_sound(&(*phys)->shared->lock)) {
        phys_unref(call, *phys);
        return CUDA_ERROR_INVALID_VALUE;
    }
    (*phys)->imported = TRUE;
    return CUDA_SUCCESS;
}

void phys_ref(Phys *phys) { phys->refs++; }

void phys_unref(Call *call, Phys *phys)
{
    EngineRequest request = {.op = ENGINE_REGION_FREE, .region = phys->region};
    CudaDevice *device = device_of(call->cuda, &phys->page);

    g_assert(phys->refs > 0);
    if (--phys->refs > 0)
        return;
    if (device)
        device->used_bytes -= phys->charged;
    cuda_engine(call, &request, NULL);
    g_hash_table_remove(call->cuda->phys, phys->identity);
    munmap(phys->shared, sizeof *phys->shared);
    close(phys->fd);
    g_free(phys);
}

G_STATIC_ASSERT(sizeof(PhysShared) <= SHARE_PAGE_BYTES);

static void replace_holder(PhysShared *shared, gint old, gint new)
{
    for (guint i = 0; i < PHYS_HOLDERS_MAX; i++)
        if (g_atomic_int_compare_and_exchange(&shared->holder[i], old, new))
            return;
}

gboolean phys_held_elsewhere(const Phys *phys)
{
    for (guint i = 0; i < PHYS_HOLDERS_MAX; i++) {
        gint pid = g_atomic_int_get(&phys->shared->holder[i]);
        if (pid != getpid() && shared_file_holder_lives(pid))
            return TRUE;
    }
    return FALSE;
}

void phys_use(Phys *phys, gboolean mapping)
{
    if (phys->uses++ == 0)
        replace_holder(phys->shared, 0, getpid());
    if (mapping)
        g_atomic_int_set(&phys->shared->mapped, 1);
}

/* Memory that was bound and released without ever being mapped is the binding's: it stays. */
void phys_unuse(Call *call, Phys *phys)
{
    g_assert(phys->uses > 0);
    if (--phys->uses > 0)
        return;
    replace_holder(phys->shared, getpid(), 0);
    if (g_atomic_int_get(&phys->shared->mapped) && !phys_held_elsewhere(phys) &&
        call->cuda->spec.freed_bind == CUDA_FREED_BIND_DETACH)
        cuda_parts_memory_freed(call, phys);
}
