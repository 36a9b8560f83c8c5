/* The environment in which `fanout exec` starts its program: options of the run, libraries that are found first. */
#ifndef CLI_EXEC_ENVIRONMENT_H
#define CLI_EXEC_ENVIRONMENT_H

#include "cli/options.h"

void exec_setenv(const char *name, const char *value);                       /* NULL: it is not set */
void exec_prepend(const char *name, const char *value, const char *between); /* to what the variable has already */
char *exec_absolute(const char *path); /* stays right when the program changes its directory; NULL: NULL */
void exec_preload(const char *libraries, const char *name); /* before what is preloaded already */
/* report: a file, "-", or NULL: standard error; status_fd: of the ReportStatus that the program inherits. */
void exec_environment(const Options *options, const char *system, const char *report, const char *report_ranks,
                      const char *libraries, int status_fd);

#endif
