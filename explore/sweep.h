/* Runs the points of a sweep that have no result yet, several at a time, and stores what they give. */
#ifndef EXPLORE_SWEEP_H
#define EXPLORE_SWEEP_H

#include "explore/hub.h"
#include "explore/store.h"
#include "explore/worker.h"

typedef struct {
    const char *program; /* the path of the `fanout` command */
    WorkerMain main;     /* what it does, for points in copies of this process (worker_start); NULL: in new ones */
    guint jobs;          /* points at a time in this process */
    Hub *hub;            /* other ranks, each of which runs one at a time; NULL: there are none */
    /* Called whenever a point is done, and at the start: how many of at most how many are. */
    void (*progress)(guint64 done, guint64 most, guint64 bad, gpointer user);
    gpointer user;
} SweepRun;

typedef enum {
    SWEEP_COMPLETE,
    SWEEP_INTERRUPTED, /* by SIGINT or SIGTERM; what was done is stored */
    SWEEP_ERROR,       /* `error` is set; what was done before is stored */
} SweepEnd;

SweepEnd sweep_run(const SweepSpec *spec, Store *store, const SweepRun *run, GError **error);

#endif
