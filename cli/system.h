/* The system a verb simulates: a preset, changed by --config and --set. The one place where the
 * command line meets the sections of parameters. */
#ifndef CLI_SYSTEM_H
#define CLI_SYSTEM_H

#include "cli/options.h"
#include "model/fabric/fabric.h"
#include "model/presets/preset.h"
#include "sim/param/param.h"

#define SYSTEM_DEFAULT PRESET_DEFAULT

/* Filled in place by its parameter set: never copy one. */
typedef struct {
    char *name; /* "dgx-h100", or the path of an INI file */
    FabricSpec spec;
    ParamSet *params; /* over spec */
} System;

/* Loads `name` (NULL: options->system, or else SYSTEM_DEFAULT), then options->config, then each of
 * options->sets, in this order. Errors name file, line and key. Nothing to clear after FALSE. */
gboolean system_load(System *system, const char *name, const Options *options, GError **error);
void system_clear(System *system);

/* What tells a run from others in CSV: system (NULL: a column of the table says it), settings and seed. Settings are
 * the parameters that --config and --set changed, with their values, and `more`, options that change results. */
void system_describe_run(const System *system, const Options *options, const char *more, Report *report);
/* Facts about the system, and its parameters as a table that text leaves out. */
void system_describe(const System *system, Report *report);
void system_add_parameters(const System *system, Report *report, TableFlags flags);

#endif
