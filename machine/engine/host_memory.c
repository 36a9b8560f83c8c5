/* Memory of the calling process, read and written through the kernel, so that a bad address is an answer and not a
 * crash. The caller may be another process: the owner of a machine is an ancestor of its clients. */
#include "machine/engine/internal.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kernel moves less than 2 GiB a call. */
#define HOST_PIECE_BYTES ((guint64)1 << 30)

typedef ssize_t (*HostMove)(pid_t pid, const struct iovec *local, unsigned long n_local, const struct iovec *remote,
                            unsigned long n_remote, unsigned long flags);

/* FALSE: an address is not there. *refused: this system does not let a process do so to itself. */
static gboolean host_move(HostMove move, pid_t pid, guint64 own, guint64 address, guint64 bytes, gboolean *refused)
{
    for (guint64 at = 0; at < bytes;) {
        const gsize piece = MIN(bytes - at, HOST_PIECE_BYTES);
        const struct iovec local = {(void *)(guintptr)(own + at), piece},
                           remote = {(void *)(guintptr)(address + at), piece};
        gssize n = move(pid, &local, 1, &remote, 1, 0);
        *refused = n < 0 && (errno == EPERM || errno == ENOSYS);
        if (n != (gssize)piece)
            return FALSE;
        at += piece;
    }
    return TRUE;
}

/* The process that has asked; 0: it is gone. */
static pid_t caller(const Work *work)
{
    const EngineGate *gate = work->engine->spec.gate;

    return work->request.client == 0 || !gate ? getpid() : gate->process(gate->self, work->request.client);
}

static gboolean refuse(const Work *work)
{
    log_line(work->engine->spec.log, LOG_CUDA, LOG_ERROR, 0,
             "%s: this system does not let the owner of the machine read or write memory of its own child processes "
             "(process_vm_readv: %s); a container needs the capability SYS_PTRACE",
             work->request.call, g_strerror(errno));
    return FALSE;
}

gboolean engine_host_read(const Work *work, guint8 *into, guint64 address, guint64 bytes)
{
    gboolean refused = FALSE;
    pid_t pid = caller(work);

    if (pid == 0)
        return FALSE;
    if (host_move(process_vm_readv, pid, (guint64)(guintptr)into, address, bytes, &refused))
        return TRUE;
    if (refused && work->request.client != 0)
        return refuse(work);
    if (refused)
        memcpy(into, (const void *)(guintptr)address, bytes);
    return refused;
}

gboolean engine_host_write(const Work *work, guint64 address, const guint8 *from, guint64 bytes)
{
    gboolean refused = FALSE;
    pid_t pid = caller(work);

    if (pid == 0)
        return FALSE;
    if (host_move(process_vm_writev, pid, (guint64)(guintptr)from, address, bytes, &refused))
        return TRUE;
    if (refused && work->request.client != 0)
        return refuse(work);
    if (refused)
        memcpy((void *)(guintptr)address, from, bytes);
    return refused;
}
