/* Events in other processes of the machine: 64 bytes name the process and its descriptor of the page that the event's
 * records are counted in (machine/engine/shared_event.c). An event made with CU_EVENT_INTERPROCESS has one from the
 * start; one that was opened has the same page, and is an event without times of the context that is current. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/cuda/context/ctx.h"
#include "api/cuda/memory/shared_file.h"

#define EVENT_MAGIC 0x304556454e4146ull

typedef struct {
    guint64 magic;
    guint64 identity[2];
    gint32 pid, fd;
} EventName;
G_STATIC_ASSERT(sizeof(EventName) <= sizeof(CUipcEventHandle));

static EventPage *map_page(int fd)
{
    void *page = mmap(NULL, sizeof(EventPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return page != MAP_FAILED ? page : NULL;
}

gboolean event_share(EventHandle *event)
{
    guint64 bytes;
    int fd = sealed_new("fanout-event", sizeof(EventPage));

    if (fd < 0)
        return FALSE;
    event->page = sealed_identity(fd, event->identity, &bytes) ? map_page(fd) : NULL;
    if (!event->page) {
        close(fd);
        return FALSE;
    }
    event->page->magic = EVENT_MAGIC;
    event->fd = fd;
    return TRUE;
}

void event_unshare(const EventHandle *event)
{
    if (event->fd != 0)
        close(event->fd);
}

gboolean event_held_elsewhere(const EventHandle *event)
{
    gint32 recorder = event->page ? __atomic_load_n(&event->page->recorder, __ATOMIC_ACQUIRE) : 0;

    return recorder != getpid() && shared_file_holder_lives(recorder);
}

/* From now on waits look whether another process recorded what they wait for. */
static void tell_engine(Call *call)
{
    EngineRequest request = {.op = ENGINE_SHARED};

    cuda_engine(call, &request, NULL);
}

CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event_handle)
{
    CUDA_BEGIN(call);
    const EventHandle *event = event_get(&call, event_handle);

    if (!event || !(event->flags & CU_EVENT_INTERPROCESS))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    if (!handle)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    tell_engine(&call);
    EventName name = {EVENT_MAGIC, {event->identity[0], event->identity[1]}, getpid(), event->fd};
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &name, sizeof name);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

/* The page that a name means, mapped; NULL: it is not there any more, or never was one. */
static EventPage *open_page(const EventName *name, int *kept_fd, CUresult *result)
{
    int fd = shared_file_open(name->pid, name->fd, name->identity);
    EventPage *page = NULL;
    guint64 identity[2], bytes;

    *result = errno == EACCES || errno == EPERM ? CUDA_ERROR_NOT_PERMITTED : CUDA_ERROR_INVALID_HANDLE;
    if (fd < 0)
        return NULL;
    *result = CUDA_ERROR_INVALID_HANDLE;
    if (sealed_is_sound(fd) && sealed_identity(fd, identity, &bytes) && bytes == sizeof(EventPage)) {
        page = map_page(fd);
        *result = page ? CUDA_SUCCESS : CUDA_ERROR_MAP_FAILED;
    }
    if (page)
        *kept_fd = fd;
    else
        close(fd);
    return page;
}

CUresult cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle handle)
{
    EventHandle opened = {.flags = CU_EVENT_DISABLE_TIMING};
    EventName name;
    CUDA_BEGIN(call);

    CUresult result = context_need(&call, &opened.context);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    memcpy(&name, &handle, sizeof name);
    if (!event)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (name.magic != EVENT_MAGIC)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    if (name.pid == getpid())
        CUDA_RETURN(call, CUDA_ERROR_INVALID_CONTEXT); /* its own event: as for memory */
    opened.page = open_page(&name, &opened.fd, &result);
    if (!opened.page)
        CUDA_RETURN(call, result);
    tell_engine(&call);
    CUDA_RETURN(call, event_enter(&call, &opened, event));
}
