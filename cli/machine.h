/* The simulated system as system management sees it, for the verbs that say it. */
#ifndef CLI_MACHINE_H
#define CLI_MACHINE_H

#include "machine/machine.h"
#include "cli/options.h"

/* Of the system and options that a program would run with; wrong ones are said (GError). Free with machine_free(). */
Machine *cli_machine(const char *system, const Options *options, gint tray, GError **error);
/* Which GPUs are linked how, as a matrix: adds it to the report, whose columns live until the process ends. */
void cli_machine_table(const Machine *machine, Report *report);

/* NCCL reads the machine's topology from /sys, where the simulated one is not: sets NCCL_TOPO_FILE to a file of it,
 * unless it is set. The file is a descriptor of this process, which outlives the program, and leaves nothing behind.
 * FALSE: *error, also for wrong options: they are said before a program starts, rather than by every call of it. */
gboolean cli_machine_topology(const char *system, const Options *options, gboolean trays, GError **error);

#endif
