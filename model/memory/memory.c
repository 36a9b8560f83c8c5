#include "model/memory/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct Memory {
    MemoryHot hot;
    Sim *sim;
    gboolean keep_bytes;
    GPtrArray *regions; /* by id; [0] is NULL */
    GPtrArray *l2;      /* by GPU; NULL: none of its regions asked for one */
    GHashTable *top;    /* arena, GPU, whether small -> guint64: bytes of pages handed out there */
    MemoryPolled polled;
    void *polled_user;
    MemoryHostWritten host_written; /* of memory_on_host_written(); NULL: none was given */
    void *host_written_user;
    MemWatchList due; /* written, to be fired */
    gboolean draining;
};

#define WATCH_LINE 128u
#define WATCH_CHUNK 512u /* lines: 64 KiB of memory */

gboolean memory_keeps_bytes(const Memory *memory) { return memory->keep_bytes; }
Memory *memory_new(Sim *sim, gboolean keep_bytes)
{
    Memory *memory = g_new0(Memory, 1);
    memory->sim = sim;
    memory->keep_bytes = keep_bytes;
    memory->regions = g_ptr_array_new();
    g_ptr_array_add(memory->regions, NULL);
    memory->l2 = g_ptr_array_new_with_free_func(g_free);
    memory->top = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    return memory;
}

/* No write will come there any more, so the watches of the region are forgotten. */
static void memory_watches_free(Memory *memory, MemRegion *region)
{
    guint64 lines = (region->bytes + WATCH_LINE - 1) / WATCH_LINE;
    for (guint64 line = 0; region->watch && line < lines; line += WATCH_CHUNK) {
        MemWatchList *chunk = region->watch[line / WATCH_CHUNK];
        for (guint i = 0; chunk && region->watches && i < WATCH_CHUNK; i++)
            for (MemWatch *watch = chunk[i].head; watch; watch = watch->next) {
                watch->armed = FALSE;
                region->watches--;
                memory->hot.watches--;
            }
        g_free(chunk);
    }
    g_free(region->watch);
}

static void memory_region_free(Memory *memory, MemRegion *region)
{
    l2_lines_free(region->l2);
    memory_watches_free(memory, region);
    if (region->host && !region->borrowed)
        munmap(region->host, region->bytes);
    g_free(region);
}

void memory_free(Memory *memory)
{
    for (guint i = 1; i < memory->regions->len; i++) {
        MemRegion *region = g_ptr_array_index(memory->regions, i);
        if (region) {
            region->watches = 0; /* the owner of a watch may be gone */
            memory_region_free(memory, region);
        }
    }
    g_ptr_array_free(memory->regions, TRUE);
    g_ptr_array_free(memory->l2, TRUE);
    g_hash_table_unref(memory->top);
    g_free(memory);
}

static guint64 memory_address(Memory *memory, guint16 gpu, guint16 arena, guint64 bytes)
{
    if (gpu == MEMORY_HOST)
        return 0; /* the hash does not ask */
    gboolean small = bytes < MEMORY_PAGES(1);
    guint64 key = (guint64)arena << 32 | (guint64)gpu << 1 | (small ? 1 : 0);
    guint64 *top = g_hash_table_lookup(memory->top, &key);
    if (!top) {
        top = g_new0(guint64, 1);
        g_hash_table_insert(memory->top, g_memdup2(&key, sizeof key), top);
    }
    guint64 address = *top;
    *top += MEMORY_PAGES(bytes);
    return arena * MEMORY_ARENA_ADDRESS + (small ? MEMORY_SMALL_ADDRESS : 0) + address;
}

static MemRegion *memory_region_add(Memory *memory, guint16 gpu, guint16 arena, guint64 bytes, guint8 *host)
{
    MemRegion *region = g_new0(MemRegion, 1);
    *region = (MemRegion){.id = memory->regions->len,
                          .gpu = gpu,
                          .bytes = bytes,
                          .host = host,
                          .refs = 1,
                          .address = memory_address(memory, gpu, arena, bytes),
                          .cached = TRUE};
    g_ptr_array_add(memory->regions, region);
    return region;
}

/* Sparse zeroes, or what a memfd holds; NULL: the host has no address space for it. */
static guint8 *memory_map(guint16 gpu, guint64 bytes, int fd, guint64 offset, GError **error)
{
    int flags = MAP_NORESERVE | (fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS);
    guint8 *host = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);
    if (host == MAP_FAILED) {
        g_set_error(error, G_IO_ERROR, g_io_error_from_errno(errno),
                    "%" G_GUINT64_FORMAT " bytes of GPU %u's memory cannot be mapped: %s", bytes, gpu,
                    g_strerror(errno));
        return NULL;
    }
    return host;
}

static MemRegion *memory_region_make(Memory *memory, guint16 gpu, guint64 bytes, gboolean keep, GError **error)
{
    g_assert(bytes > 0);
    guint8 *host = keep ? memory_map(gpu, bytes, -1, 0, error) : NULL;
    return keep && !host ? NULL : memory_region_add(memory, gpu, 0, bytes, host);
}

