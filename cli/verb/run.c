/* Runs a verb and turns its error into one line and an exit code. */
#include <stdio.h>

#include "cli/verb/verb.h"

/* Output that could not be written (a full disk, a closed pipe) must not look like success. */
ExitCode verb_flush(ExitCode code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fprintf(stderr, "fanout: cannot write standard output\n");
    return code == EXIT_DONE ? EXIT_USER : code;
}

ExitCode verb_run(const Verb *verb, int argc, char **argv)
{
    GError *error = NULL;
    ExitCode code = verb->run(argc, argv, &error);
    if (error) {
        g_assert(code != EXIT_DONE);
        fprintf(stderr, "fanout %s: %s\n", verb->name, error->message);
        g_error_free(error);
    }
    return verb_flush(code);
}
