/* Messages that are on their way although their sender sleeps: packets between sockets of this host. See tree.h.
 *
 * What is sent by a pipe, a socket of the host's own family or a futex has arrived when the sender's system call ends.
 * A packet of TCP goes through a queue of the processor (the backlog of softnet), which a busy host empties a little
 * later, on a thread of the kernel. Here the proof waits until what stood in these queues while all slept is gone; what
 * it has woken by then is found running by the look that follows.
 *
 * Left out: what TCP itself keeps back. Nagle's rule would, until the other side's acknowledgement comes, 40 ms of the
 * host later; libfanout_wait.so switches it off (wait_socket_hook.c). Another network than this host's.
 * Source: net/core/net-procfs.c of Linux 5.10 and later; measured: 2 us for two processors. */
#include "machine/engine/tree_parts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define COLUMN_DONE 0     /* packets that the processor has taken up so far */
#define COLUMN_BACKLOG 11 /* those that stand in its queues */
#define PIECE_BYTES 4096u /* what the kernel gives at once */
#define LOOKS_MAX 100u
#define LOOK_NS 20000

/* One line: TRUE with the two numbers, which are hexadecimal. */
static gboolean line_parse(char **text, guint32 *done, guint32 *backlog)
{
    char *at = *text;
    guint column = 0;

    for (; *at != '\0' && *at != '\n'; column++) {
        char *end;
        guint32 value = (guint32)strtoul(at, &end, 16);
        if (end == at)
            break;
        if (column == COLUMN_DONE)
            *done = value;
        if (column == COLUMN_BACKLOG)
            *backlog = value;
        for (at = end; *at == ' '; at++)
            continue;
    }
    *text = *at == '\n' ? at + 1 : at;
    return column > COLUMN_BACKLOG;
}

static gboolean packets_read(Tree *tree)
{
    gssize n;
    gsize bytes = 0;

    do {
        g_byte_array_set_size(tree->packets_text, (guint)bytes + PIECE_BYTES + 1);
        n = pread(tree->packets_fd, tree->packets_text->data + bytes, PIECE_BYTES, (off_t)bytes);
        bytes += n > 0 ? (gsize)n : 0;
    } while (n > 0);
    tree->packets_text->data[bytes] = '\0';
    return bytes > 0;
}

/* How many queues still have what stood in them at the first look. */
static guint packets_left(Tree *tree, gboolean first)
{
    char *text = (char *)tree->packets_text->data;
    guint32 done, backlog;
    guint left = 0;

    for (guint i = 0; line_parse(&text, &done, &backlog); i++) {
        if (tree->packets->len <= i)
            g_array_set_size(tree->packets, i + 1);
        TreePackets *queue = &g_array_index(tree->packets, TreePackets, i);
        if (first)
            *queue = (TreePackets){.until = done + backlog};
        queue->gone |= backlog == 0 || (gint32)(done - queue->until) >= 0;
        left += !queue->gone;
    }
    return left;
}

gboolean tree_packets_arrive(Tree *tree)
{
    const struct timespec pause = {0, LOOK_NS};

    if (tree->packets_fd < 0 || tree->order->len < 2)
        return TRUE;
    for (guint look = 0; look < LOOKS_MAX; look++) {
        if (look > 0)
            nanosleep(&pause, NULL);
        if (!packets_read(tree) || packets_left(tree, look == 0) == 0)
            return TRUE;
    }
    return FALSE;
}

void tree_packets_open(Tree *tree, const char *path)
{
    tree->packets_fd = open(path, O_RDONLY | O_CLOEXEC);
    tree->packets_text = g_byte_array_new();
    tree->packets = g_array_new(FALSE, TRUE, sizeof(TreePackets));
}

void tree_packets_close(Tree *tree)
{
    if (tree->packets_fd >= 0)
        close(tree->packets_fd);
    g_byte_array_unref(tree->packets_text);
    g_array_unref(tree->packets);
}
