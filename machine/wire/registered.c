/* See registered.h. */
#include "machine/wire/registered.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define FILE_BYTES ((guint64)1 << 47) /* addresses of a process are below; only what is moved there costs memory */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

typedef struct {
    guint64 from, to;
} Span;

struct Registered {
    pthread_mutex_t lock;
    int fd; /* of the file with moved pages; -1: none yet */
    struct stat file;
    GHashTable *spans; /* region -> Span */
};

/* A mapping, as the kernel tells it. */
typedef struct {
    guint64 from, to, offset, inode;
    dev_t device;
    int protection;
    gboolean shared;
    char path[256];
} Line;

Registered *registered_new(void)
{
    Registered *registered = g_new0(Registered, 1);

    pthread_mutex_init(&registered->lock, NULL);
    registered->fd = -1;
    registered->spans = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    return registered;
}

/* ---- what is mapped */

static gboolean line_next(const char **text, Line *line)
{
    unsigned device[2];
    char rights[5];

    while (*text && **text != '\0') {
        line->path[0] = '\0';
        int fields = sscanf(*text,
                            "%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER "x %4s %" G_GINT64_MODIFIER
                            "x %x:%x %" G_GINT64_MODIFIER "u%*[ ]%255[^\n]",
                            &line->from, &line->to, rights, &line->offset, &device[0], &device[1], &line->inode,
                            line->path);
        const char *end = strchr(*text, '\n');
        *text = end ? end + 1 : NULL;
        if (fields < 7)
            continue;
        line->device = makedev(device[0], device[1]);
        line->protection = (rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0) |
                           (rights[2] == 'x' ? PROT_EXEC : 0);
        line->shared = rights[3] == 's';
        return TRUE;
    }
    return FALSE;
}

/* The mappings of a range, cut to it; NULL: a part of it is not there. */
static GArray *lines_of(guint64 first, guint64 bytes)
{
    g_autofree char *text = NULL;
    g_autoptr(GArray) lines = g_array_new(FALSE, FALSE, sizeof(Line));
    guint64 at = first;
    Line line;

    if (!g_file_get_contents("/proc/self/maps", &text, NULL, NULL))
        return NULL;
    for (const char *rest = text; at < first + bytes && line_next(&rest, &line);) {
        if (line.to <= at)
            continue;
        if (line.from > at)
            return NULL;
        line.offset += at - line.from;
        line.from = at;
        at = line.to = MIN(line.to, first + bytes);
        g_array_append_val(lines, line);
    }
    return at == first + bytes ? g_steal_pointer(&lines) : NULL;
}

static gboolean is_moved(const Registered *registered, const Line *line)
{
    return registered->fd >= 0 && line->shared && line->inode == registered->file.st_ino &&
           line->device == registered->file.st_dev && line->offset == line->from;
}

/* ---- shared files */

static gboolean is_file(int fd, const Line *line)
{
    struct stat st;

    return fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == line->inode && st.st_dev == line->device;
}

