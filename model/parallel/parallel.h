/* The GPUs and the switches of a fabric as domains of their own (sim/engine/domain.h), which run on several cores.
 *
 * Domain 0 has the GPUs: the sending ends of up links and the far ends of down links. Each switch is a domain, with the
 * other ends of its links, where switches meet each other only through GPUs; switches that trunks join are one domain,
 * all together. Time is cut into windows of one flight time (of a link, or of a trunk that is shorter), for what one
 * domain does in a window reaches another one no earlier than in the next (conservative lookahead). What crosses is a
 * message: a packet that will arrive, or credits that go back. Messages of a window wait in a mailbox, which the other
 * side empties as the next window begins. Ports that decide lazily stand in a list of deferred ports and make their
 * decisions at the end of each window. Results are the same bytes as with one domain; see the tests in
 * tests/model/test_domains.c. */
#ifndef MODEL_PARALLEL_PARALLEL_H
#define MODEL_PARALLEL_PARALLEL_H

#include "model/shared/fabric.h"

typedef struct Parallel Parallel;
struct Switch;
struct Link;

/* GPUs and switches of a fabric that is about to be built become domains: fabric->parallel is set. GError: why they
 * cannot. */
gboolean parallel_split(Fabric *fabric, GError **error);
/* Once it is built: whether its faults allow for it. */
gboolean parallel_check(const Fabric *fabric, GError **error);
void parallel_free(Parallel *parallel); /* after the last run */
/* Domains of switches; and of a switch the clock, which its links have, too, and the pool of data slots. */
guint32 parallel_n(const Parallel *parallel);
Sim *parallel_sim(const Parallel *parallel, guint32 sw);
DataPool *parallel_data(const Parallel *parallel, guint32 sw);
/* Two links of a switch become the boundary of its domain; their ports have been attached to the fast engine. */
void parallel_take(Parallel *parallel, guint32 sw, struct Link *up, struct Link *down);
/* A trunk stays within the switches' domain; but its port frees what GPUs wait for, and decides as a window ends. */
void parallel_take_trunk(Parallel *parallel, struct Link *trunk);
void parallel_detach(struct Link *link);
/* Data slots on their way from the switches to the GPUs. */
guint32 parallel_slots(const Parallel *parallel);

#endif
