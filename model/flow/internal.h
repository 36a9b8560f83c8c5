/* What rates.c and fill.c share. */
#ifndef MODEL_FLOW_INTERNAL_H
#define MODEL_FLOW_INTERNAL_H

#include "model/flow/rates.h"

struct FlowClass {
    FlowUse *use;
    guint32 *place;         /* of each use, among its resource's users, while flows are under way */
    guint32 n, first, last; /* those that queue are among first to last - 1 */
    guint32 turns;          /* the one that takes turns; n: none */
    guint32 stopped;        /* while solving: the resource that holds it up */
    guint64 limit;
    guint32 weight;
    guint32 grows;    /* while solving: with this weight, */
    guint64 most;     /* and to this level, that of its limit */
    guint64 rate;     /* of each flow, lines a second */
    guint64 served;   /* to each flow, since the class was last idle */
    FlowItem *head;   /* by target */
    guint32 count;    /* flows under way */
    guint32 position; /* in net->active */
    gboolean frozen;  /* while solving */
};

/* A class, and which of its uses. */
typedef struct {
    FlowClass *class;
    guint32 use;
} FlowUser;

typedef struct {
    guint64 capacity;
    guint64 left, load; /* while solving: what is free, and what growing flows take for each step of the level */
    guint64 full;       /* and at which level that is all, or less */
    GArray *users;      /* FlowUser: of active classes */
    guint32 position;   /* in net->used, if there are any */
    guint32 held;       /* of these, that are held up by nothing but what is full here, */
    guint32 queues;     /* and that queue here */
} FlowResource;

/* While solving: who may hold the level up next. */
typedef struct {
    guint64 level;
    guint32 number;
} FlowNext;

struct FlowNet {
    Sim *sim;
    Event event;   /* the next flow's end, or now: something changed */
    SimTime at_ps; /* to which the classes are served */
    FlowShare share;
    SimTime (*solved)(gpointer user);
    gpointer share_user;
    FlowResource *resource;
    guint32 resources;
    GHashTable *classes;
    GPtrArray *active;
    GPtrArray *passed; /* FlowItem: at this event */
    gboolean changed;  /* flows, since rates were solved */
    SimTime again_ps;  /* when shares change by themselves */
    GArray *used;      /* guint32: resources that have users */
    GArray *by_full;   /* FlowNext: a heap of resources */
};

/* Rates of all active classes. */
void flow_solve(FlowNet *net);

#endif
