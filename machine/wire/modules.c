/* Kernels of clients: modules as text, which are read once for all processes that load the same. */
#include "machine/wire/server_parts.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define IMAGES_MAX 65536u

/* The texts of a module, one behind another. NULL: it is not what a client writes, or not PTX. */
static PtxModule *texts_read(const char *bytes, gsize n, GError **error)
{
    PtxModule *module = ptx_module_new();

    for (gsize at = 0; at < n;) {
        WireUnit head;
        if (n - at < sizeof head)
            break;
        memcpy(&head, bytes + at, sizeof head);
        at += sizeof head;
        gsize left = n - at;
        if (head.name_bytes == 0 || head.name_bytes > left || head.bytes > left - head.name_bytes ||
            left - head.name_bytes - head.bytes < 1 || bytes[at + head.name_bytes - 1] != '\0' ||
            bytes[at + head.name_bytes + head.bytes] != '\0') {
            g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "a module's texts are cut short");
            ptx_module_free(module);
            return NULL;
        }
        if (!ptx_module_add(module, bytes + at, bytes + at + head.name_bytes, head.bytes, error)) {
            ptx_module_free(module);
            return NULL;
        }
        if (head.registers_max)
            ptx_module_limit_registers(module, head.registers_max);
        at += head.name_bytes + head.bytes + 1;
    }
    if (module->units->len > 0 && ptx_module_link(module, error))
        return module;
    ptx_module_free(module);
    return NULL;
}

void modules_unref(Server *server, SharedModule *module)
{
    (void)server; /* it stays: the next run of a program loads the same */
    module->refs--;
}

static SharedModule *module_of(Server *server, const char *bytes, gsize n)
{
    g_autofree char *key = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)bytes, n);
    SharedModule *known = g_hash_table_lookup(server->modules, key);
    g_autoptr(GError) error = NULL;

    if (known) {
        known->refs++;
        return known;
    }
    if (n > WIRE_MODULE_BYTES_MAX - server->module_bytes) {
        log_line(server->spec.log, LOG_CUDA, LOG_ERROR, 0,
                 "the texts of all kernels take more than %" G_GUINT64_FORMAT " MiB: no more are read",
                 WIRE_MODULE_BYTES_MAX >> 20);
        return NULL;
    }
    PtxModule *read = texts_read(bytes, n, &error);
    if (!read) {
        log_line(server->spec.log, LOG_CUDA, LOG_ERROR, 0, "a client's module: %s", error ? error->message : "no text");
        return NULL;
    }
    SharedModule *made = g_new0(SharedModule, 1);
    *made = (SharedModule){g_steal_pointer(&key), read, 1};
    g_hash_table_insert(server->modules, made->key, made);
    server->module_bytes += n;
    return made;
}

EngineStatus modules_add(ServerClient *client, int fd, guint32 *number)
{
    struct stat st;

    if (fd < 0 || fcntl(fd, F_GET_SEALS) < 0 /* in memory: reading it waits for none */ || fstat(fd, &st) != 0 ||
        !S_ISREG(st.st_mode) || st.st_size <= 0 || (guint64)st.st_size > WIRE_MODULE_BYTES_MAX ||
        (client->modules->len >= IMAGES_MAX && client->free[SERVER_MODULES]->len == 0))
        return ENGINE_INVALID;
    /* Read, not mapped: the file may change meanwhile. */
    g_autofree char *bytes = g_try_malloc((gsize)st.st_size);
    if (!bytes)
        return ENGINE_NO_MEMORY;
    for (gsize at = 0; at < (gsize)st.st_size;) {
        gssize n = pread(fd, bytes + at, (gsize)st.st_size - at, (off_t)at);
        if (n <= 0)
            return ENGINE_INVALID;
        at += (gsize)n;
    }
    SharedModule *module = module_of(client->server, bytes, (gsize)st.st_size);
    if (!module)
        return ENGINE_INVALID;
    *number = server_number_add(client->modules, client->free[SERVER_MODULES], module);
    return ENGINE_OK;
}

EngineStatus modules_image_new(ServerClient *client, const EngineRequest *request, guint32 *number)
{
    SharedModule *module = server_number_find(client->modules, request->object);

    if (!module || client->images->len >= IMAGES_MAX)
        return ENGINE_INVALID;
    ServerImage *image = g_new0(ServerImage, 1);
    image->module = module;
    image->image = ptx_image_new(module->module, request->address, request->source);
    *number = server_number_add(client->images, client->free[SERVER_IMAGES], image);
    return ENGINE_OK;
}

/* Its kernels may still run: the image goes with the client. */
void modules_image_free(ServerClient *client, guint32 image, guint32 module)
{
    if (module < client->modules->len && g_ptr_array_index(client->modules, module)) {
        modules_unref(client->server, g_ptr_array_index(client->modules, module));
        client->modules->pdata[module] = NULL;
        g_array_append_val(client->free[SERVER_MODULES], module);
    }
    (void)image;
}

gboolean modules_launch(ServerConnection *connection, const guint8 *payload, gsize bytes)
{
    ServerClient *client = connection->client;
    KernelSpec *spec = &connection->spec;
    WireLaunch head;

    if (bytes < sizeof head)
        return FALSE;
    memcpy(&head, payload, sizeof head);
    ServerImage *image = server_number_find(client->images, head.image);
    if (!image || head.function >= image->module->module->functions->len)
        return FALSE;
    PtxFunction *entry = g_ptr_array_index(image->module->module->functions, head.function);
    if (!entry->entry || (head.param_bytes != 0 && head.param_bytes != entry->param_bytes) ||
        head.param_bytes != bytes - sizeof head || (head.param_bytes == 0 && entry->param_bytes != 0))
        return FALSE;
    *spec = (KernelSpec){.image = image->image,
                         .entry = entry,
                         .grid = {head.grid[0], head.grid[1], head.grid[2]},
                         .block = {head.block[0], head.block[1], head.block[2]},
                         .cluster = {head.cluster[0], head.cluster[1], head.cluster[2]},
                         .dynamic_shared = head.dynamic_shared,
                         .param = head.param_bytes ? payload + sizeof head : NULL,
                         .cooperative = head.cooperative != 0,
                         .depends = head.depends != 0,
                         .workspace = head.workspace,
                         .heap = head.heap,
                         .heap_bytes = head.heap_bytes};
    connection->call.request.argument = (guint64)(guintptr)spec;
    return TRUE;
}
