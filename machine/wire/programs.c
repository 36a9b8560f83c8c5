/* The owner's side of device programs: see program.h. What a client sends is checked here for what the calls themselves
 * cannot check: numbers of registers, and lengths. All else is refused by the calls, as in one process. */
#include "machine/wire/session_parts.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "machine/wire/program.h"
#include "device/device.h"

#define REGISTERS_MAX 65536u
#define BATCH_MAX ((gsize)64 << 20) /* bytes of one turn */
#define PATIENCE_MS 60000           /* for one turn of a function, of the host */

typedef struct {
    Server *server;
    guint32 client;
    guint64 launch;
} ProgramArgs;

/* One CTA. */
typedef struct {
    ServerClient *client;
    FoCta *cta;
    GPtrArray *registers; /* FoReg, which the CTA owns */
    gboolean ended;       /* the function has returned */
    FoReg stranger;       /* stands for one of another CTA */
    ProgramRun run;
} ProgramCta;

/* ---- a turn of the function in the client */

static gboolean is_gone(const ServerClient *client) { return client->gone || !client->program_connection; }

/* Waits for a message of the client, which computes; FALSE: it has ended, or does not answer. All others wait, too. */
static gboolean await(const ServerClient *client)
{
    struct pollfd either[2] = {{client->program_connection->fd, POLLIN, 0}, {client->pid_fd, POLLIN, 0}};
    int n;

    do
        n = poll(either, client->pid_fd >= 0 ? 2 : 1, PATIENCE_MS);
    while (n < 0 && errno == EINTR);
    return n > 0 && (either[0].revents & POLLIN);
}

/* A function that has not come to its end gives no result that could be believed: its process is no client any
 * more. */
static void give_up(ServerClient *client)
{
    if (client->gone || !client->service)
        return;
    log_line(client->server->spec.log, LOG_CUDA, LOG_ERROR, engine_seen_ps(client->server->engine),
             "a device program of process %d (%s) has ended, sent nonsense or not answered within %u s: the process is "
             "no client of this machine any more",
             (int)client->pid, client->program, PATIENCE_MS / 1000);
    server_drop(client->service, NULL);
}

/* Runs the function until it needs something. *batch gets its calls; FALSE: the client has ended, or sends nonsense. */
static gboolean take_turn(ProgramCta *p, GByteArray *batch)
{
    ServerClient *client = p->client;
    ProgramBatch head;
    gssize n;

    g_byte_array_set_size(batch, 0);
    if (is_gone(client) || !message_send(client->program_connection->fd, &p->run, sizeof p->run, NULL, 0, -1))
        return FALSE;
    p->run.start = 0;
    do {
        if (!await(client))
            return FALSE;
        n = message_receive(client->program_connection->fd, &head, sizeof head, client->server->program_room,
                            WIRE_PAYLOAD_MAX, NULL, MSG_DONTWAIT);
        if (n < (gssize)sizeof head || head.head.magic != WIRE_MAGIC || head.head.kind != WIRE_BATCH ||
            head.handle != p->run.handle || n != (gssize)(sizeof head + head.bytes) ||
            batch->len + head.bytes > BATCH_MAX)
            return FALSE;
        g_byte_array_append(batch, client->server->program_room, head.bytes);
    } while (head.more);
    return TRUE;
}

/* ---- records */

static gboolean has_registers(const ProgramCta *p, const ProgramRecord *r)
{
    const gint32 n = (gint32)p->registers->len;

    return r->d >= PROGRAM_REG_OTHER && r->d <= n && r->s >= PROGRAM_REG_OTHER && r->s <= n &&
           r->compare >= PROGRAM_REG_OTHER && r->compare <= n;
}

static FoReg *reg_at(ProgramCta *p, gint32 number)
{
    return number == PROGRAM_REG_NONE    ? NULL
           : number == PROGRAM_REG_OTHER ? &p->stranger
                                         : g_ptr_array_index(p->registers, number - 1);
}

static gboolean is_exchange(const ProgramRecord *r, const guint8 *payload, FoExchange *exchange)
{
    guint64 addresses = (guint64)r->a + r->b;

    if (r->bytes < sizeof *exchange || addresses > WIRE_PAYLOAD_MAX / sizeof(FoAddress) ||
        r->bytes != sizeof *exchange + addresses * sizeof(FoAddress))
        return FALSE;
    memcpy(exchange, payload, sizeof *exchange);
    if ((exchange->to && r->a != MIN(exchange->n_to, 4096u)) ||
        (exchange->input && r->b != MIN(exchange->n_in, 4096u)) || exchange->n_to > 4096u || exchange->n_in > 4096u)
        return FALSE;
    exchange->to = exchange->to ? (const FoAddress *)(const void *)(payload + sizeof *exchange) : NULL;
    exchange->input = exchange->input ? (const FoAddress *)(const void *)(payload + sizeof *exchange) + r->a : NULL;
    return TRUE;
}

