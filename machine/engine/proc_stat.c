/* See proc_stat.h. */
#include "machine/engine/proc_stat.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STAT_BYTES 1024u

/* Names may have spaces and brackets: what counts begins behind the last bracket. */
gboolean proc_stat_parse(const char *text, ProcStat *stat)
{
    const char *open = strchr(text, '('), *shut = strrchr(text, ')');
    int parent;

    if (!open || !shut || shut < open ||
        sscanf(shut + 1, " %c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d", &stat->state, &parent,
               &stat->flags, &stat->threads) != 4)
        return FALSE;
    stat->parent = parent;
    g_strlcpy(stat->name, open + 1, MIN(sizeof stat->name, (gsize)(shut - open)));
    return TRUE;
}

gboolean proc_file_read(pid_t pid, const char *name, char *text, gsize bytes)
{
    char path[64];

    g_snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    gssize n = fd >= 0 ? read(fd, text, bytes - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[MAX(n, 0)] = '\0';
    return n > 0;
}

gboolean proc_stat_read(pid_t pid, ProcStat *stat)
{
    char text[STAT_BYTES];

    return proc_file_read(pid, "stat", text, sizeof text) && proc_stat_parse(text, stat);
}
