/* Kernels of a client: the owner gets their module as text, once for each image, and launches as numbers. */
#include "machine/wire/client_parts.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/kernel/kernel.h"

/* The texts of a module in one memfd; -1: the host has no memory. */
static int module_file(const PtxModule *module)
{
    int fd = memfd_create("fanout-module", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    g_autoptr(GByteArray) all = g_byte_array_new();

    for (guint i = 0; i < module->units->len; i++) {
        const PtxUnit *unit = g_ptr_array_index(module->units, i);
        WireUnit head = {unit->bytes, (guint32)strlen(unit->file) + 1, unit->registers_max};
        g_byte_array_append(all, (const guint8 *)&head, sizeof head);
        g_byte_array_append(all, (const guint8 *)unit->file, head.name_bytes);
        g_byte_array_append(all, (const guint8 *)unit->text, (guint)unit->bytes);
        g_byte_array_append(all, (const guint8 *)"", 1);
    }
    if (fd >= 0 && write(fd, all->data, all->len) == (gssize)all->len)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static EngineStatus send_image(WireClient *client, const PtxImage *image, Upload *made)
{
    int fd = module_file(image->module);
    EngineRequest request = {.op = WIRE_OP_MODULE_NEW};
    EngineReply reply;

    if (fd < 0)
        return ENGINE_NO_MEMORY;
    EngineStatus status = wire_ask(client, &request, NULL, 0, fd, &reply, NULL);
    close(fd);
    if (status != ENGINE_OK)
        return status;
    made->module = (guint32)reply.value;
    request = (EngineRequest){
        .op = WIRE_OP_IMAGE_NEW, .object = made->module, .address = image->global_base, .source = image->const_base};
    status = wire_ask(client, &request, NULL, 0, -1, &reply, NULL);
    made->image = (guint32)reply.value;
    return status;
}

static EngineStatus upload_of(WireClient *client, const PtxImage *image, guint32 *number)
{
    Upload made = {0};

    pthread_mutex_lock(&client->lock);
    const Upload *known = g_hash_table_lookup(client->uploads, image);
    made = known ? *known : made;
    pthread_mutex_unlock(&client->lock);
    EngineStatus status = made.image ? ENGINE_OK : send_image(client, image, &made);
    if (status == ENGINE_OK && !known) {
        pthread_mutex_lock(&client->lock);
        g_hash_table_insert(client->uploads, (gpointer)(guintptr)image, g_memdup2(&made, sizeof made));
        pthread_mutex_unlock(&client->lock);
    }
    *number = made.image;
    return status;
}

EngineStatus upload_launch(WireClient *client, const EngineRequest *request, EngineReply *reply)
{
    const KernelSpec *spec = (const KernelSpec *)(guintptr)request->argument;
    EngineRequest sent = *request;
    WireLaunch head = {.function = spec->entry->index,
                       .dynamic_shared = spec->dynamic_shared,
                       .cooperative = spec->cooperative,
                       .depends = spec->depends,
                       .workspace = spec->workspace,
                       .heap = spec->heap,
                       .heap_bytes = spec->heap_bytes,
                       .param_bytes = spec->param ? spec->entry->param_bytes : 0};
    guint8 payload[sizeof head + PTX_PARAM_BYTES_MAX];

    memcpy(head.grid, spec->grid, sizeof head.grid);
    memcpy(head.block, spec->block, sizeof head.block);
    memcpy(head.cluster, spec->cluster, sizeof head.cluster);
    EngineStatus status = upload_of(client, spec->image, &head.image);
    if (status != ENGINE_OK) {
        memset(reply, 0, sizeof *reply);
        return status;
    }
    memcpy(payload, &head, sizeof head);
    if (head.param_bytes > 0)
        memcpy(payload + sizeof head, spec->param, head.param_bytes);
    sent.argument = 0;
    return wire_ask(client, &sent, payload, sizeof head + head.param_bytes, -1, reply, NULL);
}

void upload_image_gone(void *self, const void *image)
{
    WireClient *client = self;
    EngineReply reply;

    pthread_mutex_lock(&client->lock);
    const Upload *known = g_hash_table_lookup(client->uploads, image);
    Upload gone = known ? *known : (Upload){0};
    g_hash_table_remove(client->uploads, image);
    pthread_mutex_unlock(&client->lock);
    if (!gone.image)
        return;
    EngineRequest request = {.op = WIRE_OP_IMAGE_FREE, .object = gone.image, .region = gone.module};
    wire_ask(client, &request, NULL, 0, -1, &reply, NULL);
}
