/* One simulation of a verb: engine, log and fabric, opened and closed together. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/options.h"
#include "cli/system.h"
#include "model/fabric/fabric.h"
#include "sim/log.h"

typedef struct {
    Sim *sim;
    Log *log;
    Fabric *fabric;
} Run;

/* data_bytes: the simulated memory that the workload touches, over all
 * GPUs: `--data auto` keeps the bytes when they fit --max-memory. Whether they are kept:
 * run->fabric->keep_bytes.
 * With --vcd the reference engine runs it, and all that the fabric can show is traced.
 * GError: a log that is no log, a VCD that cannot be written, an impossible
 * system. Nothing to close after FALSE. */
gboolean run_open(Run *run, const System *system, const Options *options, guint64 data_bytes, GError **error);
/* Whether it would keep the bytes. */
gboolean run_keeps(const Options *options, guint64 data_bytes);
void run_close(Run *run);

#endif
