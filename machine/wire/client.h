/* A client's side of the wire: an Engine whose requests are answered by the machine's owner.
 *
 *     Engine *engine = wire_connect("FANOUT_OWNER's value", &error);
 *     engine_call(engine, &request, &reply);
 *
 * What a request points at in the client is sent along: a kernel's image is uploaded at its first launch, as the texts
 * of its module; a descriptor goes with memory, objects and events that have one. Functions of the host that a stream
 * calls are run by a thread of the client, one after another. What kernels print comes with the next answer.
 * After fork() the child is no client: its connections are closed. */
#ifndef MACHINE_WIRE_CLIENT_H
#define MACHINE_WIRE_CLIENT_H

#include "machine/engine/engine.h"
#include "machine/wire/wire.h"

#define WIRE_ERROR (wire_error_quark())
GQuark wire_error_quark(void);
typedef enum { WIRE_ERROR_GONE, WIRE_ERROR_REFUSED } WireErrorCode;

/* GError: WIRE_ERROR_GONE: no owner listens there; WIRE_ERROR_REFUSED: it is another build's or another user's. The
 * engine is never freed: threads may still wait in it. */
Engine *wire_connect(const char *name, GError **error);
/* In the child of a fork: closes what the parent has with its owner. */
void wire_close_after_fork(Engine *engine);
/* Signals that are to end the process: *signalled (atomic) gets the number, wire_wake() (safe in a signal handler) has
 * on_signal called on the thread of the client that serves its owner. */
void wire_on_signal(Engine *engine, const gint *signalled, void (*on_signal)(int number));
void wire_wake(Engine *engine);
/* The page of the machine; NULL: this engine is no client's. */
const MachinePage *wire_page(const Engine *engine);
/* What this process adds to the report of the job: once, before it ends; `why` as in the report. */
void wire_leave(Engine *engine, const void *part, gsize bytes);

/* A connection to the owner: >= 0. Used by what is preloaded, too. */
int wire_dial(const char *name, const WireHello *hello, WireWelcome *welcome, int *page_fd);
/* What launchers say: RANK, OMPI_COMM_WORLD_RANK, PMI_RANK, PMIX_RANK, SLURM_PROCID; -1: none does. */
gint32 wire_rank(void);
/* The same for a thread of this process. */
void wire_introduce(WireHello *hello, WireRole role, gboolean driver);

#endif