/* By what else the process has open: a file without a name that the kernel does not open by the mapping. */
static int open_by_own(const Line *line)
{
    GDir *dir = g_dir_open("/proc/self/fd", 0, NULL);
    const char *name;
    int found = -1;

    while (dir && found < 0 && (name = g_dir_read_name(dir))) {
        int own = (int)g_ascii_strtoll(name, NULL, 10);
        if (is_file(own, line) && (fcntl(own, F_GETFL) & O_ACCMODE) == O_RDWR)
            found = fcntl(own, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    }
    g_clear_pointer(&dir, g_dir_close);
    return found;
}

static int open_if_file(const char *path, const Line *line)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (is_file(fd, line))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* The whole line, since the kernel names a mapping by both of its ends. */
static int open_by_mapping(const Line *part)
{
    g_autofree char *text = NULL;
    Line line;

    if (!g_file_get_contents("/proc/self/maps", &text, NULL, NULL))
        return -1;
    for (const char *rest = text; line_next(&rest, &line);) {
        if (line.from > part->from || line.to <= part->from)
            continue;
        g_autofree char *path = g_strdup_printf("/proc/self/map_files/%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER "x",
                                                line.from, line.to);
        return open_if_file(path, part);
    }
    return -1;
}

static int open_shared(const GArray *lines, const char **why)
{
    const Line *first = &g_array_index(lines, Line, 0);

    for (guint i = 1; i < lines->len; i++) {
        const Line *line = &g_array_index(lines, Line, i);
        if (!line->shared || line->inode != first->inode || line->device != first->device ||
            line->offset - first->offset != line->from - first->from) {
            *why = "a part of it is shared with other processes, and a part is not, or is of another file";
            return -1;
        }
    }
    int fd = open_by_mapping(first);
    if (fd < 0)
        fd = open_if_file(first->path, first);
    if (fd < 0)
        fd = open_by_own(first);
    if (fd < 0)
        *why = "it is shared with other processes, and this system does not let its file be opened anew for reading "
               "and writing (it has no name, or no such rights); shm_open() or memfd_create() give one that can be";
    return fd;
}

/* ---- bytes of the process's own */

typedef struct {
    const Line *line;
    int fd;
    gboolean there, done; /* there: into the file, else back from it */
} Move;

/* Who writes to a page while it is moved waits. A handler of signals has no other way to know than a variable of the
 * process; who moves holds the lock. */
static struct {
    gint64 from, to; /* atomic */
    struct sigaction before;
} moving;

static void on_fault(int number, siginfo_t *info, void *context)
{
    const gint64 at = (gint64)(guintptr)info->si_addr;

    if (at >= __atomic_load_n(&moving.from, __ATOMIC_RELAXED) && at < __atomic_load_n(&moving.to, __ATOMIC_RELAXED))
        sched_yield(); /* and tries again */
    else if (moving.before.sa_flags & SA_SIGINFO)
        moving.before.sa_sigaction(number, info, context);
    else if (moving.before.sa_handler == SIG_DFL || moving.before.sa_handler == SIG_IGN)
        sigaction(number, &moving.before, NULL); /* it comes again */
    else
        moving.before.sa_handler(number);
}

/* Whole pages, of which a part may belong to the program's allocator: so the kernel is asked by number, since a
 * sanitizer would take the call of that name for a mistake of the program. */
static gboolean write_all(int fd, guint64 from, guint64 bytes)
{
    for (guint64 at = 0; at < bytes;) {
        const void *page = (const void *)(guintptr)(from + at);
        gssize n = syscall(SYS_pwrite64, fd, page, MIN(bytes - at, (guint64)1 << 30), (off_t)(from + at));
        if (n <= 0)
            return FALSE;
        at += (guint64)n;
    }
    return TRUE;
}

/* The file has what is in the memory. */
static gboolean read_all(int fd, guint8 *to, guint64 from, guint64 bytes)
{
    for (guint64 at = 0; at < bytes;) {
        gssize n = pread(fd, to + at, MIN(bytes - at, (guint64)1 << 30), (off_t)(from + at));
        if (n <= 0)
            return FALSE;
        at += (guint64)n;
    }
    return TRUE;
}

static gboolean move_there(const Move *move)
{
    const Line *line = move->line;
    const gsize bytes = line->to - line->from;
    void *at = (void *)(guintptr)line->from;

    return write_all(move->fd, line->from, bytes) &&
           mmap(at, bytes, line->protection, MAP_SHARED | MAP_FIXED, move->fd, (off_t)line->from) != MAP_FAILED;
}

static gboolean move_back(const Move *move)
{
    const Line *line = move->line;
    const gsize bytes = line->to - line->from;
    void *at = (void *)(guintptr)line->from;
    void *own = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (own == MAP_FAILED)
        return FALSE;
    if (!read_all(move->fd, own, line->from, bytes) || mprotect(own, bytes, line->protection) != 0 ||
        mremap(own, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) == MAP_FAILED) {
        munmap(own, bytes);
        return FALSE;
    }
    fallocate(move->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)line->from, (off_t)bytes);
    return TRUE;
}

/* On a thread of its own: the caller's stack may be what is moved. */
static void *move_main(void *data)
{
    Move *move = data;
    const Line *line = move->line;
    struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};

    sigemptyset(&ours.sa_mask);
    __atomic_store_n(&moving.from, (gint64)line->from, __ATOMIC_RELAXED);
    __atomic_store_n(&moving.to, (gint64)line->to, __ATOMIC_RELAXED);
    sigaction(SIGSEGV, &ours, &moving.before);
    if (mprotect((void *)(guintptr)line->from, line->to - line->from, line->protection & ~PROT_WRITE) == 0) {
        move->done = move->there ? move_there(move) : move_back(move);
        if (!move->done)
            mprotect((void *)(guintptr)line->from, line->to - line->from, line->protection);
    }
    g_usleep(1000); /* whom a fault was on its way to finds the handler still there */
    sigaction(SIGSEGV, &moving.before, NULL);
    return NULL;
}

