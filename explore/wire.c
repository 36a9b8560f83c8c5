/* See wire.h. */
#include "explore/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WIRE_HEAD 5u
#define WIRE_MOST (256u << 20) /* a report; longer is a mistake */

void wire_prepare(int fd)
{
    const int on = 1, idle_s = 60, between_s = 15, times = 4;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &between_s, sizeof between_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static gboolean wire_push(int fd, const guint8 *bytes, gsize n)
{
    while (n > 0) {
        gssize sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent > 0) {
            bytes += sent;
            n -= (gsize)sent;
        } else if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            struct pollfd wait = {fd, POLLOUT, 0};
            if (poll(&wait, 1, 10000) <= 0)
                return FALSE;
        } else if (sent < 0 && errno == EINTR) {
            continue;
        } else {
            return FALSE;
        }
    }
    return TRUE;
}

gboolean wire_send(int fd, WireKind kind, const void *bytes, gsize n)
{
    if (n > WIRE_MOST)
        return FALSE;
    guint8 head[WIRE_HEAD];
    const guint32 length = GUINT32_TO_BE((guint32)n);
    memcpy(head, &length, sizeof length);
    head[4] = (guint8)kind;
    return wire_push(fd, head, sizeof head) && wire_push(fd, bytes, n);
}

gboolean wire_read(int fd, GByteArray *in)
{
    guint8 bytes[65536];
    for (;;) {
        gssize got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (got > 0)
            g_byte_array_append(in, bytes, (guint)got);
        else if (got < 0 && errno == EINTR)
            continue;
        else
            return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }
}

gboolean wire_take(GByteArray *in, WireKind *kind, GByteArray **payload, gboolean *wrong)
{
    guint32 length;
    *wrong = FALSE;
    if (in->len < WIRE_HEAD)
        return FALSE;
    memcpy(&length, in->data, sizeof length);
    length = GUINT32_FROM_BE(length);
    *wrong = length > WIRE_MOST || !strchr("HWPRB", in->data[4]) || in->data[4] == 0;
    if (*wrong || in->len - WIRE_HEAD < length)
        return FALSE;
    *kind = (WireKind)in->data[4];
    *payload = g_byte_array_new();
    g_byte_array_append(*payload, in->data + WIRE_HEAD, length);
    g_byte_array_remove_range(in, 0, WIRE_HEAD + length);
    return TRUE;
}
