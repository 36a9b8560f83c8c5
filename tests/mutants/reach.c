/* Notes which functions of a library or a program were entered, for run.py: linked into each of them beside objects
 * that were made with -finstrument-functions. REACH_OUT.NAME, with the library's NAME, is a byte for each of the code,
 * shared by all processes that a test starts, so that what is killed has told as well. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOT_NOTED __attribute__((no_instrument_function))
#define OWN __attribute__((visibility("hidden"))) /* of this library, not of the one that was loaded first */
#define CODE_BYTES ((uintptr_t)64 << 20)          /* at most; the file has holes */

extern const char __ehdr_start OWN; /* where the linker put the library's first byte */

static uint8_t *entered;

OWN void __cyg_profile_func_enter(void *function, void *caller) NOT_NOTED;
OWN void __cyg_profile_func_exit(void *function, void *caller) NOT_NOTED;

void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)caller;
    uintptr_t at = (uintptr_t)function - (uintptr_t)&__ehdr_start;
    if (entered && at < CODE_BYTES && !entered[at])
        entered[at] = 1;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function;
    (void)caller;
}

static void NOT_NOTED __attribute__((constructor(101))) begin(void)
{
    char name[4096];
    if (!getenv("REACH_OUT"))
        return;
    snprintf(name, sizeof name, "%s." REACH_NAME, getenv("REACH_OUT"));
    int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || ftruncate(fd, CODE_BYTES))
        return;
    void *at = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    entered = at == MAP_FAILED ? NULL : at;
}
