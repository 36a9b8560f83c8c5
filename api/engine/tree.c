/* See tree.h. */
#include "api/engine/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOKS_MAX 3    /* of one proof, while threads are found that have moved */
#define WARM_PROOFS 4u /* so long after it has moved a thread is read twice */
#define STAT_BYTES 512u
#define COUNT_BYTES 64u

typedef struct {
    pid_t pid, tid;
    int stat_fd, count_fd; /* of /proc/PID/task/TID; -1: the kernel has none */
    char state;
    guint warm; /* proofs for which it still counts as one that moves */
    char count[COUNT_BYTES];
    gboolean seen; /* while the tree is read anew */
    gboolean gone;
    char name[32];
} TreeThread;

typedef struct {
    pid_t pid, parent;
    gboolean ours, seen;
} TreeProcess;

struct Tree {
    pid_t root;
    gboolean descend;
    GHashTable *processes; /* pid -> TreeProcess: all of the system that were met */
    GHashTable *threads;   /* tid -> TreeThread of the tree */
    GPtrArray *order;      /* the same, as they were met */
    GHashTable *skipped;   /* tid */
    guint64 last_made; /* the number of the newest process or thread of the system when the tree was read; 0: never */
    int made_fd;
};

static void thread_free(gpointer data)
{
    TreeThread *thread = data;

    if (thread->stat_fd >= 0)
        close(thread->stat_fd);
    if (thread->count_fd >= 0)
        close(thread->count_fd);
    g_free(thread);
}

Tree *tree_new(pid_t root, gboolean descend)
{
    Tree *tree = g_new0(Tree, 1);

    tree->root = root;
    tree->descend = descend;
    tree->processes = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    tree->threads = g_hash_table_new_full(NULL, NULL, NULL, thread_free);
    tree->order = g_ptr_array_new();
    tree->skipped = g_hash_table_new(NULL, NULL);
    tree->made_fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    return tree;
}

void tree_free(Tree *tree)
{
    if (!tree)
        return;
    g_hash_table_unref(tree->processes);
    g_ptr_array_unref(tree->order);
    g_hash_table_unref(tree->threads);
    g_hash_table_unref(tree->skipped);
    if (tree->made_fd >= 0)
        close(tree->made_fd);
    g_free(tree);
}

void tree_skip(Tree *tree, pid_t tid) { g_hash_table_add(tree->skipped, GINT_TO_POINTER(tid)); }

guint tree_threads(const Tree *tree) { return tree->order->len; }

gboolean tree_has(const Tree *tree, pid_t pid)
{
    const TreeProcess *process = g_hash_table_lookup(tree->processes, GINT_TO_POINTER(pid));

    return process && process->ours;
}

/* The number of the newest process or thread of the system; 0: it is not told. */
static guint64 newest(const Tree *tree)
{
    char text[128];
    gssize n = tree->made_fd >= 0 ? pread(tree->made_fd, text, sizeof text - 1, 0) : -1;

    if (n <= 0)
        return 0;
    text[n] = '\0';
    const char *last = strrchr(text, ' ');
    return last ? g_ascii_strtoull(last + 1, NULL, 10) : 0;
}

/* Names of threads may have spaces and brackets: what counts begins behind the last bracket. */
static gboolean parse_stat(char *text, char *state, pid_t *parent, char name[32])
{
    char *open = strchr(text, '('), *shut = strrchr(text, ')');
    int up;

    if (!open || !shut || sscanf(shut + 1, " %c %d", state, &up) != 2)
        return FALSE;
    *parent = up;
    *shut = '\0';
    g_strlcpy(name, open + 1, 32);
    return TRUE;
}

static gboolean read_parent(pid_t pid, pid_t *parent)
{
    char path[64], text[STAT_BYTES], state, name[32];

    g_snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    gssize n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return FALSE;
    text[n] = '\0';
    return parse_stat(text, &state, parent, name);
}

static TreeThread *thread_new(pid_t pid, pid_t tid)
{
    TreeThread *thread = g_new0(TreeThread, 1);
    char path[64];

    thread->pid = pid;
    thread->tid = tid;
    thread->warm = WARM_PROOFS;
    g_snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)tid);
    thread->stat_fd = open(path, O_RDONLY | O_CLOEXEC);
    g_snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
    thread->count_fd = open(path, O_RDONLY | O_CLOEXEC);
    return thread;
}

static void read_threads(Tree *tree, pid_t pid)
{
    char path[64];

    g_snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    if (!dir)
        return;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        pid_t tid = (pid_t)g_ascii_strtoll(entry->d_name, NULL, 10);
        if (tid <= 0 || g_hash_table_contains(tree->skipped, GINT_TO_POINTER(tid)))
            continue;
        TreeThread *thread = g_hash_table_lookup(tree->threads, GINT_TO_POINTER(tid));
        if (thread && thread->gone) { /* its number has been given to another */
            g_ptr_array_remove(tree->order, thread);
            g_hash_table_remove(tree->threads, GINT_TO_POINTER(tid));
            thread = NULL;
        }
        if (!thread) {
            thread = thread_new(pid, tid);
            g_hash_table_insert(tree->threads, GINT_TO_POINTER(tid), thread);
            g_ptr_array_add(tree->order, thread);
        }
        thread->seen = TRUE;
    }
    closedir(dir);
}

static TreeProcess *process_at(Tree *tree, pid_t pid)
{
    return g_hash_table_lookup(tree->processes, GINT_TO_POINTER(pid));
}

/* A process is of the tree when its parent is, or was when it was met: the parent may end, and another take its place.
 */
