/* What a client does that waits: each mode prints results and how long they took in simulated ns, which test_waits.sh
 * knows. Built with Fanout's libcuda for fo_now_ps(). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <fanout/fanout.h>

#define DRIVER(call)                                                                                                   \
    do {                                                                                                               \
        CUresult r_ = (call);                                                                                          \
        if (r_) {                                                                                                      \
            printf("line %d: %d\n", __LINE__, r_);                                                                     \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
#define COPY_BYTES (1u << 20)

static CUdeviceptr from, to;
static uint64_t before_ps;

static void begin(void)
{
    CUdevice device;
    CUcontext context;

    DRIVER(cuInit(0));
    DRIVER(cuDeviceGet(&device, 0));
    DRIVER(cuDevicePrimaryCtxRetain(&context, device));
    DRIVER(cuCtxSetCurrent(context));
    DRIVER(cuMemAlloc_v2(&from, COPY_BYTES));
    DRIVER(cuMemAlloc_v2(&to, COPY_BYTES));
    DRIVER(fo_now_ps(&before_ps));
}

static void use_device(void)
{
    CUdevice device;
    CUcontext context;

    DRIVER(cuDeviceGet(&device, 0));
    DRIVER(cuDevicePrimaryCtxRetain(&context, device));
    DRIVER(cuCtxSetCurrent(context));
}

/* The simulated time since the last word, in ns. */
static void say(const char *what, int result)
{
    uint64_t now_ps;

    DRIVER(fo_now_ps(&now_ps));
    printf("%s %d %.3f\n", what, result, (double)(now_ps - before_ps) / 1000.0);
    before_ps = now_ps;
}

static void copy(void)
{
    DRIVER(cuMemcpyDtoDAsync_v2(to, from, COPY_BYTES, NULL));
    DRIVER(cuStreamSynchronize(NULL));
}

static void add_ns(struct timespec *at, long ns)
{
    at->tv_nsec += ns;
    at->tv_sec += at->tv_nsec / 1000000000;
    at->tv_nsec %= 1000000000;
}

static struct timespec in_ns(clockid_t clock, long ns)
{
    struct timespec at;
    clock_gettime(clock, &at);
    add_ns(&at, ns);
    return at;
}

/* ---- sleeps: exactly as long as they say */

static void on_alarm(int number) { (void)number; }

static void *interrupt_main(void *data)
{
    usleep(30);
    pthread_kill(*(pthread_t *)data, SIGUSR1);
    return NULL;
}

static void sleeps(void)
{
    struct timespec length = {0, 250}, until, rest = {0, 0};

    nanosleep(&length, NULL);
    say("nanosleep", 0);
    usleep(100);
    say("usleep", 0);
    say("sleep", (int)sleep(100));
    until = in_ns(CLOCK_MONOTONIC, 5000);
    for (int i = 0; i < 3; i++) { /* a period, counted on */
        for (volatile int n = 0; n < 1000000; n++)
            continue;
        say("until", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL));
        add_ns(&until, 5000);
    }
    say("past", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &(struct timespec){1, 0}, NULL));
    length = (struct timespec){0, 2000000000};
    say("wrong", nanosleep(&length, NULL) == -1 && errno == EINVAL);
    length = (struct timespec){0, 7000};
    say("thrd_sleep", thrd_sleep(&length, NULL));
    usleep(0); /* a quantum, so that a loop of these ends */
    say("usleep of 0", 0);
    struct sigaction catch = {.sa_handler = on_alarm, .sa_flags = SA_RESTART}; /* sleeps end all the same */
    pthread_t self = pthread_self(), other;
    sigaction(SIGUSR1, &catch, NULL);
    pthread_create(&other, NULL, interrupt_main, &self);
    length = (struct timespec){1, 0};
    int result = nanosleep(&length, &rest);
    say("interrupted", result == -1 && errno == EINTR);
    printf("rest %ld.%09ld\n", (long)rest.tv_sec, rest.tv_nsec);
    pthread_join(other, NULL);
}

/* ---- descriptors */

static void *write_main(void *data)
{
    usleep(40);
    if (write(*(int *)data, "x", 1) != 1)
        exit(1);
    return NULL;
}

static void later(int fd, pthread_t *thread)
{
    static int kept;
    kept = fd;
    pthread_create(thread, NULL, write_main, &kept);
}

