/* What the files of the monitor share: the state that the verb writes and the server reads. */
#ifndef CLI_LIVE_MONITOR_INTERNAL_H
#define CLI_LIVE_MONITOR_INTERNAL_H

#include <pthread.h>

#include "cli/live/monitor/monitor.h"

/* One simulation as the server has seen it. */
typedef struct {
    WatchView view, base; /* base: an earlier one of the same run, which rates are over */
    gint64 at_us, base_us;
    gboolean known, based;
} MonitorSeen;

struct Monitor {
    char *verb, *command;
    gint64 began_us;
    gboolean may_stop;
    gint stopping;        /* atomic */
    pthread_mutex_t lock; /* of the next members */
    char *step, *note;
    guint64 begun, done, total, share_done, share_all;
    WatchPage *pages;
    guint n_pages;
    pthread_mutex_t report_lock; /* of the next ones: held while a report is made, under the verb's own lock */
    MonitorReport report;
    void *report_user;
    /* the server's thread alone */
    MonitorSeen *seen; /* MONITOR_PAGES */
    WatchPage *own;    /* MONITOR_PAGES, shared memory */
    struct MonitorServer *server;
};

/* status.c, by the server's thread: asks the simulations, and says all as JSON. */
GString *monitor_status(Monitor *monitor);

/* server.c */
struct MonitorServer *monitor_server_start(Monitor *monitor, const Options *options, guint16 *port, GError **error);
void monitor_server_stop(struct MonitorServer *server);

#endif
