/* The C face of SystemC. kernel_systemc.cpp behind it is the only C++ of the engine.
 *
 * SystemC has one simulation context in a process and its clock cannot be set back, so this is the
 * one place with process-wide state: one pump (an SC_METHOD that calls back into whichever Sim
 * runs), and threads (SC_THREADs) that serve one process body after another.
 *
 * Everything here belongs to the thread inside kernel_run(); times are SystemC's own (absolute). */
#ifndef SIM_ENGINE_KERNEL_H
#define SIM_ENGINE_KERNEL_H

#include <glib.h>

#include "sim/engine/simtime.h"

G_BEGIN_DECLS

typedef struct Event Event; /* passed through, never looked into */
typedef struct KernelThread KernelThread;
typedef struct KernelVcd KernelVcd;
typedef void (*KernelPump)(void *user);

/* Makes SystemC quiet and the pump ready; everything below does it by itself. */
void kernel_init(void);

/* Wakes the pump at once and lets SystemC run until kernel_pause() or until it has nothing left
 * to do. FALSE when SystemC or a component raised an error; *message then says which (g_free). */
gboolean kernel_run(KernelPump pump, void *user, char **message);

SimTime kernel_now_ps(void);
/* The pump, once; an earlier wish wins; 0: in the next delta cycle. */
void kernel_wake_after(SimTime delay_ps);
void kernel_wake_cancel(void);
void kernel_wake_now(void); /* in this evaluation phase; not from the pump itself */
void kernel_pause(void);    /* kernel_run returns after this delta cycle */
/* From the pump: how far off SystemC's next own activity is, SIMTIME_NEVER when there is none. */
SimTime kernel_foreign_delay_ps(void);

/* ---- threads ---- */

typedef void (*KernelMain)(void *arg);
/* A parked thread with that much stack, or NULL. kernel_thread_new() makes one; only from
 * the pump or outside kernel_run(), so that no thread becomes SystemC's parent of another. */
KernelThread *kernel_thread_take(gsize stack_bytes);
KernelThread *kernel_thread_new(gsize stack_bytes);
/* Starts main(arg) on it in this evaluation phase, behind what was resumed before. When main
 * returns, or the thread calls kernel_thread_leave(), it parks itself and can be taken again. */
void kernel_thread_start(KernelThread *thread, KernelMain main, void *arg, const char *name);
void kernel_thread_resume(KernelThread *thread); /* likewise */
void kernel_thread_yield(KernelThread *thread);  /* by itself: sleep until resumed */
void kernel_thread_leave(KernelThread *thread);  /* by itself: abandons main's frames */
guint kernel_threads_parked(void);
void kernel_threads_trim(guint keep); /* from the pump: lets parked threads beyond `keep` end */
gsize kernel_thread_stack_used(const KernelThread *thread);

/* ---- other people's C++ ---- */

/* call(arg). FALSE when an exception left it; *message then says which (g_free). */
gboolean kernel_call(KernelMain call, void *arg, char **message);

/* ---- one notification for one event: the reference calendar ---- */

typedef void (*KernelNotified)(void *user, Event *event);
void kernel_notify_set_handler(KernelNotified handler, void *user);
guint32 kernel_notify_arm(Event *event, SimTime delay_ps); /* returns a slot */
void kernel_notify_disarm(guint32 slot);

/* ---- waveforms: see vcd.h ---- */

KernelVcd *kernel_vcd_open(const char *path_without_suffix); /* adds ".vcd"; it can be written */
void kernel_vcd_trace(KernelVcd *vcd, const char *name, const void *value, int bytes, int bits);
void kernel_vcd_close(KernelVcd *vcd); /* SystemC's time moves on by 1 ps */

G_END_DECLS

#endif
