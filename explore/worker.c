/* See worker.h. */
#include "explore/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child, before the program: no signal is blocked, and the child does not outlive a sweep that is killed. */
static void worker_prepare(gpointer user)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != (pid_t)GPOINTER_TO_INT(user))
        _exit(1); /* the parent died in between */
}

/* In the environment of a point: what it says of its progress, once it takes long, would be taken for its error. */
#define WORKER_QUIET "FANOUT_QUIET"

/* What a new process would begin with: no input, its own output, and no other file. */
static void worker_become(const Worker *worker, pid_t parent)
{
    worker_prepare(GINT_TO_POINTER(parent));
    const int input = open("/dev/null", O_RDONLY);
    if (dup2(input, STDIN_FILENO) < 0 || dup2(worker->out, STDOUT_FILENO) < 0 || dup2(worker->err, STDERR_FILENO) < 0)
        _exit(1);
    g_setenv(WORKER_QUIET, "1", TRUE);
    syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0); /* a kernel without it: they stay open, unused */
}

static gboolean worker_fork(Worker *worker, char **argv, WorkerMain main, GError **error)
{
    const pid_t parent = getpid();
    fflush(NULL); /* what is not written yet would be written twice */
    worker->pid = fork();
    if (worker->pid == 0) {
        worker_become(worker, parent);
        const guint n = g_strv_length(argv);
        char **words = g_memdup2(argv, (n + 1) * sizeof *argv); /* main takes words out of it as it reads them */
        const int status = main((int)n, words);
        g_free(words);
        g_strfreev(argv);
        exit(status);
    }
    if (worker->pid > 0)
        return TRUE;
    g_set_error(error, G_SPAWN_ERROR, G_SPAWN_ERROR_FORK, "no process for a point: %s", g_strerror(errno));
    return FALSE;
}

static gboolean worker_spawn(Worker *worker, char **argv, GError **error)
{
    g_auto(GStrv) env = g_environ_setenv(g_get_environ(), WORKER_QUIET, "1", TRUE);
    return g_spawn_async_with_fds(NULL, argv, env, G_SPAWN_DO_NOT_REAP_CHILD, worker_prepare, GINT_TO_POINTER(getpid()),
                                  &worker->pid, -1, worker->out, worker->err, error);
}

gboolean worker_start(Worker *worker, char **argv, WorkerMain main, GError **error)
{
    worker->out = memfd_create("fanout-out", MFD_CLOEXEC);
    worker->err = memfd_create("fanout-err", MFD_CLOEXEC);
    gboolean good = worker->out >= 0 && worker->err >= 0;
    if (!good)
        g_set_error(error, G_SPAWN_ERROR, G_SPAWN_ERROR_FORK, "no memory for a point's report");
    else if (main)
        good = worker_fork(worker, argv, main, error);
    else
        good = worker_spawn(worker, argv, error);
    if (good)
        return TRUE;
    if (worker->out >= 0)
        close(worker->out);
    if (worker->err >= 0)
        close(worker->err);
    worker->pid = 0;
    return FALSE;
}

/* All of a memory file; caller frees. */
static char *worker_read(int fd, gsize *n)
{
    off_t all = lseek(fd, 0, SEEK_END);
    *n = all > 0 ? (gsize)all : 0;
    char *text = g_malloc(*n + 1);
    gsize got = 0;
    for (gssize now = 1; got < *n && now > 0; got += (gsize)MAX(now, 0))
        now = pread(fd, text + got, *n - got, (off_t)got);
    *n = got;
    text[got] = 0;
    close(fd);
    return text;
}

void worker_collect(Worker *worker, WorkerOutput *output)
{
    output->out = worker_read(worker->out, &output->out_bytes);
    output->err = worker_read(worker->err, &output->err_bytes);
    worker->pid = 0;
}

void worker_output_clear(WorkerOutput *output)
{
    g_free(output->out);
    g_free(output->err);
}

Result *worker_finish(Worker *worker, int status)
{
    WorkerOutput output;
    worker_collect(worker, &output);
    Result *result = result_new(status, output.out, output.out_bytes, output.err, output.err_bytes);
    worker_output_clear(&output);
    return result;
}

void worker_kill(Worker *worker)
{
    if (worker->pid == 0)
        return;
    kill(worker->pid, SIGKILL);
    waitpid(worker->pid, NULL, 0);
    close(worker->out);
    close(worker->err);
    worker->pid = 0;
}
