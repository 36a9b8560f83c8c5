#include "sim/engine/stack.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIGNAL_STACK_BYTES (64 * 1024)

/* Process-wide, as SystemC is: one stack runs at a time, and signals have one handler. */
static const Stack *current;
static struct sigaction previous;

/* The frame that calls this lies a few hundred bytes below the top of a stack of whole pages. */
void stack_find(Stack *stack, gsize stack_bytes)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t top = (here + page - 1) & ~(page - 1);

    stack->top = (char *)top;
    stack->guard = (char *)(top - ((stack_bytes + page - 1) & ~(page - 1)));
    stack->base = stack->guard + page;
    current = stack;
}

void stack_enter(const Stack *stack) { current = stack; }

static void write_text(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nothing left to tell it to */
}

G_NORETURN static void overflowed(const Stack *stack)
{
    write_text("fanout: the stack of process '");
    write_text(stack->name ? stack->name : "?");
    write_text("' overflowed: it needs more stack_bytes\n");
    abort();
}

void stack_check(const Stack *stack)
{
    if ((char *)__builtin_frame_address(0) < stack->base)
        overflowed(stack);
}

/* The lowest word that is not zero any more. Mostly all but the last pages are zero: 64 B at once. */
__attribute__((no_sanitize("address"))) static char *lowest_used(const Stack *stack)
{
    const uint64_t *word = (const uint64_t *)stack->base;
    const uint64_t *end = (const uint64_t *)stack->top;

    while (end - word >= 8 && (word[0] | word[1] | word[2] | word[3] | word[4] | word[5] | word[6] | word[7]) == 0)
        word += 8;
    while (word < end && *word == 0)
        word++;
    return (char *)word;
}

gsize stack_used(const Stack *stack) { return stack->base ? (gsize)(stack->top - lowest_used(stack)) : 0; }

/* Downwards from our own frame, page by page; two pages of zeros in a row end it, as reading all
 * would cost more than the process. A process that jumps further leaves marks to the next one's
 * figure. */
__attribute__((no_sanitize("address"))) void stack_clear(const Stack *stack)
{
    enum { WORDS = 512, QUIET_PAGES = 2 };
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0) - 512; /* what we use ourselves stays */
    volatile uint64_t *page = (volatile uint64_t *)(frame & ~(uintptr_t)(WORDS * 8 - 1));
    gsize words = (frame - (uintptr_t)page) / 8;

    for (int quiet = 0; quiet < QUIET_PAGES && (char *)page >= stack->base; page -= WORDS) {
        uint64_t any = 0;
        for (gsize i = 0; i < words; i++)
            any |= page[i];
        quiet = any == 0 ? quiet + 1 : 0;
        for (gsize i = 0; i < words && any != 0; i++)
            page[i] = 0;
        words = WORDS;
    }
}

/* ---- the message ---- */

static void on_segv(int signal_number, siginfo_t *info, void *context)
{
    static volatile sig_atomic_t passed_on;
    const Stack *stack = current;
    char *address = info->si_addr;

    if (stack && address >= stack->guard && address < stack->base)
        overflowed(stack);
    gboolean seen = passed_on; /* the handler that stood before may call this one back */
    passed_on = 1;
    if (!seen && previous.sa_flags & SA_SIGINFO)
        previous.sa_sigaction(signal_number, info, context);
    else if (!seen && previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
        previous.sa_handler(signal_number);
    else
        signal(signal_number, SIG_DFL); /* the access is tried again, and ends the program */
    passed_on = 0;
}

static void drop_signal_stack(gpointer memory)
{
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    g_free(memory);
}

static GPrivate signal_stack = G_PRIVATE_INIT(drop_signal_stack);

/* A program may have installed a handler since the last run: then ours goes before it again. */
static void guard_process(void)
{
    struct sigaction now;
    struct sigaction ours = {.sa_sigaction = on_segv, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    sigaction(SIGSEGV, NULL, &now);
    if ((now.sa_flags & SA_SIGINFO) == 0 || now.sa_sigaction != on_segv) {
        previous = now;
        sigemptyset(&ours.sa_mask);
        sigaction(SIGSEGV, &ours, NULL);
    }
}

void stack_guard_this_thread(void)
{
    guard_process();
    if (!g_private_get(&signal_stack)) {
        stack_t already;
        if (sigaltstack(NULL, &already) == 0 && (already.ss_flags & SS_DISABLE) == 0)
            return;
        stack_t ours = {.ss_sp = g_malloc(SIGNAL_STACK_BYTES), .ss_size = SIGNAL_STACK_BYTES};
        g_private_set(&signal_stack, ours.ss_sp);
        sigaltstack(&ours, NULL);
    }
}
