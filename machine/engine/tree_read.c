/* What a tree consists of: its processes and threads, as /proc has them. See tree.h. */
#include "machine/engine/proc_stat.h"
#include "machine/engine/tree_parts.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define NEW_MAX 500u  /* processes that are looked at one by one; more: all of the system are */
#define GONE_MAX 256u /* threads that have ended, before the tree is read anew */

void tree_thread_close(TreeThread *thread)
{
    if (thread->stat_fd >= 0)
        close(thread->stat_fd);
    if (thread->count_fd >= 0)
        close(thread->count_fd);
    if (thread->place_fd >= 0)
        close(thread->place_fd);
    thread->stat_fd = thread->count_fd = thread->place_fd = -1;
}

guint64 tree_newest(const Tree *tree)
{
    char text[128];
    gssize n = tree->made_fd >= 0 ? pread(tree->made_fd, text, sizeof text - 1, 0) : -1;

    if (n <= 0)
        return 0;
    text[n] = '\0';
    const char *last = strrchr(text, ' ');
    return last ? g_ascii_strtoull(last + 1, NULL, 10) : 0;
}

static TreeThread *thread_new(pid_t pid, pid_t tid)
{
    TreeThread *thread = g_new0(TreeThread, 1);
    char path[64];

    thread->pid = pid;
    thread->tid = tid;
    thread->warm = TREE_WARM_PROOFS;
    g_snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)tid);
    thread->stat_fd = open(path, O_RDONLY | O_CLOEXEC);
    g_snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
    thread->count_fd = open(path, O_RDONLY | O_CLOEXEC);
    g_snprintf(path, sizeof path, "/proc/%d/task/%d/wchan", (int)pid, (int)tid);
    thread->place_fd = open(path, O_RDONLY | O_CLOEXEC);
    return thread;
}

static void tree_meet(Tree *tree, pid_t pid, pid_t tid)
{
    TreeThread *thread = g_hash_table_lookup(tree->threads, GINT_TO_POINTER(tid));

    if (tid <= 0 || g_hash_table_contains(tree->skipped, GINT_TO_POINTER(tid)))
        return;
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

static void read_threads(Tree *tree, pid_t pid)
{
    char path[64];

    g_snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    if (!dir)
        return;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        tree_meet(tree, pid, (pid_t)g_ascii_strtoll(entry->d_name, NULL, 10));
    closedir(dir);
}

static TreeProcess *process_at(Tree *tree, pid_t pid)
{
    return g_hash_table_lookup(tree->processes, GINT_TO_POINTER(pid));
}

/* A process is of the tree when its parent is, or was when it was met: the parent may end, and another take its place.
 * Those whose parent has ended before they were met are this process's children by now (exec makes it their reaper). */
static gboolean is_ours(Tree *tree, TreeProcess *process, guint depth)
{
    TreeProcess *parent;

    if (process->ours || process->pid == tree->root || (tree->descend && process->parent == getpid()))
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
        pid_t pid = (pid_t)g_ascii_strtoll(entry->d_name, NULL, 10);
        ProcStat stat;
        if (pid <= 0 || !proc_stat_read(pid, &stat))
            continue;
        TreeProcess *process = process_at(tree, pid);
        if (!process) {
            process = g_new0(TreeProcess, 1);
            process->pid = pid;
            g_hash_table_insert(tree->processes, GINT_TO_POINTER(pid), process);
        }
        process->parent = stat.parent;
        process->seen = TRUE;
    }
    closedir(dir);
    g_hash_table_foreach_remove(tree->processes, process_unseen, NULL);
}

gboolean tree_has(const Tree *tree, pid_t pid)
{
    const TreeProcess *process = g_hash_table_lookup(tree->processes, GINT_TO_POINTER(pid));

    return process && process->ours;
}

/* *group: the process of which this is a thread, itself if it is one. FALSE: it is gone. */
static gboolean read_group(pid_t tid, pid_t *group, pid_t *parent)
{
    char text[1024];

    proc_file_read(tid, "status", text, sizeof text);
    const char *tgid = strstr(text, "\nTgid:"), *ppid = strstr(text, "\nPPid:");
    *group = tgid ? (pid_t)g_ascii_strtoll(tgid + strlen("\nTgid:"), NULL, 10) : 0;
    *parent = ppid ? (pid_t)g_ascii_strtoll(ppid + strlen("\nPPid:"), NULL, 10) : 0;
    return tgid && ppid;
}

/* What has come since: processes and threads of these numbers. */
static void tree_read_new(Tree *tree, guint64 first, guint64 last)
{
    for (guint64 number = first; number <= last; number++) {
        pid_t tid = (pid_t)number, group, parent;
        if (!read_group(tid, &group, &parent))
            continue;
        if (group == tid && tree->descend) {
            TreeProcess *process = g_new0(TreeProcess, 1);
            process->pid = tid;
            process->parent = parent;
            g_hash_table_replace(tree->processes, GINT_TO_POINTER(tid), process);
            if (is_ours(tree, process, 64))
                read_threads(tree, tid);
        } else if (tree_has(tree, group)) {
            tree_meet(tree, group, tid);
        }
    }
}

/* The tree as it is now. */
static void tree_read(Tree *tree)
{
    GHashTableIter iter;
    gpointer value;

    tree->gone = 0;
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

void tree_update(Tree *tree)
{
    guint64 made = tree_newest(tree);

    if (made == 0 || tree->last_made == 0 || made < tree->last_made || made - tree->last_made > NEW_MAX ||
        tree->gone > GONE_MAX)
        tree_read(tree);
    else if (made != tree->last_made)
        tree_read_new(tree, tree->last_made + 1, made);
    tree->last_made = made;
}
