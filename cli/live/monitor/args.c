/* What `--monitor` takes. */
#include <string.h>

#include "cli/live/monitor/monitor.h"

/* Only names and numbers of this machine: a page for others would need to know who they are. */
static const char *const loopback[] = {"127.0.0.1", "localhost", "[::1]", NULL};

static gboolean monitor_parse(Options *options, const char *address, GError **error)
{
    const char *colon = strrchr(address, ':');
    g_autofree char *host = colon ? g_strndup(address, (gsize)(colon - address)) : g_strdup(address);
    guint64 port;
    if (!colon || colon == address || !colon[1] || strcmp(host, "[:") == 0)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--monitor: '%s' is not ADDRESS:PORT, as 127.0.0.1:8080; port 0 "
                    "is one that is free",
                    address);
    else if (!g_strv_contains(loopback, host))
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--monitor: '%s' is not an address of this machine alone; write "
                    "127.0.0.1:%s, and look from elsewhere through ssh -L",
                    host, colon + 1);
    else if (options_parse_u64("--monitor: port", colon + 1, 0, 65535, &port, error)) {
        options->monitor_port = (guint16)port;
        options->monitor_ipv6 = *host == '[';
        options->monitored = TRUE;
        return TRUE;
    }
    return FALSE;
}

gboolean monitor_check(Options *options, const char *address, const Verb *verb, GError **error)
{
    if (!address && options->monitor_stop)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--monitor-stop: of which page? add --monitor 127.0.0.1:0");
    if (!address)
        return !options->monitor_stop;
    if (!(verb->flags & VERB_MONITOR)) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--monitor: %s is over before a page could be opened; coll, "
                    "bench, replay, exec, validate, sweep, table and advise can be watched",
                    verb->name);
        return FALSE;
    }
    return monitor_parse(options, address, error);
}
