/* Who asks the owner of a running machine: see control.h. */
#include "machine/wire/control.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/wire/client.h"

#define NAME_PREFIX "@fanout-"

static gint compare_names(gconstpointer a, gconstpointer b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    gint64 p = g_ascii_strtoll(x + strlen("fanout-"), NULL, 10), q = g_ascii_strtoll(y + strlen("fanout-"), NULL, 10);

    return p != q ? (p < q ? -1 : 1) : strcmp(x, y);
}

/* Its owner is a process of this user: the socket's name has its number. */
static gboolean is_ours(const char *name)
{
    gint64 pid = g_ascii_strtoll(name + strlen("fanout-"), NULL, 10);
    g_autofree char *path = g_strdup_printf("/proc/%" G_GINT64_FORMAT, pid);
    struct stat of;

    return pid > 0 && stat(path, &of) == 0 && of.st_uid == geteuid();
}

GPtrArray *control_owners(void)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *text = NULL;

    if (!g_file_get_contents("/proc/net/unix", &text, NULL, NULL))
        return names;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i]; i++) {
        const char *at = strstr(lines[i], NAME_PREFIX);
        gboolean known = !at || !is_ours(at + 1);
        for (guint k = 0; k < names->len && !known; k++) /* each connection has a line, too */
            known = strcmp(names->pdata[k], at + 1) == 0;
        if (!known)
            g_ptr_array_add(names, g_strdup(at + 1));
    }
    g_ptr_array_sort(names, compare_names);
    return names;
}

static gboolean fail(GError **error, WireErrorCode code, const char *format, ...) G_GNUC_PRINTF(3, 4);
static gboolean fail(GError **error, WireErrorCode code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(error, WIRE_ERROR, code, text);
    return FALSE;
}

static gboolean take_rows(const WireControlled *answer, const void *room, gssize behind, GArray **rows)
{
    if (behind < 0 || (gsize)behind != answer->rows * sizeof(WireProcess))
        return FALSE;
    if (!rows)
        return TRUE;
    *rows = g_array_new(FALSE, FALSE, sizeof(WireProcess));
    g_array_append_vals(*rows, room, answer->rows);
    return TRUE;
}

gboolean control_ask(const char *name, const WireControl *asked, WireControlled *answer, GArray **rows, GError **error)
{
    WireHello hello;
    WireWelcome welcome;
    WireControl sent = *asked;
    g_autofree guint8 *room = g_malloc(WIRE_PAYLOAD_MAX);

    sent.head = wire_head(WIRE_CONTROL);
    wire_introduce(&hello, WIRE_ROLE_CONTROL, FALSE);
    int fd = wire_dial(name, &hello, &welcome, NULL);
    if (fd < 0 && welcome.refused)
        return fail(error, WIRE_ERROR_REFUSED, "the owner of that machine refuses: %.*s", (int)sizeof welcome.why,
                    welcome.why);
    if (fd < 0)
        return fail(error, WIRE_ERROR_GONE,
                    "no machine of this user is called '%s': its job has ended, or the name is mistyped; 'fanout "
                    "fabric status' lists those that run",
                    name);
    gssize n = message_send(fd, &sent, sizeof sent, NULL, 0, -1)
                   ? message_receive(fd, answer, sizeof *answer, room, WIRE_PAYLOAD_MAX, NULL, 0)
                   : 0;
    close(fd);
    if (n < (gssize)sizeof *answer || answer->head.magic != WIRE_MAGIC || answer->head.kind != WIRE_CONTROLLED)
        return fail(error, WIRE_ERROR_GONE, "the owner of the machine '%s' has ended, or does not answer", name);
    if (answer->refused)
        return fail(error, WIRE_ERROR_REFUSED, "%.*s", (int)sizeof answer->why, answer->why);
    return take_rows(answer, room, n - (gssize)sizeof *answer, rows) ||
           fail(error, WIRE_ERROR_REFUSED, "the owner of the machine '%s' answers what was not asked", name);
}
