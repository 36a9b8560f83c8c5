/* The owner's side of `fanout fabric`: see control.h. Every field is checked, as those of clients are. */
#include "machine/wire/control.h"

#include <string.h>

#include "machine/spec.h"
#include "machine/wire/server_parts.h"

void control_begin(struct Server *server)
{
    MachinePage *page = server->page;

    page->manager = server->spec.manager == CUDA_FM_RESTARTED ? CUDA_FM_OK : server->spec.manager;
    page->manager_era = server->spec.manager == CUDA_FM_RESTARTED; /* no GPU was reset since */
}

static gboolean refuse(WireControlled *answer, const char *why)
{
    answer->refused = 1;
    g_strlcpy(answer->why, why, sizeof answer->why);
    return FALSE;
}

static void manager_becomes(Server *server, guint32 state)
{
    __atomic_store_n(&server->page->manager_since_ps, engine_seen_ps(server->engine), __ATOMIC_RELAXED);
    __atomic_store_n(&server->page->manager, state, __ATOMIC_RELEASE);
}

static gboolean do_manager(Server *server, const WireControl *asked, WireControlled *answer)
{
    static const char *const names[] = {"running", "absent", "broken", "", "stopped"};

    if (asked->value > CUDA_FM_STOPPED || asked->value == CUDA_FM_RESTARTED)
        return refuse(answer, "there is no such state of a fabric manager");
    if (asked->value == server->page->manager) {
        g_snprintf(answer->why, sizeof answer->why, "the fabric manager is %s already", names[asked->value]);
        answer->refused = 1;
        return FALSE;
    }
    manager_becomes(server, (guint32)asked->value);
    return TRUE;
}

static gboolean do_restart(Server *server, const WireControl *asked, WireControlled *answer)
{
    (void)asked, (void)answer;
    __atomic_fetch_add(&server->page->manager_era, 1, __ATOMIC_RELAXED);
    manager_becomes(server, CUDA_FM_OK);
    return TRUE;
}

static gboolean do_degrade(Server *server, const WireControl *asked, WireControlled *answer)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *key = g_strndup(asked->key, sizeof asked->key), *part = g_strndup(asked->part, sizeof asked->part);

    if (asked->value > (guint64)1 << 62)
        return refuse(answer, "it is to last longer than simulated time");
    return engine_degrade(server->engine, key, part, asked->value, &error) || refuse(answer, error->message);
}

static gboolean check_gpu(Server *server, const WireControl *asked, WireControlled *answer)
{
    if (asked->value < server->spec.gpus)
        return TRUE;
    g_snprintf(answer->why, sizeof answer->why, "there is no GPU %" G_GUINT64_FORMAT "; the system has 0 to %u",
               asked->value, server->spec.gpus - 1);
    answer->refused = 1;
    return FALSE;
}

static gboolean do_gpu_reset(Server *server, const WireControl *asked, WireControlled *answer)
{
    if (!check_gpu(server, asked, answer))
        return FALSE;
    answer->contexts = engine_gpu_reset(server->engine, (guint32)asked->value);
    __atomic_store_n(&server->page->gpu_era[asked->value], server->page->manager_era, __ATOMIC_RELAXED);
    return TRUE;
}

static void fill_status(Server *server, WireControlled *answer)
{
    const MachinePage *page = server->page;

    answer->gpus = server->spec.gpus;
    answer->manager = page->manager;
    answer->manager_era = page->manager_era;
    answer->now_ps = engine_seen_ps(server->engine);
    for (guint i = 1; i < server->clients->len; i++) {
        const ServerClient *client = g_ptr_array_index(server->clients, i);
        answer->processes += client->driver && !client->gone;
    }
    for (guint i = 0; i < server->spec.gpus; i++)
        answer->behind += page->gpu_era[i] != page->manager_era;
}

/* ---- processes of a GPU */

static guint64 bytes_of(Server *server, const ServerClient *client, guint16 gpu)
{
    GHashTableIter iter;
    gpointer value;
    guint64 bytes = 0;

    g_hash_table_iter_init(&iter, server->regions);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const SharedRegion *region = value;
        if (region->maker == client->number && region->gpu == gpu)
            bytes += region->charged;
    }
    return bytes;
}

static gint compare_processes(gconstpointer a, gconstpointer b)
{
    return ((const WireProcess *)a)->pid - ((const WireProcess *)b)->pid;
}

static GArray *processes_of(Server *server, guint32 gpu)
{
    GArray *rows = g_array_new(FALSE, TRUE, sizeof(WireProcess));

    for (guint i = 1; i < server->clients->len; i++) {
        const ServerClient *client = g_ptr_array_index(server->clients, i);
        WireProcess row = {.pid = client->pid, .rank_known = client->rank >= 0, .rank = client->rank};
        if (!client->driver || client->gone || !engine_has_context(server->engine, client->number, gpu))
            continue;
        row.bytes = bytes_of(server, client, (guint16)gpu);
        if ((rows->len + 1) * sizeof row <= WIRE_PAYLOAD_MAX)
            g_array_append_val(rows, row);
    }
    g_array_sort(rows, compare_processes);
    return rows;
}

/* ---- all */

static gboolean is_text(const char *text, gsize size) { return memchr(text, '\0', size) != NULL; }

void control_take(struct ServerConnection *connection, const WireControl *asked, gssize n)
{
    static gboolean (*const does[])(Server *, const WireControl *, WireControlled *) = {
        [WIRE_CONTROL_MANAGER] = do_manager,  [WIRE_CONTROL_RESTART] = do_restart,
        [WIRE_CONTROL_DEGRADE] = do_degrade,  [WIRE_CONTROL_GPU_RESET] = do_gpu_reset,
        [WIRE_CONTROL_PROCESSES] = check_gpu,
    };
    Server *server = connection->server;
    WireControlled answer = {.head = wire_head(WIRE_CONTROLLED)};
    g_autoptr(GArray) rows = NULL;

    if (n != (gssize)sizeof *asked || asked->head.magic != WIRE_MAGIC || asked->head.kind != WIRE_CONTROL ||
        asked->what >= G_N_ELEMENTS(does) || !is_text(asked->key, sizeof asked->key) ||
        !is_text(asked->part, sizeof asked->part)) {
        server_drop(connection, "what it sends is no control request");
        return;
    }
    if ((!does[asked->what] || does[asked->what](server, asked, &answer)) && asked->what == WIRE_CONTROL_PROCESSES)
        rows = processes_of(server, (guint32)asked->value);
    fill_status(server, &answer);
    answer.rows = rows ? rows->len : 0;
    if (!message_send(connection->fd, &answer, sizeof answer, rows ? rows->data : NULL,
                      (gsize)answer.rows * sizeof(WireProcess), -1))
        server_unsent(connection, "it does not take its answer");
}
