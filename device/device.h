/* Running device programs: launches, CTAs as processes, and the queues between a CTA's function and
 * its warps. The functions that programs call are in fanout/device.h (operations.c, loop.c).
 *
 * A launch happens on the engine's thread, from an event or between runs:
 *
 *     device_launch(fabric, gpu, vas, &kernel, on_done, user, &error);
 *
 * After sm.launch_ps the CTAs are placed on SMs in order; each runs as a SimProcess from its placement to
 * its return; the kernel is done sm.exit_ps after the last instruction of any warp and no earlier than
 * sm.exit_drain_ps after its last store is performed; on_done is then called from an event. */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include <glib.h>

#include "ptx/forms.h"
#include "device/calls.h"
#include "fanout/device.h"
#include "model/fabric/fabric.h"
#include "model/sm/loop.h"

typedef struct DeviceLaunch DeviceLaunch;
typedef void (*DeviceDone)(const DeviceLaunch *launch, void *user);

struct DeviceLaunch {
    Fabric *fabric;
    Gpu *gpu;
    Vas *vas;
    const char *name;
    FoProgram program;
    void *args; /* the launch's copy */
    guint32 ctas, threads;
    guint32 cluster;  /* CTAs that go to one GPC together */
    guint32 next_cta; /* the next one to create */
    guint32 done_ctas;
    gboolean waiting; /* a created CTA has no SM yet */
    gboolean placing;
    gboolean inside;                        /* device_launch_inside() */
    SimTime submitted_ps, start_ps, end_ps; /* start: first CTA placed */
    SimTime issued_ps;                      /* all warps have issued their last instruction, */
    SimTime drained_ps;                     /* and their stores are performed */
    gsize stack_bytes;
    GQueue alive;    /* FoCta.alive: its CTAs */
    GList under_way; /* in Fabric.launches */
    Event start, end;
    DeviceDone done;
    void *user;
};

/* Starts a kernel now. kernel->args is copied. GError (DEVICE_ERROR): an impossible grid. The launch is
 * freed after on_done (may be NULL) returned; until then it may be read. */
DeviceLaunch *device_launch(Fabric *fabric, guint16 gpu, Vas *vas, const FoKernel *kernel, DeviceDone done, void *user,
                            GError **error);
/* Frees all that is under way, in a simulation that was abandoned (sim_abandon()). */
void device_abandon(Fabric *fabric);
/* The same with so long from now to the first instruction instead of sm.launch_ps. */
DeviceLaunch *device_launch_after(Fabric *fabric, guint16 gpu, Vas *vas, const FoKernel *kernel, guint64 delay_ps,
                                  DeviceDone done, void *user, GError **error);
/* The same as a part of a kernel that runs already: it starts now, and ends with its last load and store. */
DeviceLaunch *device_launch_inside(Fabric *fabric, guint16 gpu, Vas *vas, const FoKernel *kernel, DeviceDone done,
                                   void *user, GError **error);
/* Of a launch that has not started: its CTAs go to SMs in clusters of so many (up to 8), each cluster to one GPC. */
void device_launch_cluster(DeviceLaunch *launch, guint32 cluster);

#define DEVICE_ERROR (device_error_quark())
GQuark device_error_quark(void);
typedef enum { DEVICE_ERROR_GRID } DeviceErrorCode;

/* From now on the bulk loops of this fabric's kernels are flows (model/flow/rates.h), for --fidelity flow; and back
 * to packets. Between runs only, with nothing under way. A timing-only fabric. */
void device_flow_begin(Fabric *fabric);
void device_flow_end(Fabric *fabric);

/* ---- inside */

/* Operations that a warp's queue holds before the function waits. Groups of warps that wait for each other only by
 * flags need the next turns of all: one turn of NCCL's NVLS with 32 heads is up to 70 operations of a warp. */
#define DEVICE_QUEUE_MAX 256u

/* What the warps of one fo_loop share. */
typedef struct {
    LoopSpec spec;
    guint32 refs;
    gboolean constant; /* no source: `fill` is stored */
    guint32 fill[4];
} DeviceLoopSpec;
void device_loop_spec_unref(DeviceLoopSpec *spec);

/* flow/loop_flow.c: the loop as one flow of its CTA, on its first warp; FALSE: packets it must be (an access
 * that is not allowed, or of a kind that flows do not have). */
gboolean device_push_flow(FoCta *cta, const DeviceLoopSpec *loop);

/* A warp's part of something that gives its operations one after the other (fo_ll, fo_exchange): the first field of a
 * struct of its own. next: FALSE when there are no more. */
typedef struct DeviceSource DeviceSource;
typedef struct {
    gboolean (*next)(DeviceSource *source, Warp *warp, Uop *uop);
    void (*free)(DeviceSource *source);
} DeviceSourceKind;
struct DeviceSource {
    const DeviceSourceKind *kind;
};

/* An operation that several warps of a CTA have alike, as barriers, is kept once. */
typedef struct {
    Uop uop; /* owns its lane_va */
    guint32 refs;
} DeviceUop;
void device_uop_unref(DeviceUop *shared);

