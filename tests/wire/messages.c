/* Two small messages by TCP, one behind the other, while the sender sleeps for 10 us at a time until the other side has
 * both and has answered: prints how many sleeps each of ten such pairs took. (Only a side that answers is slow to
 * acknowledge.) Built with Fanout's libcuda for fo_now_ps(). */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fanout/fanout.h>

#define PAIRS 10

static int listens;
static volatile int received;

static void must(int good, const char *what)
{
    if (!good) {
        printf("%s failed\n", what);
        exit(1);
    }
}

static void *receive_main(void *unused)
{
    int fd = accept(listens, NULL, NULL);
    char both[8];

    (void)unused;
    must(fd >= 0, "accept");
    for (int i = 0; i < PAIRS; i++) {
        must(recv(fd, both, sizeof both, MSG_WAITALL) == (ssize_t)sizeof both, "recv");
        must(send(fd, both, 4, 0) == 4, "send");
        received = i + 1;
    }
    return NULL;
}

static void dial(int fd)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;

    listens = socket(AF_INET, SOCK_STREAM, 0);
    must(bind(listens, (struct sockaddr *)&at, size) == 0 && listen(listens, 1) == 0 &&
             getsockname(listens, (struct sockaddr *)&at, &size) == 0,
         "listen");
    must(connect(fd, (struct sockaddr *)&at, size) == 0, "connect");
}

int main(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0), off = 0, now = 1;
    uint64_t before_ps, after_ps;
    socklen_t size = sizeof now;
    pthread_t thread;
    char answer[4];

    must(cuInit(0) == 0 && fo_now_ps(&before_ps) == 0, "cuInit");
    dial(fd);
    pthread_create(&thread, NULL, receive_main, NULL);
    for (int i = 0; i < PAIRS; i++) {
        int sleeps = 0;
        must(write(fd, "one ", 4) == 4 && write(fd, "two ", 4) == 4, "write");
        do {
            usleep(10);
            sleeps++;
        } while (received <= i);
        must(read(fd, answer, sizeof answer) == (ssize_t)sizeof answer, "read");
        printf("%d%s", sleeps, i + 1 < PAIRS ? " " : " sleeps\n");
    }
    pthread_join(thread, NULL);
    fo_now_ps(&after_ps);
    printf("%.3f us\n", (double)(after_ps - before_ps) / 1e6);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &off, sizeof off);
    getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &now, &size);
    printf("as the program says: %d\n", now);
    return 0;
}
