/* Messages of the wire: see wire.h. */
#include "machine/wire/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

gboolean message_send(int fd, const void *message, gsize size, const void *payload, gsize bytes, int descriptor)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec parts[2] = {{(void *)(guintptr)message, size}, {(void *)(guintptr)payload, bytes}};
    struct msghdr sent = {.msg_iov = parts, .msg_iovlen = bytes > 0 ? 2 : 1};
    gssize n;

    if (descriptor >= 0) {
        sent.msg_control = control.room;
        sent.msg_controllen = sizeof control.room;
        struct cmsghdr *head = CMSG_FIRSTHDR(&sent);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
    }
    do
        n = sendmsg(fd, &sent, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (gssize)(size + bytes);
}

/* Of several descriptors, which no message has, the first is kept. */
static int take_descriptor(struct msghdr *received)
{
    int found = -1;

    for (struct cmsghdr *head = CMSG_FIRSTHDR(received); head; head = CMSG_NXTHDR(received, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
            continue;
        for (gsize at = CMSG_LEN(0); at + sizeof(int) <= head->cmsg_len; at += sizeof(int)) {
            int fd;
            memcpy(&fd, (const char *)head + at, sizeof fd);
            if (found < 0)
                found = fd;
            else
                close(fd);
        }
    }
    return found;
}

gssize message_receive(int fd, void *message, gsize size, void *payload, gsize payload_bytes, int *descriptor,
                       int flags)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(4 * sizeof(int))];
    } control;
    struct iovec parts[2] = {{message, size}, {payload, payload_bytes}};
    struct msghdr received = {.msg_iov = parts,
                              .msg_iovlen = payload_bytes > 0 ? 2 : 1,
                              .msg_control = control.room,
                              .msg_controllen = sizeof control.room};
    gssize n;

    do
        n = recvmsg(fd, &received, flags | MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (descriptor)
        *descriptor = -1;
    if (n < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK ? -1 : 0;
    int came = take_descriptor(&received);
    if (descriptor)
        *descriptor = came;
    else if (came >= 0)
        close(came);
    return (received.msg_flags & MSG_TRUNC) ? 0 : n;
}