/* Its payload is what the call reads. */
static gboolean is_whole(const ProgramCta *p, const ProgramRecord *r)
{
    const guint64 active = p->cta->count * sizeof(FoAddress);
    const FoReg *reg;

    switch (r->call) {
    case PROGRAM_SET:
        reg = r->d > 0 ? g_ptr_array_index(p->registers, r->d - 1) : NULL;
        return r->bytes == 0 || !reg || reg->wrong || r->bytes >= reg->width;
    case PROGRAM_LD_AT:
    case PROGRAM_ST_AT:
    case PROGRAM_ST_SYS_AT: return r->bytes == 0 || r->bytes >= active;
    case PROGRAM_POLL_AT:
    case PROGRAM_POLL_MEMBERS: return r->bytes == 0 || r->bytes >= MIN(r->count, p->cta->count) * sizeof(FoAddress);
    case PROGRAM_MULTIMEM_LD_REDUCE:
    case PROGRAM_MULTIMEM_ST:
    case PROGRAM_MULTIMEM_RED: return r->bytes == 0 || r->bytes == sizeof(FoMultimem);
    case PROGRAM_LOOP: return r->bytes == 0 || r->bytes == sizeof(FoLoop);
    case PROGRAM_LL: return r->bytes == 0 || r->bytes == sizeof(FoLl);
    default: return TRUE;
    }
}

static void do_access(ProgramCta *p, const ProgramRecord *r, const void *payload)
{
    FoCta *cta = p->cta;
    FoReg *d = reg_at(p, r->d);
    const FoReg *s = reg_at(p, r->s);

    switch (r->call) {
    case PROGRAM_LD: fo_ld(cta, d, r->address); break;
    case PROGRAM_ST: fo_st(cta, r->address, s); break;
    case PROGRAM_LD_AT: fo_ld_at(cta, d, payload); break;
    case PROGRAM_ST_AT: fo_st_at(cta, payload, s); break;
    case PROGRAM_LD_SYS: fo_ld_sys(cta, d, r->address, (FoOrder)r->a); break;
    case PROGRAM_ST_SYS: fo_st_sys(cta, r->address, s, (FoOrder)r->a); break;
    case PROGRAM_ST_SYS_AT: fo_st_sys_at(cta, payload, s, (FoOrder)r->a); break;
    case PROGRAM_RED: fo_red(cta, r->address, s, (FoType)r->a, (FoOp)r->b, (FoOrder)r->c); break;
    case PROGRAM_ATOM: fo_atom(cta, d, r->address, s, (FoType)r->a, (FoOp)r->b, (FoOrder)r->c); break;
    case PROGRAM_ATOM_EXCH: fo_atom_exch(cta, d, r->address, s, (FoOrder)r->c); break;
    case PROGRAM_ATOM_CAS: fo_atom_cas(cta, d, r->address, reg_at(p, r->compare), s, (FoOrder)r->c); break;
    case PROGRAM_MULTIMEM_LD_REDUCE: fo_multimem_ld_reduce(cta, d, r->address, payload); break;
    case PROGRAM_MULTIMEM_ST: fo_multimem_st(cta, r->address, s, payload); break;
    default: fo_multimem_red(cta, r->address, s, payload); break;
    }
}

static void do_order(FoCta *cta, const ProgramRecord *r)
{
    switch (r->call) {
    case PROGRAM_SYNC: fo_sync(cta); break;
    case PROGRAM_SYNC_ACTIVE: fo_sync_active(cta, r->a); break;
    case PROGRAM_FENCE: fo_fence(cta); break;
    case PROGRAM_WAIT: fo_wait(cta); break;
    case PROGRAM_SLEEP: fo_sleep_ps(cta, r->value); break;
    default: break;
    }
}

static void do_poll(ProgramCta *p, const ProgramRecord *r, const void *payload)
{
    FoCta *cta = p->cta;
    FoReg *d = reg_at(p, r->d);

    switch (r->call) {
    case PROGRAM_POLL: fo_poll(cta, r->address, r->a, (FoCompare)r->b, r->value, (FoOrder)r->c); break;
    case PROGRAM_POLL_SEEN: fo_poll_seen(cta, d, r->address, (FoCompare)r->b, r->value, (FoOrder)r->c); break;
    case PROGRAM_POLL_AT: fo_poll_at(cta, payload, r->count, r->a, (FoCompare)r->b, r->value, (FoOrder)r->c); break;
    case PROGRAM_POLL_MEMBERS: fo_poll_members(cta, payload, r->count, r->a, r->value, (FoOrder)r->c); break;
    default: break;
    }
}

