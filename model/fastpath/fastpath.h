/* The fast engine: the same stages as the reference engine, under lazy evaluation and with scheduled arrivals. See
 * port.h for the two ideas, docs/fast-path.md for pictures and proofs. It includes the stages, and never the reverse.
 * */
#ifndef MODEL_FASTPATH_FASTPATH_H
#define MODEL_FASTPATH_FASTPATH_H

#include "model/fastpath/port.h"

struct Gpu;
struct Switch;

/* What the fast engine keeps of a switch: Switch.fast. */
typedef struct {
    struct FastEnd *free_ends; /* ends of requests (switch_port.c) that are not in use, */
    GPtrArray *ends;           /* and all of them */
    GPtrArray *queues;         /* McQueue of team t at link number k at t * links + k; NULL: not yet */
} FastSwitch;

/* HBM of a GPU (hbm.c): it is taken over, if it can be; a request that will ask it is pending; that one has asked. */
void fast_hbm_attach(struct Gpu *gpu);
void fast_hbm_expect(struct Gpu *gpu);
void fast_hbm_expect_no_more(struct Gpu *gpu);

/* Takes a port over, once its links are connected to their ends: the port of a GPU to a switch, and the egress port of
 * a switch. */
void fast_gpu_attach(struct Gpu *gpu, guint32 link);
void fast_switch_attach(struct Switch *sw, guint32 port);
/* Gives a link's port back, and what the engine keeps of a switch and a GPU. */
void fast_detach(Link *link);
void fast_switch_detach(struct Switch *sw);
void fast_gpu_detach(struct Gpu *gpu);
/* A program begins to poll memory of that GPU. */
void fast_gpu_on_polled(struct Gpu *gpu);

/* A packet is on the wire to the receiver of that link, and will arrive at at_ps. TRUE: the receiver has taken note and
 * needs no event; FALSE: it must arrive by one. */
gboolean fast_gpu_schedule(Link *down, Packet packet, SimTime at_ps);
gboolean fast_switch_schedule(Link *up, Packet packet, SimTime at_ps);

extern const LinkOps fast_gpu_ops, fast_switch_ops;

#endif
