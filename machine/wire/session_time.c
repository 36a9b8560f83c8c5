/* Requests of a client that are about time alone: sleeps, timers, threads that spin. See session.c, and for the
 * client's side wait.h. */
#include "machine/wire/session_parts.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define TIMERS_MAX 65536u
#define SLEEP_LAST_PS ((guint64)1 << 62) /* what a job's clock has room for: 53 days; longer sleeps are the host's */

static guint64 now_ps(Engine *engine)
{
    EngineCall call = {.request = {.op = ENGINE_NOW}};

    engine_take(engine, &call);
    return call.reply.time_ps;
}

static gboolean is_too_long(Engine *engine, guint64 length_ps)
{
    return length_ps > SLEEP_LAST_PS || now_ps(engine) > SLEEP_LAST_PS - length_ps;
}

gboolean session_check_sleep(ServerConnection *connection)
{
    Engine *engine = connection->client->server->engine;

    connection->slept_ps = now_ps(engine);
    return !is_too_long(engine, connection->call.request.time_ps);
}

/* ---- timers */

static void timer_free(gpointer data)
{
    ServerTimer *timer = data;

    if (timer->alarm)
        engine_alarm_free(timer->alarm);
    g_free(timer);
}

static void timer_rings(void *user)
{
    ServerTimer *timer = user;
    ServerClient *client = timer->client;
    WireAsk asked = {.head = wire_head(WIRE_ASK), .what = WIRE_ASK_TIMER, .argument = timer->number};

    timer->alarm = NULL;
    if (client->timing)
        message_send(client->timing->fd, &asked, sizeof asked, NULL, 0, -1);
    g_hash_table_remove(client->timers, &timer->number);
}

static gboolean take_timer(ServerConnection *connection)
{
    ServerClient *client = connection->client;
    EngineCall *call = &connection->call;
    const EngineRequest *r = &call->request;

    if (!client->timers)
        client->timers = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, timer_free);
    g_hash_table_remove(client->timers, &r->argument);
    if (r->op == WIRE_OP_TIMER_END)
        return TRUE;
    if (is_too_long(client->server->engine, r->time_ps))
        return session_refuse(call, ENGINE_FULL);
    if (g_hash_table_size(client->timers) >= TIMERS_MAX)
        return session_refuse(call, ENGINE_INVALID);
    ServerTimer *timer = g_new0(ServerTimer, 1);
    timer->number = r->argument;
    timer->client = client;
    timer->alarm = engine_alarm_new(client->server->engine, r->time_ps, &r->order, timer_rings, timer);
    g_hash_table_insert(client->timers, &timer->number, timer);
    return TRUE;
}

/* ---- threads that spin */

/* A file that shrinks would end the owner when it looks. */
static EngineStatus take_spin_page(ServerClient *client, int fd)
{
    struct stat st;

    if (client->spins || fd < 0 || fstat(fd, &st) != 0 || st.st_size < (off_t)sizeof(WireSpinPage) ||
        !(fcntl(fd, F_GET_SEALS) > 0 && (fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK)))
        return ENGINE_INVALID;
    void *page = mmap(NULL, sizeof(WireSpinPage), PROT_READ, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return ENGINE_NO_MEMORY;
    client->spins = page;
    return ENGINE_OK;
}

gboolean session_take_timer(ServerConnection *connection, int descriptor, gboolean *answered)
{
    ServerClient *client = connection->client;
    EngineCall *call = &connection->call;

    switch (call->request.op) {
    case WIRE_OP_WOKEN:
        *answered = FALSE;
        engine_wait_woken(client->server->engine, call);
        return TRUE;
    case WIRE_OP_SLEEP_END:
        call->reply.value = WIRE_SLEEP_ENDED;
        call->reply.time_ps = now_ps(client->server->engine) - connection->slept_ps;
        *answered = FALSE;
        engine_wait_woken(client->server->engine, call);
        return TRUE;
    case WIRE_OP_SPIN: return session_refuse(call, take_spin_page(client, descriptor));
    default: return take_timer(connection);
    }
}

void session_end_time(ServerClient *client)
{
    g_clear_pointer(&client->timers, g_hash_table_unref);
    if (client->spins)
        munmap((void *)(guintptr)client->spins, sizeof *client->spins);
    client->spins = NULL;
}
