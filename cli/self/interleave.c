/* Runs that are compared with each other, side by side. Each is in a process of its own, over and over, and one at a
 * time goes on for a slice of time while all others are stopped: what else the machine does, which comes and goes
 * within seconds, costs each of them as much. One run after the other, a machine with others on it gave 20 to 40 % more
 * to whichever came at a bad time. */
#include "cli/self/cost.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/verb/verb.h"

#define SLICE_US 100000

/* What a process says of each run; less than a pipe takes at once. */
typedef struct {
    SpeedCost cost;
    gboolean good;
    char message[2048];
} SideSaid;

typedef struct {
    SpeedSide *side;
    pid_t pid;
    int said; /* a pipe */
} SideRun;

static void sides_child(const Options *options, const SpeedSide *side, int out)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* who is stopped would stay */
    raise(SIGSTOP);
    SideSaid said = {.good = TRUE};
    while (said.good) {
        g_autoptr(GError) error = NULL;
        said.good = side->one(options, side->what, &said.cost, &error);
        if (!said.good)
            g_strlcpy(said.message, error->message, sizeof said.message);
        if (write(out, &said, sizeof said) != sizeof said)
            break;
    }
    _exit(0);
}

static gboolean sides_fail(GError **error, const char *what)
{
    g_set_error(error, CLI_ERROR, CLI_ERROR_STUCK, "runs side by side: %s: %s", what, g_strerror(errno));
    return FALSE;
}

static gboolean sides_start(const Options *options, SideRun *run, GError **error)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return sides_fail(error, "no pipe");
    run->pid = fork();
    if (run->pid == 0)
        sides_child(options, run->side, ends[1]);
    close(ends[1]);
    run->said = ends[0];
    if (run->pid < 0)
        return sides_fail(error, "no process");
    fcntl(run->said, F_SETFL, O_NONBLOCK);
    return waitpid(run->pid, NULL, WUNTRACED) == run->pid || sides_fail(error, "no process");
}

/* The runs that are done by now. */
static gboolean sides_hear(SideRun *run, GError **error)
{
    SideSaid said;
    while (read(run->said, &said, sizeof said) == sizeof said) {
        if (!said.good) {
            g_set_error_literal(error, CLI_ERROR, CLI_ERROR_FILE, said.message);
            return FALSE;
        }
        run->side->cost = said.cost;
        run->side->cpu_s += said.cost.cpu_s;
        run->side->runs++;
    }
    return TRUE;
}

static gboolean sides_turn(SideRun *run, GError **error)
{
    int status;
    kill(run->pid, SIGCONT);
    g_usleep(SLICE_US);
    kill(run->pid, SIGSTOP);
    if (waitpid(run->pid, &status, WUNTRACED) != run->pid)
        return sides_fail(error, "a process is lost");
    if (!WIFSTOPPED(status))
        run->pid = 0; /* it is no more: another one may get its number */
    if (!sides_hear(run, error))
        return FALSE;
    if (run->pid)
        return TRUE;
    g_set_error(error, CLI_ERROR, CLI_ERROR_STUCK, "runs side by side: one ended early, with status 0x%x", status);
    return FALSE;
}

double speed_side_s(const SpeedSide *side) { return side->cpu_s / (double)side->runs; }

static gboolean sides_are_done(const SideRun *run, guint n, double least_s)
{
    for (guint i = 0; i < n; i++)
        if (run[i].side->runs == 0 || run[i].side->cpu_s < least_s)
            return FALSE;
    return TRUE;
}

gboolean speed_sides(const Options *options, SpeedSide *side, guint n, double least_s, GError **error)
{
    g_autofree SideRun *run = g_new0(SideRun, n);
    gboolean good = TRUE;
    guint started = 0;
    for (; good && started < n; started++) {
        run[started].side = &side[started];
        good = sides_start(options, &run[started], error);
    }
    while (good && !sides_are_done(run, n, least_s))
        for (guint i = 0; good && i < n; i++)
            good = sides_turn(&run[i], error);
    for (guint i = 0; i < started; i++) {
        if (run[i].pid > 0) {
            kill(run[i].pid, SIGKILL);
            waitpid(run[i].pid, NULL, 0);
        }
        close(run[i].said);
    }
    return good;
}
