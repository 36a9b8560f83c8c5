/* How a connection to the owner begins: see client.h. Nothing here needs more than the C library, since it is part of
 * what `fanout exec` preloads into every process. */
#include "machine/wire/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define CONTROL_LIMIT_S 10

gint32 wire_rank(void)
{
    static const char *const names[] = {"RANK",     "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                        "PMI_RANK", "MV2_COMM_WORLD_RANK",  "SLURM_PROCID"};

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        char *end;
        if (!text || *text == '\0')
            continue;
        long rank = strtol(text, &end, 10);
        if (*end == '\0' && rank >= 0 && rank < 1000000)
            return (gint32)rank;
    }
    return -1;
}

void wire_introduce(WireHello *hello, WireRole role, gboolean driver)
{
    memset(hello, 0, sizeof *hello);
    hello->head = wire_head(WIRE_HELLO);
    snprintf(hello->version, sizeof hello->version, "%s %zu", WIRE_VERSION, sizeof(WireCall));
    hello->role = role;
    hello->tid = (gint32)syscall(SYS_gettid);
    hello->rank = wire_rank();
    hello->driver = driver != 0;
    snprintf(hello->program, sizeof hello->program, "%s", program_invocation_short_name);
}

int wire_own_fd(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return own;
}

/* Of this user, and the process that its name tells: another one that listens there might never answer. Seen from a
 * namespace of its own, an owner outside has no number (0). */
static int is_owner(int fd, const char *name)
{
    struct ucred owner;
    socklen_t size = sizeof owner;
    int pid;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &owner, &size) == 0 && owner.uid == geteuid() &&
           sscanf(name, "fanout-%d-", &pid) == 1 && (owner.pid == pid || owner.pid == 0);
}

int wire_dial(const char *name, const WireHello *hello, WireWelcome *welcome, int *page_fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    int page = -1;

    memset(welcome, 0, sizeof *welcome);
    if (length == 0 || length + 1 > sizeof address.sun_path)
        return -1;
    memcpy(address.sun_path + 1, name, length); /* a name without a file */
    int fd = wire_own_fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (fd < 0)
        return -1;
    if (hello->role == WIRE_ROLE_CONTROL) { /* an owner that does not run keeps no one else waiting */
        struct timeval limit = {.tv_sec = CONTROL_LIMIT_S};
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    }
    if (connect(fd, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) !=
            0 ||
        !is_owner(fd, name) || !message_send(fd, hello, sizeof *hello, NULL, 0, -1) ||
        message_receive(fd, welcome, sizeof *welcome, NULL, 0, &page, 0) != (gssize)sizeof *welcome ||
        welcome->head.magic != WIRE_MAGIC || welcome->head.kind != WIRE_WELCOME || welcome->refused) {
        if (page >= 0)
            close(page);
        close(fd);
        return -1;
    }
    if (page_fd)
        *page_fd = page;
    else if (page >= 0)
        close(page);
    return fd;
}