static gboolean is_ours(Tree *tree, TreeProcess *process, guint depth)
{
    TreeProcess *parent;

    if (process->ours || process->pid == tree->root)
        return process->ours = TRUE;
    if (!tree->descend || depth == 0)
        return FALSE;
    parent = process_at(tree, process->parent);
    return process->ours = parent && parent != process && is_ours(tree, parent, depth - 1);
}

static gboolean process_unseen(gpointer key, gpointer value, gpointer user)
{
    TreeProcess *process = value;
    gboolean gone = !process->seen;

    (void)key;
    (void)user;
    process->seen = FALSE;
    return gone;
}

static void read_processes(Tree *tree)
{
    DIR *dir = opendir("/proc");

    if (!dir)
        return;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        pid_t pid = (pid_t)g_ascii_strtoll(entry->d_name, NULL, 10), parent = 0;
        if (pid <= 0 || !read_parent(pid, &parent))
            continue;
        TreeProcess *process = process_at(tree, pid);
        if (!process) {
            process = g_new0(TreeProcess, 1);
            process->pid = pid;
            g_hash_table_insert(tree->processes, GINT_TO_POINTER(pid), process);
        }
        process->parent = parent;
        process->seen = TRUE;
    }
    closedir(dir);
    g_hash_table_foreach_remove(tree->processes, process_unseen, NULL);
}

/* The tree as it is now. */
static void tree_read(Tree *tree)
{
    GHashTableIter iter;
    gpointer value;

    if (tree->descend)
        read_processes(tree);
    else if (!process_at(tree, tree->root)) {
        TreeProcess *root = g_new0(TreeProcess, 1);
        root->pid = tree->root;
        g_hash_table_insert(tree->processes, GINT_TO_POINTER(tree->root), root);
    }
    for (guint i = 0; i < tree->order->len; i++)
        ((TreeThread *)g_ptr_array_index(tree->order, i))->seen = FALSE;
    g_hash_table_iter_init(&iter, tree->processes);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        if (is_ours(tree, value, 64))
            read_threads(tree, ((TreeProcess *)value)->pid);
    for (guint i = 0; i < tree->order->len;) {
        TreeThread *thread = g_ptr_array_index(tree->order, i);
        if (thread->seen) {
            i++;
            continue;
        }
        g_ptr_array_remove_index_fast(tree->order, i);
        g_hash_table_remove(tree->threads, GINT_TO_POINTER(thread->tid));
    }
}

/* Where a thread is now. *moved: it was given a processor since the look before. */
static void thread_look(TreeThread *thread, gboolean *moved)
{
    char text[STAT_BYTES], count[COUNT_BYTES] = "";
    pid_t parent;
    gssize n = thread->stat_fd >= 0 ? pread(thread->stat_fd, text, sizeof text - 1, 0) : -1;

    if (n <= 0) {
        thread->gone = TRUE;
        *moved = FALSE;
        return;
    }
    text[n] = '\0';
    if (thread->count_fd < 0 || pread(thread->count_fd, count, sizeof count - 1, 0) <= 0)
        g_strlcpy(count, text + MIN((gsize)n, 24), sizeof count); /* the times that it has used, among others */
    if (!parse_stat(text, &thread->state, &parent, thread->name))
        thread->state = 'R';
    *moved = strcmp(count, thread->count) != 0;
    memcpy(thread->count, count, sizeof count);
}

static gboolean sleeps(const TreeThread *thread)
{
    return thread->gone || thread->state == 'S' || thread->state == 'Z' || thread->state == 'X';
}

static void say_busy(const TreeThread *thread, TreeRunner *busy)
{
    if (busy) {
        *busy = (TreeRunner){.pid = thread->pid, .tid = thread->tid, .state = thread->state};
        g_strlcpy(busy->name, thread->name, sizeof busy->name);
    }
}

typedef enum { LOOK_QUIET, LOOK_BUSY, LOOK_MOVED } Look;

/* One pass over those that move, or over the others. */
static Look look_at(Tree *tree, gboolean warm, TreeRunner *busy)
{
    Look look = LOOK_QUIET;

    for (guint i = 0; i < tree->order->len; i++) {
        TreeThread *thread = g_ptr_array_index(tree->order, i);
        gboolean moved;
        if (thread->gone || (thread->warm > 0) != warm)
            continue;
        thread_look(thread, &moved);
        if (moved) {
            thread->warm = WARM_PROOFS + 1;
            look = LOOK_MOVED;
        }
        if (!sleeps(thread)) {
            thread->warm = WARM_PROOFS + 1;
            tree->order->pdata[i] = tree->order->pdata[0]; /* the next look asks it first */
            tree->order->pdata[0] = thread;
            say_busy(thread, busy);
            return LOOK_BUSY;
        }
    }
    return look;
}

static Look prove(Tree *tree, TreeRunner *busy)
{
    Look look = look_at(tree, TRUE, busy);

    if (look == LOOK_BUSY)
        return look;
    look = look_at(tree, TRUE, busy);
    return look == LOOK_QUIET ? look_at(tree, FALSE, busy) : look;
}

gboolean tree_is_quiet(Tree *tree, TreeRunner *busy)
{
    for (guint look = 0; look < LOOKS_MAX; look++) {
        guint64 made = newest(tree);
        if (made == 0 || made != tree->last_made) {
            tree_read(tree);
            tree->last_made = made;
        }
        Look found = prove(tree, busy);
        if (found == LOOK_BUSY)
            return FALSE;
        if (found == LOOK_MOVED || newest(tree) != made)
            continue;
        for (guint i = 0; i < tree->order->len; i++) {
            TreeThread *thread = g_ptr_array_index(tree->order, i);
            thread->warm -= thread->warm > 0;
        }
        return TRUE;
    }
    if (busy)
        *busy = (TreeRunner){.state = 'R', .name = "threads that come and go"};
    return FALSE;
}
