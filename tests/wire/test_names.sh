#!/bin/sh
# Proves that simulated time stands still while a thread of the job looks up a host's name, as it does while one runs: it
# sleeps then, but a server that is none of the job is about to wake it. Another thread's sleep of a microsecond lasts as
# long as that takes.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
libs=$(dirname "$FANOUT")/.libs
[ -f "$libs/libfanout_wait.so" ] || { echo "no $libs/libfanout_wait.so"; exit 77; }
. "$TOP_SRCDIR/tests/plain.sh"
# What the C library does when it waits for a name server: a sleep that goes by the host's clock, of 300 ms.
cat >"$dir/server.c" <<'C'
#define _GNU_SOURCE
#include <netdb.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
static void wait_for_server(void)
{
    const struct timespec host = {0, 300000000};
    sigset_t none;
    sigemptyset(&none);
    sigtimedwait(&none, NULL, &host);
}
int getaddrinfo(const char *n, const char *s, const struct addrinfo *h, struct addrinfo **f)
{
    (void)n, (void)s, (void)h, (void)f;
    wait_for_server();
    return EAI_NONAME;
}
int getnameinfo(const struct sockaddr *a, socklen_t l, char *n, socklen_t nb, char *s, socklen_t sb, int f)
{
    (void)a, (void)l, (void)n, (void)nb, (void)s, (void)sb, (void)f;
    wait_for_server();
    return EAI_NONAME;
}
struct hostent *gethostbyname(const char *n)
{
    (void)n;
    wait_for_server();
    return NULL;
}
struct hostent *gethostbyaddr(const void *a, socklen_t l, int f)
{
    (void)a, (void)l, (void)f;
    wait_for_server();
    return NULL;
}
C
cat >"$dir/looks.c" <<'C'
#define _GNU_SOURCE
#include <fanout/cuda.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
static int looked_up, way;
static void *look(void *unused)
{
    struct addrinfo *found;
    struct sockaddr_in address = {.sin_family = AF_INET};
    char name[64];
    (void)unused;
    if (way == 0)
        getaddrinfo("host", NULL, NULL, &found);
    else if (way == 1)
        getnameinfo((struct sockaddr *)&address, sizeof address, name, sizeof name, NULL, 0, 0);
    else if (way == 2)
        gethostbyname("host");
    else
        gethostbyaddr(&address.sin_addr, sizeof address.sin_addr, AF_INET);
    __atomic_store_n(&looked_up, 1, __ATOMIC_SEQ_CST);
    return NULL;
}
int main(void)
{
    pthread_t thread;
    if (cuInit(0) != CUDA_SUCCESS)
        return 1;
    for (way = 0; way < 4; way++) {
        looked_up = 0;
        pthread_create(&thread, NULL, look, NULL);
        for (int i = 0; i < 3; i++)
            usleep(1);
        printf("way %d: %d\n", way, __atomic_load_n(&looked_up, __ATOMIC_SEQ_CST));
        pthread_join(thread, NULL);
    }
    return 0;
}
C
cc=${CC:-cc}
$cc -std=gnu11 -Wall -Wextra -Werror -shared -fPIC "$dir/server.c" -o "$dir/server.so"
$cc -std=gnu11 -Wall -Wextra -Werror -I"$TOP_SRCDIR/api/include" "$dir/looks.c" -o "$dir/looks" "$libs/libcuda.so.1" \
    -Wl,-rpath-link,"$libs" -lpthread
LD_PRELOAD="$dir/server.so" timeout 60 "$FANOUT" exec -s teach-4gpu --report "$dir/report.json" -- "$dir/looks" >"$dir/out"
printf 'way %d: 1\n' 0 1 2 3 >"$dir/right"
diff "$dir/right" "$dir/out" || { echo "time went on during a look-up"; exit 1; }
grep -q '"simulated_us": 12.000' "$dir/report.json" || { grep simulated_us "$dir/report.json"; echo "12 sleeps are not 12 us"; exit 1; }
echo passed
