/* Which threads of a job can still act: the proof of quiet that the rule of time rests on (docs/time.md).
 *
 * A tree is a process and, where the job has several, all that descend from it. It is quiet when there was a moment at
 * which every thread of every process slept in the kernel, or was gone, with nothing on its way that would wake one:
 * what wakes a sleeper makes it runnable before the waker's system call ends.
 *
 * The proof reads two files of each thread: its state, and how often it has been given a processor. A thread whose
 * count has not moved since an earlier look has slept all the while. Those that moved lately are read twice, with
 * nothing in between; then all others once. If none has moved, and all sleep, they all slept at the moment between the
 * two looks at the first. Descriptors are kept, and processes are looked for only where the kernel has made a process
 * or thread since the last look. Packets between sockets of this host may be on their way though all sleep: at the
 * moment between the two looks the proof waits for what stands in the host's queues (tree_packets.c).
 *
 * A thread that asks again and again for what it waits for (sched_yield, a poll without waiting) does not sleep. When
 * it has asked often enough while all others slept, it has seen all that there is to see: it counts as quiet until what
 * it asks about may have changed. Left out: threads that hand something to and fro by such calls alone, more often than
 * that and with nothing in between, may see a quantum of time pass meanwhile.
 *
 * Left out: what wakes a sleeper without a process of the tree (a disk, a clock that is not simulated, another
 * machine): then the time at which it goes on is the host's, as the page says.
 * A thread that a debugger has stopped is not quiet: it holds the others, as one that computes does.
 * Source: proc(5); measured: 0.5 us for a count, 2.8 us for a state. */
#ifndef MACHINE_ENGINE_TREE_H
#define MACHINE_ENGINE_TREE_H

#include <glib.h>
#include <sys/types.h>

typedef struct Tree Tree;

/* A thread that runs, for messages. */
typedef struct {
    pid_t pid, tid;
    char state;     /* as in proc(5) */
    guint64 ran_ns; /* how long it has had a processor, so far; 0: the kernel does not tell */
    char name[32];
} TreeRunner;

/* How often a thread has asked for something instead of waiting for it (sched_yield and its kin), so far. */
typedef struct {
    guint32 calls;
    guint32 changes;  /* and how often there was something, or it has sent something */
    gboolean outside; /* it waits for what no thread of the tree does: its sleep is none */
} TreeSpin;

/* The same of a thread. runs: as the
 * kernel has it; a thread that rests for a moment between two such calls sleeps, and still counts as one that runs.
 * FALSE: it is not known as one that does so, or it really sleeps. */
typedef gboolean (*TreeSpins)(void *user, pid_t pid, pid_t tid, gboolean runs, TreeSpin *spin);

/* descend: with the processes below root. The tree starts empty and is filled by the first look. */
Tree *tree_new(pid_t root, gboolean descend);
void tree_free(Tree *tree);
/* This thread is no part of the tree, though its process is: one of the simulator's own. */
void tree_skip(Tree *tree, pid_t tid);
/* fd: readable when there is something better to do than to look whether a thread spins. */
void tree_on_spin(Tree *tree, TreeSpins spins, void *user, int fd);
/* TRUE: there was such a moment since the call began. FALSE: *busy (may be NULL) is a thread that ran. *spins: not all
 * slept: some asked again and again, SPIN_CALLS times while all others slept. stirred: something has been answered or
 * asked since the last call, so that those that spin may tell each other of it. */
gboolean tree_is_quiet(Tree *tree, gboolean stirred, gboolean *spins, TreeRunner *busy);
/* Whether a process is part of the tree, as of the last look. */
gboolean tree_has(const Tree *tree, pid_t pid);

#endif
