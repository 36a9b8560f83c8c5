/* The server of the monitor: HTTP by libmicrohttpd, on a loopback address.
 *
 * Whoever can open a page in a browser of this machine can make it ask here; so names in Host are only those of
 * loopback (a page of somebody else whose name was made to mean 127.0.0.1 is refused), what ends the run is a POST
 * whose origin is this page, no other origin may read anything (no CORS), and the page may fetch from here alone. */
#include "config.h"

#include "cli/live/monitor/internal.h"

#ifndef HAVE_MICROHTTPD

struct MonitorServer *monitor_server_start(Monitor *monitor, const Options *options, guint16 *port, GError **error)
{
    (void)monitor, (void)options, (void)port;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                "--monitor: this Fanout was built without libmicrohttpd: install "
                "libmicrohttpd-dev, then configure and make again");
    return NULL;
}

void monitor_server_stop(struct MonitorServer *server) { (void)server; }

#else

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/live/monitor/page.gen.h"

#define SERVER_CONNECTIONS 32u
#define SERVER_TIMEOUT_S 10u
#define SERVER_BODY_MOST 4096u

/* What is used of the library. */
typedef struct {
    void *library;
#define HTTP_FUNCTION(name) __typeof__(MHD_##name) *name;
#include "cli/live/monitor/http_functions.h"
#undef HTTP_FUNCTION
} Http;

struct MonitorServer {
    Monitor *monitor;
    Http http;
    struct MHD_Daemon *daemon;
    guint16 port;
    GBytes *page;
    char *policy; /* Content-Security-Policy */
};

/* ---- answers */

/* What a request has brought so far. */
typedef struct {
    gsize bytes;
    gboolean stops; /* the run is to be ended, when the answer has gone */
} Request;

typedef struct {
    guint status;
    const char *type;
    const char *body;
    gsize bytes;
    const char *allow; /* methods, of a 405; NULL: none are to be named */
} Answer;

static enum MHD_Result server_send(const struct MonitorServer *server, struct MHD_Connection *connection,
                                   const Answer *answer)
{
    struct MHD_Response *response = server->http.create_response_from_buffer(answer->bytes, (void *)answer->body,
                                                                             MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO;
    server->http.add_response_header(response, "Content-Type", answer->type);
    server->http.add_response_header(response, "Cache-Control", "no-store");
    server->http.add_response_header(response, "X-Content-Type-Options", "nosniff");
    server->http.add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    server->http.add_response_header(response, "Referrer-Policy", "no-referrer");
    server->http.add_response_header(response, "Content-Security-Policy", server->policy);
    if (answer->allow)
        server->http.add_response_header(response, "Allow", answer->allow);
    enum MHD_Result result = server->http.queue_response(connection, answer->status, response);
    server->http.destroy_response(response);
    return result;
}

static enum MHD_Result server_send_text(const struct MonitorServer *server, struct MHD_Connection *connection,
                                        guint status, const char *text)
{
    const Answer answer = {status, "text/plain; charset=utf-8", text, strlen(text), NULL};
    return server_send(server, connection, &answer);
}

static enum MHD_Result server_send_json(const struct MonitorServer *server, struct MHD_Connection *connection,
                                        guint status, GString *json)
{
    const Answer answer = {status, "application/json", json->str, json->len, NULL};
    enum MHD_Result result = server_send(server, connection, &answer);
    g_string_free(json, TRUE);
    return result;
}

/* ---- who asks */

static gboolean server_knows(const struct MonitorServer *server, const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *full = g_strdup_printf("%s:%u", names[i], server->port);
        if (g_ascii_strcasecmp(host, full) == 0 || (server->port == 80 && g_ascii_strcasecmp(host, names[i]) == 0))
            return TRUE;
    }
    return FALSE;
}

