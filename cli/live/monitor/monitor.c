/* See monitor.h: what the verb tells. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "cli/live/monitor/internal.h"
#include "sim/host_clock.h"

static void monitor_free(Monitor *monitor)
{
    pthread_mutex_destroy(&monitor->lock);
    pthread_mutex_destroy(&monitor->report_lock);
    if (monitor->own)
        munmap(monitor->own, MONITOR_PAGES * sizeof *monitor->own);
    g_free(monitor->seen);
    g_free(monitor->verb);
    g_free(monitor->command);
    g_free(monitor->step);
    g_free(monitor->note);
    g_free(monitor);
}

gboolean monitor_open(Options *options, GError **error)
{
    guint16 port = options->monitor_port;
    if (!options->monitored)
        return TRUE;
    Monitor *monitor = g_new0(Monitor, 1);
    pthread_mutex_init(&monitor->lock, NULL);
    pthread_mutex_init(&monitor->report_lock, NULL);
    g_auto(GStrv) words = g_strsplit(options->command, " ", 3); /* "fanout", the verb */
    monitor->verb = g_strdup(words[1]);
    monitor->command = g_strdup(options->command);
    monitor->may_stop = options->monitor_stop;
    monitor->began_us = host_clock_us();
    monitor->seen = g_new0(MonitorSeen, MONITOR_PAGES);
    const int flags = MAP_SHARED | MAP_ANONYMOUS;
    void *own = mmap(NULL, MONITOR_PAGES * sizeof(WatchPage), PROT_READ | PROT_WRITE, flags, -1, 0);
    monitor->own = own != MAP_FAILED ? own : NULL;
    if (!monitor->own)
        g_set_error(error, CLI_ERROR, CLI_ERROR_FILE, "--monitor: no memory");
    monitor->pages = monitor->own;
    monitor->n_pages = MONITOR_PAGES;
    if (monitor->own)
        monitor->server = monitor_server_start(monitor, options, &port, error);
    if (!monitor->server) {
        monitor_free(monitor);
        return FALSE;
    }
    fprintf(stderr, "fanout: watch this run at http://%s:%u/%s\n", options->monitor_ipv6 ? "[::1]" : "127.0.0.1", port,
            monitor->may_stop ? ", and end it there" : "");
    options->monitor = monitor;
    return TRUE;
}

void monitor_close(Options *options)
{
    if (!options->monitor)
        return;
    monitor_server_stop(options->monitor->server);
    monitor_free(options->monitor);
    options->monitor = NULL;
}

WatchPage *monitor_page(Monitor *monitor, guint i) { return monitor && i < MONITOR_PAGES ? &monitor->own[i] : NULL; }

void monitor_show(Monitor *monitor, WatchPage *pages, guint n)
{
    if (!monitor)
        return;
    pthread_mutex_lock(&monitor->lock);
    monitor->pages = pages;
    monitor->n_pages = MIN(n, MONITOR_PAGES);
    pthread_mutex_unlock(&monitor->lock);
}

static void monitor_set(char **to, const char *text)
{
    g_free(*to);
    *to = g_utf8_make_valid(text, -1);
}

void monitor_step(Monitor *monitor, guint64 begun, guint64 total, const char *text)
{
    if (!monitor)
        return;
    pthread_mutex_lock(&monitor->lock);
    monitor->begun = begun;
    monitor->total = total;
    monitor->share_done = monitor->share_all = 0;
    monitor_set(&monitor->step, text);
    g_clear_pointer(&monitor->note, g_free);
    pthread_mutex_unlock(&monitor->lock);
}

void monitor_note(Monitor *monitor, const char *text)
{
    if (!monitor)
        return;
    pthread_mutex_lock(&monitor->lock);
    monitor_set(&monitor->note, text);
    pthread_mutex_unlock(&monitor->lock);
}

void monitor_share(Monitor *monitor, guint64 done, guint64 all)
{
    if (!monitor)
        return;
    pthread_mutex_lock(&monitor->lock);
    monitor->share_done = done;
    monitor->share_all = all;
    pthread_mutex_unlock(&monitor->lock);
}

void monitor_done(Monitor *monitor, guint64 done)
{
    if (!monitor)
        return;
    pthread_mutex_lock(&monitor->lock);
    monitor->done = done;
    pthread_mutex_unlock(&monitor->lock);
}

void monitor_on_report(Monitor *monitor, MonitorReport report, void *user)
{
    if (!monitor)
        return;
    pthread_mutex_lock(&monitor->report_lock);
    monitor->report = report;
    monitor->report_user = user;
    pthread_mutex_unlock(&monitor->report_lock);
}
