/* See coll_views.h. */
#include "cli/coll/views.h"

#include "cli/live/samples.h"

gboolean coll_views_check(const Options *options, const CollSpec *spec, guint32 gpus, GError **error)
{
    if (coll_fidelity(gpus, spec) == COLL_PACKET)
        return TRUE;
    if (!samples_check(options, TRUE, error) || !samples_check_timeline(options, TRUE, error))
        return FALSE;
    if (options->data == DATA_FULL)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--data full: flows move no bytes; write --fidelity packet, or leave --data away");
    else if (options->cores > 1)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--cores: flows need no second core; write --fidelity packet, or leave --cores away");
    else
        return TRUE;
    return FALSE;
}

/* A waveform is of one simulation, of packets. */
gboolean coll_views_check_wave(const Options *options, const CollSpec *spec, guint32 gpus, guint n, GError **error)
{
    if (!options->vcd)
        return TRUE;
    if (n > 1)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--vcd: %u rows are %u simulations, and a waveform shows one: "
                    "give one size and one algorithm",
                    n, n);
    else if (spec->algo == COLL_BEST || spec->algo == COLL_UNICAST)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--vcd: %s tries several algorithms, and a waveform shows one: "
                    "name it with -a",
                    coll_algo_name(spec->algo));
    else if (coll_fidelity(gpus, spec) != COLL_PACKET)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--vcd: this row is simulated as flows, which have no queues to "
                    "show: write --fidelity packet, or give a smaller size");
    else if (options->cores > 1)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--vcd: a waveform is written by one core: leave --cores away");
    else
        return TRUE;
    return FALSE;
}
