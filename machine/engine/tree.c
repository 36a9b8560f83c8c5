/* See tree.h: the proof. */
#include "machine/engine/proc_stat.h"
#include "machine/engine/tree_parts.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/host_clock.h"

#define LOOKS_MAX 3           /* of one proof, while threads are found that have moved */
#define SPIN_CALLS 32u        /* of a thread, while the others slept, before it counts as one that waits */
#define SPIN_ROUNDS 2         /* of so many calls of each, and */
#define SPIN_ROUNDS_STIRRED 8 /* where something has been since the last proof */
#define SPIN_STILL_NS 8000000 /* of a processor, without such a call: it does something else */
#define SPIN_LAST_US 500000   /* a round of so long: the proof is begun anew */
#define SPIN_LOOK_NS 20000

static void thread_free(gpointer data)
{
    tree_thread_close(data);
    g_free(data);
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
    tree->spinners = g_ptr_array_new();
    tree->made_fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    tree_packets_open(tree, "/proc/net/softnet_stat");
    return tree;
}

void tree_free(Tree *tree)
{
    if (!tree)
        return;
    g_hash_table_unref(tree->processes);
    g_ptr_array_unref(tree->order);
    g_ptr_array_unref(tree->spinners);
    g_hash_table_unref(tree->threads);
    g_hash_table_unref(tree->skipped);
    if (tree->made_fd >= 0)
        close(tree->made_fd);
    tree_packets_close(tree);
    g_free(tree);
}

void tree_skip(Tree *tree, pid_t tid) { g_hash_table_add(tree->skipped, GINT_TO_POINTER(tid)); }

void tree_on_spin(Tree *tree, TreeSpins spins, void *user, int fd)
{
    tree->spins_fd = fd;
    tree->spins = spins;
    tree->spins_user = user;
}

/* Where a thread is now. *moved: it was given a processor since the look before. */
static void thread_look(Tree *tree, TreeThread *thread, gboolean *moved)
{
    char text[TREE_STAT_BYTES], count[TREE_COUNT_BYTES] = "";
    gssize n = thread->stat_fd >= 0 ? pread(thread->stat_fd, text, sizeof text - 1, 0) : -1;

    if (n <= 0) {
        thread->gone = TRUE; /* it may have made another before */
        tree_thread_close(thread);
        tree->gone++;
        *moved = tree->moved = TRUE;
        return;
    }
    text[n] = '\0';
    if (thread->count_fd < 0 || pread(thread->count_fd, count, sizeof count - 1, 0) <= 0)
        g_strlcpy(count, text + MIN((gsize)n, 24), sizeof count); /* the times that it has used, among others */
    const char *shut = strrchr(text, ')'); /* the state is behind it; to read all of it takes as long as the kernel */
    ProcStat stat = {.state = 'R'};
    thread->state = shut && shut[1] == ' ' ? shut[2] : 'R';
    if (thread->state != 'S') {
        if (proc_stat_parse(text, &stat))
            g_strlcpy(thread->name, stat.name, sizeof thread->name);
        thread->state = stat.state;
    }
    *moved = strcmp(count, thread->count) != 0;
    if (!*moved)
        return;
    memcpy(thread->count, count, sizeof count);
    tree->moved = TRUE;
}

/* A thread on its way to sleep has the state of one that sleeps a moment before it does, and finds by a last look that
 * what it waits for has come already. If its processor is taken from it at that moment, as a busy host does for
 * milliseconds, it looks asleep, and nothing will wake it. The kernel names the place where a thread sleeps only when
 * it has really left its processor; where the kernel never does (of a thread that it may not tell about), the state
 * alone counts. */
static void look_whether_off(TreeThread *thread)
{
    char first;

    if (thread->gone || thread->state != 'S' || thread->place_fd < 0 || pread(thread->place_fd, &first, 1, 0) != 1)
        return;
    if (first != '0')
        thread->placed = TRUE;
    else if (thread->placed)
        thread->state = 'R';
}

static gboolean sleeps(const TreeThread *thread)
{
    return thread->gone || thread->state == 'S' || thread->state == 'Z' || thread->state == 'X';
}

/* How long it has had a processor so far, as of the latest look; a busy host may give it none for long. */
static guint64 ran_ns(const TreeThread *thread) { return g_ascii_strtoull(thread->count, NULL, 10); }

static void say_busy(const TreeThread *thread, TreeRunner *busy)
{
    if (busy) {
        *busy = (TreeRunner){thread->pid, thread->tid, thread->state, ran_ns(thread), ""};
        g_strlcpy(busy->name, thread->name, sizeof busy->name);
    }
}

typedef enum { LOOK_QUIET, LOOK_BUSY, LOOK_MOVED } Look;

/* How often it has asked so far; FALSE: it is none of those that do. */
static gboolean asks(const Tree *tree, const TreeThread *thread, TreeSpin *spin)
{
    spin->outside = FALSE;
    return tree->spins && !thread->gone &&
           tree->spins(tree->spins_user, thread->pid, thread->tid, thread->state == 'R', spin);
}

/* One pass over those that move, or over the others. first: of a proof, which finds those that spin; one that rests for
 * a moment between two calls looks like a sleeper, and has perhaps not asked since something changed. */