static void polls(void)
{
    int ends[2], many;
    char byte;
    pthread_t other;
    fd_set reads;
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};

    if (pipe(ends) != 0)
        exit(1);
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    say("poll", poll(&one, 1, 3));
    later(ends[1], &other);
    say("poll written", poll(&one, 1, 1000));
    say("poll ready", poll(&one, 1, 1000));
    pthread_join(other, NULL);
    many = epoll_create1(0);
    epoll_ctl(many, EPOLL_CTL_ADD, ends[0], &event);
    say("epoll ready", epoll_wait(many, &event, 1, 1000));
    say("epoll edge", epoll_wait(many, &event, 1, 2));
    FD_ZERO(&reads);
    FD_SET(ends[0], &reads);
    struct timeval limit = {5, 1500000};
    say("select ready", select(ends[0] + 1, &reads, NULL, NULL, &limit));
    printf("left %ld.%06ld\n", (long)limit.tv_sec, (long)limit.tv_usec);
    if (read(ends[0], &byte, 1) != 1)
        exit(1);
    limit = (struct timeval){0, 1500000};
    say("select", select(ends[0] + 1, &reads, NULL, NULL, &limit));
    printf("left %ld.%06ld, set %d\n", (long)limit.tv_sec, (long)limit.tv_usec, FD_ISSET(ends[0], &reads) != 0);
    FD_SET(ends[0], &reads);
    later(ends[1], &other);
    limit = (struct timeval){0, 100};
    say("select written", select(ends[0] + 1, &reads, NULL, NULL, &limit));
    printf("left %ld.%06ld, set %d\n", (long)limit.tv_sec, (long)limit.tv_usec, FD_ISSET(ends[0], &reads) != 0);
    pthread_join(other, NULL);
    limit = (struct timeval){0, 700};
    say("select of none", select(0, NULL, NULL, NULL, &limit));
    say("ppoll", ppoll(NULL, 0, &(struct timespec){0, 4567}, NULL));
    close(ends[1]);
    one.fd = 900;
    say("poll of none", poll(&one, 1, 1000));
    printf("revents %d\n", one.revents == POLLNVAL);
    for (int i = 0; i < 60; i++) { /* a wait that ends early leaves nothing behind */
        int pair[2];
        if (pipe(pair) != 0)
            exit(1);
        later(pair[1], &other);
        one.fd = pair[0];
        if (poll(&one, 1, 1) != 1)
            exit(1);
        pthread_join(other, NULL);
        close(pair[0]);
        close(pair[1]);
    }
    say("60 cut short", 0);
}

/* ---- a poller beside copies */

static volatile int flag;
static uint64_t copied_ps;

static void *copy_main(void *unused)
{
    uint64_t begin_ps;

    (void)unused;
    use_device();
    DRIVER(fo_now_ps(&begin_ps));
    for (int i = 0; i < 4; i++)
        copy();
    DRIVER(fo_now_ps(&copied_ps));
    copied_ps -= begin_ps;
    flag = 1;
    return NULL;
}

static void *long_main(void *unused)
{
    (void)unused;
    sleep(100);
    return NULL;
}

static void poller(void)
{
    pthread_t other, sleeper;
    int rounds = 0;

    pthread_create(&sleeper, NULL, long_main, NULL);
    pthread_create(&other, NULL, copy_main, NULL);
    while (!flag) {
        usleep(1);
        rounds++;
    }
    say("usleep rounds", rounds);
    pthread_join(other, NULL);
    printf("rounds fit the copies: %d\n", rounds > 1 && (uint64_t)rounds == (copied_ps + 999999) / 1000000);
    flag = 0;
    pthread_create(&other, NULL, copy_main, NULL);
    while (!flag)
        usleep(0);
    say("usleep of 0", 0);
    pthread_join(other, NULL);
}

/* ---- condition variables and semaphores */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t tokens;

static void *signal_main(void *unused)
{
    (void)unused;
    usleep(50);
    pthread_mutex_lock(&mutex);
    flag = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
    sem_post(&tokens);
    return NULL;
}

