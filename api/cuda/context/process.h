/* The CUDA front end's process record: everything that libcuda.so.1 remembers for one process, and
 * the frame that every API function runs in.
 *
 * One lock guards the record. A call holds it from cuda_begin to its end, except where it waits
 * (for team members, for simulated work): cuda_unlock/cuda_relock around the wait. */
#ifndef API_CUDA_CONTEXT_PROCESS_H
#define API_CUDA_CONTEXT_PROCESS_H

#include <glib.h>
#include <pthread.h>

#include <fanout/cuda.h>

#include "machine/class.h"
#include "machine/fail.h"
#include "api/cuda/context/handle.h"
#include "machine/spec.h"
#include "machine/engine/engine.h"
#include "machine/wire/wire.h"
#include "model/fabric/fabric.h"
#include "sim/log.h"
#include "sim/param/param.h"

#define CUDA_DEVICES_MAX VAS_GPUS_MAX
#define CUDA_NUMA_NODES 2 /* of the simulated host */

typedef struct Context Context;
typedef struct Pool Pool;
typedef struct CudaClass CudaClass;

typedef struct {
    guint16 gpu;           /* its number in the simulated system */
    guint16 slot;          /* its number in its host: another only with trays */
    const CudaClass *kind; /* attributes of its model of GPU */
    CUuuid uuid;
    gboolean multicast; /* multicast objects can have it as a member */
    guint64 total_bytes;
    guint64 used_bytes;
    Context *primary; /* NULL until first retained */
    unsigned int primary_flags;
    Pool *default_pool;                    /* NULL until first asked for */
    Pool *pool;                            /* the current one; NULL: the default pool */
    guint32 peer_access[CUDA_DEVICES_MAX]; /* contexts of that ordinal that enabled access to this */
} CudaDevice;

typedef struct {
    guint64 calls;
    guint64 errors;
} CallCount;

typedef struct {
    const char *call;
    char *text;
    guint64 handle, address; /* 0: none */
    int device;              /* -1: none */
} Diagnostic;

typedef struct Cuda {
    guint32 tray, tray_gpus; /* the host that this process is on, of several; tray_gpus 0: there is one */
    pthread_mutex_t lock;    /* POSIX ones here and in the engine: race checkers understand them */
    pthread_mutex_t report_lock;
    gboolean reported;
    gint ready;        /* atomic: cuInit succeeded */
    gint told_runtime; /* atomic: that NVIDIA's runtime is here */
    CudaSpec spec;
    char *system;
    Log *log;
    gint configured;  /* atomic: 1 options are loaded, -1 they are wrong */
    ParamSet *params; /* owns the strings of the specs */
    FabricSpec fabric;
    CudaFails *fails; /* under the lock */
    Engine *engine;
    guint n_devices;
    guint n_registered; /* ranges of registered memory */
    CudaDevice device[CUDA_DEVICES_MAX];
    gboolean multicast;               /* of some device; else the whole family answers NOT_SUPPORTED */
    gint16 ordinal[CUDA_DEVICES_MAX]; /* by GPU of the system; -1: this process does not see it */
    HandleTable *handles;
    struct Ranges *ranges;                 /* reservations and what is mapped: api/cuda/memory/range.h */
    GHashTable *phys;                      /* memory of this process by identity: api/cuda/memory/phys.h */
    GHashTable *teams;                     /* multicast objects by identity: api/cuda/multicast/team.h */
    GArray *endpoints;                     /* by identifier: api/cuda/endpoint/endpoint.h; NULL: none was reserved */
    GPtrArray *slabs;                      /* that cuMemAlloc cuts pieces from: api/cuda/memory/mem.c */
    const struct StreamRecorder *recorder; /* work that is captured: api/cuda/stream/recorder.h */
    GHashTable *captures;                  /* streams that capture: api/cuda/graph/capture.c; NULL: none */
    guint teams_ready;                     /* entries of the switches' multicast table in use */
    GHashTable *calls;                     /* name -> CallCount, for the report */
    GArray *diagnostics;                   /* Diagnostic, the first CUDA_DIAGNOSTICS_MAX */
    guint64 n_diagnostics;
    guint64 next_id; /* of contexts, streams and buffers */
} Cuda;