static Look look_at(Tree *tree, gboolean warm, gboolean first, TreeRunner *busy)
{
    Look look = LOOK_QUIET;

    for (guint i = 0; i < tree->order->len; i++) {
        TreeThread *thread = g_ptr_array_index(tree->order, i);
        gboolean moved;
        if (first)
            thread->spins = FALSE;
        if (thread->gone || thread->spins || (thread->warm > 0) != warm)
            continue;
        thread_look(tree, thread, &moved);
        if (warm && !first)
            look_whether_off(thread);
        gboolean spins = asks(tree, thread, &thread->spin);
        if (thread->spin.outside) {
            say_busy(thread, busy);
            return LOOK_BUSY;
        }
        if (first && spins) {
            thread->spins = TRUE;
            thread->warm = TREE_WARM_PROOFS + 1;
            g_ptr_array_add(tree->spinners, thread);
            continue;
        }
        if (moved || spins) {
            thread->warm = TREE_WARM_PROOFS + 1;
            look = LOOK_MOVED;
        }
        if (!sleeps(thread)) {
            thread->warm = TREE_WARM_PROOFS + 1;
            tree->order->pdata[i] = tree->order->pdata[0]; /* the next look asks it first */
            tree->order->pdata[0] = thread;
            say_busy(thread, busy);
            return LOOK_BUSY;
        }
    }
    return look;
}

/* *spin: how often so far. */
static gboolean has_asked_enough(const Tree *tree, const TreeThread *thread, TreeSpin *spin)
{
    *spin = thread->spin;
    return asks(tree, thread, spin) && spin->calls - thread->calls >= SPIN_CALLS;
}

/* Until it has asked often enough, or does something else. */
static Look await_spinner(Tree *tree, TreeThread *thread, gint64 begin_us, TreeRunner *busy)
{
    const struct timespec pause = {0, SPIN_LOOK_NS};
    struct pollfd came = {.fd = tree->spins_fd, .events = POLLIN};
    guint64 asked_ns = ran_ns(thread);
    guint32 before = thread->calls;
    TreeSpin spin;
    gboolean moved;

    while (!has_asked_enough(tree, thread, &spin)) {
        if (spin.changes != thread->spin.changes)
            return LOOK_MOVED;
        if (spin.calls != before)
            asked_ns = ran_ns(thread);
        before = spin.calls;
        if (ppoll(&came, 1, &pause, NULL) != 0)
            return LOOK_BUSY;
        thread_look(tree, thread, &moved);
        if (sleeps(thread) && !asks(tree, thread, &spin))
            return LOOK_MOVED; /* it sleeps by now */
        if (ran_ns(thread) - asked_ns > SPIN_STILL_NS || host_clock_us() - begin_us > SPIN_LAST_US) {
            say_busy(thread, busy);
            return LOOK_BUSY;
        }
    }
    thread->calls = spin.calls;
    return LOOK_QUIET;
}

/* Until each of those that spin has asked often enough, with no change for any of them: one that has asked may be told
 * something by another that asks after it. Not every change is seen (one in memory is not), hence the rounds: who has
 * done something in one of them has told it before the last ones. Where nothing has been since the last proof, what
 * they ask about is still the same, and few rounds do. */
static Look await_spinners(Tree *tree, TreeRunner *busy)
{
    TreeSpin spin;

    for (guint i = 0; i < tree->spinners->len; i++) {
        TreeThread *thread = g_ptr_array_index(tree->spinners, i);
        thread->calls = thread->spin.calls;
    }
    for (guint round = 0; round < (tree->stirred ? SPIN_ROUNDS_STIRRED : SPIN_ROUNDS); round++) {
        const gint64 begin_us = host_clock_us();
        for (guint i = 0; i < tree->spinners->len; i++) {
            Look look = await_spinner(tree, g_ptr_array_index(tree->spinners, i), begin_us, busy);
            if (look != LOOK_QUIET)
                return look;
        }
    }
    for (guint i = 0; i < tree->spinners->len; i++) {
        TreeThread *thread = g_ptr_array_index(tree->spinners, i);
        if (!asks(tree, thread, &spin) || spin.changes != thread->spin.changes)
            return LOOK_MOVED;
    }
    return LOOK_QUIET;
}

static Look prove(Tree *tree, TreeRunner *busy)
{
    g_ptr_array_set_size(tree->spinners, 0);
    Look look = look_at(tree, TRUE, TRUE, busy);
    if (look == LOOK_BUSY)
        return look;
    if (tree->spinners->len > 0 && (look = await_spinners(tree, busy)) != LOOK_QUIET)
        return look;
    if (!tree_packets_arrive(tree)) {
        if (busy)
            *busy = (TreeRunner){.state = 'R', .name = "packets on their way"};
        return LOOK_BUSY;
    }
    look = look_at(tree, TRUE, FALSE, busy);
    return look == LOOK_QUIET ? look_at(tree, FALSE, FALSE, busy) : look;
}

gboolean tree_is_quiet(Tree *tree, gboolean stirred, gboolean *spins, TreeRunner *busy)
{
    *spins = FALSE;
    tree->stirred |= stirred;
    for (guint look = 0; look < LOOKS_MAX; look++) {
        tree_update(tree);
        tree->moved = FALSE;
        Look found = prove(tree, busy);
        tree->stirred |= found != LOOK_QUIET;
        if (found == LOOK_BUSY)
            return FALSE;
        if (found == LOOK_MOVED ||
            (tree->moved && tree_newest(tree) != tree->last_made)) /* who sleeps makes no others */
            continue;
        for (guint i = 0; i < tree->order->len; i++) {
            TreeThread *thread = g_ptr_array_index(tree->order, i);
            thread->warm -= thread->warm > 0;
        }
        *spins = tree->spinners->len > 0;
        tree->stirred = FALSE;
        return TRUE;
    }
    if (busy)
        *busy = (TreeRunner){.state = 'R', .name = "threads that come and go"};
    return FALSE;
}
