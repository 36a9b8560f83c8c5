/* Contexts, streams and events of the front end, and the thread's stack of current contexts. */
#ifndef API_CUDA_CONTEXT_CTX_H
#define API_CUDA_CONTEXT_CTX_H

#include "api/cuda/context/process.h"

/* What cuStreamSetAttribute sets; kept, given back, and without an effect on results and times. */
typedef struct {
    CUaccessPolicyWindow window;
    int sync_policy; /* CUsynchronizationPolicy; -1: none was set */
    int priority;    /* -5 to 0 */
    CUlaunchMemSyncDomainMap domains;
    CUlaunchMemSyncDomain domain;
} StreamAttributes;

struct Context {
    guint64 handle;
    guint64 id;
    int device; /* ordinal */
    unsigned int flags;
    gboolean primary;
    guint refs;     /* retains of a primary context; attach count of others */
    guint32 legacy; /* the engine's number of its default stream, and */
    StreamAttributes legacy_attributes;
    CUfunc_cache cache;
    guint64 heap, heap_bytes;      /* of malloc in kernels; 0: none yet */
    guint64 meetings, cooperative; /* where CTAs of cooperative launches meet, 0: none yet; how many there were */
    size_t limit[CU_LIMIT_MAX];
    gboolean peer[CUDA_DEVICES_MAX]; /* by ordinal: cuCtxEnablePeerAccess */
};

typedef struct {
    guint64 handle;
    guint64 id;
    Context *context;
    unsigned int flags;
    guint32 stream;               /* the engine's number */
    StreamAttributes *attributes; /* the stream's or, of a default stream, its context's or its thread's */
} Stream;

typedef struct {
    guint64 handle;
    Context *context;
    unsigned int flags;
    guint32 event; /* the engine's number */
    gboolean recorded;
    EventPage *page;     /* that processes share; the engine's. NULL: none */
    int fd;              /* of that page, for others to open, and for the machine's owner; 0: none */
    guint64 identity[2]; /* of its file */
    guint64 capture;     /* the capture that it was recorded in, and */
    GArray *captured;    /* the nodes that it stands behind (guint64 handles); NULL: recorded outside of captures */
} EventHandle;

#define CONTEXT_FLAGS_KNOWN CU_CTX_FLAGS_MASK

/* The calling thread's current context, or NULL; a destroyed one counts as none, *destroyed tells.
 */
Context *context_current(Call *call, gboolean *destroyed);
/* The same, or the error that calls without one answer. */
CUresult context_need(Call *call, Context **context);
Context *context_get(Call *call, CUcontext handle); /* NULL: not a live context */
CUresult context_new(Call *call, int device, unsigned int flags, Context **context);
void context_free(Call *call, Context *context); /* its streams, events and memory too */
void context_push(Context *context);

#define STREAM_PRIORITY_GREATEST (-5)
#define STREAM_PRIORITY_LEAST 0
/* Those of a new stream. source: read from an H200, driver 580 */
static inline StreamAttributes stream_attributes(int priority)
{
    return (StreamAttributes){.sync_policy = -1,
                              .priority = CLAMP(priority, STREAM_PRIORITY_GREATEST, STREAM_PRIORITY_LEAST),
                              .domains = {0, 1}};
}

/* The engine's stream behind a handle: 0 and CU_STREAM_LEGACY are the context's default stream,
 * CU_STREAM_PER_THREAD the thread's own. `standard` is what 0 means in this call. */
CUresult stream_get(Call *call, CUstream handle, CUstream standard, Stream *stream);
/* event_handle.c */
EventHandle *event_get(Call *call, CUevent handle);
/* A new event like this; its page is the engine's then. */
CUresult event_enter(Call *call, const EventHandle *event, CUevent *handle);

/* What was recorded in a capture is forgotten. */
void event_forget_capture(EventHandle *event);
/* Parts of the record: what goes with its context. */
void stream_context_gone(Call *call, Context *context);
void event_context_gone(Call *call, Context *context);

/* event_ipc.c */
gboolean event_share(EventHandle *event); /* gets a page; FALSE: there is none */
void event_unshare(const EventHandle *event);
gboolean event_held_elsewhere(const EventHandle *event); /* its latest record is another process's, which lives */

/* A function of a stream, and its twin whose stream 0 is the thread's own. `parameters` and
 * `arguments` begin behind the call, the stream and the standard. */
#define STREAM_TWINS(name, parameters, made, arguments)                                                                \
    CUresult name parameters                                                                                           \
    {                                                                                                                  \
        const CUstream standard = CU_STREAM_LEGACY;                                                                    \
        CUDA_BEGIN(call);                                                                                              \
        CUDA_RETURN(call, made arguments);                                                                             \
    }                                                                                                                  \
    CUDA_ALIAS_PTSZ CUresult name##_ptsz parameters;                                                                   \
    CUresult name##_ptsz parameters                                                                                    \
    {                                                                                                                  \
        const CUstream standard = CU_STREAM_PER_THREAD;                                                                \
        CUDA_BEGIN(call);                                                                                              \
        CUDA_RETURN(call, made arguments);                                                                             \
    }

#endif
