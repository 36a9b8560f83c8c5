/* Part of libfanout_wait.so: each thread's connection to the machine's owner. See wait.h. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/wire/wait.h"

#define NS_MAX (4000000ll * WAIT_NS_PER_S)
#define FD_FROM 600 /* where programs that number their descriptors by hand do not come */

static struct {
    pthread_once_t once;
    pthread_key_t key;
    const char *name; /* the owner's; NULL: there is none */
    const MachinePage *page;
    uint64_t first_ps; /* when this process began to know it */
    WaitReal real;
} talk = {.once = PTHREAD_ONCE_INIT};

static _Thread_local struct {
    int fd;      /* this thread's connection */
    ino_t inode; /* its own: programs close descriptors that are not theirs */
    pid_t pid;   /* of the process that made it: a child of a fork needs its own; 0: none */
    int refused;
    int busy; /* a request is not answered, and a handler of a signal asks again */
} own;

static int is_still(void)
{
    struct stat st;
    return fstat(own.fd, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_ino == own.inode;
}

static void hang_up(void)
{
    if (own.pid == getpid() && is_still())
        close(own.fd);
    own.pid = 0;
}

static void thread_ends(void *unused)
{
    (void)unused;
    hang_up();
}

/* In the child, whose one thread it is. */
static void after_fork(void)
{
    if (own.pid != 0 && is_still())
        close(own.fd);
    memset(&own, 0, sizeof own);
}

void talk_find(void *function, const char *name, const char *version)
{
    void *found = version ? dlvsym(RTLD_NEXT, name, version) : NULL;

    if (!found)
        found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

/* The page of an owner, or something else that the environment names: a file that may become shorter would end this
 * process when it reads the time. NULL: it is none. */
static const MachinePage *page_map(int fd)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);

    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &st) != 0 || st.st_size < (off_t)sizeof(MachinePage))
        return NULL;
    void *page = mmap(NULL, sizeof(MachinePage), PROT_READ, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return NULL;
    if (((MachinePage *)page)->magic == MACHINE_PAGE_MAGIC)
        return page;
    munmap(page, sizeof(MachinePage));
    return NULL;
}

/* late: clocks of this process have been read without it, and go on from where they are. */
static void page_take(int fd, int late)
{
    const MachinePage *page = page_map(fd);

    if (!page)
        return;
    if (late)
        talk.first_ps = __atomic_load_n(&page->seen_ps, __ATOMIC_ACQUIRE);
    __atomic_store_n(&talk.page, page, __ATOMIC_RELEASE);
}

/* Without a word to the owner, which a program that only asks the time does not need. */
static void page_find(void)
{
    const char *path = getenv(WIRE_PAGE_ENV);
    int fd = path ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1; /* a pipe would wait for its other end */

    if (fd >= 0)
        page_take(fd, 0);
    if (fd >= 0)
        close(fd);
}

/* Takes no memory: an allocator may be what asks for the time first, with its lock taken. So nothing is looked up here
 * that might not be there, for which the loader would write a message. */
static void talk_begin(void)
{
    WaitReal *real = &talk.real;
    const char *name = getenv(WIRE_ENV);
    static char kept[PATH_MAX];

    talk_find(&real->nanosleep, "nanosleep", NULL);
    talk_find(&real->clock_nanosleep, "clock_nanosleep", "GLIBC_2.17");
    talk_find(&real->ppoll, "ppoll", NULL);
    talk_find(&real->pselect, "pselect", NULL);
    talk_find(&real->epoll_pwait, "epoll_pwait", NULL);
    talk_find(&real->sched_yield, "sched_yield", NULL);
    talk_find(&real->clock_gettime, "clock_gettime", NULL);
    talk_find(&real->gettimeofday, "gettimeofday", NULL);
    talk_find(&real->time, "time", NULL);
    talk_find(&real->cond_timedwait, "pthread_cond_timedwait", "GLIBC_2.3.2");
    talk_find(&real->cond_clockwait, "pthread_cond_clockwait", NULL);
    talk_find(&real->mutex_timedlock, "pthread_mutex_timedlock", NULL);
    talk_find(&real->mutex_clocklock, "pthread_mutex_clocklock", NULL);
    talk_find(&real->rwlock_clockrdlock, "pthread_rwlock_clockrdlock", NULL);
    talk_find(&real->rwlock_clockwrlock, "pthread_rwlock_clockwrlock", NULL);
    talk_find(&real->clockjoin, "pthread_clockjoin_np", NULL);
    talk_find(&real->sem_timedwait, "sem_timedwait", NULL);
    talk_find(&real->sem_clockwait, "sem_clockwait", NULL);
    pthread_key_create(&talk.key, thread_ends);
    if (name && *name && strlen(name) < sizeof kept)
        talk.name = memcpy(kept, name, strlen(name) + 1);
    if (talk.name)
        page_find();
    if (talk.name)
        pthread_atfork(NULL, NULL, after_fork);
}

