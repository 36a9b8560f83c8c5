/* See server.h: connections, processes, and the gate of the engine. All on the engine's thread, but for server_new. */
#include "machine/wire/connection.h"
#include "machine/wire/control.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define EVENTS_AT_ONCE 64

/* ---- the gate */

static gboolean gate_poll(Server *server, int timeout_ms)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    int n = epoll_wait(server->epoll_fd, events, EVENTS_AT_ONCE, timeout_ms);

    for (int i = 0; i < n; i++) {
        guint about = events[i].data.u64 & ABOUT_MASK;
        gpointer thing = (gpointer)(guintptr)(events[i].data.u64 & ~(guint64)ABOUT_MASK);
        if (about == ABOUT_LISTEN)
            connection_accept(server);
        else if (about == ABOUT_CLIENT)
            connection_client_end(thing);
        else if (about == ABOUT_CONNECTION && !((ServerConnection *)thing)->gone)
            connection_take(thing);
    }
    connection_bury(server);
    shared_tell_lost(server);
    return n > 0;
}

static gboolean gate_take(void *self) { return gate_poll(self, 0); }

static void gate_wait(void *self, int also_fd, guint64 timeout_us)
{
    Server *server = self;

    if (server->also_fd != also_fd) {
        connection_watch(server, also_fd, NULL, ABOUT_OTHER);
        server->also_fd = also_fd;
    }
    struct pollfd polled = {.fd = server->epoll_fd, .events = POLLIN};
    struct timespec limit = {(time_t)(timeout_us / 1000000), (long)(timeout_us % 1000000) * 1000};
    ppoll(&polled, 1, timeout_us == G_MAXUINT64 ? NULL : &limit, NULL);
}

static void gate_answer(void *self, EngineCall *call)
{
    ServerConnection *connection = call->from;

    (void)self;
    shared_object_left(connection);
    if (call->request.op == WIRE_OP_SEAT)
        arena_take(connection);
    if (!connection->gone)
        server_reply(connection);
}

static void gate_host_call(void *self, guint32 number, guint64 function, guint64 argument, void *work)
{
    Server *server = self;
    ServerClient *client = number < server->clients->len ? g_ptr_array_index(server->clients, number) : NULL;
    WireAsk asked = {.head = wire_head(WIRE_ASK), .what = WIRE_ASK_CALL, .function = function, .argument = argument};

    if (!client || !client->service) {
        engine_host_returned(server->engine, work);
        return;
    }
    asked.number = ++client->n_asked;
    g_hash_table_insert(client->works, g_memdup2(&asked.number, sizeof asked.number), work);
    if (!message_send(client->service->fd, &asked, sizeof asked, NULL, 0, -1))
        server_unsent(client->service, "it does not take what it is asked");
}

static pid_t gate_process(void *self, guint32 number)
{
    const Server *server = self;
    const ServerClient *client = number < server->clients->len ? g_ptr_array_index(server->clients, number) : NULL;

    return client && !client->gone ? client->pid : 0;
}

/* How often a thread has asked instead of waiting, so far; FALSE: it is not known as one that does, or it sleeps. */
static gboolean gate_spins(void *self, pid_t pid, pid_t tid, gboolean runs, TreeSpin *spin)
{
    const Server *server = self;
    const ServerClient *client = g_hash_table_lookup(server->by_pid, GINT_TO_POINTER(pid));

    for (guint i = 0; client && client->spins && i < WIRE_SPIN_SLOTS; i++) {
        const WireSpinSlot *slot = &client->spins->slot[i];
        if (__atomic_load_n(&slot->tid, __ATOMIC_ACQUIRE) != tid)
            continue;
        spin->calls = __atomic_load_n(&slot->calls, __ATOMIC_SEQ_CST);
        spin->changes = __atomic_load_n(&slot->changes, __ATOMIC_SEQ_CST);
        spin->outside = __atomic_load_n(&slot->outside, __ATOMIC_SEQ_CST) != 0;
        return spin->calls > 0 && (runs || __atomic_load_n(&slot->resting, __ATOMIC_SEQ_CST) != 0);
    }
    return FALSE;
}

EngineGate *server_gate(Server *server) { return &server->gate; }
const char *server_name(const Server *server) { return server->name; }
int server_listens(const Server *server) { return server->listen_fd; }
guint server_live(const Server *server) { return (guint)g_atomic_int_get(&server->live); }

void server_refuse(Server *server)
{
    close(server->listen_fd);
    server->listen_fd = -1;
}