MemRegion *memory_region_new(Memory *memory, guint16 gpu, guint64 bytes, GError **error)
{
    return memory_region_make(memory, gpu, bytes, memory->keep_bytes, error);
}

MemRegion *memory_control_region_new(Memory *memory, guint16 gpu, guint64 bytes, GError **error)
{
    MemRegion *region = memory_region_make(memory, gpu, bytes, TRUE, error);
    if (region)
        region->in_time = TRUE;
    return region;
}

MemRegion *memory_region_from_fd(Memory *memory, guint16 gpu, guint16 arena, guint64 bytes, int fd, guint64 offset,
                                 GError **error)
{
    guint8 *host = NULL;
    if (memory->keep_bytes && fd < 0) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "memory file %d cannot be shared", fd);
        return NULL;
    }
    if (memory->keep_bytes && !(host = memory_map(gpu, bytes, fd, offset, error)))
        return NULL;
    MemRegion *region = memory_region_add(memory, gpu, arena, bytes, host);
    region->of_file = TRUE;
    return region;
}

MemRegion *memory_region_around(Memory *memory, guint16 gpu, guint64 bytes, guint8 *host)
{
    MemRegion *region = memory_region_add(memory, gpu, 0, bytes, memory->keep_bytes ? host : NULL);
    region->borrowed = TRUE;
    return region;
}

void memory_region_zero(MemRegion *region, guint64 offset, guint64 bytes)
{
    const gsize page = (gsize)sysconf(_SC_PAGESIZE);
    guint8 *at = memory_bytes(region, offset);
    gsize head = MIN((page - (guintptr)at % page) % page, bytes), whole = (bytes - head) / page * page;
    if (whole > 0 && !region->borrowed &&
        madvise(at + head, whole, region->of_file ? MADV_REMOVE : MADV_DONTNEED) == 0) {
        memset(at, 0, head);
        memset(at + head + whole, 0, bytes - head - whole);
    } else {
        memset(at, 0, bytes);
    }
}

void memory_region_repeat(MemRegion *region, const guint8 *pattern, guint64 period)
{
    g_assert(region->host && !region->of_file && period > 0);
    region->pattern = pattern;
    region->period = period;
}

void memory_region_write_out(MemRegion *region)
{
    for (guint64 at = 0; at < region->bytes; at += region->period)
        memcpy(region->host + at, region->pattern, MIN(region->period, region->bytes - at));
    region->pattern = NULL;
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
    memory_region_free(memory, region);
}

void memory_keep_l2(Memory *memory, MemRegion *region, guint64 l2_bytes)
{
    if (region->l2 || region->gpu == MEMORY_HOST)
        return;
    if (memory->l2->len <= region->gpu)
        g_ptr_array_set_size(memory->l2, region->gpu + 1);
    gpointer *l2 = &g_ptr_array_index(memory->l2, region->gpu);
    if (!*l2)
        *l2 = g_new0(L2, 1);
    l2_set_bytes(*l2, l2_bytes);
    region->l2 = l2_lines_new(*l2, region->bytes);
}

void memory_set_cached(Memory *memory, MemRegion *region, gboolean cached)
{
    memory->hot.epoch++;
    region->cached = cached;
}

void memory_on_polled(Memory *memory, MemoryPolled polled, void *user)
{
    memory->polled = polled;
    memory->polled_user = user;
}

void memory_poll_first(Memory *memory, MemRegion *region)
{
    memory->hot.epoch++;
    region->in_time = TRUE;
    if (memory->polled)
        memory->polled(memory->polled_user, region);
}

static void watch_append(MemWatchList *list, MemWatch *watch)
{
    watch->prev = list->tail;
    watch->next = NULL;
    *(list->tail ? &list->tail->next : &list->head) = watch;
    list->tail = watch;
}

static void watch_remove(MemWatchList *list, MemWatch *watch)
{
    *(watch->prev ? &watch->prev->next : &list->head) = watch->next;
    *(watch->next ? &watch->next->prev : &list->tail) = watch->prev;
    watch->next = watch->prev = NULL;
}

/* A watch lives on the first line of its range; ranges do not cross a line (a flag is <= 16 B). NULL: none was ever
 * armed there. */
static MemWatchList *watch_line(const MemRegion *region, guint64 line)
{
    MemWatchList *chunk = region->watch ? region->watch[line / WATCH_CHUNK] : NULL;
    return chunk ? &chunk[line % WATCH_CHUNK] : NULL;
}

static void watch_make_line(MemRegion *region, guint64 line)
{
    if (!region->watch)
        region->watch = g_new0(MemWatchList *, region->bytes / (WATCH_LINE * WATCH_CHUNK) + 1);
    region->watch[line / WATCH_CHUNK] = g_new0(MemWatchList, WATCH_CHUNK);
}

