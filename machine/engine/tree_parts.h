/* Inside tree.c and tree_read.c: what is known of a tree. */
#ifndef MACHINE_ENGINE_TREE_PARTS_H
#define MACHINE_ENGINE_TREE_PARTS_H

#include "machine/engine/tree.h"

#define TREE_STAT_BYTES 512u
#define TREE_COUNT_BYTES 64u
#define TREE_WARM_PROOFS 4u /* so long after it has moved a thread is read twice */

typedef struct {
    pid_t pid, tid;
    int stat_fd, count_fd; /* of /proc/PID/task/TID; -1: the kernel has none */
    int place_fd;          /* where in the kernel it sleeps; the same */
    char state;
    guint warm; /* proofs for which it still counts as one that moves */
    char count[TREE_COUNT_BYTES];
    gboolean placed; /* the kernel has told where it sleeps, and so does whenever it does */
    gboolean seen;   /* while the tree is read anew */
    gboolean gone;
    gboolean spins; /* in this proof */
    TreeSpin spin;  /* what it had asked when the proof began */
    guint32 calls;  /* and when this round of it began */
    char name[32];
} TreeThread;

typedef struct {
    pid_t pid, parent;
    gboolean ours, seen;
} TreeProcess;

/* Of one processor: tree_packets.c */
typedef struct {
    guint32 until; /* what has been taken up when all that stood there is gone */
    gboolean gone;
} TreePackets;

struct Tree {
    pid_t root;
    gboolean descend;
    GHashTable *processes; /* pid -> TreeProcess: all of the system that were met */
    GHashTable *threads;   /* tid -> TreeThread of the tree */
    GPtrArray *order;      /* the same, as they were met */
    GHashTable *skipped;   /* tid */
    guint64 last_made; /* the number of the newest process or thread of the system when the tree was read; 0: never */
    gboolean moved;    /* a thread has, in this look */
    gboolean stirred;  /* something has been since the last proof that found quiet */
    guint gone;        /* threads that are kept and are no more */
    int made_fd;
    TreeSpins spins;
    void *spins_user;
    int spins_fd;
    GPtrArray *spinners; /* TreeThread of this proof */
    int packets_fd;      /* -1: the kernel does not tell */
    GByteArray *packets_text;
    GArray *packets; /* TreePackets */
};

/* tree_read.c. The number of the newest process or thread of the system; 0: it is not told. */
guint64 tree_newest(const Tree *tree);
/* Meets what has been made since the last time (last_made). */
void tree_update(Tree *tree);
void tree_thread_close(TreeThread *thread);

/* tree_packets.c. Waits until what is on its way between sockets now has arrived; FALSE: it does not. */
gboolean tree_packets_arrive(Tree *tree);
void tree_packets_open(Tree *tree, const char *path);
void tree_packets_close(Tree *tree);

#endif
