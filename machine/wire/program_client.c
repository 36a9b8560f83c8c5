/* The client's side of device programs: the thread on which the CTAs' functions run, each as a coroutine. See
 * program.h.
 */
#include "machine/wire/program_cta.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define STACK_BYTES (256u << 10)
#define STACKS_KEPT 64u

/* ---- coroutines */

static void *stack_take(ProgramClient *client)
{
    const gsize page = (gsize)sysconf(_SC_PAGESIZE);

    if (client->stacks->len > 0)
        return g_ptr_array_steal_index_fast(client->stacks, client->stacks->len - 1);
    void *stack = mmap(NULL, STACK_BYTES + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                       -1, 0);
    if (stack == MAP_FAILED)
        return NULL;
    mprotect(stack, page, PROT_NONE); /* one that overflows ends the program, not its neighbour */
    return stack;
}

static void stack_give(ProgramClient *client, void *stack)
{
    const gsize page = (gsize)sysconf(_SC_PAGESIZE);

    if (client->stacks->len < STACKS_KEPT)
        g_ptr_array_add(client->stacks, stack);
    else
        munmap(stack, STACK_BYTES + page);
}

static void cta_main(guint32 high, guint32 low)
{
    ProgramCta *cta = (ProgramCta *)(guintptr)((guint64)high << 32 | low);

    cta->launch->program((FoCta *)(void *)cta, cta->launch->args);
    program_add(cta, (ProgramRecord){.call = PROGRAM_END}, NULL, 0);
    cta->ended = TRUE;
    swapcontext(&cta->context, &cta->client->thread);
}

static ProgramCta *cta_begin(ProgramClient *client, const ProgramRun *run)
{
    ProgramCta *cta = g_new0(ProgramCta, 1);
    const guint64 self = (guint64)(guintptr)cta;

    pthread_mutex_lock(&client->lock);
    cta->launch = g_hash_table_lookup(client->launches, &run->launch);
    pthread_mutex_unlock(&client->lock);
    cta->stack = cta->launch ? stack_take(client) : NULL;
    if (!cta->stack) {
        g_free(cta);
        return NULL;
    }
    cta->table = &program_client_calls;
    cta->client = client;
    cta->launch_number = run->launch;
    cta->count = run->threads;
    cta->registers = g_ptr_array_new_with_free_func(g_free);
    cta->run = *run;
    getcontext(&cta->context);
    cta->context.uc_stack.ss_sp = cta->stack;
    cta->context.uc_stack.ss_size = STACK_BYTES + (gsize)sysconf(_SC_PAGESIZE);
    cta->context.uc_link = NULL;
    makecontext(&cta->context, (void (*)(void))cta_main, 2, (guint32)(self >> 32), (guint32)self);
    g_hash_table_insert(client->ctas, &cta->run.handle, cta);
    return cta;
}

static void cta_end(ProgramClient *client, ProgramCta *cta)
{
    pthread_mutex_lock(&client->lock);
    if (++cta->launch->ended == cta->launch->ctas) {
        g_free(cta->launch->args);
        g_hash_table_remove(client->launches, &cta->launch_number);
    }
    pthread_mutex_unlock(&client->lock);
    g_hash_table_remove(client->ctas, &cta->run.handle);
    stack_give(client, cta->stack);
    g_ptr_array_unref(cta->registers);
    g_free(cta);
}

/* One turn of a CTA; FALSE: the owner is gone, or asks for what is not there. */
static gboolean take_turn(ProgramClient *client, const ProgramRun *run)
{
    ProgramCta *cta = run->start ? cta_begin(client, run) : g_hash_table_lookup(client->ctas, &run->handle);

    if (!cta)
        return FALSE;
    cta->run = *run;
    swapcontext(&client->thread, &cta->context);
    gboolean sent = program_send(client, cta, FALSE);
    if (cta->ended)
        cta_end(client, cta);
    return sent;
}

static void *thread_main(void *data)
{
    ProgramClient *client = data;
    ProgramRun run;
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    while (message_receive(client->fd, &run, sizeof run, NULL, 0, NULL, 0) == (gssize)sizeof run &&
           run.head.magic == WIRE_MAGIC && run.head.kind == WIRE_RUN && take_turn(client, &run))
        continue;
    close(client->fd);
    return NULL;
}

ProgramClient *program_client_new(const char *name)
{
    ProgramClient *client = g_new0(ProgramClient, 1);

    client->name = g_strdup(name);
    client->fd = -1;
    pthread_mutex_init(&client->lock, NULL);
    client->launches = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    client->ctas = g_hash_table_new(g_int64_hash, g_int64_equal);
    client->batch = g_byte_array_new();
    client->stacks = g_ptr_array_new();
    return client;
}

void program_client_close(const ProgramClient *client)
{
    if (client->fd >= 0)
        close(client->fd);
}

/* Lock held. */
static gboolean start(ProgramClient *client)
{
    WireHello hello;
    WireWelcome welcome;
    pthread_t thread;

    if (client->started)
        return client->fd >= 0;
    client->started = TRUE;
    wire_introduce(&hello, WIRE_ROLE_PROGRAM, TRUE);
    client->fd = wire_dial(client->name, &hello, &welcome, NULL);
    if (client->fd < 0 || pthread_create(&thread, NULL, thread_main, client) != 0)
        return FALSE;
    pthread_detach(thread);
    return TRUE;
}

/* Through the kernel, so that a bad address is an answer and not a crash. */
static gboolean copy_in(void *to, const void *from, gsize bytes)
{
    const struct iovec local = {to, bytes}, remote = {(void *)(guintptr)from, bytes};

    if (bytes == 0 || process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (gssize)bytes)
        return TRUE;
    if (errno != EPERM && errno != ENOSYS)
        return FALSE;
    memcpy(to, from, bytes);
    return TRUE;
}

EngineStatus program_client_launch(ProgramClient *client, const FoKernel *kernel, WireProgram *sent)
{
    ProgramLaunch *launch;

    if (!kernel->program || kernel->ctas == 0 || kernel->ctas > 65535 || kernel->threads == 0 ||
        kernel->threads > 1024 || (!kernel->args && kernel->args_bytes != 0))
        return ENGINE_INVALID;
    void *args = kernel->args_bytes > 0 ? g_try_malloc(kernel->args_bytes) : NULL;
    if (kernel->args_bytes > 0 && !args)
        return ENGINE_NO_MEMORY;
    if (!copy_in(args, kernel->args, kernel->args_bytes)) {
        g_free(args);
        return ENGINE_FAULT;
    }
    launch = g_new0(ProgramLaunch, 1);
    *launch = (ProgramLaunch){kernel->program, args, kernel->ctas, 0};
    pthread_mutex_lock(&client->lock);
    gboolean ready = start(client);
    guint64 number = ++client->n_launches;
    g_hash_table_insert(client->launches, g_memdup2(&number, sizeof number), launch);
    pthread_mutex_unlock(&client->lock);
    *sent = (WireProgram){.launch = number, .ctas = kernel->ctas, .threads = kernel->threads};
    g_strlcpy(sent->name, kernel->name ? kernel->name : "kernel", sizeof sent->name);
    return ready ? ENGINE_OK : ENGINE_GONE;
}

void program_client_forget(ProgramClient *client, guint64 launch)
{
    pthread_mutex_lock(&client->lock);
    ProgramLaunch *refused = g_hash_table_lookup(client->launches, &launch);
    if (refused)
        g_free(refused->args);
    g_hash_table_remove(client->launches, &launch);
    pthread_mutex_unlock(&client->lock);
}
