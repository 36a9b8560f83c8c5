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
#include <sys/socket.h>
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

/* A copy that has so much after a point ends, and the next point gets a new one: it would keep it until the last. */
#define WORKER_BYTES_MOST (64u << 20)

/* Where a copy has the socket of its points. */
#define WORKER_POINTS (STDERR_FILENO + 1)

/* What a new process would begin with: no input, its own output, and no other file but the socket. */
static void worker_become(const Worker *worker, int points, pid_t parent)
{
    worker_prepare(GINT_TO_POINTER(parent));
    const int input = open("/dev/null", O_RDONLY);
    if (dup2(input, STDIN_FILENO) < 0 || dup2(worker->out, STDOUT_FILENO) < 0 || dup2(worker->err, STDERR_FILENO) < 0 ||
        dup2(points, WORKER_POINTS) < 0)
        _exit(1);
    g_setenv(WORKER_QUIET, "1", TRUE);
    syscall(SYS_close_range, WORKER_POINTS + 1, ~0u, 0); /* a kernel without it: they stay open, unused */
}

/* All of `bytes`; FALSE: the other side is gone. */
static gboolean worker_send(int socket, const void *data, gsize bytes)
{
    for (const char *at = data; bytes;) {
        const gssize now = send(socket, at, bytes, MSG_NOSIGNAL);
        if (now < 0 && errno == EINTR)
            continue;
        if (now <= 0)
            return FALSE;
        at += now;
        bytes -= (gsize)now;
    }
    return TRUE;
}

/* A point's words: how many bytes they have, then each with its 0. */
static gboolean worker_send_point(const Worker *worker, char **argv)
{
    g_autoptr(GByteArray) words = g_byte_array_new();
    for (; *argv; argv++)
        g_byte_array_append(words, (const guint8 *)*argv, (guint)strlen(*argv) + 1);
    const guint32 bytes = words->len;
    return worker_send(worker->points, &bytes, sizeof bytes) && worker_send(worker->points, words->data, bytes);
}

/* In a copy. NULL: there are no more points. Caller frees. */
static GPtrArray *worker_receive_point(void)
{
    guint32 bytes;
    if (recv(WORKER_POINTS, &bytes, sizeof bytes, MSG_WAITALL) != (gssize)sizeof bytes)
        return NULL;
    g_autofree char *words = g_malloc(bytes);
    if (recv(WORKER_POINTS, words, bytes, MSG_WAITALL) != (gssize)bytes)
        return NULL;
    GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);
    for (const char *word = words; word < words + bytes; word += strlen(word) + 1)
        g_ptr_array_add(argv, g_strdup(word));
    return argv;
}

static gboolean worker_is_large(void)
{
    g_autofree char *text = NULL;
    guint64 pages = 0;
    if (g_file_get_contents("/proc/self/statm", &text, NULL, NULL) && strchr(text, ' '))
        pages = g_ascii_strtoull(strchr(text, ' '), NULL, 10);
    return pages * (guint64)sysconf(_SC_PAGESIZE) > WORKER_BYTES_MOST;
}

/* A copy: one point after another. One that does not end well ends the copy with its exit code, as what it leaves
 * behind (requests under way, programs that wait) is no beginning for another. */
static void worker_serve(WorkerMain main)
{
    for (;;) {
        g_autoptr(GPtrArray) argv = worker_receive_point();
        if (!argv)
            exit(0);
        g_autofree char **words = g_new0(char *, argv->len + 1); /* main takes words out of it as it reads them */
        memcpy(words, argv->pdata, argv->len * sizeof *words);
        const int status = main((int)argv->len, words);
        fflush(NULL);
        if (status != 0 || worker_is_large() || !worker_send(WORKER_POINTS, "", 1))
            exit(status);
    }
}

static gboolean worker_fork(Worker *worker, char **argv, WorkerMain main, GError **error)
{
    const pid_t parent = getpid();
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
        fflush(NULL); /* what is not written yet would be written twice */
        worker->pid = fork();
        if (worker->pid == 0) {
            worker_become(worker, ends[1], parent);
            worker_serve(main);
        }
        close(ends[1]);
        worker->points = ends[0];
        if (worker->pid > 0) {
            worker_send_point(worker, argv); /* one that is gone already is found to have ended */
            return TRUE;
        }
    }
    g_set_error(error, G_SPAWN_ERROR, G_SPAWN_ERROR_FORK, "no process for a point: %s", g_strerror(errno));
    return FALSE;
}

static gboolean worker_spawn(Worker *worker, char **argv, GError **error)
{
    g_auto(GStrv) env = g_environ_setenv(g_get_environ(), WORKER_QUIET, "1", TRUE);
    return g_spawn_async_with_fds(NULL, argv, env, G_SPAWN_DO_NOT_REAP_CHILD, worker_prepare, GINT_TO_POINTER(getpid()),
                                  &worker->pid, -1, worker->out, worker->err, error);
}

static void worker_close(Worker *worker)
{
    close(worker->out);
    close(worker->err);
    if (worker->points)
        close(worker->points);
    *worker = (Worker){0};
}

gboolean worker_start(Worker *worker, char **argv, WorkerMain main, GError **error)
{
    if (worker->pid && worker_send_point(worker, argv))
        return TRUE;
    worker_kill(worker); /* something else has ended it since */
    worker->out = memfd_create("fanout-out", MFD_CLOEXEC);
    worker->err = memfd_create("fanout-err", MFD_CLOEXEC);
    gboolean good = worker->out >= 0 && worker->err >= 0;
    if (!good)
        g_set_error(error, G_SPAWN_ERROR, G_SPAWN_ERROR_FORK, "no memory for a point's report");
    else if (main)
        good = worker_fork(worker, argv, main, error);
    else
        good = worker_spawn(worker, argv, error);
    if (!good)
        worker_close(worker);
    return good;
}

gboolean worker_has_ended(Worker *worker, int *status)
{
    char done;
    if (worker->points && recv(worker->points, &done, 1, MSG_DONTWAIT) == 1) {
        *status = 0;
        return TRUE;
    }
    if (waitpid(worker->pid, status, WNOHANG) != worker->pid)
        return FALSE;
    worker->pid = 0;
    return TRUE;
}

/* All of a memory file, which is empty then; caller frees. */
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
    if (ftruncate(fd, 0) == 0)  /* a memory file always can be */
        lseek(fd, 0, SEEK_SET); /* for the worker, too: it is one open file */
    return text;
}

void worker_collect(Worker *worker, WorkerOutput *output)
{
    output->out = worker_read(worker->out, &output->out_bytes);
    output->err = worker_read(worker->err, &output->err_bytes);
    if (worker->pid == 0)
        worker_close(worker);
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

void worker_end(Worker *worker)
{
    if (!worker->points) {
        worker_kill(worker);
        return;
    }
    shutdown(worker->points, SHUT_RDWR); /* closing it might not do, where other copies have it, too */
    waitpid(worker->pid, NULL, 0);
    worker_close(worker);
}

void worker_kill(Worker *worker)
{
    if (worker->pid == 0)
        return;
    kill(worker->pid, SIGKILL);
    waitpid(worker->pid, NULL, 0);
    worker_close(worker);
}
