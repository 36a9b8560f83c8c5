/* User objects: counted references to something of the program's, which it destroys by a function of its own. */
#include "api/cuda/graph/graph.h"

typedef struct {
    guint64 handle;
    void *data;
    CUhostFn destroy;
    guint64 count;
} UserObject;

void user_object_retain(Call *call, guint64 handle, guint count)
{
    UserObject *object = handle_get(call->cuda->handles, HANDLE_USER_OBJECT, handle, NULL);

    if (object)
        object->count += count;
}

void user_object_release(Call *call, guint64 handle, guint count)
{
    UserObject *object = handle_get(call->cuda->handles, HANDLE_USER_OBJECT, handle, NULL);

    if (!object)
        return;
    object->count -= MIN(object->count, count);
    if (object->count > 0)
        return;
    handle_unref(call->cuda->handles, handle);
    object->destroy(object->data); /* may not call the API. source: CUDA C++ Programming Guide, user objects */
    g_free(object);
}

CUresult cuUserObjectCreate(CUuserObject *handle, void *data, CUhostFn destroy, unsigned int count, unsigned int flags)
{
    CUDA_BEGIN(call);
    if (!handle || !destroy || count == 0 || count > G_MAXINT32 || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    UserObject *object = g_new0(UserObject, 1);
    *object = (UserObject){.data = data, .destroy = destroy, .count = count};
    object->handle = handle_new(call.cuda->handles, HANDLE_USER_OBJECT, object);
    *handle = (CUuserObject)object->handle;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

static gboolean known(Call *call, CUuserObject handle, unsigned int count)
{
    return count > 0 && count <= G_MAXINT32 &&
           handle_get(call->cuda->handles, HANDLE_USER_OBJECT, (guint64)handle, NULL);
}

CUresult cuUserObjectRetain(CUuserObject handle, unsigned int count)
{
    CUDA_BEGIN(call);
    if (!known(&call, handle, count))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    user_object_retain(&call, (guint64)handle, count);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuUserObjectRelease(CUuserObject handle, unsigned int count)
{
    CUDA_BEGIN(call);
    if (!known(&call, handle, count))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    user_object_release(&call, (guint64)handle, count);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuGraphRetainUserObject(CUgraph of, CUuserObject handle, unsigned int count, unsigned int flags)
{
    CUDA_BEGIN(call);
    Graph *graph = graph_get(&call, of);
    UserReference user = {(guint64)handle, count};

    if (!graph || !known(&call, handle, count) || (flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE) != 0)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (!(flags & CU_GRAPH_USER_OBJECT_MOVE))
        user_object_retain(&call, user.object, count);
    g_array_append_val(graph->users, user);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuGraphReleaseUserObject(CUgraph of, CUuserObject handle, unsigned int count)
{
    CUDA_BEGIN(call);
    Graph *graph = graph_get(&call, of);

    if (!graph || !known(&call, handle, count))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    for (guint i = 0; i < graph->users->len; i++) {
        UserReference *user = &g_array_index(graph->users, UserReference, i);
        if (user->object != (guint64)handle || user->count < count)
            continue;
        user->count -= count;
        if (user->count == 0)
            g_array_remove_index(graph->users, i);
        user_object_release(&call, (guint64)handle, count);
        CUDA_RETURN(call, CUDA_SUCCESS);
    }
    CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
}
