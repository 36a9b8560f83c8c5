/* What the kernel says of a process or a thread in its file `stat` (proc(5)). */
#ifndef MACHINE_ENGINE_PROC_STAT_H
#define MACHINE_ENGINE_PROC_STAT_H

#include <glib.h>
#include <sys/types.h>

typedef struct {
    char state; /* as in proc(5): R, S, D, Z, X, T, t */
    pid_t parent;
    guint flags; /* the kernel's own, PF_* */
    int threads; /* of the process */
    char name[32];
} ProcStat;

#define PROC_EXITING 4u /* of the flags: it is on its way out */

/* FALSE: the text, which has a NUL behind, is not what such a file has. */
gboolean proc_stat_parse(const char *text, ProcStat *stat);
/* The file `name` of a process or a thread, up to bytes - 1 of it, and a NUL behind; FALSE: there is none. */
gboolean proc_file_read(pid_t pid, const char *name, char *text, gsize bytes);
/* Of a process; FALSE: there is none. */
gboolean proc_stat_read(pid_t pid, ProcStat *stat);

#endif
