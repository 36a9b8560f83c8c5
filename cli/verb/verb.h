/* What a verb of the `fanout` command is. One file a verb: cli/verb/<name>.c ends in a const Verb
 * called verb_<name>, and cli/verb/verbs.h has one line for it. */
#ifndef CLI_VERB_VERB_H
#define CLI_VERB_VERB_H

#include <glib.h>

typedef enum {
    EXIT_DONE = 0,          /* it ran, and what it checked is right */
    EXIT_USER = 1,          /* the user's input is wrong; nothing was simulated, or not to the end */
    EXIT_WRONG = 2,         /* the simulated fabric got stuck, or a result did not verify */
    EXIT_INTERRUPTED = 130, /* SIGINT or SIGTERM; what was done is kept */
} ExitCode;

/* What a verb can write beside its report (an option for anything else is refused, not ignored),
 * whether it chooses the fidelity by itself, and whether it can run on several threads. */
typedef enum {
    VERB_WAVEFORM = 1 << 0, /* --vcd */
    VERB_TIMELINE = 1 << 1, /* --perfetto */
    VERB_FIDELITY = 1 << 2, /* --fidelity auto is the default; with VERB_FLOWS */
    VERB_CORES = 1 << 3,    /* --cores: it can use several */
    VERB_FLOWS = 1 << 4,    /* --fidelity: it knows others than packet */
    VERB_NO_PAGE = 1 << 5,  /* no --html and no --format: it has no report */
    VERB_STATS = 1 << 6,    /* --stats */
    VERB_MONITOR = 1 << 7,  /* --monitor: it runs long enough to be looked at */
    VERB_SETTINGS = 1 << 8, /* --format: also files by which other programs are told what to do */
} VerbFlags;

typedef struct {
    const char *name;  /* "coll" */
    const char *usage; /* what stands behind the name: "OP [-s SYSTEM] ..." */
    const char *text;  /* one line for the list of verbs */
    VerbFlags flags;
    const char *no_views; /* why it has not all of --vcd, --perfetto and --html: "it simulates nothing" */
    /* argv[0] is the verb's name; both may be changed. The verb prints its results itself; on
     * failure it returns EXIT_USER or EXIT_WRONG and sets `error`, which main prints behind the
     * verb's name. A verb whose report says what is wrong may return EXIT_WRONG without an error. */
    ExitCode (*run)(int argc, char **argv, GError **error);
} Verb;

#define VERB(name) extern const Verb verb_##name;
#include "cli/verb/verbs.h"
#undef VERB

/* run.c: argv[0] is the verb's name. Its error is printed. */
ExitCode verb_run(const Verb *verb, int argc, char **argv);
ExitCode verb_flush(ExitCode code); /* what is printed so far; another code, if that could not be written */

#define CLI_ERROR (cli_error_quark())
GQuark cli_error_quark(void);
typedef enum { CLI_ERROR_USAGE, CLI_ERROR_FILE, CLI_ERROR_STUCK } CliError;

#endif
