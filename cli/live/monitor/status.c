/* /status.json: what the verb has told and what its simulations answer. docs/monitor.md has the fields. */
#include <math.h>
#include <string.h>

#include "cli/live/monitor/internal.h"
#include "sim/host_clock.h"
#include "sim/report/json.h"

#define STATUS_WAIT_US 100000 /* for simulations to answer; those that do not are at something else */
#define STATUS_RATE_US 400000 /* rates are over at least that long */

/* ---- JSON */

static void status_text(yajl_gen gen, const char *key, const char *text)
{
    report_json_string(gen, key);
    if (text)
        report_json_string(gen, text);
    else
        yajl_gen_null(gen);
}

static void status_u64(yajl_gen gen, const char *key, guint64 value)
{
    report_json_string(gen, key);
    yajl_gen_integer(gen, (long long)MIN(value, (guint64)G_MAXINT64));
}

static void status_flag(yajl_gen gen, const char *key, gboolean value)
{
    report_json_string(gen, key);
    yajl_gen_bool(gen, value);
}

static void status_number(yajl_gen gen, const char *key, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    report_json_string(gen, key);
    if (!isfinite(value)) {
        yajl_gen_null(gen);
        return;
    }
    g_ascii_formatd(text, sizeof text, "%.6g", value);
    yajl_gen_number(gen, text, strlen(text));
}

/* ---- simulations */

/* An answer may come from another process, which may write there what it likes. */
static void status_take(MonitorSeen *seen, const WatchPage *page, gint64 now_us)
{
    const WatchView before = seen->view;
    const gboolean same = seen->known && before.number == page->view.number;
    seen->view = page->view;
    WatchView *view = &seen->view;
    view->run[sizeof view->run - 1] = view->waits[sizeof view->waits - 1] = '\0';
    view->n_top = MIN(view->n_top, WATCH_TOP);
    for (guint i = 0; i < view->n_top; i++)
        view->top[i].where[sizeof view->top[i].where - 1] = '\0';
    if (!same)
        seen->based = FALSE;
    else if (!seen->based || seen->at_us - seen->base_us >= STATUS_RATE_US) {
        seen->base = before;
        seen->base_us = seen->at_us;
        seen->based = TRUE;
    }
    seen->at_us = now_us;
    seen->known = TRUE;
}

/* Asks all that have run at all, and waits for a moment. */
static void status_ask(MonitorSeen *all, WatchPage *pages, guint n)
{
    gboolean asked[MONITOR_PAGES] = {FALSE};
    guint open = 0;
    for (guint i = 0; i < n; i++) {
        asked[i] = TRUE;
        watch_ask(&pages[i]);
    }
    const gint64 until_us = host_clock_us() + STATUS_WAIT_US;
    do {
        open = 0;
        for (guint i = 0; i < n; i++) {
            if (!asked[i])
                continue;
            if (watch_answered(&pages[i])) {
                status_take(&all[i], &pages[i], host_clock_us());
                asked[i] = FALSE;
            } else if (all[i].known || i == 0) {
                open++; /* one that never answered is not waited for */
            }
        }
        if (open)
            g_usleep(500);
    } while (open && host_clock_us() < until_us);
}

static double status_rate(const MonitorSeen *seen, guint64 now, guint64 then)
{
    if (!seen->based || seen->at_us <= seen->base_us || now < then)
        return NAN;
    return (double)(now - then) * 1e6 / (double)(seen->at_us - seen->base_us);
}

static void status_rates(yajl_gen gen, const MonitorSeen *seen)
{
    const WatchView *now = &seen->view, *then = &seen->base;
    report_json_string(gen, "rates");
    yajl_gen_map_open(gen);
    status_number(gen, "simulated_ns_per_s", status_rate(seen, now->now_ps, then->now_ps) / (double)PS_PER_NS);
    status_number(gen, "events_per_s", status_rate(seen, now->events, then->events));
    status_number(gen, "packets_per_s", status_rate(seen, now->crossings, then->crossings));
    status_number(gen, "requests_per_s", status_rate(seen, now->requests, then->requests));
    /* in simulated time: bytes a nanosecond are GB/s */
    const double passed_ns = seen->based && now->now_ps > then->now_ps
                                 ? (double)(now->now_ps - then->now_ps) / (double)PS_PER_NS
                                 : NAN;
    status_number(gen, "simulated_GBps", (double)(now->bytes - then->bytes) / passed_ns);
    yajl_gen_map_close(gen);
}

/* "\n  gpu0 waits for ...\n  and 3 more" as a list. */
static void status_waits(yajl_gen gen, const char *waits)
{
    g_autofree char *valid = g_utf8_make_valid(waits, -1);
    g_auto(GStrv) lines = g_strsplit(valid, "\n", 0);
    report_json_string(gen, "waits");
    yajl_gen_array_open(gen);
    for (char **line = lines; *line; line++)
        if (*g_strstrip(*line))
            report_json_string(gen, *line);
    yajl_gen_array_close(gen);
}

