/* Presets: the systems that come with Fanout, as INI texts compiled into it. Each value carries where it
 * comes from ("# source:", "# calibrated:", "# assumed"). */
#ifndef MODEL_PRESETS_PRESET_H
#define MODEL_PRESETS_PRESET_H

#include "model/fabric/fabric.h"
#include "sim/param/param.h"

/* What is simulated where no system is named. */
#define PRESET_DEFAULT "dgx-h100"

/* Names in alphabetical order; free with g_strfreev. */
char **preset_names(void);
/* The text of a preset (caller frees), or NULL with an error that lists the names and the nearest one. */
char *preset_text(const char *name, GError **error);
/* Loads a preset by name, or an INI file when the name has a slash or ends in ".ini", into the set (whose
 * rows are known); afterwards every row has a value. "inherits = NAME" under [system] loads that system first, a preset
 * or a file (its path is meant from the folder of the file that names it), so that a file states only what differs;
 * parents may have parents. Errors: what param_load_text() refuses, a parent that is unknown or goes round in a circle,
 * a row that got no value. */
gboolean preset_load(ParamSet *set, const char *name, GError **error);

#endif
