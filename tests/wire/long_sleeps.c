/* Hours of simulated time, for tests/wire/test_long_sleeps.sh: sleeps, time-outs and clocks are as long as they say,
 * and what the machine does between them takes what it takes at the start. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fanout/fanout.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        CUresult r_ = (call);                                                                                          \
        if (r_) {                                                                                                      \
            printf("line %d: %d\n", __LINE__, r_);                                                                     \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
#define BYTES (1u << 20)
#define PS_PER_S UINT64_C(1000000000000)

static CUdeviceptr from, to;

static uint64_t now_ps(void)
{
    uint64_t now;
    CHECK(fo_now_ps(&now));
    return now;
}

static uint64_t copy_ps(void)
{
    uint64_t begin = now_ps();
    CHECK(cuMemcpyDtoDAsync_v2(to, from, BYTES, NULL));
    CHECK(cuStreamSynchronize(NULL));
    return now_ps() - begin;
}

static void say(const char *what, uint64_t begin_ps) { printf("%s %" PRIu64 "\n", what, (now_ps() - begin_ps) / 1000); }

static void *sleep_half(void *unused)
{
    (void)unused;
    sleep(1800);
    return NULL;
}

int main(int argc, char **argv)
{
    CUcontext context;
    CUevent first, last;
    struct timespec a, b;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    pthread_t thread;
    float ms;

    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc_v2(&from, BYTES));
    CHECK(cuMemAlloc_v2(&to, BYTES));
    CHECK(cuEventCreate(&first, 0));
    CHECK(cuEventCreate(&last, 0));
    const uint64_t one_ps = copy_ps();
    if (argc > 1 && strcmp(argv[1], "short") == 0)
        return (int)sleep(50);

    CHECK(cuEventRecord(first, NULL));
    CHECK(cuEventSynchronize(first));
    uint64_t begin_ps = now_ps();
    clock_gettime(CLOCK_MONOTONIC, &a);
    sleep(3600);
    clock_gettime(CLOCK_MONOTONIC, &b);
    say("sleep", begin_ps);
    printf("clock %d\n", (int)(b.tv_sec - a.tv_sec) / 60);
    CHECK(cuEventRecord(last, NULL));
    CHECK(cuEventSynchronize(last));
    CHECK(cuEventElapsedTime(&ms, first, last));
    printf("events %.0f\n", ms);
    printf("copy %s\n", copy_ps() == one_ps ? "the same" : "another");

    begin_ps = now_ps();
    poll(NULL, 0, 7200 * 1000);
    say("poll", begin_ps);

    pthread_create(&thread, NULL, sleep_half, NULL); /* beside it: the shorter one ends first */
    begin_ps = now_ps();
    clock_gettime(CLOCK_REALTIME, &a);
    a.tv_sec += 86400;
    pthread_mutex_lock(&mutex);
    int result = pthread_cond_timedwait(&cond, &mutex, &a);
    printf("condition %d %" PRIu64 "\n", result != 0, (now_ps() - begin_ps) / PS_PER_S);
    pthread_join(thread, NULL);
    say("join", begin_ps + 86400 * PS_PER_S);
    printf("copy %s\n", copy_ps() == one_ps ? "the same" : "another");

    if (argc > 1 &&
        strcmp(argv[1], "beside") == 0) { /* another process sleeps for a minute, while this one's copies go on */
        pid_t child = fork();
        if (child == 0) {
            execl("/bin/sleep", "sleep", "60", (char *)NULL);
            _exit(1);
        }
        int rounds = 0, status;
        while (waitpid(child, &status, WNOHANG) == 0) {
            sleep(1);
            rounds += copy_ps() == one_ps;
        }
        printf("rounds %s\n", status == 0 && rounds >= 59 && rounds <= 61 ? "right" : "wrong");
    }
    printf("end %" PRIu64 "\n", now_ps() / 1000000);
    return 0;
}