guint server_ever(const Server *server) { return (guint)g_atomic_int_get(&server->ever); }

void server_begin(Server *server, Engine *engine)
{
    server->engine = engine;
    connection_watch(server, server->listen_fd, NULL, ABOUT_LISTEN);
}

static gint compare_infos(gconstpointer a, gconstpointer b)
{
    const ServerClientInfo *x = a, *y = b;
    guint32 rx = (guint32)x->rank, ry = (guint32)y->rank; /* -1: last */

    return rx != ry ? (rx < ry ? -1 : 1) : (x->number > y->number) - (x->number < y->number);
}

GArray *server_clients(Server *server)
{
    GArray *infos = g_array_new(FALSE, TRUE, sizeof(ServerClientInfo));

    for (guint i = 1; i < server->clients->len; i++) {
        const ServerClient *client = g_ptr_array_index(server->clients, i);
        ServerClientInfo info = {client->number,    client->rank >= 0 ? client->rank : client->lowest_gpu,
                                 client->program,   (const char *)client->part->data,
                                 client->part->len, client->left,
                                 client->calls};
        if (client->driver)
            g_array_append_val(infos, info);
    }
    g_array_sort(infos, compare_infos);
    return infos;
}

/* A name that no other owner has, and that cannot be guessed. */
static gboolean listen_at(Server *server, GError **error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    guint64 secret = 0;

    server->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (getentropy(&secret, sizeof secret) != 0)
        secret = (guint64)(guintptr)server;
    server->name = g_strdup_printf("fanout-%d-%016" G_GINT64_MODIFIER "x", (int)getpid(), secret);
    gsize length = strlen(server->name);
    memcpy(address.sun_path + 1, server->name, length);
    if (server->listen_fd >= 0 &&
        bind(server->listen_fd, (struct sockaddr *)&address,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) == 0 &&
        listen(server->listen_fd, 1024) == 0)
        return TRUE;
    g_set_error(error, G_IO_ERROR, g_io_error_from_errno(errno),
                "the host gives no socket for the machine's clients: %s", g_strerror(errno));
    return FALSE;
}

static gboolean page_make(Server *server, GError **error)
{
    g_autofree char *path = NULL;
    int fd = memfd_create("fanout-machine", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *page = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, sizeof(MachinePage)) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        page = mmap(NULL, sizeof(MachinePage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    path = g_strdup_printf("/proc/self/fd/%d", fd);
    server->page_fd = fd >= 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1; /* what clients get they cannot write */
    if (fd >= 0)
        close(fd);
    if (page == MAP_FAILED || server->page_fd < 0) {
        g_set_error(error, G_IO_ERROR, g_io_error_from_errno(errno),
                    "the host gives no memory for the machine's page: %s", g_strerror(errno));
        return FALSE;
    }
    server->page = page;
    server->page->magic = MACHINE_PAGE_MAGIC;
    control_begin(server);
    return TRUE;
}

Server *server_new(const ServerSpec *spec, GError **error)
{
    Server *server = g_new0(Server, 1);

    server->spec = *spec;
    server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    server->also_fd = server->page_fd = server->listen_fd = -1;
    server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    server->clients = g_ptr_array_new();
    g_ptr_array_add(server->clients, NULL);
    server->by_pid = g_hash_table_new(NULL, NULL);
    server->connections = g_ptr_array_new();
    server->ended = g_ptr_array_new();
    server->seats = g_array_new(FALSE, TRUE, sizeof(guint32));
    server->regions = g_hash_table_new(shared_identity_hash, shared_identity_equal);
    server->objects = g_hash_table_new(shared_identity_hash, shared_identity_equal);
    server->modules = g_hash_table_new(g_str_hash, g_str_equal);
    server->room = g_malloc(WIRE_PAYLOAD_MAX);
    server->program_room = g_malloc(WIRE_PAYLOAD_MAX);
    if (server->epoll_fd >= 0 && listen_at(server, error) && page_make(server, error)) {
        server->gate = (EngineGate){server,         &server->page->seen_ps, gate_wait,  gate_take,       gate_answer,
                                    gate_host_call, gate_process,           gate_spins, server->epoll_fd};
        return server;
    }
    if (error && !*error)
        g_set_error(error, G_IO_ERROR, g_io_error_from_errno(errno), "the host gives no poll: %s", g_strerror(errno));
    return NULL;
}

MachinePage *server_page(Server *server) { return server->page; }

char *server_page_path(const Server *server)
{
    return g_strdup_printf("/proc/%d/fd/%d", (int)getpid(), server->page_fd);
}
