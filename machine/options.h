/* The options of a program on a simulated machine, as `fanout exec` puts them into the environment: FANOUT_SYSTEM,
 * FANOUT_CONFIG, FANOUT_SET (one assignment a line), FANOUT_SEED, FANOUT_DATA, FANOUT_ENGINE, FANOUT_CALENDAR,
 * FANOUT_FIDELITY, FANOUT_PERFETTO, FANOUT_VCD, FANOUT_STATS, FANOUT_STATS_INTERVAL_PS, FANOUT_HTML, FANOUT_WHERE,
 * FANOUT_PTX_TRACE. The driver reads them in a program alone, and the owner of a machine for its job. */
#ifndef MACHINE_OPTIONS_H
#define MACHINE_OPTIONS_H

#include "machine/spec.h"
#include "machine/engine/engine.h"

/* A variable that is set and not empty, or the other text. */
const char *options_env(const char *name, const char *otherwise);
/* The system and its parameters. *system is to be freed; params owns the strings of both specs. GError: as of
 * cuda_spec_load(). */
gboolean options_load(ParamSet *params, CudaSpec *spec, FabricSpec *fabric, char **system, GError **error);
/* What an engine is made of, without its log, ordinals, gate and watchers. fabric must outlive the engine. */
EngineSpec options_engine(const CudaSpec *spec, const FabricSpec *fabric);
/* Every allocation takes descriptors: as many as this process may have. */
void options_raise_descriptors(void);

#endif
