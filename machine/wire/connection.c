/* Connections of an owner, and the processes that they are of: made, served, ended. See server.h. */
#include "machine/wire/connection.h"
#include "machine/engine/proc_stat.h"
#include "machine/wire/control.h"
#include "machine/wire/session_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

void connection_watch(const Server *server, int fd, gpointer thing, guint about)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (guint64)(guintptr)thing | about};
    epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

/* ---- processes */

static ServerClient *client_new(Server *server, pid_t pid, const WireHello *hello)
{
    ServerClient *client = g_new0(ServerClient, 1);

    client->server = server;
    client->number = server->clients->len;
    client->pid = pid;
    client->rank = hello->rank >= 0 ? hello->rank : -1;
    client->lowest_gpu = -1;
    memcpy(client->program, hello->program, sizeof client->program);
    session_name(client->program, sizeof client->program);
    client->regions = g_ptr_array_new();
    client->objects = g_ptr_array_new();
    client->windows = g_array_new(FALSE, FALSE, sizeof(SharedWindow));
    client->modules = g_ptr_array_new();
    client->images = g_ptr_array_new();
    client->streams = g_array_new(FALSE, TRUE, sizeof(guint32));
    client->events = g_array_new(FALSE, TRUE, sizeof(guint32));
    for (guint i = 0; i < SERVER_TABLES; i++)
        client->free[i] = g_array_new(FALSE, FALSE, sizeof(guint32));
    client->contexts = g_array_new(FALSE, TRUE, sizeof(guint32));
    client->seats = g_array_new(FALSE, TRUE, sizeof(guint32));
    client->prints = g_string_new(NULL);
    client->part = g_byte_array_new();
    client->works = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    client->pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (client->pid_fd >= 0)
        connection_watch(server, client->pid_fd, client, ABOUT_CLIENT);
    g_ptr_array_add(server->clients, client);
    g_hash_table_insert(server->by_pid, GINT_TO_POINTER(pid), client);
    engine_client_new(server->engine, client->number);
    g_atomic_int_inc(&server->live);
    return client;
}

/* A process on its way out closes its connections some time before it counts as ended. */
static gboolean is_exiting(pid_t pid)
{
    ProcStat stat;

    return !proc_stat_read(pid, &stat) || (stat.flags & PROC_EXITING);
}

/* A process that is no more, and one in which another program runs now. A zombie is no more. */
static void say_gone(const ServerClient *client)
{
    struct pollfd polled = {.fd = client->pid_fd, .events = POLLIN};
    gboolean dead = client->pid_fd < 0 || poll(&polled, 1, 0) > 0 || is_exiting(client->pid);
    g_autofree char *rank = client->rank >= 0 ? g_strdup_printf("rank %d, ", client->rank) : g_strdup("");

    log_line(client->server->spec.log, LOG_CUDA, dead ? LOG_WARN : LOG_INFO, engine_seen_ps(client->server->engine),
             "%s%s (process %d) %s: its contexts, streams and binds are gone; memory lives while others hold it", rank,
             client->program, (int)client->pid,
             dead ? "was killed, or ended without its exit handlers" : "has become another program");
}

/* The record stays, for the report. */
void connection_client_end(ServerClient *client)
{
    Server *server = client->server;

    if (client->gone)
        return;
    client->gone = TRUE;
    g_atomic_int_add(&server->live, -1);
    if (!client->left && client->driver)
        say_gone(client);
    g_hash_table_remove(server->by_pid, GINT_TO_POINTER(client->pid));
    if (client->pid_fd >= 0)
        close(client->pid_fd);
    client->pid_fd = -1;
    for (guint i = 0; i < server->connections->len; i++) {
        ServerConnection *connection = g_ptr_array_index(server->connections, i);
        if (connection->client == client)
            server_drop(connection, NULL);
    }
    session_end(client);
}

/* ---- connections */

static void connection_free(ServerConnection *connection)
{
    g_free(connection->why);
    g_free(connection->program_args);
    g_free(connection);
}