long talk_call(long number, long a, long b, long c, long d, long e, long f)
{
    long result;

#if defined __x86_64__
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
#elif defined __aarch64__
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c,
                     x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    result = x0;
#else
#error "how this processor calls the kernel is not written down here"
#endif
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

const WaitReal *talk_real(void)
{
    pthread_once(&talk.once, talk_begin);
    return &talk.real;
}

int talk_owned(void)
{
    talk_real();
    return talk.name != NULL;
}

int talk_dial(WireRole role)
{
    WireHello hello;
    WireWelcome welcome;
    int page_fd = -1;

    if (!talk_owned())
        return -1;
    wire_introduce(&hello, role, 0);
    int fd = wire_dial(talk.name, &hello, &welcome, &page_fd);
    if (page_fd >= 0 && !__atomic_load_n(&talk.page, __ATOMIC_ACQUIRE))
        page_take(page_fd, 1);
    if (page_fd >= 0)
        close(page_fd);
    int high = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, FD_FROM) : -1;
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

/* This thread's connection, or -1: the host's time it is. */
static int connection(void)
{
    struct stat st;

    if (!talk_owned() || own.refused || own.busy)
        return -1;
    if (own.pid == getpid() && is_still())
        return own.fd;
    own.fd = talk_dial(WIRE_ROLE_CALLER);
    if (own.fd < 0 || fstat(own.fd, &st) != 0) {
        own.refused = 1;
        return -1;
    }
    own.inode = st.st_ino;
    own.pid = getpid();
    pthread_setspecific(talk.key, &own);
    return own.fd;
}

uint64_t talk_seen_ps(void)
{
    const MachinePage *page = __atomic_load_n(&talk.page, __ATOMIC_ACQUIRE);
    return page ? __atomic_load_n(&page->seen_ps, __ATOMIC_ACQUIRE) - talk.first_ps : 0;
}

/* The owner has ended. */
static void give_up(void)
{
    hang_up();
    own.refused = 1;
}

static int send_request(int fd, uint32_t op, uint64_t argument, uint64_t time_ps, int descriptor)
{
    WireCall call;

    memset(&call, 0, sizeof call);
    call.head = wire_head(WIRE_CALL);
    call.request.op = op;
    call.request.argument = argument;
    call.request.time_ps = time_ps;
    if (message_send(fd, &call, sizeof call, NULL, 0, descriptor))
        return 1;
    give_up();
    return 0;
}

static int receive_reply(int fd, WireReply *reply)
{
    ssize_t n = message_receive(fd, reply, sizeof *reply, NULL, 0, NULL, 0);

    if (n == (ssize_t)sizeof *reply && reply->head.magic == WIRE_MAGIC && reply->head.kind == WIRE_REPLY)
        return 1;
    give_up();
    return 0;
}

int talk_ask(uint32_t op, uint64_t argument, uint64_t time_ps, int descriptor)
{
    const int keep = errno;
    WireReply reply = {.reply = {.status = ENGINE_GONE}};
    int fd = connection();

    own.busy += fd >= 0;
    int good = fd >= 0 && send_request(fd, op, argument, time_ps, descriptor) && receive_reply(fd, &reply) &&
               reply.reply.status == ENGINE_OK;
    own.busy -= fd >= 0;
    errno = keep;
    return good;
}

void talk_woken(void) { talk_ask(WIRE_OP_WOKEN, 0, 0, -1); }

/* The sleep is not wanted any more; it may have ended meanwhile. */
static void end_sleep(int fd, uint64_t length_ps, uint64_t *passed_ps)
{
    WireReply reply;

    *passed_ps = 0;
    if (!send_request(fd, WIRE_OP_SLEEP_END, 0, 0, -1))
        return;
    for (;;) {
        if (!receive_reply(fd, &reply))
            return;
        if (reply.reply.value == WIRE_SLEEP_ENDED)
            break;
        *passed_ps = length_ps;
    }
    if (*passed_ps == 0)
        *passed_ps = reply.reply.time_ps;
}

int talk_wait(struct pollfd *polled, nfds_t n, uint64_t length_ps, const sigset_t *mask, uint64_t *passed_ps)
{
    int keep = errno, fd = connection(), ready;
    WireReply reply;

    *passed_ps = 0;
    if (fd < 0)
        return WAIT_HOST;
    own.busy = 1;
    if (!send_request(fd, ENGINE_SLEEP, 0, length_ps, -1)) {
        own.busy = 0;
        errno = keep;
        return WAIT_HOST;
    }
    polled[n] = (struct pollfd){.fd = fd, .events = POLLIN};
    ready = talk.real.ppoll(polled, n + 1, NULL, mask); /* unlike recv() never goes on after a handler of a signal */
    if (ready < 0)
        keep = errno;
    if (ready > 0 && polled[n].revents != 0) { /* time is over; who is ready at the same time counts */
        gboolean good = receive_reply(fd, &reply) && reply.reply.status == ENGINE_OK;
        ready = good ? ready - 1 : WAIT_HOST; /* the owner is gone, or simulated time has no room for it */
        *passed_ps = good ? length_ps : 0;
    } else {
        end_sleep(fd, length_ps, passed_ps);
    }
    own.busy = 0;
    errno = keep;
    return ready;
}

uint64_t talk_ps_of(int64_t ns) { return ns <= 0 ? 0 : (uint64_t)(ns < NS_MAX ? ns : NS_MAX) * 1000u; }
