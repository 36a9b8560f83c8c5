/* Multicast objects of the front end, and logical endpoints: their shared state, and this process's view of it.
 *
 * What is common to all processes of a team (properties, members, binds, what the fabric manager
 * said) lives in one memfd page block with a robust lock; the shareable handle is a descriptor of
 * it. A change counts up `sequence`, on which waiters sleep (a futex, so that no lock is held while
 * waiting and a process that dies leaves none stuck). Each process mirrors members and binds into
 * its engine. Source of the rules: open-gpu-kernel-modules mem_multicast_fabric.c; API.md
 * section 2. */
#ifndef API_CUDA_MULTICAST_TEAM_H
#define API_CUDA_MULTICAST_TEAM_H

#include <pthread.h>

#include "api/cuda/memory/phys.h"

#define TEAM_MAGIC 0x31435453414c4e46ull
#define TEAM_MEMBERS_MAX CUDA_DEVICES_MAX
#define TEAM_HOLDERS_MAX 1024
#define TEAM_BINDS_MAX 65536

typedef struct {
    guint64 offset; /* in the object */
    guint64 bytes;
    guint64 memory_offset;
    guint64 identity[2]; /* of the memory */
    gint32 pid;          /* who bound it, and its descriptor of the memory */
    gint32 fd;
    guint32 gpu;
    guint32 serial; /* differs for every bind of an object */
} TeamBind;

typedef enum { TEAM_FORMING, TEAM_FAILED } TeamState;

typedef struct {
    guint64 magic;
    guint64 bytes;
    guint64 handle_types;
    guint32 n_devices; /* the team's size */
    gint32 creator_pid;
    pthread_mutex_t lock; /* process-shared, robust */
    gint sequence;        /* atomic; a futex: +1 at every change */
    guint32 closed;       /* the creator gave its reference back */
    guint32 state;        /* TeamState */
    guint32 error;        /* CUresult of a failed set-up, for good */
    guint32 n_members;
    guint32 n_holders;
    guint32 n_binds;
    guint32 serials;
    guint32 era;      /* of the fabric manager, when the object was made: MachinePage */
    guint32 tray;     /* the host that it was made on */
    guint32 kind;     /* EngineObjectKind */
    guint32 flags;    /* of an endpoint: CUlogicalEndpointFlag */
    guint64 ready_ps; /* on a machine with an owner: when the fabric manager will have answered; 0: not asked */
    guint16 member[TEAM_MEMBERS_MAX]; /* GPUs of the system, in order of addition */
    gint32 holder[TEAM_HOLDERS_MAX];  /* processes that hold the object */
    TeamBind bind[TEAM_BINDS_MAX];
} TeamPage;

typedef struct {
    guint32 serial;
    guint16 gpu;
    guint64 offset, bytes;
    Phys *phys; /* holds a reference */
} TeamMirror;

typedef struct Team {
    Engine *engine;
    TeamPage *page; /* any process of the team may write anything there: read it by team_members() and so on */
    guint64 bytes, handle_types; /* as the page had them when this process met it: they never change */
    guint32 n_devices;
    EngineObjectKind kind; /* the same */
    guint32 flags;         /* the same */
    gint32 creator_pid;
    gboolean locked, unlockable; /* the page's lock is held; it is broken, and gone past */
    guint64 identity[2];
    int fd;
    guint32 refs;           /* handles, mappings, waiting calls */
    guint64 creator_handle; /* 0: created by another process, or by import */
    guint64 handle;         /* this process's first, for diagnostics */
    gboolean imported;
    gboolean by_fabric;               /* imported by a fabric handle */
    guint32 object;                   /* the engine's number */
    gint seen;                        /* sequence of the page that the mirror shows */
    guint32 members_seen;             /* that the engine has, */
    guint16 member[TEAM_MEMBERS_MAX]; /* and which */
    GArray *mirror;                   /* TeamMirror */
    gboolean asked;                   /* the fabric manager was asked to set the team up */
    gboolean has_slot;                /* an entry of the multicast table */
    guint64 ready_ps;                 /* when it will have answered */
    guint64 asked_ps;                 /* when a query first wanted the answer; 0: none has */
} Team;

GHashTable *team_table_new(void);
CUresult team_new(Call *call, const CUmulticastObjectProp *prop, Team **team);
/* The same for an endpoint of that kind: of `gpu` alone, or of a team of prop->numDevices. */
CUresult team_new_endpoint(Call *call, const CUmulticastObjectProp *prop, EngineObjectKind kind, guint32 flags,
                           guint16 gpu, Team **team);
gboolean team_is_fd(int fd);
CUresult team_import(Call *call, int fd, Team **team);
/* The handle that diagnostics and the report name the object by: the first stays. */
void team_name(Call *call, Team *team, guint64 handle);
void team_ref(Team *team);
void team_unref(Call *call, Team *team);
gboolean team_held_elsewhere(Team *team); /* by another process that lives */
/* Ends teams that this process released but kept, with the memory that it bound, for other holders
 * who have released them since. No event tells it: called before memory and slots are counted. */
void team_sweep(Call *call);

/* Drops every bind of memory that the user has freed, with a diagnostic for each. */
void team_detach(Call *call, const Phys *phys);

void team_lock(Team *team);
void team_unlock(Team *team);                     /* after changes: team_changed first */
void team_changed(Team *team);                    /* page locked */
gboolean team_has(const Team *team, guint16 gpu); /* page locked */
guint32 team_members(const Team *team);           /* at most the team's size; page locked */
guint32 team_binds(const Team *team);             /* at most TEAM_BINDS_MAX; page locked */
void team_drop_bind(Team *team, guint32 i);       /* the last one takes its place; page locked */

/* Brings the engine's object up to the page: other processes' members and binds too. */
void team_sync(Call *call, Team *team);
gboolean team_mirrors(const Team *team, guint32 serial); /* whether the fabric has the bind of this number */
void team_sync_all(Call *call);
/* Another process that lives holds a multicast object or memory of this one. The record's lock is
 * free, or a process acts: then TRUE. */
gboolean team_others_live(void *cuda);

/* One more member, for good: no call gives the slot back. INVALID_VALUE: it is one, or the team is complete;
 * INVALID_DEVICE: it is of another clique. *complete: now, or before. */
CUresult team_add_member(Call *call, Team *team, guint16 gpu, gboolean *complete);
/* The members are all of one clique, or of more than the switches join (cuda.clique_check=later). */
gboolean team_is_one_clique(Call *call, Team *team);
/* Whether the endpoint is set up; never waits. The errors are those of team_wait_ready(), but for the time-out of the
 * watchdog; SYSTEM_NOT_READY: the manager has not answered for cuda.fm_timeout_us since it was first asked for. */
CUresult team_is_ready(Call *call, Team *team, gboolean *ready);

/* Waits, without any lock, until all devices were added and the fabric manager answered: SUCCESS,
 * or SYSTEM_NOT_READY (too slow), ILLEGAL_STATE (absent or broken), OUT_OF_MEMORY (table full), INVALID_DEVICE (members
 * of several cliques), LAUNCH_TIMEOUT when the watchdog ends the wait for members, and INVALID_VALUE when another
 * thread has released the handle by which the call names the team. The caller holds a reference of its own, and looks
 * again whether its handles are live. */
CUresult team_wait_ready(Call *call, Team *team, guint64 handle);
/* The fabric manager has lost the object by a restart: nothing more can be set up in it. */
gboolean team_is_lost(Call *call, const Team *team);
/* Asks the fabric manager once the team is complete; never waits. */
void team_ask_manager(Call *call, Team *team);

#endif