/* One entry of a warp's queue: thousands of warps have several each at a time. */
typedef enum { DEVICE_UOP, DEVICE_LOOP, DEVICE_SOURCE } DeviceOpKind;
typedef struct {
    DeviceOpKind kind;
    union {
        DeviceUop *uop;
        DeviceLoopSpec *loop;
        DeviceSource *source;
    };
} DeviceOp;
RING_DEFINE(DeviceOpRing, device_op, DeviceOp)

typedef struct {
    DeviceOpRing ring;
    FoCta *cta;
    DeviceLoopSpec *spec; /* of the running loop */
    Loop *loop;
    DeviceSource *source; /* the one at hand */
    guint8 *scratch;      /* bytes of its registers; kept for the next one */
    guint32 scratch_regs;
} DeviceWarp;

struct FoReg {
    Reg **warp;       /* NULL until that warp uses it */
    const FoCta *cta; /* whose it is */
    guint32 n_warps, width;
    gboolean keep_bytes;
    gboolean wrong; /* its width: no call takes it */
};

struct FoCta {
    const FoCtaCalls *table; /* the first member */
    DeviceLaunch *launch;
    Cta *cta;
    Sim *sim;
    SimProcess *process;
    DeviceWarp *warp;
    DeviceUop *last;         /* operation that was pushed, or NULL */
    struct DeviceFlow *flow; /* nothing was pushed since, and no warp has come to it; or NULL */
    GPtrArray *regs;         /* FoReg */
    FoReg *cas;              /* staging of compare-and-swap */
    guint32 first, count;    /* active threads */
    guint32 calls;           /* UOP_CALL markers that have not fired */
    DeviceOp held;           /* operation that waits for room in its queue, where `holds` */
    gboolean holds, wants_room;
    GList alive; /* in DeviceLaunch.alive */
};

/* queue.c */
/* Frees an operation that no warp took; `drop` frees what it holds. */
void device_op_free(DeviceOp op, void (*drop)(const Uop *uop));
/* Frees it with what is in it, of a simulation that was abandoned; `drop` frees what an operation holds. */
void device_queue_drop(DeviceWarp *queue, void (*drop)(const Uop *uop));
/* registers.c: what such an operation holds */
void device_constant_drop(const Uop *uop);
void device_push(FoCta *cta, guint32 warp, const Uop *uop);
void device_push_loop(FoCta *cta, guint32 warp, DeviceLoopSpec *loop);
/* The loop on all active warps that it concerns, or as a flow; takes the caller's reference. */
void device_push_loops(FoCta *cta, DeviceLoopSpec *shared);
void device_push_source(FoCta *cta, guint32 warp, DeviceSource *source);
/* Bytes of so many registers for the source at hand, one behind the other, as the warp's last source left them. */
guint8 *device_scratch(Warp *warp, guint32 regs);
/* Waits until every operation queued so far in the warps from..to-1 is done. */
void device_drain(FoCta *cta, guint32 from, guint32 to, const char *why);
/* A warp's part of a register, made at its first use. */
Reg *device_reg(const FoReg *reg, guint32 warp);
/* Active threads of a warp: 0 when none. */
guint32 device_lanes(const FoCta *cta, guint32 warp);

/* check.c: what is wrong is reported; each check is FALSE then, and the call has no effect.
 * `uop_kind`: what was asked. */
void device_fault(FoCta *cta, guint64 va, int uop_kind, FaultKind kind, const char *text);
void device_wrong(FoCta *cta, guint64 va, int uop_kind, const char *format, ...) G_GNUC_PRINTF(4, 5);
gboolean device_check_given(FoCta *cta, const void *pointer, const char *what, int uop_kind); /* no NULL */
gboolean device_check_reg(FoCta *cta, const FoReg *reg, guint64 va, int uop_kind);
gboolean device_check_regs(FoCta *cta, const FoReg *d, const FoReg *s, guint64 va, int uop_kind); /* of one width */
gboolean device_check_order(FoCta *cta, FoOrder order, FoOrder other, guint64 va, int uop_kind);  /* relaxed or other */
gboolean device_check_warps(FoCta *cta, int uop_kind); /* the active threads are whole warps; FALSE if there are none */
gboolean device_check_numeric(FoCta *cta, int uop_kind, FoType type, FoOp op, guint32 width); /* of an ALU */
gboolean device_check_atomic(FoCta *cta, int uop_kind, guint64 va, FoType type, FoOp op, guint32 width, FoOrder order);
#define DEVICE_SLEEP_MAX_PS 1000000000000000u
#define DEVICE_SIZE_MAX ((guint64)1 << 56) /* of a loop's sizes and distances: below it nothing wraps around */

/* The same elements in the form that a thread's whole access takes: f16, 16 bytes -> f16x2.v4. */
void device_widen_form(FoMultimem *form, guint32 width);
/* FALSE: illegal, misaligned or not of that width, and reported. */
gboolean device_check_form(FoCta *cta, PtxInstruction instruction, FoAddress address, const FoMultimem *form,
                           guint32 width);

#endif