static gboolean move_line(const Registered *registered, const Line *line, gboolean there)
{
    Move *move = g_new0(Move, 1);
    sigset_t all, before;
    pthread_t thread;

    *move = (Move){line, registered->fd, there, FALSE};
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    gboolean started = pthread_create(&thread, NULL, move_main, move) == 0;
    if (started)
        pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    gboolean done = started && move->done;
    g_free(move);
    return done;
}

static gboolean file_make(Registered *registered)
{
    if (registered->fd >= 0)
        return TRUE;
    int made = memfd_create("fanout-registered", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int fd = made >= 0 ? fcntl(made, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
    if (made >= 0)
        close(made);
    if (fd >= 0 && ftruncate(fd, (off_t)FILE_BYTES) == 0 && fcntl(fd, F_ADD_SEALS, SEALS) == 0 &&
        fstat(fd, &registered->file) == 0) {
        registered->fd = fd;
        return TRUE;
    }
    if (fd >= 0)
        close(fd);
    return FALSE;
}

static int move_lines(Registered *registered, const GArray *lines, const char **why)
{
    if (!file_make(registered)) {
        *why = "this system gives no file in memory (memfd_create) for it";
        return -1;
    }
    for (guint i = 0; i < lines->len; i++) {
        const Line *line = &g_array_index(lines, Line, i);
        if (line->shared && !is_moved(registered, line)) {
            *why = "a part of it is shared with other processes, and a part is not";
            return -1;
        }
        if (line->to > FILE_BYTES || (!line->shared && !move_line(registered, line, TRUE))) {
            *why = "its pages cannot be moved to where the owner of the machine reaches them";
            return -1;
        }
    }
    return fcntl(registered->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/* Pages that no registration has any more are the process's own again. Lock held. */
static void give_back(const Registered *registered, guint64 from, guint64 to)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, registered->spans);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Span *span = value;
        if (span->from <= from && span->to > from)
            from = span->to;
        if (span->from < to && span->to >= to)
            to = span->from;
        if (span->from > from && span->to < to) /* one in the midst: they go when that does */
            return;
    }
    g_autoptr(GArray) lines = from < to ? lines_of(from, to - from) : NULL;
    for (guint i = 0; lines && i < lines->len; i++)
        if (is_moved(registered, &g_array_index(lines, Line, i)))
            move_line(registered, &g_array_index(lines, Line, i), FALSE);
}

/* ---- all */

int registered_file(Registered *registered, guint64 first, guint64 bytes, guint64 *offset, const char **why)
{
    pthread_mutex_lock(&registered->lock);
    g_autoptr(GArray) lines = lines_of(first, bytes);
    int fd = -1;

    *why = "a part of it is not mapped";
    if (lines && lines->len > 0) {
        const Line *line = &g_array_index(lines, Line, 0);
        gboolean shared = line->shared && !is_moved(registered, line);
        *offset = shared ? line->offset : first;
        fd = shared ? open_shared(lines, why) : move_lines(registered, lines, why);
    }
    pthread_mutex_unlock(&registered->lock);
    return fd;
}

void registered_add(Registered *registered, guint32 region, guint64 first, guint64 bytes)
{
    const Span span = {first, first + bytes};

    pthread_mutex_lock(&registered->lock);
    g_hash_table_insert(registered->spans, GUINT_TO_POINTER(region), g_memdup2(&span, sizeof span));
    pthread_mutex_unlock(&registered->lock);
}

void registered_remove(Registered *registered, guint32 region)
{
    pthread_mutex_lock(&registered->lock);
    const Span *span = g_hash_table_lookup(registered->spans, GUINT_TO_POINTER(region));
    if (span) {
        const Span gone = *span;
        g_hash_table_remove(registered->spans, GUINT_TO_POINTER(region));
        give_back(registered, gone.from, gone.to);
    }
    pthread_mutex_unlock(&registered->lock);
}

void registered_forget(Registered *registered, guint64 first, guint64 bytes)
{
    pthread_mutex_lock(&registered->lock);
    give_back(registered, first, first + bytes);
    pthread_mutex_unlock(&registered->lock);
}

void registered_after_fork(Registered *registered)
{
    g_autofree char *text = NULL;
    Line line;

    if (registered->fd < 0 || !g_file_get_contents("/proc/self/maps", &text, NULL, NULL))
        return;
    for (const char *rest = text; line_next(&rest, &line);)
        if (is_moved(registered, &line))
            mmap((void *)(guintptr)line.from, line.to - line.from, line.protection, MAP_PRIVATE | MAP_FIXED,
                 registered->fd, (off_t)line.offset);
    close(registered->fd);
    registered->fd = -1;
}
