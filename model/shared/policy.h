/* Policies: decisions of the fabric that can be exchanged by name, built in or from a shared object.
 *
 *     [policy]
 *     library = ./mine.so          a shared object that defines fo_policies; or none
 *     arbiter = oldest_first       a name, built in or the library's
 *
 * A policy is a function of what it is given and nothing else: no state of its own, no clock, no random numbers. Then
 * both engines, and any number of cores, give the same bytes. A library's table is the array `fo_policies`, which ends
 * with an entry without a name; an entry has the functions that it stands for, and can be named for each of them:
 *
 *     #include <fanout/policy.h>
 *     static unsigned responses_first(const FoPort *port) { (void)port; return FO_RESPONSES; }
 *     const FoPolicy fo_policies[] = {{FO_POLICY_VERSION, "responses_first", .arbitrate = responses_first}, {0}};
 *
 *     cc -shared -fPIC mine.c -o mine.so
 *
 * This header needs no other one of Fanout and is installed as fanout/policy.h. */
#ifndef FANOUT_POLICY_H
#define FANOUT_POLICY_H

#include <stdint.h>

#define FO_POLICY_VERSION 1u

/* The virtual channels of a link. */
enum { FO_REQUESTS, FO_RESPONSES };

/* A sending port at which packets of both channels wait. Index: a channel. */
typedef struct {
    unsigned last;         /* the channel that was served last, */
    unsigned run;          /* and how many packets of it in a row */
    uint64_t joined_ps[2]; /* when the first packet of each joined its queue, in ps of simulated time */
    unsigned flits[2];     /* its length, in flits of 16 B */
    unsigned queued[2];    /* packets that wait */
    unsigned weight[2];    /* [policy] request_weight, response_weight */
} FoPort;

typedef struct {
    unsigned version; /* FO_POLICY_VERSION */
    const char *name; /* as the INI names it; NULL: the end of the table */
    const char *text; /* one line for people, or NULL */
    /* [policy] arbiter: which channel goes next, FO_REQUESTS or FO_RESPONSES; only its last bit counts. One that lacks
     * credits is passed over. */
    unsigned (*arbitrate)(const FoPort *port);
    /* [policy] replication: which of a team's members, 0 to members - 1, a switch serves first when it replicates the
     * sequence-th request from its port `port`; the others follow in turn. Taken modulo members. */
    unsigned (*first_member)(unsigned port, unsigned members, uint64_t sequence);
    /* [policy] reduction: in which of the spines that reach all members, 0 to spines - 1, the requests of a team's link
     * number meet, where there are two levels of switches. Taken modulo spines; a spine that cannot take the team is
     * passed over. */
    unsigned (*root)(unsigned link, unsigned team, unsigned spines);
    /* [policy] hash: on which of a GPU's links, 0 to links - 1, a 256 B chunk of an address travels, the chunk's number
     * being address / 256. Taken modulo links. Every GPU gets the same answer for multicast addresses, as it must. */
    unsigned (*link)(uint64_t chunk, unsigned links);
} FoPolicy;

#ifdef __cplusplus
extern "C" {
#endif
extern const FoPolicy fo_policies[]; /* what a library defines */
#ifdef __cplusplus
}
#endif

#endif
