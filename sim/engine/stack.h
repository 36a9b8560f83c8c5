/* The stack of one process: where it lies, how much of it was used, and a message instead of a bare
 * crash when it overflows.
 *
 * SystemC maps each stack with an inaccessible lowest page. Fresh pages are zero and stay so until
 * used, which serves as the painted pattern without touching memory. A fault in the lowest page is
 * an overflow: a SIGSEGV handler, installed once, names the process; every other fault goes to
 * whatever handler stood before. */
#ifndef SIM_ENGINE_STACK_H
#define SIM_ENGINE_STACK_H

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
    char *guard; /* the inaccessible page */
    char *base;  /* the lowest usable byte; NULL: unknown */
    char *top;
    const char *name; /* of the process on it, for the message */
} Stack;

/* Called on the stack itself, near its top. */
void stack_find(Stack *stack, gsize stack_bytes);
/* From here on this thread runs on that stack (NULL: its own). */
void stack_enter(const Stack *stack);
/* Called on the stack: ends the program with a message when it has overflowed. */
void stack_check(const Stack *stack);
/* Called on the stack before the next process uses it: forget what the last one used. */
void stack_clear(const Stack *stack);
gsize stack_used(const Stack *stack);
/* Makes the overflow message possible on the calling thread; cheap after the first time. */
void stack_guard_this_thread(void);

G_END_DECLS

#endif