/* FALSE: nonsense. */
static gboolean do_call(ProgramCta *p, const ProgramRecord *r, const void *payload)
{
    FoCta *cta = p->cta;
    FoReg *d = reg_at(p, r->d);
    FoExchange exchange;

    switch (r->call) {
    case PROGRAM_REG:
        if (p->registers->len >= REGISTERS_MAX)
            return FALSE;
        g_ptr_array_add(p->registers, fo_reg(cta, r->a));
        break;
    case PROGRAM_GET:
        memset(p->run.value, 0, sizeof p->run.value);
        fo_get(cta, d, r->a, r->b ? p->run.value : NULL);
        break;
    case PROGRAM_TIME: break;
    case PROGRAM_SET: fo_set(cta, d, payload); break;
    case PROGRAM_SET_U64: fo_set_u64(cta, d, r->value); break;
    case PROGRAM_COMBINE: fo_combine(cta, d, reg_at(p, r->s), (FoType)r->a, (FoOp)r->b); break;
    case PROGRAM_ONLY: fo_only(cta, r->a, r->b); break;
    case PROGRAM_ALL: fo_all(cta); break;
    case PROGRAM_SYNC:
    case PROGRAM_SYNC_ACTIVE:
    case PROGRAM_FENCE:
    case PROGRAM_WAIT:
    case PROGRAM_SLEEP: do_order(cta, r); break;
    case PROGRAM_POLL:
    case PROGRAM_POLL_SEEN:
    case PROGRAM_POLL_AT:
    case PROGRAM_POLL_MEMBERS: do_poll(p, r, payload); break;
    case PROGRAM_LOOP: fo_loop(cta, payload); break;
    case PROGRAM_LL: fo_ll(cta, payload); break;
    case PROGRAM_EXCHANGE:
        if (payload && !is_exchange(r, payload, &exchange))
            return FALSE;
        fo_exchange(cta, payload ? &exchange : NULL);
        break;
    default: do_access(p, r, payload); break;
    }
    return TRUE;
}

/* FALSE: the function has ended, or what came is nonsense. */
static gboolean do_batch(ProgramCta *p, const GByteArray *batch)
{
    for (gsize at = 0; at < batch->len;) {
        ProgramRecord r;
        if (batch->len - at < sizeof r)
            return FALSE;
        memcpy(&r, batch->data + at, sizeof r);
        at += sizeof r;
        p->ended = r.call == PROGRAM_END;
        const guint8 *payload = r.bytes > 0 ? batch->data + at : NULL;
        if (r.call >= PROGRAM_END || r.bytes > batch->len - at || !has_registers(p, &r) || !is_whole(p, &r) ||
            !do_call(p, &r, payload))
            return FALSE;
        at += (r.bytes + 7) & ~(gsize)7;
    }
    p->run.time_ps = fo_time_ps(p->cta);
    return TRUE;
}

/* The CTA's function as the model calls it. */
static void program_main(FoCta *cta, const void *data)
{
    const ProgramArgs *args = data;
    Server *server = args->server;
    ProgramCta p = {.client = g_ptr_array_index(server->clients, args->client), .cta = cta};
    g_autoptr(GByteArray) batch = g_byte_array_new();
    g_autoptr(GPtrArray) registers = g_ptr_array_new();

    p.registers = registers;
    p.run = (ProgramRun){.head = wire_head(WIRE_RUN),
                         .start = 1,
                         .cta = fo_cta(cta),
                         .ctas = fo_ctas(cta),
                         .threads = fo_threads(cta),
                         .gpu = fo_gpu(cta),
                         .handle = ++server->n_ctas,
                         .launch = args->launch,
                         .time_ps = fo_time_ps(cta)};
    while (take_turn(&p, batch) && do_batch(&p, batch))
        continue;
    if (!p.ended)
        give_up(p.client);
}

gboolean programs_launch(ServerConnection *connection, const guint8 *payload, gsize bytes)
{
    ServerClient *client = connection->client;
    WireProgram head;

    if (bytes != sizeof head || !client->program_connection)
        return FALSE;
    memcpy(&head, payload, sizeof head);
    session_name(head.name, sizeof head.name);
    const ProgramArgs args = {client->server, client->number, head.launch};
    g_free(connection->program_args);
    connection->program_args = g_memdup2(&args, sizeof args);
    g_strlcpy(connection->program_name, head.name, sizeof connection->program_name);
    connection->kernel = (FoKernel){
        connection->program_name, program_main, connection->program_args, sizeof args, head.ctas, head.threads};
    connection->call.request.argument = (guint64)(guintptr)&connection->kernel;
    return TRUE;
}
