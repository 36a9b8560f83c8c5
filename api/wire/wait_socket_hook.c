/* Part of libfanout_wait.so: threads that ask their sockets again and again: recv() and its kin, send() and accept(),
 * which answer EAGAIN (NCCL's bootstrap waits so for the other ranks, with no call in between). Such a call is one of
 * those that wait_spin.c counts. Left out: read(), write() and their kin, which are not of sockets alone. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#include "api/wire/wait.h"

static struct {
    pthread_once_t once;
    ssize_t (*recv)(int, void *, size_t, int);
    ssize_t (*recvfrom)(int, void *, size_t, int, struct sockaddr *, socklen_t *);
    ssize_t (*recvmsg)(int, struct msghdr *, int);
    ssize_t (*send)(int, const void *, size_t, int);
    ssize_t (*sendmsg)(int, const struct msghdr *, int);
    int (*accept)(int, struct sockaddr *, socklen_t *);
    int (*accept4)(int, struct sockaddr *, socklen_t *, int);
} real = {.once = PTHREAD_ONCE_INIT};

static void find(void *function, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    memcpy(function, &found, sizeof found);
}

static void find_all(void)
{
    find(&real.recv, "recv");
    find(&real.recvfrom, "recvfrom");
    find(&real.recvmsg, "recvmsg");
    find(&real.send, "send");
    find(&real.sendmsg, "sendmsg");
    find(&real.accept, "accept");
    find(&real.accept4, "accept4");
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