static const char *server_header(const struct MonitorServer *server, struct MHD_Connection *connection,
                                 const char *name)
{
    return server->http.lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Programs send no Origin; browsers do with every POST. */
static gboolean server_is_own(const struct MonitorServer *server, struct MHD_Connection *connection)
{
    const char *origin = server_header(server, connection, "Origin"),
               *site = server_header(server, connection, "Sec-Fetch-Site");
    if (site && strcmp(site, "same-origin") != 0)
        return FALSE;
    return !origin || (g_str_has_prefix(origin, "http://") && server_knows(server, origin + strlen("http://")));
}

/* ---- what is asked for */

static enum MHD_Result server_stop_run(const struct MonitorServer *server, struct MHD_Connection *connection,
                                       Request *request)
{
    Monitor *monitor = server->monitor;
    if (!monitor->may_stop)
        return server_send_text(server, connection, MHD_HTTP_FORBIDDEN,
                                "This page may only look: --monitor-stop was not given.\n");
    if (!server_is_own(server, connection))
        return server_send_text(server, connection, MHD_HTTP_FORBIDDEN, "Only this page may end the run.\n");
    request->stops = g_atomic_int_compare_and_exchange(&monitor->stopping, 0, 1); /* a second would end it at once */
    return server_send_json(server, connection, MHD_HTTP_ACCEPTED, g_string_new("{\"stopping\": true}\n"));
}

static enum MHD_Result server_report(const struct MonitorServer *server, struct MHD_Connection *connection)
{
    Monitor *monitor = server->monitor;
    pthread_mutex_lock(&monitor->report_lock);
    GString *json = monitor->report ? monitor->report(monitor->report_user) : NULL;
    pthread_mutex_unlock(&monitor->report_lock);
    if (!json)
        return server_send_text(server, connection, MHD_HTTP_NOT_FOUND,
                                "This verb has no rows before it is done, or is done.\n");
    return server_send_json(server, connection, MHD_HTTP_OK, json);
}

static enum MHD_Result server_page(const struct MonitorServer *server, struct MHD_Connection *connection)
{
    gsize bytes;
    const char *text = g_bytes_get_data(server->page, &bytes);
    const Answer answer = {MHD_HTTP_OK, "text/html; charset=utf-8", text, bytes, NULL};
    return server_send(server, connection, &answer);
}

static enum MHD_Result server_route(const struct MonitorServer *server, struct MHD_Connection *connection,
                                    const char *path, gboolean get, gboolean post, Request *request)
{
    const gboolean stops = strcmp(path, "/stop") == 0;
    if (stops ? post : get) {
        if (stops)
            return server_stop_run(server, connection, request);
        if (strcmp(path, "/") == 0)
            return server_page(server, connection);
        if (strcmp(path, "/status.json") == 0)
            return server_send_json(server, connection, MHD_HTTP_OK, monitor_status(server->monitor));
        if (strcmp(path, "/report.json") == 0)
            return server_report(server, connection);
        return server_send_text(server, connection, MHD_HTTP_NOT_FOUND,
                                "Here are /, /status.json, /report.json and, as POST, /stop.\n");
    }
    const Answer answer = {MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain; charset=utf-8", "Not that way.\n",
                           strlen("Not that way.\n"), stops ? "POST" : "GET, HEAD"};
    return server_send(server, connection, &answer);
}

/* Called when the head of a request is there, with pieces of its body, and when it is whole. */
static enum MHD_Result server_handle(void *user, struct MHD_Connection *connection, const char *path,
                                     const char *method, const char *version, const char *body, size_t *body_bytes,
                                     void **state)
{
    const struct MonitorServer *server = user;
    const char *host;
    (void)version, (void)body;
    if (!*state) {
        *state = g_new0(Request, 1);
        return MHD_YES;
    }
    Request *request = *state;
    request->bytes += *body_bytes;
    if (*body_bytes) { /* nothing that is sent here is of use */
        *body_bytes = 0;
        return request->bytes <= SERVER_BODY_MOST ? MHD_YES : MHD_NO;
    }
    host = server_header(server, connection, "Host");
    if (!host || !server_knows(server, host))
        return server_send_text(server, connection, MHD_HTTP_FORBIDDEN,
                                "This page is that of 127.0.0.1 or localhost, and of no other name.\n");
    const gboolean get = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    return server_route(server, connection, path, get, strcmp(method, "POST") == 0, request);
}

static void server_end_request(void *user, struct MHD_Connection *connection, void **state,
                               enum MHD_RequestTerminationCode how)
{
    const Request *request = *state;
    (void)user, (void)connection, (void)how;
    if (request && request->stops)
        sigqueue(getpid(), SIGINT, (union sigval){.sival_int = MONITOR_STOPS});
    g_clear_pointer(state, g_free);
}

/* ---- its life */

/* Bound here, so that what is wrong can be said. */
static int server_listen(const Options *options, guint16 *port, GError **error)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(*port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(*port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const gboolean six = options->monitor_ipv6;
    struct sockaddr *at = six ? (struct sockaddr *)(void *)&v6 : (struct sockaddr *)(void *)&v4;
    socklen_t length = six ? sizeof v6 : sizeof v4;
    const int on = 1, fd = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 && bind(fd, at, length) == 0 &&
        listen(fd, SERVER_CONNECTIONS) == 0 && getsockname(fd, at, &length) == 0) {
        *port = ntohs(six ? v6.sin6_port : v4.sin_port);
        return fd;
    }
    const int why = errno;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--monitor: port %u of %s: %s%s", *port, six ? "[::1]" : "127.0.0.1",
                g_strerror(why), why == EADDRINUSE ? "; port 0 takes one that is free" : "");
    if (fd >= 0)
        close(fd);
    return -1;
}

