/* What would help a collective: what held its fastest row up, and the settings that double it. Whether it helps, and by
 * how much, is not estimated here: the row is simulated again with those settings (verb.c). */
#ifndef CLI_COLL_WHAT_IF_H
#define CLI_COLL_WHAT_IF_H

#include "cli/coll/args.h"
#include "cli/system.h"

/* A second run is made unasked up to so many link crossings: half a second. */
#define WHAT_IF_CROSSINGS 300000u

/* What is doubled. */
typedef enum {
    WHAT_IF_NOTHING, /* nothing of the fabric held the row up, or flows do not say what did */
    WHAT_IF_TAGS,
    WHAT_IF_BUFFER,
    WHAT_IF_ROUNDS,
    WHAT_IF_LINKS,
} WhatIf;

/* Of a run that has ended: the wires where they were busy for `links_pct` of at least 85 % of the time; else tags or
 * the buffer, by what requests waited for more often; else rounds, for which many wait a little and which seldom
 * decide. */
#define WHAT_IF_WIRES_PCT 85
WhatIf what_if_of(const Fabric *fabric, double links_pct);

/* --set's words for twice of that, behind those of `options`. g_strfreev(). */
char **what_if_sets(WhatIf what, const System *system, const Options *options);
/* "twice the reduction buffer (switch.reduction_buffer_bytes=262144)". Caller frees. */
char *what_if_words(WhatIf what, const System *system);

/* The sentence: the row took before_ps, with twice of it after_ps. Caller frees. */
char *what_if_answer(const char *words, SimTime before_ps, SimTime after_ps);

#endif
