/* What a run tells while it goes on: `--monitor`.
 *
 * One page is shared by the run and the one who looks, who may be another thread or another process (the page is then
 * shared memory: it has no pointers). Who looks asks, and the run answers at its next safe point:
 *
 *     watch_ask(page);
 *     ... wait a little ...
 *     if (watch_answered(page))
 *         ... page->view is the asker's until it asks again ...
 *
 * Between the question and the answer the view is the run's alone, after it the asker's alone: so no lock is needed,
 * and a run that nobody asks does no more than compare two numbers every few thousand events. The run is the one it
 * would be without. */
#ifndef OBSERVE_SERIES_WATCH_H
#define OBSERVE_SERIES_WATCH_H

#include <glib.h>

#include "sim/engine/simtime.h"

struct Fabric;

#define WATCH_NAME 96
#define WATCH_TOP 8
#define WATCH_LEAST_PS (100 * PS_PER_NS) /* from the beginning to the first look, and at least between looks */

typedef struct {
    char where[WATCH_NAME]; /* "gpu0.link3.up" */
    guint64 packets;
} WatchQueue;

/* Counters are of this run so far; levels are as they are now, summed over links, ports and GPUs. */
typedef struct {
    char run[2 * WATCH_NAME]; /* "all_reduce 1M nvls" */
    guint64 number;           /* of the run: another one counts from 0 again */
    gboolean over;            /* it has ended */
    SimTime now_ps;
    guint64 events;
    guint64 crossings;       /* packets that links have carried */
    guint64 requests, bytes; /* answered: requests to other GPUs and multicast objects, and what they moved */
    guint64 flits;           /* on the links of GPUs, both ways */
    guint64 queued, outstanding, multicast_tags, reduction_tags, reduction_bytes;
    guint64 credit_stalls, tag_stalls, buffer_stalls, round_stalls;
    guint n_top;
    WatchQueue top[WATCH_TOP]; /* the longest queues, the longest first */
    char waits[4096];          /* who waits for what: sim_waiters_text() */
} WatchView;

typedef struct {
    gint asked, answered; /* atomic */
    guint64 runs;         /* of the runs alone: how many there have been */
    WatchView view;
} WatchPage;

/* One asker at a time. Asking again before the answer changes nothing. */
void watch_ask(WatchPage *page);
gboolean watch_answered(WatchPage *page);

/* ---- for recording.c: one run */
typedef struct Watch Watch;
/* page: zeros at first, and longer there than the run. */
Watch *watch_new(WatchPage *page, struct Fabric *fabric, const char *run, SimTime begin_ps);
/* What an observer does at at_ps; returns when it looks next. */
SimTime watch_look(Watch *watch, SimTime at_ps);
void watch_free(Watch *watch); /* answers a last time, where it was asked. NULL is none */

#endif