void connection_bury(Server *server)
{
    while (server->ended->len > 0) {
        ServerConnection *connection = g_ptr_array_steal_index(server->ended, 0);
        ServerClient *client = connection->client;
        gboolean over = client && !client->gone && (connection->role == WIRE_ROLE_SERVICE || client->connections == 0);
        g_ptr_array_remove_fast(server->connections, connection);
        connection_free(connection);
        if (over) /* it has ended, or another program has taken its place in the process */
            connection_client_end(client);
    }
}

/* One process must not take the connections of all. */
static gboolean has_too_many(const Server *server, pid_t pid)
{
    guint n = 0;

    for (guint i = 0; i < server->connections->len; i++)
        n += ((ServerConnection *)g_ptr_array_index(server->connections, i))->peer == pid;
    return n >= WIRE_PROCESS_THREADS_MAX;
}

void connection_accept(Server *server)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    int fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0 && (errno == EMFILE || errno == ENFILE) && server->spare_fd >= 0) { /* or it would wait for ever */
        close(server->spare_fd);
        fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            close(fd);
        server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        log_line(server->spec.log, LOG_CUDA, LOG_ERROR, 0,
                 "a connection of a process is refused: this system gives the owner of the machine no more descriptors "
                 "(%u connections; ulimit -n)",
                 server->connections->len);
        return;
    }
    if (fd < 0)
        return;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid() ||
        server->connections->len >= WIRE_THREADS_MAX || has_too_many(server, peer.pid)) {
        close(fd);
        return;
    }
    ServerConnection *connection = g_new0(ServerConnection, 1);
    connection->fd = fd;
    connection->server = server;
    connection->peer = peer.pid;
    g_ptr_array_add(server->connections, connection);
    connection_watch(server, fd, connection, ABOUT_CONNECTION);
}

static void welcome(ServerConnection *connection, const char *why)
{
    WireWelcome answer = {.head = wire_head(WIRE_WELCOME), .refused = why != NULL};

    if (why)
        g_strlcpy(answer.why, why, sizeof answer.why);
    else if (connection->client)
        answer.client = connection->client->number;
    if (!message_send(connection->fd, &answer, sizeof answer, NULL, 0, why ? -1 : connection->server->page_fd) || why)
        server_drop(connection, why);
}

static void take_hello(ServerConnection *connection, const WireHello *hello, gssize n)
{
    Server *server = connection->server;
    g_autofree char *own = g_strdup_printf("%s %zu", WIRE_VERSION, sizeof(WireCall)), *why = NULL;

    if (n != (gssize)sizeof *hello || hello->head.magic != WIRE_MAGIC || hello->head.kind != WIRE_HELLO) {
        server_drop(connection, "it does not say hello");
        return;
    }
    if (strncmp(hello->version, own, sizeof hello->version) != 0) {
        why = g_strdup_printf("its library is '%.*s', and this owner is '%s': both must be of one build",
                              (int)sizeof hello->version, hello->version, own);
        welcome(connection, why);
        return;
    }
    connection->role = hello->role;
    if (hello->role == WIRE_ROLE_CONTROL) { /* no process of the job */
        welcome(connection, NULL);
        return;
    }
    ServerClient *client = g_hash_table_lookup(server->by_pid, GINT_TO_POINTER(connection->peer));
    if (client && hello->role == WIRE_ROLE_SERVICE && client->service) {
        connection_client_end(client); /* another program in the same process */
        client = NULL;
    }
    if (!client &&
        (g_atomic_int_get(&server->live) >= (gint)WIRE_CLIENTS_MAX || server->clients->len >= WIRE_EVER_MAX)) {
        welcome(connection, "there are too many processes");
        return;
    }
    if (!client)
        client = client_new(server, connection->peer, hello);
    connection->client = client;
    connection->tid = hello->tid;
    client->connections++;
    if (hello->role == WIRE_ROLE_SERVICE)
        client->service = connection;
    if (hello->role == WIRE_ROLE_TIMING)
        client->timing = connection;
    if (hello->role == WIRE_ROLE_PROGRAM)
        client->program_connection = connection;
    if (hello->driver && !client->driver) {
        client->driver = TRUE;
        g_atomic_int_inc(&server->ever);
    }
    welcome(connection, NULL);
}

