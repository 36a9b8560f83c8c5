/* Notes which functions of a library or a program were entered, for run.py, which links it into each of them: a
 * breakpoint stands on the first byte of each function that is listed in REACH_AT.NAME, with the library's NAME, and is
 * taken away by whoever meets it, so that a test takes hardly longer. REACH_OUT.NAME is a byte for each of the code,
 * shared by all processes that a test starts, so that what is killed has told as well. x86-64 alone. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#define OWN __attribute__((visibility("hidden"))) /* of this library, not of the one that was loaded first */
#define CODE_BYTES ((uintptr_t)64 << 20)          /* at most; the files have holes */
#define BREAKPOINT 0xcc
#define PAGE ((uintptr_t)4096)

extern char __ehdr_start OWN; /* where the linker put the library's first byte */

static uint8_t *entered, *replaced; /* by offset: was it entered; what stood there */
static uintptr_t begin, end;        /* of the code with breakpoints */
static struct sigaction previous;   /* of another library that notes */

static void meet(int number, siginfo_t *info, void *context)
{
    ucontext_t *thread = context;
    uintptr_t at = (uintptr_t)thread->uc_mcontext.gregs[REG_RIP] - 1;
    if (at >= begin && at < end && replaced[at - (uintptr_t)&__ehdr_start]) {
        entered[at - (uintptr_t)&__ehdr_start] = 1;
        *(volatile uint8_t *)at = replaced[at - (uintptr_t)&__ehdr_start];
        thread->uc_mcontext.gregs[REG_RIP] = (greg_t)at;
    } else if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(number, info, context);
    } else {
        abort();
    }
}

static void *map(const char *variable, int flags, int kind)
{
    char name[4096];
    if (!getenv(variable))
        return MAP_FAILED;
    snprintf(name, sizeof name, "%s." REACH_NAME, getenv(variable));
    int fd = open(name, flags | O_CLOEXEC, 0666);
    if (fd < 0 || ((flags & O_CREAT) && ftruncate(fd, CODE_BYTES)))
        return MAP_FAILED;
    void *at = mmap(NULL, CODE_BYTES, PROT_READ | ((flags & O_CREAT) ? PROT_WRITE : 0), kind, fd, 0);
    close(fd);
    return at;
}

/* Signals come on a stack of their own: those of simulated processes are small. */
static void __attribute__((constructor(101))) start(void)
{
    static uint8_t stack[64 << 10];
    const uint8_t *listed = map("REACH_AT", O_RDONLY, MAP_PRIVATE); /* a byte that is not 0: a function */
    entered = map("REACH_OUT", O_RDWR | O_CREAT, MAP_SHARED);
    replaced = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char name[4096];
    struct stat file;
    snprintf(name, sizeof name, "%s." REACH_NAME, getenv("REACH_AT") ? getenv("REACH_AT") : "");
    if (listed == MAP_FAILED || entered == MAP_FAILED || replaced == MAP_FAILED || stat(name, &file))
        return;
    uint8_t *code = (uint8_t *)&__ehdr_start;
    uintptr_t first = 0;
    while (first < (uintptr_t)file.st_size && !listed[first])
        first++;
    begin = (uintptr_t)code + first;
    end = (uintptr_t)code + (uintptr_t)file.st_size; /* the file ends with the last function */
    uintptr_t page = begin & ~(PAGE - 1);
    if (first == (uintptr_t)file.st_size || mprotect((void *)page, end + 1 - page, PROT_READ | PROT_WRITE | PROT_EXEC))
        return;
    const struct sigaction action = {.sa_sigaction = meet, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    stack_t there;
    if (sigaltstack(NULL, &there) == 0 && (there.ss_flags & SS_DISABLE))
        sigaltstack(&own, NULL);
    sigaction(SIGTRAP, &action, &previous);
    for (uintptr_t i = first; i < (uintptr_t)file.st_size; i++)
        if (listed[i] && !entered[i]) {
            replaced[i] = code[i];
            code[i] = BREAKPOINT;
        }
}
