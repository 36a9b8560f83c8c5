/* See peer.h. */
#include "explore/peer.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "explore/wire.h"
#include "explore/worker.h"

#define PEER_CONNECT_MS 5000

typedef struct {
    int fd, signals;
    GByteArray *in;
    const char *program;
    Worker worker;
    gboolean is_over; /* the first rank has said that there are no points any more */
} Peer;

/* ---- to the first rank */

static int peer_connect(const char *address, const char *port)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    if (getaddrinfo(address, port, &hints, &found) != 0)
        return -1;
    int fd = socket(found->ai_family, found->ai_socktype, found->ai_protocol), wrong = 0;
    gboolean good = FALSE;
    if (fd >= 0) {
        wire_prepare(fd);
        good = connect(fd, found->ai_addr, found->ai_addrlen) == 0;
        struct pollfd wait = {fd, POLLOUT, 0};
        socklen_t n = sizeof wrong;
        if (!good && errno == EINPROGRESS && poll(&wait, 1, PEER_CONNECT_MS) == 1)
            good = getsockopt(fd, SOL_SOCKET, SO_ERROR, &wrong, &n) == 0 && wrong == 0;
    }
    freeaddrinfo(found);
    if (good || fd < 0)
        return fd;
    close(fd);
    return -1;
}

/* The next message; NULL: the first rank is gone. While a point runs, it may end instead: *ended. */
static GByteArray *peer_next(Peer *peer, WireKind *kind, int timeout_ms, gboolean *ended)
{
    GByteArray *payload;
    gboolean wrong, there = TRUE;
    for (;;) {
        if (wire_take(peer->in, kind, &payload, &wrong))
            return payload;
        if (!there)
            return NULL;
        struct pollfd wait[] = {{peer->fd, POLLIN, 0}, {ended ? peer->signals : -1, POLLIN, 0}};
        if (wrong || poll(wait, G_N_ELEMENTS(wait), timeout_ms) == 0)
            return NULL;
        if (wait[1].revents) {
            *ended = TRUE;
            return NULL;
        }
        if (wait[0].revents)
            there = wire_read(peer->fd, peer->in);
    }
}

static gboolean peer_join(Peer *peer, const char *invitation)
{
    g_auto(GStrv) words = g_strsplit(invitation, " ", -1);
    guint n = g_strv_length(words);
    for (guint i = 2; i < n; i++) {
        WireKind kind;
        peer->fd = peer_connect(words[i], words[1]);
        if (peer->fd < 0)
            continue;
        g_byte_array_set_size(peer->in, 0);
        g_autoptr(GByteArray) answer = wire_send(peer->fd, WIRE_HELLO, words[0], strlen(words[0]))
                                           ? peer_next(peer, &kind, PEER_CONNECT_MS, NULL)
                                           : NULL;
        if (answer && kind == WIRE_WELCOME)
            return TRUE;
        close(peer->fd);
        peer->fd = -1;
    }
    return FALSE;
}

/* ---- points */

static gboolean peer_answer(Peer *peer, int status)
{
    WorkerOutput got;
    worker_collect(&peer->worker, &got);
    const guint32 head[] = {GUINT32_TO_BE((guint32)status), GUINT32_TO_BE((guint32)got.out_bytes)};
    g_autoptr(GByteArray) all = g_byte_array_new();
    g_byte_array_append(all, (const guint8 *)head, sizeof head);
    g_byte_array_append(all, (const guint8 *)got.out, (guint)got.out_bytes);
    g_byte_array_append(all, (const guint8 *)got.err, (guint)got.err_bytes);
    worker_output_clear(&got);
    return wire_send(peer->fd, WIRE_RESULT, all->data, all->len);
}

static gboolean peer_start(Peer *peer, const GByteArray *point, GError **error)
{
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_ptr_array_add(argv, (gpointer)peer->program);
    for (guint at = 0; at < point->len; at += (guint)strlen((const char *)point->data + at) + 1)
        g_ptr_array_add(argv, point->data + at);
    g_ptr_array_add(argv, NULL);
    gboolean whole = point->len > 0 && point->data[point->len - 1] == 0;
    return whole && worker_start(&peer->worker, (char **)argv->pdata, NULL, error);
}

/* Until the child has ended and its answer is sent. FALSE: the first rank is gone. */
static gboolean peer_finish(Peer *peer)
{
    int status;
    for (;;) {
        WireKind kind;
        gboolean ended = FALSE;
        struct signalfd_siginfo what;
        g_autoptr(GByteArray) said = peer_next(peer, &kind, -1, &ended);
        if (!ended) {
            worker_kill(&peer->worker);
            peer->is_over = said && kind == WIRE_BYE;
            return FALSE;
        }
        if (read(peer->signals, &what, sizeof what) < 0 && errno != EAGAIN)
            continue;
        if (worker_has_ended(&peer->worker, &status))
            return peer_answer(peer, status);
    }
}

static gboolean peer_loop(Peer *peer, GError **error)
{
    for (;;) {
        WireKind kind;
        g_autoptr(GByteArray) said = peer_next(peer, &kind, -1, NULL);
        if (said && kind == WIRE_BYE)
            return TRUE;
        if (said && kind == WIRE_POINT && peer_start(peer, said, error) && peer_finish(peer))
            continue;
        if (peer->is_over)
            return TRUE;
        if (error && !*error)
            g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_PIPE,
                        "the first rank is lost; the same command goes on from "
                        "what it has stored");
        return FALSE;
    }
}

gboolean peer_serve(const char *invitation, const char *program, GError **error)
{
    Peer peer = {.fd = -1, .in = g_byte_array_new(), .program = program};
    sigset_t child, before;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    peer.signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    gboolean good = peer.signals >= 0 && peer_join(&peer, invitation);
    if (!good)
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
                    "the first rank cannot be reached at any of its addresses "
                    "and port:%s",
                    strchr(invitation, ' '));
    else
        good = peer_loop(&peer, error);
    if (peer.fd >= 0)
        close(peer.fd);
    if (peer.signals >= 0)
        close(peer.signals);
    g_byte_array_unref(peer.in);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return good;
}
