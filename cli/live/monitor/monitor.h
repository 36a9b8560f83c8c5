/* A page that shows a run while it goes on: `--monitor 127.0.0.1:PORT`.
 *
 * A thread of libmicrohttpd answers browsers. What it shows of the verb (which row, of how many) the verb tells it;
 * what it shows of simulations it asks them for, through pages of observe/series/watch.h: nothing of a model is read by
 * another thread than its own. Only this machine is answered, and nothing can be changed, but that with
 * --monitor-stop a button ends the run as Ctrl-C does.
 *
 *     if (!monitor_open(&options, &error))     options.monitor stays NULL when it was not asked for,
 *         return EXIT_USER;                     which all other functions take
 *     samples.spec.watch = monitor_page(options.monitor, 0);
 *     ...
 *     monitor_close(&options);                  before options_clear() */
#ifndef CLI_LIVE_MONITOR_MONITOR_H
#define CLI_LIVE_MONITOR_MONITOR_H

#include "cli/options.h"
#include "observe/series/watch.h"

/* Loaded only where there is a monitor: with the libraries for TLS that it brings it would cost every command some
 * milliseconds. 12 is the ABI since 0.9.71, which configure asks for. */
#define MONITOR_LIBRARY "libmicrohttpd.so.12"
#define MONITOR_PAGES 64
#define MONITOR_STOPS 0x6d6f6e /* the value that SIGINT carries when the page ends the run */

/* args.c, for cli/options.c: whether the verb can be watched, and where: "127.0.0.1:8080", "localhost:0", "[::1]:0". */
gboolean monitor_check(Options *options, const char *address, const Verb *verb, GError **error);

/* Tells on standard error where the page is. GError: the port is in use, or this Fanout was built without
 * libmicrohttpd. */
gboolean monitor_open(Options *options, GError **error);
void monitor_close(Options *options);

/* Shared memory that forked processes inherit: page i is of the i-th simulation that runs at a time. NULL: there is no
 * monitor, or it has no such page. */
WatchPage *monitor_page(Monitor *monitor, guint i);
/* Shows n pages that stand elsewhere, in place of its own. */
void monitor_show(Monitor *monitor, WatchPage *pages, guint n);

/* The step that begins, the number of which is `begun`, of `total` (0: not known). */
void monitor_step(Monitor *monitor, guint64 begun, guint64 total, const char *text);
void monitor_note(Monitor *monitor, const char *text);           /* more about it; "": nothing */
void monitor_share(Monitor *monitor, guint64 done, guint64 all); /* how much of it is done; all 0: not known */
void monitor_done(Monitor *monitor, guint64 done);               /* so many steps are finished */
/* What gives the report so far as JSON, from another thread; NULL: there is none any more, and no call goes on. */
typedef GString *(*MonitorReport)(void *user);
void monitor_on_report(Monitor *monitor, MonitorReport report, void *user);

#endif
