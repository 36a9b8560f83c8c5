/* The owner of a job's machine: what `fanout exec` is while its program runs.
 *
 *     Owner *owner = owner_new(log, &error);      // reads the environment that the program is to have (options.h)
 *     g_setenv(WIRE_ENV, owner_name(owner), TRUE);
 *     pid_t child = fork(); ...
 *     owner_begin(owner, child, &watch);          // clients may come: the first one starts the engine
 *     waitpid(child, ...);
 *     owner_end(owner, "exit");                   // waits for the other processes, writes the report
 *
 * The engine starts when the first process asks for it, so that a program that never does costs nothing. */
#ifndef MACHINE_WIRE_OWNER_H
#define MACHINE_WIRE_OWNER_H

#include "machine/engine/engine.h"

typedef struct Owner Owner;

/* GError: the options are wrong (file, line, key), or the host gives no socket. */
Owner *owner_new(GError **error);
const char *owner_name(const Owner *owner);
char *owner_page_path(const Owner *owner); /* for WIRE_PAGE_ENV; g_free */
/* root: the first process of the job; interrupts, ending: atomic, how often the user pressed Ctrl-C, and not 0 from
 * when the job was told to end. watch may be NULL. */
void owner_begin(Owner *owner, pid_t root, const gint *interrupts, const gint *ending, WatchPage *watch);

typedef struct {
    guint processes;    /* that made calls of the driver */
    gboolean stuck;     /* the simulated fabric got stuck */
    gboolean unwritten; /* something that was asked for could not be written; standard error says what */
} OwnerEnd;
/* why: how the first process ended, for a report of one that could not say it itself. */
OwnerEnd owner_end(Owner *owner, const char *why);

#endif
