/* Records which functions of a program ran and in which order, so that a route through the source is a measurement and
 * not a claim. Preloaded before a build with -finstrument-functions, whose functions call the two below when they are
 * entered and left. When the program ends it writes ROUTE_OUT.PID, a record of eight bytes each (the address, the
 * thread in bits 56 to 62, and bit 63 when it was left), and ROUTE_OUT.PID.maps, by which tests/routes/route.py finds
 * the files. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOT_RECORDED __attribute__((no_instrument_function))
#define RECORDS_MAX (100u << 20)
#define LEFT (1ull << 63)
#define THREAD_SHIFT 56

static uint64_t *records;
static atomic_ulong records_n;
static atomic_uint threads_n;
static _Thread_local unsigned thread; /* of this program, from 1 on; more than 127 are numbered anew */

void __cyg_profile_func_enter(void *function, void *caller) NOT_RECORDED;
void __cyg_profile_func_exit(void *function, void *caller) NOT_RECORDED;

static void NOT_RECORDED record(void *function, uint64_t left)
{
    unsigned long at;
    if (thread == 0)
        thread = atomic_fetch_add(&threads_n, 1) % 127 + 1;
    if (records && (at = atomic_fetch_add(&records_n, 1)) < RECORDS_MAX)
        records[at] = (uint64_t)(uintptr_t)function | (uint64_t)thread << THREAD_SHIFT | left;
}

void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)caller;
    record(function, 0);
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)caller;
    record(function, LEFT);
}

static void NOT_RECORDED write_records(void)
{
    char name[4096], line[4096];
    unsigned long n = atomic_load(&records_n);
    FILE *maps = fopen("/proc/self/maps", "r"), *out;
    if (n > RECORDS_MAX) {
        fprintf(stderr, "recorder: %lu calls are more than the %u that are kept\n", n, RECORDS_MAX);
        _exit(1);
    }
    snprintf(name, sizeof name, "%s.%d", getenv("ROUTE_OUT"), (int)getpid());
    out = fopen(name, "wb");
    if (!out || !maps || fwrite(records, sizeof *records, n, out) != n || fclose(out)) {
        perror(name);
        _exit(1);
    }
    snprintf(name, sizeof name, "%s.%d.maps", getenv("ROUTE_OUT"), (int)getpid());
    out = fopen(name, "w");
    while (out && fgets(line, sizeof line, maps))
        fputs(line, out);
    if (!out || fclose(out)) {
        perror(name);
        _exit(1);
    }
    fclose(maps);
}

static void NOT_RECORDED __attribute__((constructor)) begin(void)
{
    void *at;
    if (!getenv("ROUTE_OUT"))
        return;
    at = mmap(NULL, RECORDS_MAX * sizeof *records, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
              -1, 0);
    if (at != MAP_FAILED && !atexit(write_records))
        records = at;
}
