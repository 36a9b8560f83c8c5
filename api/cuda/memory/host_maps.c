/* See host_maps.h. */
#include "api/cuda/memory/host_maps.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/cuda/memory/range.h"

gboolean host_maps_next(const char **text, HostMapsLine *line)
{
    while (*text && **text != '\0') {
        int fields = sscanf(*text,
                            "%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER "x %4s %*x %15s %" G_GINT64_MODIFIER "u",
                            &line->from, &line->to, line->rights, line->device, &line->inode);
        const char *end = strchr(*text, '\n');
        *text = end ? end + 1 : NULL;
        if (fields == 5)
            return TRUE;
    }
    return FALSE;
}

static gboolean add_shared(gpointer va, gpointer data, gpointer user)
{
    const Range *range = data;
    gpointer *with = user; /* text of the own mappings, GPtrArray of "DEVICE INODE" */
    HostMapsLine line;

    (void)va;
    for (const char *rest = with[0]; range->kind == RANGE_REGISTERED && host_maps_next(&rest, &line);)
        if (line.rights[3] == 's' && line.from < range->va + range->bytes && line.to > range->va)
            g_ptr_array_add(with[1], g_strdup_printf("%s %" G_GUINT64_FORMAT, line.device, line.inode));
    return FALSE;
}

static gboolean has_one(const char *maps, const GPtrArray *files)
{
    HostMapsLine line;

    while (host_maps_next(&maps, &line)) {
        char file[40];
        g_snprintf(file, sizeof file, "%s %" G_GUINT64_FORMAT, line.device, line.inode);
        for (guint i = 0; line.rights[3] == 's' && i < files->len; i++)
            if (!strcmp(file, g_ptr_array_index(files, i)))
                return TRUE;
    }
    return FALSE;
}

gboolean host_held_elsewhere(const Cuda *cuda)
{
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *own = NULL, *self = g_strdup_printf("%d", getpid());
    gpointer with[] = {NULL, files};
    const char *name;
    gboolean found = FALSE;

    if (cuda->n_registered == 0 || !g_file_get_contents("/proc/self/maps", &own, NULL, NULL))
        return FALSE;
    with[0] = own;
    g_tree_foreach(cuda->ranges->mapped, add_shared, with);
    GDir *processes = files->len > 0 ? g_dir_open("/proc", 0, NULL) : NULL;
    while (processes && !found && (name = g_dir_read_name(processes))) {
        g_autofree char *path = g_strdup_printf("/proc/%s/maps", name), *maps = NULL;
        if (g_ascii_isdigit(name[0]) && strcmp(name, self) != 0 && g_file_get_contents(path, &maps, NULL, NULL))
            found = has_one(maps, files);
    }
    g_clear_pointer(&processes, g_dir_close);
    return found;
}