static void take_done(ServerConnection *connection, const WireDone *done, gssize n)
{
    ServerClient *client = connection->client;
    gpointer work = n == (gssize)sizeof *done && done->head.magic == WIRE_MAGIC && done->head.kind == WIRE_DONE
                        ? g_hash_table_lookup(client->works, &done->number)
                        : NULL;

    if (!work) {
        server_drop(connection, "it answers what was not asked");
        return;
    }
    g_hash_table_remove(client->works, &done->number);
    engine_host_returned(connection->server->engine, work);
}

void server_reply(ServerConnection *connection)
{
    ServerClient *client = connection->client;
    WireReply answer = {.head = wire_head(WIRE_REPLY), .reply = connection->call.reply};
    const char *text = client->prints->str;
    gsize bytes = MIN(client->prints->len, WIRE_PAYLOAD_MAX);

    if (connection->why) {
        text = connection->why;
        bytes = strlen(text);
    }
    answer.bytes = (guint32)bytes;
    answer.more = !connection->why && client->prints->len > bytes;
    connection->busy = FALSE;
    if (!message_send(connection->fd, &answer, sizeof answer, text, bytes, -1))
        server_unsent(connection, "it does not take its answer");
    if (!connection->why)
        g_string_erase(client->prints, 0, (gssize)bytes);
    g_clear_pointer(&connection->why, g_free);
}

/* The one request that may come while another is not answered: that one is not wanted any more. */
static gboolean end_sleep(ServerConnection *connection, const WireCall *call)
{
    if (call->request.op != WIRE_OP_SLEEP_END || connection->call.request.op != ENGINE_SLEEP)
        return FALSE;
    engine_call_gone(connection->server->engine, &connection->call);
    return TRUE;
}

static void take_call(ServerConnection *connection, const WireCall *call, gssize n, int descriptor)
{
    gboolean answered = FALSE;

    if (n < (gssize)sizeof *call || call->head.magic != WIRE_MAGIC || call->head.kind != WIRE_CALL ||
        n != (gssize)(sizeof *call + call->bytes) || connection->role != WIRE_ROLE_CALLER ||
        (connection->busy && !end_sleep(connection, call))) {
        server_drop(connection, "what it sends is no request");
        return;
    }
    connection->busy = TRUE;
    if (!session_take(connection, &call->request, connection->server->room, call->bytes, descriptor, &answered))
        server_drop(connection, "it asks for what there is not");
    else if (answered)
        server_reply(connection);
}

void connection_take(ServerConnection *connection)
{
    union {
        WireHello hello;
        WireCall call;
        WireDone done;
        WireControl control;
    } message;
    gsize size = connection->role == WIRE_ROLE_CONTROL   ? sizeof message.control
                 : !connection->client                   ? sizeof message.hello
                 : connection->role == WIRE_ROLE_SERVICE ? sizeof message.done
                                                         : sizeof message.call;
    int descriptor;
    gssize n = message_receive(connection->fd, &message, size, connection->server->room, WIRE_PAYLOAD_MAX, &descriptor,
                               MSG_DONTWAIT);

    if (n == 0)
        server_drop(connection, NULL);
    else if (n > 0 && connection->role == WIRE_ROLE_CONTROL)
        control_take(connection, &message.control, n);
    else if (n > 0 && !connection->client)
        take_hello(connection, &message.hello, n);
    else if (n > 0 && connection->role == WIRE_ROLE_SERVICE)
        take_done(connection, &message.done, n);
    else if (n > 0)
        take_call(connection, &message.call, n, descriptor);
    if (descriptor >= 0)
        close(descriptor);
}