/* The browser runs the script and the style of the page, known by what they are, and no others. */
static char *server_hash(const char *page, const char *tag)
{
    g_autofree char *open = g_strdup_printf("<%s>", tag), *close_tag = g_strdup_printf("</%s>", tag);
    const char *from = strstr(page, open) + strlen(open), *to = strstr(from, close_tag);
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    guint8 digest[32];
    gsize bytes = sizeof digest;
    g_checksum_update(sum, (const guchar *)from, to - from);
    g_checksum_get_digest(sum, digest, &bytes);
    return g_base64_encode(digest, bytes);
}

static void server_load_page(struct MonitorServer *server)
{
    server->page = g_resource_lookup_data(monitor_get_resource(), "/fanout/monitor/page.html", 0, NULL);
    const char *text = g_bytes_get_data(server->page, NULL); /* resources end in a zero */
    g_autofree char *style = server_hash(text, "style"), *script = server_hash(text, "script");
    server->policy = g_strdup_printf("default-src 'none'; connect-src 'self'; img-src data:; style-src 'sha256-%s'; "
                                     "script-src 'sha256-%s'; base-uri 'none'; form-action 'none'; "
                                     "frame-ancestors 'none'",
                                     style, script);
}

static gboolean server_load_library(Http *http, GError **error)
{
    http->library = dlopen(MONITOR_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    gboolean whole = http->library != NULL;
#define HTTP_FUNCTION(name) whole = whole && (*(void **)&http->name = dlsym(http->library, "MHD_" #name));
#include "cli/live/monitor/http_functions.h"
#undef HTTP_FUNCTION
    if (!whole)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--monitor: %s; Debian has it in libmicrohttpd12", dlerror());
    return whole;
}

struct MonitorServer *monitor_server_start(Monitor *monitor, const Options *options, guint16 *port, GError **error)
{
    Http http;
    if (!server_load_library(&http, error))
        return NULL;
    const int fd = server_listen(options, port, error);
    if (fd < 0)
        return NULL;
    struct MonitorServer *server = g_new0(struct MonitorServer, 1);
    sigset_t all, before;
    server->monitor = monitor;
    server->http = http;
    server->port = *port;
    server_load_page(server);
    sigfillset(&all); /* its thread hears no signals: they are the verb's */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    server->daemon = server->http.start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, server_handle, server,
                                               MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
                                               SERVER_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, SERVER_TIMEOUT_S,
                                               MHD_OPTION_NOTIFY_COMPLETED, server_end_request, NULL, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (server->daemon)
        return server;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--monitor: no thread can be started");
    close(fd);
    monitor_server_stop(server);
    return NULL;
}

void monitor_server_stop(struct MonitorServer *server)
{
    if (server->daemon)
        server->http.stop_daemon(server->daemon);
    g_bytes_unref(server->page);
    g_free(server->policy);
    g_free(server);
}

#endif
