/* Part of libfanout_wait.so: threads that ask their sockets again and again: recv() and its kin, send() and accept(),
 * which answer EAGAIN (NCCL's bootstrap waits so for the other ranks, with no call in between). Such a call is one of
 * those that wait_spin_hook.c counts. Left out: read(), write() and their kin, which are not of sockets alone.
 *
 * And TCP does not keep anything back. By Nagle's rule it would not send the second of two small messages until the
 * first is acknowledged, which the other side may do 40 ms of the host later, while every thread of the job sleeps and
 * simulated time passes: the same program would then wait longer in simulated time on one run than on another. A
 * program that sets the option itself gets what it says. Sockets that accept() makes have it from the one that listens.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>

#include "machine/wire/wait.h"

static struct {
    pthread_once_t once;
    ssize_t (*recv)(int, void *, size_t, int);
    ssize_t (*recvfrom)(int, void *, size_t, int, struct sockaddr *, socklen_t *);
    ssize_t (*recvmsg)(int, struct msghdr *, int);
    ssize_t (*send)(int, const void *, size_t, int);
    ssize_t (*sendmsg)(int, const struct msghdr *, int);
    int (*socket)(int, int, int);
    int (*accept)(int, struct sockaddr *, socklen_t *);
    int (*accept4)(int, struct sockaddr *, socklen_t *, int);
} real = {.once = PTHREAD_ONCE_INIT};

static void find_all(void)
{
    talk_find(&real.recv, "recv", NULL);
    talk_find(&real.recvfrom, "recvfrom", NULL);
    talk_find(&real.recvmsg, "recvmsg", NULL);
    talk_find(&real.send, "send", NULL);
    talk_find(&real.sendmsg, "sendmsg", NULL);
    talk_find(&real.socket, "socket", NULL);
    talk_find(&real.accept, "accept", NULL);
    talk_find(&real.accept4, "accept4", NULL);
}

static void begin(void) { pthread_once(&real.once, find_all); }

static ssize_t answered(ssize_t result)
{
    int keep = errno;

    if (result >= 0)
        spin_change();
    else if (keep == EAGAIN || keep == EWOULDBLOCK)
        spin_note();
    errno = keep;
    return result;
}

WAIT_EXPORT ssize_t recv(int fd, void *bytes, size_t size, int flags)
{
    begin();
    return answered(real.recv(fd, bytes, size, flags));
}

WAIT_EXPORT ssize_t recvfrom(int fd, void *restrict bytes, size_t size, int flags, struct sockaddr *restrict from,
                             socklen_t *restrict from_size)
{
    begin();
    return answered(real.recvfrom(fd, bytes, size, flags, from, from_size));
}

WAIT_EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    begin();
    return answered(real.recvmsg(fd, message, flags));
}

WAIT_EXPORT ssize_t send(int fd, const void *bytes, size_t size, int flags)
{
    begin();
    return answered(real.send(fd, bytes, size, flags));
}

WAIT_EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    begin();
    return answered(real.sendmsg(fd, message, flags));
}

WAIT_EXPORT int socket(int family, int type, int protocol)
{
    const int keep = errno, kind = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC), on = 1;

    begin();
    int fd = real.socket(family, type, protocol);
    if (fd < 0 || !talk_owned() || (family != AF_INET && family != AF_INET6) || kind != SOCK_STREAM ||
        (protocol != 0 && protocol != IPPROTO_TCP))
        return fd;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    errno = keep;
    return fd;
}

WAIT_EXPORT int accept(int fd, struct sockaddr *restrict from, socklen_t *restrict size)
{
    begin();
    return (int)answered(real.accept(fd, from, size));
}

WAIT_EXPORT int accept4(int fd, struct sockaddr *restrict from, socklen_t *restrict size, int flags)
{
    begin();
    return (int)answered(real.accept4(fd, from, size, flags));
}
