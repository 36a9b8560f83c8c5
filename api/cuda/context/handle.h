/* Handles of the CUDA front end: one table for memory, multicast objects, contexts, streams, events,
 * pools, and what is loaded: modules, libraries and their functions.
 *
 * A handle is a number that looks like an address and carries the slot and its generation, so that
 * a stale one (used after release) and a forged one are told apart from a live one and from each
 * other. A slot counts the user's references and, apart, internal pins: a handle whose user
 * references are gone but which a mapping still pins can come back (cuMemRetainAllocationHandle).
 */
#ifndef API_CUDA_CONTEXT_HANDLE_H
#define API_CUDA_CONTEXT_HANDLE_H

#include <glib.h>

typedef enum {
    HANDLE_NONE,
    HANDLE_MEMORY,
    HANDLE_MULTICAST,
    HANDLE_CONTEXT,
    HANDLE_STREAM,
    HANDLE_EVENT,
    HANDLE_POOL,
    HANDLE_MODULE,
    HANDLE_FUNCTION,
    HANDLE_LIBRARY,
    HANDLE_KERNEL,
    HANDLE_LINK,
    HANDLE_GRAPH,
    HANDLE_GRAPH_EXEC,
    HANDLE_GRAPH_NODE,
    HANDLE_USER_OBJECT,
    HANDLE_ARRAY,
} HandleKind;

typedef enum { HANDLE_LIVE, HANDLE_STALE, HANDLE_FORGED } HandleState;

typedef struct HandleTable HandleTable;

HandleTable *handle_table_new(void);

/* A new handle with one user reference and no pin. */
guint64 handle_new(HandleTable *table, HandleKind kind, void *object);
/* The object of a live handle of this kind; NULL otherwise, and *state (may be NULL) says why. */
void *handle_get(HandleTable *table, HandleKind kind, guint64 handle, HandleState *state);
/* The same of one that was released, while something still pins it. */
void *handle_get_released(HandleTable *table, HandleKind kind, guint64 handle);
HandleKind handle_kind(HandleTable *table, guint64 handle); /* HANDLE_NONE: not live */
/* The object of a handle that is live or only pinned; it must be one of the two. */
void *handle_object_pinned(HandleTable *table, guint64 handle);
void handle_ref(HandleTable *table, guint64 handle); /* also revives a pinned one */
/* Takes back one user reference of a live handle. TRUE: neither references nor pins are left, the
 * handle is dead now. */
gboolean handle_unref(HandleTable *table, guint64 handle);
void handle_pin(HandleTable *table, guint64 handle);
gboolean handle_unpin(HandleTable *table, guint64 handle); /* TRUE: dead now */
guint32 handle_refs(HandleTable *table, guint64 handle);   /* user references; 0: stale, pinned, forged */
/* Calls visit for every slot in use (live or pinned), in slot order. */
void handle_visit(HandleTable *table, HandleKind kind, void (*visit)(guint64 handle, void *object, void *user),
                  void *user);
/* The handles of that kind, in slot order, whose object belongs to `owner`. The caller frees the array of guint64. */
GArray *handle_collect(HandleTable *table, HandleKind kind, gboolean (*belongs)(const void *object, const void *owner),
                       const void *owner);

#endif
