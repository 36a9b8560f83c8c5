/* Random programs in processes of their own, and making a program that fails smaller. */
#include "tests/random/program.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_TEXT 4000

typedef struct {
    gint32 end;
    guint64 end_ps;
    char text[CHILD_TEXT];
} ChildAnswer;

static void child_write(int fd, const ChildAnswer *answer)
{
    const guint8 *from = (const guint8 *)answer;
    for (gsize done = 0; done < sizeof *answer;) {
        gssize n = write(fd, from + done, sizeof *answer - done);
        if (n <= 0)
            return;
        done += (gsize)n;
    }
}

static gboolean child_read(int fd, ChildAnswer *answer)
{
    guint8 *to = (guint8 *)answer;
    for (gsize done = 0; done < sizeof *answer;) {
        gssize n = read(fd, to + done, sizeof *answer - done);
        if (n <= 0)
            return FALSE;
        done += (gsize)n;
    }
    return TRUE;
}

ProgramEnd program_apart(ProgramRun run, const void *what, guint seconds, guint64 *end_ps, char **text)
{
    int pipes[2], status = 0;
    ChildAnswer answer = {0};
    g_assert_true(pipe(pipes) == 0);
    pid_t child = fork();
    g_assert_true(child >= 0);
    if (child == 0) {
        char *said = NULL;
        close(pipes[0]);
        signal(SIGALRM, SIG_DFL);
        alarm(seconds);
        answer.end = (gint32)run(what, &answer.end_ps, &said);
        g_strlcpy(answer.text, said ? said : "", CHILD_TEXT);
        child_write(pipes[1], &answer);
        _exit(0);
    }
    close(pipes[1]);
    gboolean whole = child_read(pipes[0], &answer);
    close(pipes[0]);
    waitpid(child, &status, 0);
    *end_ps = answer.end_ps;
    if (whole) {
        *text = g_strdup(answer.text);
        return (ProgramEnd)answer.end;
    }
    gboolean hangs = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    *text = hangs ? g_strdup_printf("takes over %u s", seconds)
                  : g_strdup_printf("ends with %s %d", WIFSIGNALED(status) ? "signal" : "status",
                                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return hangs ? PROGRAM_HANGS : PROGRAM_CRASHED;
}

static ProgramEnd child_program(const void *what, guint64 *end_ps, char **text)
{
    return program_run(what, end_ps, text);
}

ProgramEnd program_run_apart(const Program *program, guint seconds, guint64 *end_ps, char **text)
{
    return program_apart(child_program, program, seconds, end_ps, text);
}

static gboolean child_still(const Program *program, ProgramEnd end, guint seconds)
{
    g_autofree char *text = NULL;
    guint64 end_ps;
    return program_run_apart(program, seconds, &end_ps, &text) == end;
}

/* Without n steps from `from` on. */
static GArray *child_without(const GArray *step, guint from, guint n)
{
    GArray *less = g_array_new(FALSE, TRUE, sizeof(Step));
    g_array_append_vals(less, step->data, from);
    g_array_append_vals(less, (const Step *)(const void *)step->data + from + n, step->len - from - n);
    return less;
}

void program_shrink(Program *program, ProgramEnd end, guint seconds)
{
    for (guint n = MAX(program->step->len / 2, 1);; n = MAX(n / 2, 1)) {
        gboolean smaller = FALSE;
        for (guint from = 0; from + n <= program->step->len;) {
            GArray *all = program->step;
            program->step = child_without(all, from, n);
            if (child_still(program, end, seconds)) {
                g_array_free(all, TRUE);
                smaller = TRUE;
                continue;
            }
            g_array_free(program->step, TRUE);
            program->step = all;
            from += n;
        }
        if (n == 1 && !smaller)
            break;
    }
    for (guint i = program->sets->len; i-- > 0;) {
        char *set = g_ptr_array_steal_index(program->sets, i);
        if (!child_still(program, end, seconds))
            g_ptr_array_insert(program->sets, (gint)i, set);
        else
            g_free(set);
    }
    guint32 cores = program->cores;
    program->cores = 1;
    if (!child_still(program, end, seconds))
        program->cores = cores;
}
