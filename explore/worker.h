/* A child process that runs one point: its output and its messages go into memory, and it ends with its parent. */
#ifndef EXPLORE_WORKER_H
#define EXPLORE_WORKER_H

#include <glib.h>
#include <sys/types.h>

#include "explore/result.h"

typedef struct {
    pid_t pid; /* 0: idle */
    int out, err;
} Worker;

/* What a program does with its words, argv[0] its name: the exit code. */
typedef int (*WorkerMain)(int argc, char **argv);
/* Starts argv (argv[0] is a path). main: in a copy of this process, which has loaded and linked the program already,
 * and has one thread; NULL: in a new one. GError: G_SPAWN_ERROR; the worker is idle then. */
gboolean worker_start(Worker *worker, char **argv, WorkerMain main, GError **error);
/* What it wrote, once waitpid() has said that it ended. The worker is idle then. */
typedef struct {
    char *out, *err;
    gsize out_bytes, err_bytes;
} WorkerOutput;
void worker_collect(Worker *worker, WorkerOutput *output);
void worker_output_clear(WorkerOutput *output);
/* What it gave, once waitpid() has said `status` of it. The worker is idle then. Free with result_free(). */
Result *worker_finish(Worker *worker, int status);
/* Ends it and waits for it: what it was doing is lost. */
void worker_kill(Worker *worker);

#endif
