/* See client.h. */
#include "machine/wire/client_parts.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

GQuark wire_error_quark(void) { return g_quark_from_static_string("fanout-wire"); }

/* ---- calls */

static EngineStatus launch_program(WireClient *client, const EngineRequest *request, EngineReply *reply)
{
    EngineRequest sent = *request;
    WireProgram program = {0};
    EngineStatus status = program_client_launch(client->programs, (const FoKernel *)(guintptr)request->argument,
                                                &program);

    memset(reply, 0, sizeof *reply);
    sent.argument = 0;
    if (status == ENGINE_OK)
        status = wire_ask(client, &sent, &program, sizeof program, -1, reply, NULL);
    if (status != ENGINE_OK)
        program_client_forget(client->programs, program.launch);
    return status;
}

/* Before the first memory of a GPU, or of the host: arena.c. */
static void take_seat(WireClient *client, guint32 gpu)
{
    const gsize host = G_N_ELEMENTS(client->seated) - 1;
    guint8 *seated = &client->seated[MIN(gpu, host)];
    EngineRequest request = {.op = WIRE_OP_SEAT, .gpu = gpu};
    EngineReply reply;

    if (wire_rank() >= 0 || __atomic_load_n(seated, __ATOMIC_ACQUIRE))
        return;
    wire_ask(client, &request, NULL, 0, -1, &reply, NULL);
    __atomic_store_n(seated, 1, __ATOMIC_RELEASE);
}

/* Bytes of the program's own, which the owner reaches by their file. */
static EngineStatus register_memory(WireClient *client, const EngineRequest *request, EngineReply *reply)
{
    EngineRequest sent = *request;
    const char *why = NULL;
    int fd = registered_file(client->registered, request->source, request->bytes, &sent.offset, &why);
    EngineStatus status = ENGINE_INVALID;

    memset(reply, 0, sizeof *reply);
    sent.argument = 0;
    if (fd >= 0)
        status = wire_ask(client, &sent, NULL, 0, fd, reply, NULL);
    else
        fprintf(stderr, "fanout: memory at 0x%" G_GINT64_MODIFIER "x cannot be registered: %s\n", request->source, why);
    if (fd >= 0)
        close(fd);
    if (status == ENGINE_OK)
        registered_add(client->registered, (guint32)reply->value, request->source, request->bytes);
    else
        registered_forget(client->registered, request->source, request->bytes);
    reply->status = status;
    return status;
}

static EngineStatus remote_call(void *self, const EngineRequest *request, EngineReply *reply)
{
    WireClient *client = self;
    EngineRequest sent = *request;
    char *text = NULL;
    EngineStatus status;

    switch (request->op) {
    case ENGINE_LAUNCH_PTX: return upload_launch(client, request, reply);
    case ENGINE_LAUNCH: return launch_program(client, request, reply);
    case ENGINE_REGION_FREE:
        status = wire_ask(client, &sent, NULL, 0, -1, reply, NULL);
        registered_remove(client->registered, request->region);
        return status;
    case ENGINE_REGION_NEW: /* the lock is for atomics of several engines: here there is one */
        take_seat(client, request->gpu);
        if (request->source)
            return register_memory(client, request, reply);
        sent.argument = 0;
        return wire_ask(client, &sent, NULL, 0, request->fd > 0 ? request->fd : -1, reply, NULL);
    case ENGINE_EVENT_NEW:
    case ENGINE_OBJECT_NEW:
        sent.argument = 0;
        return wire_ask(client, &sent, NULL, 0, request->fd > 0 ? request->fd : -1, reply, NULL);
    case ENGINE_OBJECT_READY:
        sent.argument = 0;
        status = wire_ask(client, &sent, NULL, 0, -1, reply, &text);
        if (status == ENGINE_FULL && request->argument)
            *(char **)(guintptr)request->argument = g_steal_pointer(&text);
        g_free(text);
        return status;
    case ENGINE_SHARED: /* there is one engine, no other writes */ memset(reply, 0, sizeof *reply); return ENGINE_OK;
    default: return wire_ask(client, &sent, NULL, 0, -1, reply, NULL);
    }
}

void wire_leave(Engine *engine, const void *part, gsize bytes)
{
    WireClient *client = engine_remote_self(engine);
    EngineRequest request = {.op = WIRE_OP_LEAVE};
    EngineReply reply;
    gsize piece = MIN(bytes, WIRE_PAYLOAD_MAX - 1024);

    for (gsize at = 0; client && at < bytes; at += piece) {
        piece = MIN(piece, bytes - at);
        request.value = at + piece == bytes; /* the last */
        if (wire_ask(client, &request, (const guint8 *)part + at, piece, -1, &reply, NULL) != ENGINE_OK)
            return;
    }
}

/* ---- what the owner asks of this process */

