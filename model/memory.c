#include "model/memory.h"

#include <errno.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct Memory {
    Sim *sim;
    gboolean keep_bytes;
    GPtrArray *regions;  /* by id; [0] is NULL */
    GHashTable *watches; /* line key -> MemWatch list; looked up, never iterated */
    guint32 n_watches;
};

#define WATCH_LINE 128u

Memory *memory_new(Sim *sim, gboolean keep_bytes)
{
    Memory *memory = g_new0(Memory, 1);
    memory->sim = sim;
    memory->keep_bytes = keep_bytes;
    memory->regions = g_ptr_array_new();
    g_ptr_array_add(memory->regions, NULL);
    memory->watches = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    return memory;
}

static void memory_region_free(MemRegion *region)
{
    if (region->host)
        munmap(region->host, region->bytes);
    if (region->fd >= 0)
        close(region->fd);
    g_free(region);
}

void memory_free(Memory *memory)
{
    for (guint i = 1; i < memory->regions->len; i++)
        if (g_ptr_array_index(memory->regions, i))
            memory_region_free(g_ptr_array_index(memory->regions, i));
    g_ptr_array_free(memory->regions, TRUE);
    g_hash_table_destroy(memory->watches);
    g_free(memory);
}

static MemRegion *memory_region_add(Memory *memory, guint16 gpu, guint64 bytes, int fd, GError **error)
{
    guint8 *host = NULL;
    if (fd >= 0) {
        host = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
        if (host == MAP_FAILED) {
            g_set_error(error, G_IO_ERROR, g_io_error_from_errno(errno),
                        "%" G_GUINT64_FORMAT " bytes of GPU %u's memory cannot be mapped: %s", bytes,
                        gpu, g_strerror(errno));
            close(fd);
            return NULL;
        }
    }
    MemRegion *region = g_new0(MemRegion, 1);
    *region = (MemRegion){.id = memory->regions->len, .gpu = gpu, .bytes = bytes, .host = host,
                          .fd = fd, .refs = 1, .cached = TRUE};
    g_ptr_array_add(memory->regions, region);
    return region;
}

static MemRegion *memory_region_make(Memory *memory, guint16 gpu, guint64 bytes, gboolean keep,
                                     GError **error)
{
    g_assert(bytes > 0);
    int fd = -1;
    if (keep) {
        fd = memfd_create("fanout-memory", MFD_CLOEXEC);
        if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0) {
            g_set_error(error, G_IO_ERROR, g_io_error_from_errno(errno),
                        "no memory file of %" G_GUINT64_FORMAT " bytes for GPU %u: %s", bytes, gpu,
                        g_strerror(errno));
            if (fd >= 0)
                close(fd);
            return NULL;
        }
    }
    return memory_region_add(memory, gpu, bytes, fd, error);
}

MemRegion *memory_region_new(Memory *memory, guint16 gpu, guint64 bytes, GError **error)
{
    return memory_region_make(memory, gpu, bytes, memory->keep_bytes, error);
}

MemRegion *memory_control_region_new(Memory *memory, guint16 gpu, guint64 bytes, GError **error)
{
    return memory_region_make(memory, gpu, bytes, TRUE, error);
}

MemRegion *memory_region_from_fd(Memory *memory, guint16 gpu, guint64 bytes, int fd, GError **error)
{
    int own = -1;
    if (memory->keep_bytes) {
        own = dup(fd);
        if (own < 0) {
            g_set_error(error, G_IO_ERROR, g_io_error_from_errno(errno),
                        "memory file %d cannot be shared: %s", fd, g_strerror(errno));
            return NULL;
        }
    }
    return memory_region_add(memory, gpu, bytes, own, error);
}

MemRegion *memory_region(Memory *memory, guint32 id)
{
    return id < memory->regions->len ? g_ptr_array_index(memory->regions, id) : NULL;
}

void memory_region_ref(MemRegion *region)
{
    g_assert(region->refs > 0);
    region->refs++;
}

void memory_region_unref(Memory *memory, MemRegion *region)
{
    g_assert(region->refs > 0);
    if (--region->refs > 0)
        return;
    g_ptr_array_index(memory->regions, region->id) = NULL; /* ids are never used twice */
    memory_region_free(region);
}

void memory_set_cached(MemRegion *region, gboolean cached) { region->cached = cached; }

/* A watch lives on the first line of its range; ranges do not cross a line (a flag is <= 16 B). */
static gint64 watch_key(guint32 region, guint64 offset)
{
    return (gint64)((guint64)region << 40 | offset / WATCH_LINE);
}

void memory_watch(Memory *memory, MemWatch *watch, MemRegion *region, guint64 offset, guint32 bytes,
                  MemWatchFire fire)
{
    g_assert(!watch->armed && bytes > 0 && offset % WATCH_LINE + bytes <= WATCH_LINE);
    gint64 key = watch_key(region->id, offset);
    MemWatch *head = g_hash_table_lookup(memory->watches, &key);
    *watch = (MemWatch){.region = region->id, .bytes = bytes, .offset = offset, .fire = fire,
                        .armed = TRUE};
    memory->n_watches++;
    if (!head) {
        g_hash_table_insert(memory->watches, g_memdup2(&key, sizeof key), watch);
        return;
    }
    while (head->next) /* fired in the order of arming */
        head = head->next;
    head->next = watch;
}

static void memory_watch_unlink(Memory *memory, gint64 key, MemWatch *watch)
{
    MemWatch *head = g_hash_table_lookup(memory->watches, &key);
    if (head == watch) {
        if (watch->next)
            g_hash_table_insert(memory->watches, g_memdup2(&key, sizeof key), watch->next);
        else
            g_hash_table_remove(memory->watches, &key);
    } else {
        while (head->next != watch)
            head = head->next;
        head->next = watch->next;
    }
    watch->next = NULL;
    watch->armed = FALSE;
    memory->n_watches--;
}

void memory_unwatch(Memory *memory, MemWatch *watch)
{
    if (watch->armed)
        memory_watch_unlink(memory, watch_key(watch->region, watch->offset), watch);
}

guint32 memory_watches(const Memory *memory) { return memory->n_watches; }

void memory_written_slow(Memory *memory, guint32 region, guint64 offset, guint32 bytes, SimTime now_ps)
{
    guint64 end = offset + bytes;
    for (guint64 line = offset / WATCH_LINE; line * WATCH_LINE < end; line++) {
        gint64 key = watch_key(region, line * WATCH_LINE);
        MemWatch *watch = g_hash_table_lookup(memory->watches, &key);
        while (watch) {
            MemWatch *next = watch->next;
            if (watch->offset < end && watch->offset + watch->bytes > offset) {
                memory_watch_unlink(memory, key, watch);
                watch->fire(watch, now_ps);
            }
            watch = next;
        }
    }
}
