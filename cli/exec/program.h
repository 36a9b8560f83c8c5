/* The program's file, as far as it says why Fanout may not have been asked for anything. */
#ifndef CLI_EXEC_PROGRAM_H
#define CLI_EXEC_PROGRAM_H

#include <glib.h>

/* Of a program that ended without a call of the driver: why that may be. Caller frees. */
char *program_why_no_call(const char *program);

#endif
