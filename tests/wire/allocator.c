/* A program whose own allocator asks for the time while its lock is taken, as those do that give memory back after a
 * while. What is preloaded into it must not ask for memory then: test_waits.sh. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Alignas(64) unsigned char heap[64 << 20];
static size_t used;
static atomic_int taken;

void *malloc(size_t bytes)
{
    struct timespec now;
    size_t *at;
    /* one thread at a time: whoever finds it taken is inside, since the threads below come one after the other */
    if (atomic_exchange(&taken, 1)) {
        static const char text[] = "memory was asked for while the allocator asked for the time\n";
        if (write(1, text, sizeof text - 1) < 0)
            _exit(4);
        _exit(3);
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    clock_gettime(CLOCK_REALTIME, &now);
    at = (size_t *)(void *)(heap + used);
    used += (bytes + 79) / 64 * 64 + 64;
    if (used > sizeof heap)
        _exit(5);
    *at = bytes;
    atomic_store(&taken, 0);
    return (unsigned char *)at + 64;
}

void free(void *at) { (void)at; }

void *calloc(size_t n, size_t bytes) { return memset(malloc(n * bytes), 0, n * bytes); }

void *realloc(void *old, size_t bytes)
{
    void *new = malloc(bytes);
    if (old)
        memcpy(new, old,
               *(size_t *)(void *)((unsigned char *)old - 64) < bytes ? *(size_t *)(void *)((unsigned char *)old - 64)
                                                                      : bytes);
    return new;
}

static void *work(void *arg)
{
    free(malloc(100));
    return arg;
}

int main(void)
{
    pthread_t thread;
    struct timespec ms = {0, 1000000};
    free(malloc(10));
    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
            return 1;
    nanosleep(&ms, NULL);
    free(malloc(10));
    printf("good\n");
    return 0;
}