/* Holds the mutex while the time-out passes: the waiter has it when this one lets go. */
static void *hold_main(void *unused)
{
    (void)unused;
    usleep(5);
    pthread_mutex_lock(&mutex);
    usleep(100);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static int timed(clockid_t clock, long ns)
{
    struct timespec until = in_ns(clock, ns);
    int result = 0;

    pthread_mutex_lock(&mutex);
    while (!flag && result == 0)
        result = clock == CLOCK_REALTIME ? pthread_cond_timedwait(&cond, &mutex, &until)
                                         : pthread_cond_clockwait(&cond, &mutex, clock, &until);
    pthread_mutex_unlock(&mutex);
    return result;
}

static void conditions(void)
{
    pthread_t other;
    struct timespec until;

    sem_init(&tokens, 0, 0);
    say("timedwait", timed(CLOCK_REALTIME, 20000) == ETIMEDOUT);
    say("clockwait", timed(CLOCK_MONOTONIC, 30000) == ETIMEDOUT);
    say("past", timed(CLOCK_MONOTONIC, -5) == ETIMEDOUT);
    pthread_create(&other, NULL, signal_main, NULL);
    say("signalled", timed(CLOCK_MONOTONIC, 1000000));
    pthread_join(other, NULL);
    until = in_ns(CLOCK_REALTIME, 1000);
    say("token", sem_timedwait(&tokens, &until));
    until = in_ns(CLOCK_REALTIME, 1000);
    say("no token", sem_timedwait(&tokens, &until) == -1 && errno == ETIMEDOUT);
    until = in_ns(CLOCK_MONOTONIC, 2000);
    say("no token", sem_clockwait(&tokens, CLOCK_MONOTONIC, &until) == -1 && errno == ETIMEDOUT);
    pthread_create(&other, NULL, signal_main, NULL);
    until = in_ns(CLOCK_REALTIME, 1000000);
    say("posted", sem_timedwait(&tokens, &until));
    pthread_join(other, NULL);
    flag = 0;
    pthread_create(&other, NULL, hold_main, NULL);
    say("mutex held", timed(CLOCK_MONOTONIC, 20000) == ETIMEDOUT);
    pthread_join(other, NULL);
}

/* Tokens are handed over by time-outs that mostly lose: none is lost, none is made. */
enum { TOKENS = 60 };

static void *post_main(void *unused)
{
    (void)unused;
    for (int i = 0; i < TOKENS; i++) {
        usleep(3);
        sem_post(&tokens);
    }
    return NULL;
}

static void *take_main(void *data)
{
    int *taken = data;

    while (__atomic_load_n(&flag, __ATOMIC_SEQ_CST) == 0 || sem_trywait(&tokens) == 0) {
        struct timespec until = in_ns(CLOCK_MONOTONIC, 1000);
        if (__atomic_load_n(&flag, __ATOMIC_SEQ_CST) != 0)
            ++*taken;
        else if (sem_clockwait(&tokens, CLOCK_MONOTONIC, &until) == 0)
            ++*taken;
    }
    return NULL;
}

static void token_count(void)
{
    pthread_t poster, taker[4];
    int taken[4] = {0}, all = 0;

    sem_init(&tokens, 0, 0);
    for (int i = 0; i < 4; i++)
        pthread_create(&taker[i], NULL, take_main, &taken[i]);
    pthread_create(&poster, NULL, post_main, NULL);
    pthread_join(poster, NULL);
    usleep(10);
    __atomic_store_n(&flag, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < 4; i++) {
        pthread_join(taker[i], NULL);
        all += taken[i];
    }
    say("tokens", all);
}

/* ---- a futex, as libraries call it that do not use the C library's condition variables */

static uint32_t word;

static void *wake_main(void *unused)
{
    (void)unused;
    usleep(50);
    word = 1;
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return NULL;
}

static void futexes(void)
{
    struct timespec length = {3, 0}, until = in_ns(CLOCK_MONOTONIC, 9000);
    pthread_t other;
    long result;

    result = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &until, NULL, FUTEX_BITSET_MATCH_ANY);
    say("until", result == -1 && errno == ETIMEDOUT);
    result = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &length, NULL, 0);
    say("so long", result == -1 && errno == ETIMEDOUT);
    pthread_create(&other, NULL, wake_main, NULL);
    say("woken", (int)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &length, NULL, 0));
    pthread_join(other, NULL);
    result = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &length, NULL, 0);
    say("changed", result == -1 && errno == EAGAIN);
}

/* A mutex's time-out is the host's, whatever simulated time has passed: 50 ms here, not 60 s and 50 ms. */
static void host_limits(void)
{
    struct timespec until;
    struct timespec a, b;

    sleep(60);
    pthread_mutex_lock(&mutex);
    clock_gettime(CLOCK_MONOTONIC, &a);
    until = in_ns(CLOCK_REALTIME, 50000000);
    int result = pthread_mutex_timedlock(&mutex, &until);
    clock_gettime(CLOCK_MONOTONIC, &b);
    double ms = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
    printf("timedlock %d %s\n", result == ETIMEDOUT, ms >= 49 && ms < 20000 ? "right" : "wrong");
}

/* ---- fork */