#define CUDA_DIAGNOSTICS_MAX 1000

typedef struct {
    Cuda *cuda;
    const char *name;
    CUresult result;
    gboolean locked;
    int device;      /* what the caller named, for diagnostics that know no better; -1: none */
    guint64 address; /* 0: none */
} Call;

/* Opens the frame of an API function: answers why it cannot run, takes the lock, counts the call.
 */
#define CUDA_BEGIN(call)                                                                                               \
    __attribute__((cleanup(cuda_end))) Call call = {NULL, __func__, CUDA_SUCCESS, FALSE, -1, 0};                       \
    if (cuda_begin(&call) != CUDA_SUCCESS)                                                                             \
    return call.result
CUresult cuda_begin(Call *call);
/* For the calls that need no frame (cuInit, cuGetProcAddress): what `cuda.fail` wants of this one. */
CUresult cuda_fail_now(Cuda *cuda, const char *function);
void cuda_end(Call *call);
/* Ends a call with this code; so written that the report can count failures. */
#define CUDA_RETURN(call, code) return (call).result = (code)
void cuda_unlock(Call *call);
void cuda_relock(Call *call);

/* Of the per-thread-default-stream variants, which no header declares. */
#define CUDA_ALIAS_PTSZ __attribute__((visibility("default")))

/* The record: made at the first use, never freed (threads may still be inside at exit). */
Cuda *cuda_get(void);
CUresult cuda_start(Cuda *cuda); /* cuInit's work; idempotent */
gboolean cuda_exiting(void);
guint64 cuda_host_cost_ps(const char *name); /* of a call; 0: not measured */
guint64 cuda_configured_version(Cuda *cuda); /* loads the options when need be */

/* The device of an ordinal, or NULL. */
static inline CudaDevice *cuda_device(Cuda *cuda, CUdevice ordinal)
{
    return ordinal >= 0 && (guint)ordinal < cuda->n_devices ? &cuda->device[ordinal] : NULL;
}
/* What programs are told of a device: its model's attribute, or what the configuration makes of it (multicast, the SMs
 * that are simulated). FALSE: there is no such attribute. */
gboolean cuda_device_attribute(const Cuda *cuda, const CudaDevice *device, int attribute, int *value);
/* Bytes of its memory in use: by this process, or by all of the machine where it has an owner. */
guint64 cuda_device_used(const Cuda *cuda, const CudaDevice *device);
/* What the fabric manager does now: machine state below `fanout exec`, else cuda.fm_state. gpu: of the system, which
 * may not have been reset since the manager's restart; -1: whichever. */
CudaFmState cuda_manager(const Cuda *cuda, int gpu);
CudaFmState cuda_manager_of(const MachinePage *page, int gpu);
guint32 cuda_manager_era(const Cuda *cuda);      /* counts its restarts */
guint64 cuda_manager_since_ps(const Cuda *cuda); /* simulated time of its latest start or stop; 0: it was always so */
/* The ordinal of a GPU of the system, or -1 when this process does not see it. */
int cuda_ordinal_of_gpu(const Cuda *cuda, guint16 gpu);

/* Undefined behaviour, or a use of a dead object: never silent. The line names the call, the
 * handle, the device and the address; those that do not apply are given as 0 or -1, and are then
 * what the caller named, if anything. */
void cuda_diagnose(Call *call, guint64 handle, int device, guint64 address, const char *format, ...)
    G_GNUC_PRINTF(5, 6);
/* The object of a live handle of that kind. NULL: it is none, which is diagnosed as `dead` if it was one before, and as
 * `none` otherwise. */
void *cuda_object(Call *call, HandleKind kind, guint64 handle, const char *dead, const char *none);

/* An engine request whose failure means that the host is out of something. */
gboolean cuda_engine(Call *call, const EngineRequest *request, EngineReply *reply);

#endif