static void status_run(yajl_gen gen, const MonitorSeen *seen, gint64 now_us)
{
    const WatchView *view = &seen->view;
    g_autofree char *run = g_utf8_make_valid(view->run, -1);
    yajl_gen_map_open(gen);
    status_text(gen, "run", run);
    status_u64(gen, "number", view->number);
    status_flag(gen, "over", view->over);
    status_number(gen, "age_s", (double)(now_us - seen->at_us) * 1e-6);
    report_json_string(gen, "simulated_ns");
    g_autofree char *at = g_strdup_printf("%" G_GUINT64_FORMAT ".%03" G_GUINT64_FORMAT, view->now_ps / PS_PER_NS,
                                          view->now_ps % PS_PER_NS);
    yajl_gen_number(gen, at, strlen(at));
    status_u64(gen, "events", view->events);
    status_u64(gen, "packets", view->crossings);
    status_u64(gen, "requests", view->requests);
    status_u64(gen, "bytes", view->bytes);
    status_rates(gen, seen);
    status_u64(gen, "queued_packets", view->queued);
    status_u64(gen, "outstanding_requests", view->outstanding);
    status_u64(gen, "multicast_tags", view->multicast_tags);
    status_u64(gen, "reduction_tags", view->reduction_tags);
    status_u64(gen, "reduction_bytes", view->reduction_bytes);
    status_u64(gen, "credit_stalls", view->credit_stalls);
    status_u64(gen, "tag_stalls", view->tag_stalls);
    status_u64(gen, "buffer_stalls", view->buffer_stalls);
    status_u64(gen, "round_stalls", view->round_stalls);
    report_json_string(gen, "longest_queues");
    yajl_gen_array_open(gen);
    for (guint i = 0; i < view->n_top; i++) {
        g_autofree char *where = g_utf8_make_valid(view->top[i].where, -1);
        yajl_gen_map_open(gen);
        status_text(gen, "link", where);
        status_u64(gen, "packets", view->top[i].packets);
        yajl_gen_map_close(gen);
    }
    yajl_gen_array_close(gen);
    status_waits(gen, view->waits);
    yajl_gen_map_close(gen);
}

/* ---- all of it; the monitor's lock is held */

static void status_progress(yajl_gen gen, const Monitor *monitor)
{
    report_json_string(gen, "progress");
    yajl_gen_map_open(gen);
    status_text(gen, "step", monitor->step);
    status_text(gen, "note", monitor->note && *monitor->note ? monitor->note : NULL);
    status_u64(gen, "begun", monitor->begun);
    status_u64(gen, "done", monitor->done);
    report_json_string(gen, "total");
    if (monitor->total)
        yajl_gen_integer(gen, (long long)monitor->total);
    else
        yajl_gen_null(gen);
    status_number(gen, "share", monitor->share_all ? (double)monitor->share_done / (double)monitor->share_all : NAN);
    yajl_gen_map_close(gen);
}

GString *monitor_status(Monitor *monitor)
{
    GString *out = g_string_new(NULL);
    yajl_gen gen = yajl_gen_alloc(NULL);
    yajl_gen_config(gen, yajl_gen_beautify, 1);
    pthread_mutex_lock(&monitor->report_lock);
    const gboolean rows = monitor->report != NULL;
    pthread_mutex_unlock(&monitor->report_lock);
    pthread_mutex_lock(&monitor->lock);
    WatchPage *pages = monitor->pages;
    const guint n = monitor->n_pages;
    pthread_mutex_unlock(&monitor->lock);
    status_ask(monitor->seen, pages, n);
    const gint64 now_us = host_clock_us();
    pthread_mutex_lock(&monitor->lock);
    yajl_gen_map_open(gen);
    status_text(gen, "schema", "fanout-monitor/1");
    status_text(gen, "verb", monitor->verb);
    status_text(gen, "command", monitor->command);
    status_number(gen, "running_s", (double)(now_us - monitor->began_us) * 1e-6);
    status_flag(gen, "may_stop", monitor->may_stop);
    status_flag(gen, "has_rows", rows);
    status_flag(gen, "stopping", g_atomic_int_get(&monitor->stopping) != 0);
    status_progress(gen, monitor);
    report_json_string(gen, "runs");
    yajl_gen_array_open(gen);
    for (guint i = 0; i < n; i++)
        if (monitor->seen[i].known)
            status_run(gen, &monitor->seen[i], now_us);
    yajl_gen_array_close(gen);
    yajl_gen_map_close(gen);
    pthread_mutex_unlock(&monitor->lock);
    report_json_end(gen, out);
    return out;
}