static void forks(void)
{
    int status;

    usleep(10);
    flag = 0;
    timed(CLOCK_MONOTONIC, 10000);
    say("parent", 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        usleep(40);
        timed(CLOCK_MONOTONIC, 20000);
        closefrom(3); /* as daemons do */
        usleep(40);
        _exit(7);
    }
    waitpid(child, &status, 0);
    say("child", WEXITSTATUS(status));
    usleep(5);
    say("parent", 0);
}

/* ---- threads that spin */

static void spin_on_copy(void)
{
    uint32_t *word;
    CUstream stream;

    DRIVER(cuMemHostAlloc((void **)&word, 4096, 0));
    DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DRIVER(cuMemsetD32_v2(from, 1, 1));
    DRIVER(cuStreamSynchronize(NULL));
    say("begin", 0);
    for (int i = 0; i < 3; i++) {
        *(volatile uint32_t *)word = 0;
        DRIVER(cuMemcpyDtoDAsync_v2(to, from, COPY_BYTES, stream));
        DRIVER(cuMemcpyDtoHAsync_v2(word, from, 4, stream));
        while (*(volatile uint32_t *)word == 0)
            if (i == 0)
                sched_yield();
            else if (i == 1)
                poll(NULL, 0, 0);
            else
                cuStreamQuery(stream);
        say("spun", i);
    }
}

static void *yield_main(void *unused)
{
    while (!flag)
        sched_yield();
    return unused;
}

/* Two seconds of sleep beside a thread that spins for their end: a million looks of it would take minutes. */
static void sleep_beside(void)
{
    pthread_t thread;

    say("begin", pthread_create(&thread, NULL, yield_main, NULL));
    say("slept", usleep(2000000));
    flag = 1;
    pthread_join(thread, NULL);
}

/* Two processes hand a word to and fro, with a copy in between, and a third one waits for a copy all the while. */
static void hand(void)
{
    volatile uint32_t *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;

    for (unsigned self = 0; self < 2; self++) {
        fflush(stdout);
        if (fork() != 0)
            continue;
        setenv("RANK", self ? "1" : "0", 1);
        begin();
        for (unsigned round = 0; round < 20; round++) {
            while (__atomic_load_n(word, __ATOMIC_SEQ_CST) != 2 * round + self)
                sched_yield();
            copy();
            if (round == 19 && self == 1)
                say("handed", (int)*word);
            __atomic_store_n(word, *word + 1, __ATOMIC_SEQ_CST);
        }
        fflush(stdout);
        exit(0);
    }
    while (wait(&status) > 0)
        if (status != 0)
            exit(1);
}

/* It calls nothing. */
static void poll_memory(void)
{
    uint32_t *word;

    DRIVER(cuMemHostAlloc((void **)&word, 4096, 0));
    DRIVER(cuMemsetD32_v2(from, 1, 1));
    DRIVER(cuStreamSynchronize(NULL));
    *(volatile uint32_t *)word = 0;
    DRIVER(cuMemcpyDtoHAsync_v2(word, from, 4, NULL));
    printf("polls\n");
    fflush(stdout);
    while (*(volatile uint32_t *)word == 0)
        continue;
    printf("seen\n");
}

/* ---- many threads: what the proof costs */

static pthread_barrier_t all_here;

static void *idle_main(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&all_here);
    for (;;)
        pause();
    return NULL;
}

static void crowd(int threads, int rounds)
{
    pthread_t one;
    struct timespec a, b;

    pthread_barrier_init(&all_here, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++)
        pthread_create(&one, NULL, idle_main, NULL);
    pthread_barrier_wait(&all_here);
    for (int i = 0; i < 20; i++)
        usleep(10);
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < rounds; i++)
        usleep(10);
    clock_gettime(CLOCK_MONOTONIC, &b);
    if (rounds == 0)
        pause();
    printf("%.1f us of the host a sleep\n",
           ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / 1000.0 / rounds);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"sleeps", sleeps},      {"polls", polls},        {"poller", poller},      {"conditions", conditions},
                 {"tokens", token_count}, {"forks", forks},        {"spin", spin_on_copy},  {"futexes", futexes},
                 {"limits", host_limits}, {"memory", poll_memory}, {"beside", sleep_beside}};
    const char *mode = argc > 1 ? argv[1] : "";

    if (strcmp(mode, "hand") == 0) {
        hand();
        return 0;
    }
    begin();
    if (strcmp(mode, "crowd") == 0 && argc > 3) {
        crowd((int)strtol(argv[2], NULL, 10), (int)strtol(argv[3], NULL, 10));
        return 0;
    }
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(mode, modes[i].name) == 0) {
            modes[i].run();
            return 0;
        }
    return 2;
}
