/* `fanout advise --format nccl-tuner`, vllm and sglang: the best by size, of what a program can be told to run, in the
 * words in which it is told. */
#ifndef CLI_ADVISE_SETTINGS_H
#define CLI_ADVISE_SETTINGS_H

#include "cli/advise/args.h"
#include "cli/advise/simulate.h"

/* Prints the file to standard output. options->settings says which program's. */
ExitCode advise_settings(const AdviseRun *with, const AdvisePlan *plan, GError **error);

#endif
