/* What WebAssembly does not have, for code that asks what there is: benchmarks of the host itself, kinds of plots,
 * formats of traces, translations, and the page of a run that `--monitor` serves. */
#include <glib.h>
#include <time.h>

#include "cli/live/monitor/internal.h"
#include "cli/self/speed.h"
#include "cli/verb/verb.h"
#include "explore/plot.h"
#include "traces/format/write.h"

const SpeedBench speed_benches[] = {{NULL}};
const char *const plot_kinds[] = {NULL};
const char *const write_formats[] = {NULL};

const SpeedBench *speed_find(const char *name) { return g_str_equal(name, "speed") ? speed_benches : NULL; }

ExitCode speed_run(const Options *options, const char *name, guint runs, const char *record, GError **error)
{
    (void)options, (void)runs, (void)record;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "'%s' measures the host, which a page cannot", name);
    return EXIT_USER;
}

struct MonitorServer *monitor_server_start(Monitor *monitor, const Options *options, guint16 *port, GError **error)
{
    (void)monitor, (void)options, (void)port;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--monitor: a page serves no other");
    return NULL;
}

void monitor_server_stop(struct MonitorServer *server) { (void)server; }

gboolean write_trace(Trace *trace, const char *path, const char *format, GError **error)
{
    (void)trace, (void)format;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "'%s': a page writes no traces", path);
    return FALSE;
}

/* GLib's clocks stand in the file of its main loop, which is not built. */
static gint64 clock_us(clockid_t clock)
{
    struct timespec at = {0, 0};
    clock_gettime(clock, &at);
    return (gint64)at.tv_sec * 1000000 + at.tv_nsec / 1000;
}
gint64 g_get_real_time(void) { return clock_us(CLOCK_REALTIME); }
gint64 g_get_monotonic_time(void) { return clock_us(CLOCK_MONOTONIC); }
