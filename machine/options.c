/* See options.h. */
#include "machine/options.h"

#include <sys/resource.h>

const char *options_env(const char *name, const char *otherwise)
{
    const char *value = g_getenv(name);
    return value && value[0] != '\0' ? value : otherwise;
}

gboolean options_load(ParamSet *params, CudaSpec *spec, FabricSpec *fabric, char **system, GError **error)
{
    g_auto(GStrv) sets = g_strsplit(options_env("FANOUT_SET", ""), "\n", -1);

    *system = g_strdup(options_env("FANOUT_SYSTEM", "dgx-h100"));
    return cuda_spec_load(params, spec, fabric, *system, options_env("FANOUT_CONFIG", NULL), sets, error);
}

EngineSpec options_engine(const CudaSpec *spec, const FabricSpec *fabric)
{
    EngineSpec made = {
        .fabric = fabric,
        .seed = g_ascii_strtoull(options_env("FANOUT_SEED", "1"), NULL, 10),
        .keep_bytes = !g_str_equal(options_env("FANOUT_DATA", "auto"), "off"),
        .reference_engine = g_str_equal(options_env("FANOUT_ENGINE", "fast"), "reference"),
        .reference_calendar = g_str_equal(options_env("FANOUT_CALENDAR", "wheel"), "systemc"),
        .flow = g_str_equal(options_env("FANOUT_FIDELITY", "packet"), "flow"),
        .timeline = options_env("FANOUT_PERFETTO", NULL) != NULL,
        .vcd_path = options_env("FANOUT_VCD", NULL),
        .stats_path = options_env("FANOUT_STATS", NULL),
        .stats_interval_ps = g_ascii_strtoull(options_env("FANOUT_STATS_INTERVAL_PS", "1000000"), NULL, 10),
        .page = options_env("FANOUT_HTML", NULL) != NULL,
        .where = options_env("FANOUT_WHERE", NULL) != NULL,
        .ptx_trace = options_env("FANOUT_PTX_TRACE", NULL),
        .query_quantum_ps = spec->query_quantum_ns * PS_PER_NS,
        .rank_skew_ps = spec->rank_skew_us * PS_PER_US,
        .clique_gpus = (guint32)spec->clique_gpus,
        .sticky_faults = spec->sticky_faults,
        .watchdog_us = spec->watchdog_ms * 1000,
        .quiet_us = spec->quiet_ms * 1000,
    };

    made.flow = made.flow && !made.keep_bytes; /* flows move no bytes */
    return made;
}

void options_raise_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}