void memory_watch(Memory *memory, MemWatch *watch, MemRegion *region, guint64 offset, guint32 bytes, MemWatchFire fire)
{
    g_assert(!watch->armed && bytes > 0 && offset % WATCH_LINE + bytes <= WATCH_LINE);
    guint64 line = offset / WATCH_LINE;
    memory_poll(memory, region);
    if (!watch_line(region, line))
        watch_make_line(region, line);
    *watch = (MemWatch){.region = region->id, .bytes = bytes, .offset = offset, .fire = fire, .armed = TRUE};
    watch_append(watch_line(region, line), watch); /* fired in the order of arming */
    region->watches++;
    memory->hot.watches++;
}

static void memory_watch_unlink(Memory *memory, MemRegion *region, MemWatch *watch)
{
    watch_remove(watch_line(region, watch->offset / WATCH_LINE), watch);
    region->watches--;
    memory->hot.watches--;
}

void memory_unwatch(Memory *memory, MemWatch *watch)
{
    if (!watch->armed)
        return;
    if (watch->due)
        watch_remove(&memory->due, watch);
    else
        memory_watch_unlink(memory, memory_region(memory, watch->region), watch);
    watch->armed = watch->due = FALSE;
}

void memory_each_watch(Memory *memory, MemWatchFire fire, void (*each)(MemWatch *watch, void *user), void *user)
{
    for (guint r = 1; r < memory->regions->len; r++) {
        MemRegion *region = memory->regions->pdata[r];
        for (guint64 line = 0; region && region->watches && line * WATCH_LINE < region->bytes; line++) {
            const MemWatchList *list = watch_line(region, line);
            if (!list)
                line |= WATCH_CHUNK - 1; /* none in this chunk of lines */
            for (MemWatch *watch = list ? list->head : NULL; watch; watch = watch->next)
                if (watch->fire == fire)
                    each(watch, user);
        }
    }
}

/* Takes the watches that a write concerns off their line, so that one armed again from its own `fire` waits
 * for the next write. One that is alone there, with nothing due before it, may stay if it does not want that one. */
static void memory_collect_due(Memory *memory, MemRegion *region, guint64 line, guint64 offset, guint64 end,
                               SimTime visible_ps)
{
    const MemWatchList *list = watch_line(region, line);
    for (MemWatch *watch = list ? list->head : NULL, *next; watch; watch = next) {
        next = watch->next;
        if (watch->offset >= end || watch->offset + watch->bytes <= offset)
            continue;
        if (watch->wants && list->head == list->tail && !memory->due.head && !memory->draining && region->host &&
            !region->pattern && !watch->wants(watch, region->host + watch->offset))
            return;
        memory_watch_unlink(memory, region, watch);
        watch->due = TRUE;
        watch->visible_ps = visible_ps;
        watch_append(&memory->due, watch);
    }
}

void memory_on_host_written(Memory *memory, MemoryHostWritten written, void *user)
{
    memory->hot.watches += (written != NULL) - (memory->host_written != NULL);
    memory->host_written = written;
    memory->host_written_user = user;
}

void memory_written_slow(Memory *memory, guint32 id, guint64 offset, guint32 bytes, SimTime now_ps)
{
    MemRegion *region = memory_region(memory, id);
    guint64 end = offset + bytes;
    if (region && region->gpu == MEMORY_HOST && memory->host_written)
        memory->host_written(memory->host_written_user);
    if (!region || region->watches == 0)
        return;
    for (guint64 line = offset / WATCH_LINE; line * WATCH_LINE < end; line++)
        memory_collect_due(memory, region, line, offset, end, now_ps);
    if (memory->draining) /* a write from inside a `fire`: the outer loop goes on with what is due now */
        return;
    memory->draining = TRUE;
    while (memory->due.head) {
        MemWatch *watch = memory->due.head;
        watch_remove(&memory->due, watch);
        watch->armed = watch->due = FALSE;
        watch->fire(watch, watch->visible_ps);
    }
    memory->draining = FALSE;
}

void memory_poke(Memory *memory, SimTime now_ps)
{
    struct {
        guint32 region;
        guint64 line;
    } key;
    GArray *keys = g_array_new(FALSE, FALSE, sizeof key); /* first all, since what fires may arm others */
    for (key.region = 1; key.region < memory->regions->len; key.region++) {
        const MemRegion *region = memory_region(memory, key.region);
        guint64 lines = region && region->watches ? (region->bytes + WATCH_LINE - 1) / WATCH_LINE : 0;
        for (key.line = 0; key.line < lines; key.line++) {
            const MemWatchList *list = watch_line(region, key.line);
            if (!list)
                key.line |= WATCH_CHUNK - 1; /* nor in all of the chunk */
            else if (list->head)
                g_array_append_val(keys, key);
        }
    }
    for (guint i = 0; i < keys->len; i++) {
        memcpy(&key, keys->data + i * sizeof key, sizeof key);
        memory_written_slow(memory, key.region, key.line * WATCH_LINE, WATCH_LINE, now_ps);
    }
    g_array_unref(keys);
}
