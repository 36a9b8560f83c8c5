/* Timers that are descriptors, for tests/wire/test_timers.sh: what they say, and how many ns of simulated time it took.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fanout/fanout.h>

static uint64_t before_ps;

static void say(const char *what, long result)
{
    uint64_t now_ps;

    if (fo_now_ps(&now_ps))
        exit(1);
    printf("%s %ld %.3f\n", what, result, (double)(now_ps - before_ps) / 1000.0);
    before_ps = now_ps;
}

static int make(int flags)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, flags);
    if (fd < 0)
        exit(2);
    return fd;
}

static void set(int fd, long us, long period_us)
{
    const struct itimerspec to = {{0, period_us * 1000}, {0, us * 1000}};
    if (timerfd_settime(fd, 0, &to, NULL))
        exit(3);
}

static long count(int fd)
{
    uint64_t times = 0;
    return read(fd, &times, sizeof times) == sizeof times ? (long)times : -errno;
}

int main(void)
{
    struct itimerspec at = {{0, 0}, {0, 0}}, left;
    struct epoll_event event = {.events = EPOLLIN};
    int fd = make(0), soon = make(TFD_NONBLOCK), epoll = epoll_create1(0), status;
    pid_t child;

    if (cuInit(0))
        return 1;
    say("begin", 0);
    set(fd, 250, 0); /* once: a read waits for it */
    say("once", count(fd));

    set(fd, 40, 15); /* at 40, 55, 70: one each time that it is waited for */
    say("first", count(fd));
    say("second", count(fd));
    say("third", count(fd));
    usleep(100); /* 85 to 160 of it: six more */
    say("slept", 0);
    say("six", count(fd));

    timerfd_gettime(fd, &left); /* at 170 of it: 5 us to 175, every 15 */
    printf("left %ld every %ld\n", left.it_value.tv_nsec, left.it_interval.tv_nsec);
    set(fd, 0, 0); /* no more, and what it had counted is forgotten */
    usleep(100);
    timerfd_gettime(fd, &left);
    printf("stopped %ld\n", left.it_value.tv_nsec + left.it_value.tv_sec);
    say("slept", 0);

    say("nothing yet", count(soon) == -EAGAIN);
    set(soon, 3000, 0);
    set(fd, 7, 0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    say("epoll", epoll_wait(epoll, &event, 1, -1));
    say("epoll", count(fd));
    struct pollfd both[2] = {{fd, POLLIN, 0}, {soon, POLLIN, 0}};
    say("poll", poll(both, 2, 2)); /* its time-out is shorter */
    say("poll", poll(both, 2, -1));
    say("which", both[1].revents == POLLIN && both[0].revents == 0);
    say("read", count(soon));

    clock_gettime(CLOCK_MONOTONIC, &at.it_value); /* until a moment of the clock, and one that is past */
    at.it_value.tv_sec += 5;
    say("until", timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, NULL));
    say("until", count(fd));
    say("past", timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, NULL));
    printf("past %ld\n", count(fd));

    at.it_value.tv_nsec = 1000000000;
    printf("wrong %d\n", timerfd_settime(fd, 0, &at, NULL) == -1 && errno == EINVAL);
    printf("no timer %d\n", timerfd_settime(0, 0, &(struct itimerspec){{0, 0}, {1, 0}}, NULL) == -1 && errno == EINVAL);

    if (fo_now_ps(&before_ps))
        return 1;
    set(fd, 20, 20);
    close(fd); /* it ends with its descriptor, whose number another has then */
    int other = make(TFD_NONBLOCK);
    usleep(1000);
    say("closed", other == fd && count(other) == -EAGAIN);

    set(other, 60, 0); /* the parent's goes on, and the child sets its own */
    child = fork();
    if (child == 0) {
        int own = make(0);
        set(own, 10, 0);
        _exit(count(own) == 1 ? 7 : 1);
    }
    waitpid(child, &status, 0);
    say("child", WEXITSTATUS(status));
    struct pollfd one = {other, POLLIN, 0};
    say("parent", poll(&one, 1, -1));
    return 0;
}