static void *service_main(void *data)
{
    WireClient *client = data;
    g_autofree char *text = g_malloc(WIRE_PAYLOAD_MAX + 1);
    WireAsk asked;
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (;;) {
        struct pollfd either[2] = {{client->service_fd, POLLIN, 0}, {client->wake_fd, POLLIN, 0}};
        if (poll(either, 2, -1) < 0 && errno != EINTR)
            return NULL;
        guint64 woken;
        if ((either[1].revents & POLLIN) && read(client->wake_fd, &woken, sizeof woken) < 0)
            continue;
        if (client->signalled && g_atomic_int_get(client->signalled) != 0)
            client->on_signal(g_atomic_int_get(client->signalled));
        if (!(either[0].revents & (POLLIN | POLLHUP | POLLERR)))
            continue;
        gssize n = message_receive(client->service_fd, &asked, sizeof asked, text, WIRE_PAYLOAD_MAX, NULL, 0);
        if (n < (gssize)sizeof asked || asked.head.magic != WIRE_MAGIC || asked.head.kind != WIRE_ASK)
            return NULL;
        if (asked.what == WIRE_ASK_PRINT)
            fwrite(text, 1, (gsize)n - sizeof asked, stdout);
        if (asked.what != WIRE_ASK_CALL)
            continue;
        void (*function)(void *) = (void (*)(void *))(guintptr)asked.function;
        function((void *)(guintptr)asked.argument);
        WireDone done = {.head = wire_head(WIRE_DONE), .number = asked.number};
        if (!message_send(client->service_fd, &done, sizeof done, NULL, 0, -1))
            return NULL;
    }
}

static gboolean service_start(WireClient *client, GError **error)
{
    WireHello hello;
    WireWelcome welcome;
    pthread_t thread;
    int page_fd = -1;

    wire_introduce(&hello, WIRE_ROLE_SERVICE, TRUE);
    client->service_fd = wire_dial(client->name, &hello, &welcome, &page_fd);
    if (client->service_fd < 0) {
        if (welcome.refused)
            g_set_error(error, WIRE_ERROR, WIRE_ERROR_REFUSED, "the owner of the machine refuses this process: %.*s",
                        (int)sizeof welcome.why, welcome.why);
        else
            g_set_error(error, WIRE_ERROR, WIRE_ERROR_GONE,
                        "no owner of a machine listens at '%s' (" WIRE_ENV
                        "): `fanout exec` has ended, or another user's "
                        "is meant",
                        client->name);
        return FALSE;
    }
    void *page = page_fd >= 0 ? mmap(NULL, sizeof(MachinePage), PROT_READ, MAP_SHARED, page_fd, 0) : MAP_FAILED;
    if (page_fd >= 0)
        close(page_fd);
    if (page == MAP_FAILED || ((const MachinePage *)page)->magic != MACHINE_PAGE_MAGIC) {
        g_set_error(error, WIRE_ERROR, WIRE_ERROR_REFUSED, "the owner of the machine shares no page");
        return FALSE;
    }
    client->page = page;
    client->number = welcome.client;
    if (pthread_create(&thread, NULL, service_main, client) != 0) {
        g_set_error(error, WIRE_ERROR, WIRE_ERROR_REFUSED, "the host gives no thread for what the owner asks");
        return FALSE;
    }
    pthread_detach(thread);
    return TRUE;
}

Engine *wire_connect(const char *name, GError **error)
{
    static const EngineRemote remote = {remote_call, upload_image_gone};
    WireClient *client = g_new0(WireClient, 1);

    client->name = g_strdup(name);
    client->programs = program_client_new(name);
    client->registered = registered_new();
    client->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&client->lock, NULL);
    pthread_key_create(&client->key, wire_connection_end);
    client->connections = g_ptr_array_new();
    client->uploads = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    if (!service_start(client, error)) {
        g_hash_table_unref(client->uploads);
        g_ptr_array_unref(client->connections);
        pthread_key_delete(client->key);
        g_free(client->name);
        g_free(client);
        return NULL;
    }
    return client->engine = engine_remote_new(&remote, client, &client->page->seen_ps);
}

void wire_close_after_fork(Engine *engine)
{
    WireClient *client = engine ? engine_remote_self(engine) : NULL;

    if (!client)
        return;
    close(client->service_fd);
    program_client_close(client->programs);
    registered_after_fork(client->registered);
    for (guint i = 0; i < client->connections->len; i++)
        close(((Connection *)g_ptr_array_index(client->connections, i))->fd);
}

void wire_on_signal(Engine *engine, const gint *signalled, void (*on_signal)(int number))
{
    WireClient *client = engine_remote_self(engine);

    client->on_signal = on_signal;
    client->signalled = signalled;
}

void wire_wake(Engine *engine)
{
    const WireClient *client = engine_remote_self(engine);
    const guint64 one = 1;

    if (client && write(client->wake_fd, &one, sizeof one) < 0)
        return; /* it is awake */
}

const MachinePage *wire_page(const Engine *engine)
{
    const WireClient *client = engine_remote_self(engine);
    return client ? client->page : NULL;
}
