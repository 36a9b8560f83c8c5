/* See hub.h. */
#include "explore/hub.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

struct Hub {
    int fd;
    char *token;
    GString *invitation;
    GPtrArray *links;
};

/* ---- where it is */

/* An IPv6 socket takes IPv4 too; where there is no IPv6, one of IPv4. Any port. */
static int hub_listen(guint *port)
{
    for (guint family = 0; family < 2; family++) {
        int fd = socket(family ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        const int off = 0;
        if (fd >= 0 && !family)
            setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = in6addr_any};
        struct sockaddr_in four = {.sin_family = AF_INET};
        const struct sockaddr *any = family ? (const struct sockaddr *)&four : (const struct sockaddr *)&six;
        struct sockaddr_storage at;
        socklen_t n = family ? sizeof four : sizeof six, m = sizeof at;
        if (fd >= 0 && bind(fd, any, n) == 0 && listen(fd, 1024) == 0 &&
            getsockname(fd, (struct sockaddr *)&at, &m) == 0) {
            *port = g_ntohs(family ? ((struct sockaddr_in *)&at)->sin_port : ((struct sockaddr_in6 *)&at)->sin6_port);
            return fd;
        }
        if (fd >= 0)
            close(fd);
    }
    return -1;
}

/* The loopback comes last: on another machine it is another machine's. */
static void hub_add_addresses(GString *text)
{
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0)
        all = NULL;
    for (guint loopback = 0; loopback < 2; loopback++)
        for (const struct ifaddrs *one = all; one; one = one->ifa_next) {
            char name[NI_MAXHOST];
            int family = one->ifa_addr ? one->ifa_addr->sa_family : AF_UNSPEC;
            socklen_t n = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
            if ((family == AF_INET || family == AF_INET6) && one->ifa_flags & IFF_UP &&
                !!(one->ifa_flags & IFF_LOOPBACK) == loopback &&
                getnameinfo(one->ifa_addr, n, name, sizeof name, NULL, 0, NI_NUMERICHOST) == 0)
                g_string_append_printf(text, " %s", name);
        }
    if (all)
        freeifaddrs(all);
    else
        g_string_append(text, " 127.0.0.1");
}

Hub *hub_new(GError **error)
{
    guint8 random[16];
    guint port = 0;
    int fd = hub_listen(&port);
    if (fd < 0 || getrandom(random, sizeof random, 0) != sizeof random) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "no socket for the other ranks: %s", g_strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    Hub *hub = g_new0(Hub, 1);
    GString *token = g_string_new(NULL);
    for (guint i = 0; i < sizeof random; i++)
        g_string_append_printf(token, "%02x", random[i]);
    hub->fd = fd;
    hub->token = g_string_free(token, FALSE);
    hub->invitation = g_string_new(NULL);
    hub->links = g_ptr_array_new();
    g_string_printf(hub->invitation, "%s %u", hub->token, port);
    hub_add_addresses(hub->invitation);
    return hub;
}

const char *hub_invitation(const Hub *hub) { return hub->invitation->str; }
GPtrArray *hub_links(Hub *hub) { return hub->links; }

/* ---- connections */

void hub_drop(Hub *hub, HubLink *link)
{
    g_ptr_array_remove(hub->links, link);
    close(link->fd);
    g_byte_array_unref(link->in);
    g_clear_pointer(&link->answer, g_byte_array_unref);
    g_free(link);
}

/* A rank that is still working on a point is lost all the same: its answer is not wanted any more. */
void hub_free(Hub *hub)
{
    while (hub->links->len > 0) {
        HubLink *link = hub->links->pdata[hub->links->len - 1];
        wire_send(link->fd, WIRE_BYE, "", 0);
        hub_drop(hub, link);
    }
    g_ptr_array_unref(hub->links);
    close(hub->fd);
    g_free(hub->token);
    g_string_free(hub->invitation, TRUE);
    g_free(hub);
}

static void hub_accept(Hub *hub)
{
    int fd;
    while ((fd = accept(hub->fd, NULL, NULL)) >= 0) {
        HubLink *link = g_new0(HubLink, 1);
        wire_prepare(fd);
        link->fd = fd;
        link->in = g_byte_array_new();
        g_ptr_array_add(hub->links, link);
    }
}

static void hub_read(const Hub *hub, HubLink *link)
{
    WireKind kind;
    GByteArray *payload;
    gboolean wrong, there = wire_read(link->fd, link->in);
    while (!link->answer && wire_take(link->in, &kind, &payload, &wrong)) {
        gboolean hello = !link->is_one_of_us && kind == WIRE_HELLO && payload->len == strlen(hub->token) &&
                         memcmp(payload->data, hub->token, payload->len) == 0;
        if (hello)
            link->is_one_of_us = wire_send(link->fd, WIRE_WELCOME, "", 0);
        else if (link->is_one_of_us && kind == WIRE_RESULT)
            link->answer = g_byte_array_ref(payload);
        else
            link->is_lost = TRUE;
        g_byte_array_unref(payload);
    }
    /* A stranger that says nothing of ours is not listened to for long. */
    link->is_lost |= (!link->answer && wrong) || (!link->is_one_of_us && link->in->len > 64) ||
                     (!there && !link->answer);
}

void hub_poll(const Hub *hub, GArray *fds)
{
    struct pollfd one = {hub->fd, POLLIN, 0};
    g_array_append_val(fds, one);
    for (guint i = 0; i < hub->links->len; i++) {
        one.fd = ((const HubLink *)hub->links->pdata[i])->fd;
        g_array_append_val(fds, one);
    }
}

void hub_serve(Hub *hub)
{
    hub_accept(hub);
    for (guint i = 0; i < hub->links->len; i++)
        if (!((HubLink *)hub->links->pdata[i])->answer)
            hub_read(hub, hub->links->pdata[i]);
}

/* ---- points */

gboolean hub_send_point(HubLink *link, char **words)
{
    g_autoptr(GByteArray) all = g_byte_array_new();
    for (char **word = words; *word; word++)
        g_byte_array_append(all, (const guint8 *)*word, (guint)strlen(*word) + 1);
    link->is_lost |= !wire_send(link->fd, WIRE_POINT, all->data, all->len);
    return !link->is_lost;
}

gboolean hub_answer(const HubLink *link, int *status, const char **out, gsize *n_out, const char **err, gsize *n_err)
{
    guint32 head[2];
    const GByteArray *answer = link->answer;
    if (!answer || answer->len < sizeof head)
        return FALSE;
    memcpy(head, answer->data, sizeof head);
    *status = (int)GUINT32_FROM_BE(head[0]);
    *n_out = GUINT32_FROM_BE(head[1]);
    if (*n_out > answer->len - sizeof head)
        return FALSE;
    *out = (const char *)answer->data + sizeof head;
    *err = *out + *n_out;
    *n_err = answer->len - sizeof head - *n_out;
    return TRUE;
}
