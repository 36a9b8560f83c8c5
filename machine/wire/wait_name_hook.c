/* Part of libfanout_wait.so: look-ups of hosts' names. While the C library waits for a name server, nothing of the job
 * runs, and yet something is on its way that will wake the thread: time stands still until the look-up has ended, which
 * it does by itself. (torchrun looks up the host's own name before each connection.) Left out: look-ups without a wait
 * for their end (getaddrinfo_a), and those of other libraries than the C library. */
#include <netdb.h>
#include <pthread.h>
#include <sys/socket.h>

#include "machine/wire/wait.h"

static struct {
    pthread_once_t once;
    int (*getaddrinfo)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    int (*getnameinfo)(const struct sockaddr *, socklen_t, char *, socklen_t, char *, socklen_t, int);
    struct hostent *(*gethostbyname)(const char *);
    struct hostent *(*gethostbyname2)(const char *, int);
    struct hostent *(*gethostbyaddr)(const void *, socklen_t, int);
    int (*gethostbyname_r)(const char *, struct hostent *, char *, size_t, struct hostent **, int *);
    int (*gethostbyname2_r)(const char *, int, struct hostent *, char *, size_t, struct hostent **, int *);
    int (*gethostbyaddr_r)(const void *, socklen_t, int, struct hostent *, char *, size_t, struct hostent **, int *);
} real = {.once = PTHREAD_ONCE_INIT};

static void find_all(void)
{
    talk_find(&real.getaddrinfo, "getaddrinfo", NULL);
    talk_find(&real.getnameinfo, "getnameinfo", NULL);
    talk_find(&real.gethostbyname, "gethostbyname", NULL);
    talk_find(&real.gethostbyname2, "gethostbyname2", NULL);
    talk_find(&real.gethostbyaddr, "gethostbyaddr", NULL);
    talk_find(&real.gethostbyname_r, "gethostbyname_r", NULL);
    talk_find(&real.gethostbyname2_r, "gethostbyname2_r", NULL);
    talk_find(&real.gethostbyaddr_r, "gethostbyaddr_r", NULL);
}

static void begin(void)
{
    pthread_once(&real.once, find_all);
    spin_outside(1);
}

WAIT_EXPORT int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                            struct addrinfo **found)
{
    begin();
    int result = real.getaddrinfo(name, service, hints, found);
    spin_outside(-1);
    return result;
}

WAIT_EXPORT int getnameinfo(const struct sockaddr *address, socklen_t length, char *name, socklen_t name_bytes,
                            char *service, socklen_t service_bytes, int flags)
{
    begin();
    int result = real.getnameinfo(address, length, name, name_bytes, service, service_bytes, flags);
    spin_outside(-1);
    return result;
}

WAIT_EXPORT struct hostent *gethostbyname(const char *name)
{
    begin();
    struct hostent *found = real.gethostbyname(name);
    spin_outside(-1);
    return found;
}

WAIT_EXPORT struct hostent *gethostbyname2(const char *name, int family)
{
    begin();
    struct hostent *found = real.gethostbyname2(name, family);
    spin_outside(-1);
    return found;
}

WAIT_EXPORT struct hostent *gethostbyaddr(const void *address, socklen_t length, int family)
{
    begin();
    struct hostent *found = real.gethostbyaddr(address, length, family);
    spin_outside(-1);
    return found;
}

WAIT_EXPORT int gethostbyname_r(const char *name, struct hostent *host, char *room, size_t bytes,
                                struct hostent **found, int *error)
{
    begin();
    int result = real.gethostbyname_r(name, host, room, bytes, found, error);
    spin_outside(-1);
    return result;
}

WAIT_EXPORT int gethostbyname2_r(const char *name, int family, struct hostent *host, char *room, size_t bytes,
                                 struct hostent **found, int *error)
{
    begin();
    int result = real.gethostbyname2_r(name, family, host, room, bytes, found, error);
    spin_outside(-1);
    return result;
}

WAIT_EXPORT int gethostbyaddr_r(const void *address, socklen_t length, int family, struct hostent *host, char *room,
                                size_t bytes, struct hostent **found, int *error)
{
    begin();
    int result = real.gethostbyaddr_r(address, length, family, host, room, bytes, found, error);
    spin_outside(-1);
    return result;
}
