/* `fanout fabric`: what is asked of the owner of a running machine from outside of the job, and by whom.
 *
 *     g_autoptr(GPtrArray) owners = control_owners();          // names of this user's machines
 *     WireControl asked = {.what = WIRE_CONTROL_MANAGER, .value = CUDA_FM_STOPPED};
 *     if (!control_ask(owners->pdata[0], &asked, &answer, &error)) ...
 *
 * A control connection is no client: it does not keep the job alive, and time does not wait for it. It may do what the
 * user may: owners take connections of their own user alone. */
#ifndef MACHINE_WIRE_CONTROL_H
#define MACHINE_WIRE_CONTROL_H

#include "machine/wire/wire.h"

typedef enum {
    WIRE_CONTROL_STATUS,
    WIRE_CONTROL_MANAGER,   /* value: CudaFmState that it is in now, but for "restarted" */
    WIRE_CONTROL_RESTART,   /* it loses what it knew, and runs */
    WIRE_CONTROL_DEGRADE,   /* key, part, value: for so many picoseconds, 0: for good */
    WIRE_CONTROL_GPU_RESET, /* value: the GPU */
    WIRE_CONTROL_PROCESSES, /* value: the GPU -> rows behind the answer: the processes that have contexts there */
} WireControlWhat;

typedef struct {
    WireHead head;
    guint32 what, unused; /* WireControlWhat */
    guint64 value;
    char key[32], part[96];
} WireControl;

typedef struct {
    WireHead head;
    guint32 refused;              /* 0, or 1: `why` says it */
    guint32 gpus;                 /* of the system */
    guint32 processes;            /* that use the driver and live */
    guint32 contexts;             /* of WIRE_CONTROL_GPU_RESET: how many it has ended */
    guint32 manager, manager_era; /* as in the page */
    guint32 behind;               /* GPUs that were not reset since the manager's restart */
    guint32 rows;                 /* WireProcess behind it */
    guint64 now_ps;
    char why[512];
} WireControlled;

typedef struct {
    gint32 pid;
    guint32 rank_known; /* 1: `rank` is what its launcher says */
    gint32 rank;
    guint32 unused;
    guint64 bytes; /* of the GPU's memory that it has taken */
} WireProcess;

/* ---- of the owner, on the engine's thread */
struct Server;
struct ServerConnection;
void control_begin(struct Server *server); /* the page, as the machine starts */
void control_take(struct ServerConnection *connection, const WireControl *asked, gssize n);

/* ---- of who asks */
/* Names of the machines of this user, by the process that owns them. g_ptr_array_unref. */
GPtrArray *control_owners(void);
/* GError (WIRE_ERROR of client.h): no owner listens there, another build does, or it refuses, and says why. *rows (may
 * be NULL): WireProcess, to be unref'd. */
gboolean control_ask(const char *name, const WireControl *asked, WireControlled *answer, GArray **rows, GError **error);

#endif
