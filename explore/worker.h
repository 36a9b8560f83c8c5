/* A child process that runs points: what each prints and says goes into memory, and it ends with its parent. */
#ifndef EXPLORE_WORKER_H
#define EXPLORE_WORKER_H

#include <glib.h>
#include <sys/types.h>

#include "explore/result.h"

typedef struct {
    pid_t pid; /* 0: there is none */
    int out, err;
    int points; /* of a copy of this process: the socket by which it gets its points; 0: it runs one */
} Worker;

/* What a program does with its words, argv[0] its name: the exit code. */
typedef int (*WorkerMain)(int argc, char **argv);
/* Starts argv (argv[0] is a path). main: in a copy of this process, which has loaded and linked the program already,
 * and has one thread; a copy whose last point ended well takes the next one, too, with the memory that it has. NULL:
 * in a new process. GError: G_SPAWN_ERROR; there is no worker then. */
gboolean worker_start(Worker *worker, char **argv, WorkerMain main, GError **error);
/* Whether its point has ended, and as waitpid() would say, how. Then comes worker_collect() or worker_finish(). */
gboolean worker_has_ended(Worker *worker, int *status);
/* What it wrote, once it has ended. */
typedef struct {
    char *out, *err;
    gsize out_bytes, err_bytes;
} WorkerOutput;
void worker_collect(Worker *worker, WorkerOutput *output);
void worker_output_clear(WorkerOutput *output);
/* What it gave, once it has ended with `status`. Free with result_free(). */
Result *worker_finish(Worker *worker, int status);
/* Ends one that has no point, in its own time, so that what a program does at its end is done. */
void worker_end(Worker *worker);
/* Ends it and waits for it: what it was doing is lost. */
void worker_kill(Worker *worker);

#endif
