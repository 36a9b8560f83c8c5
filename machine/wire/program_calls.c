/* What a device program's function calls, on the client: each call becomes a record of the batch that its owner does.
 * See program.h; the calls are in the order of fanout/device.h. */
#include "machine/wire/program_cta.h"

#include <string.h>

/* ---- records */

gboolean program_send(ProgramClient *client, const ProgramCta *cta, gboolean more)
{
    ProgramBatch head = {
        .head = wire_head(WIRE_BATCH), .bytes = client->batch->len, .more = more, .handle = cta->run.handle};
    gboolean sent = message_send(client->fd, &head, sizeof head, client->batch->data, client->batch->len, -1);

    g_byte_array_set_size(client->batch, 0);
    return sent;
}

void program_add(ProgramCta *cta, ProgramRecord record, const void *payload, gsize bytes)
{
    static const guint8 zeros[8];
    GByteArray *batch = cta->client->batch;

    record.bytes = payload ? (guint32)bytes : 0;
    if (batch->len + sizeof record + record.bytes + 8 > WIRE_PAYLOAD_MAX)
        program_send(cta->client, cta, TRUE);
    g_byte_array_append(batch, (const guint8 *)&record, sizeof record);
    if (record.bytes > 0) {
        g_byte_array_append(batch, payload, record.bytes);
        g_byte_array_append(batch, zeros, (8 - record.bytes % 8) % 8);
    }
}

/* Gives the turn back to the owner until it answers. */
static void turn_over(ProgramCta *cta) { swapcontext(&cta->context, &cta->client->thread); }

static ProgramCta *of(const FoCta *cta) { return (ProgramCta *)(guintptr)cta; }

static gint32 number_of(const ProgramCta *cta, const FoReg *reg)
{
    const ProgramRegister *r = (const ProgramRegister *)(const void *)reg;

    return !r ? PROGRAM_REG_NONE : r->cta != cta ? PROGRAM_REG_OTHER : r->number;
}

#define CALL(name, ...) program_add(of(cta), (ProgramRecord){.call = PROGRAM_##name, __VA_ARGS__}, NULL, 0)
#define CALL_WITH(name, payload, n, ...)                                                                               \
    program_add(of(cta), (ProgramRecord){.call = PROGRAM_##name, __VA_ARGS__}, payload, n)
#define D .d = number_of(of(cta), d)
#define S .s = number_of(of(cta), s)

/* ---- the calls, in the order of fanout/device.h */

static unsigned client_cta(const FoCta *cta) { return of(cta)->run.cta; }
static unsigned client_ctas(const FoCta *cta) { return of(cta)->run.ctas; }
static unsigned client_threads(const FoCta *cta) { return of(cta)->run.threads; }
static unsigned client_gpu(const FoCta *cta) { return of(cta)->run.gpu; }

static uint64_t client_time_ps(FoCta *cta)
{
    CALL(TIME, .d = 0);
    turn_over(of(cta));
    return of(cta)->run.time_ps;
}

static FoReg *client_reg(FoCta *cta, unsigned width)
{
    GPtrArray *registers = of(cta)->registers;
    ProgramRegister *made = g_new(ProgramRegister, 1);

    *made = (ProgramRegister){of(cta), (gint32)registers->len + 1, width};
    g_ptr_array_add(registers, made);
    CALL(REG, .a = width);
    return (FoReg *)(void *)made;
}

static void client_get(FoCta *cta, const FoReg *d, unsigned thread, void *value)
{
    const ProgramRegister *r = (const ProgramRegister *)(const void *)d;

    CALL(GET, D, .a = thread, .b = value != NULL);
    turn_over(of(cta));
    if (value && r)
        memcpy(value, of(cta)->run.value, MIN(r->width, 16));
}

static void client_set(FoCta *cta, FoReg *d, const void *value)
{
    const ProgramRegister *r = (const ProgramRegister *)(const void *)d;
    guint32 width = r ? r->width : 0;

    CALL_WITH(SET, value, width == 4 || width == 8 || width == 16 ? width : 1, D);
}

static void client_set_u64(FoCta *cta, FoReg *d, uint64_t value) { CALL(SET_U64, D, .value = value); }

static void client_combine(FoCta *cta, FoReg *d, const FoReg *s, FoType type, FoOp op)
{
    CALL(COMBINE, D, S, .a = type, .b = op);
}

static void client_only(FoCta *cta, unsigned first, unsigned count)
{
    guint32 threads = of(cta)->run.threads;
    gboolean right = first % 32 == 0 && first <= threads && count <= threads - first;

    of(cta)->first = right ? first : 0;
    of(cta)->count = right ? count : 0;
    CALL(ONLY, .a = first, .b = count);
}

static void client_all(FoCta *cta)
{
    of(cta)->first = 0;
    of(cta)->count = of(cta)->run.threads;
    CALL(ALL, .d = 0);
}

static void client_ld(FoCta *cta, FoReg *d, FoAddress address) { CALL(LD, D, .address = address); }
static void client_st(FoCta *cta, FoAddress address, const FoReg *s) { CALL(ST, S, .address = address); }

/* So many addresses as there are threads that act. */
#define ADDRESSES (of(cta)->count * sizeof(FoAddress))

static void client_ld_at(FoCta *cta, FoReg *d, const FoAddress *address) { CALL_WITH(LD_AT, address, ADDRESSES, D); }

static void client_st_at(FoCta *cta, const FoAddress *address, const FoReg *s)
{
    CALL_WITH(ST_AT, address, ADDRESSES, S);
}

static void client_ld_sys(FoCta *cta, FoReg *d, FoAddress address, FoOrder order)
{
    CALL(LD_SYS, D, .address = address, .a = order);
}

static void client_st_sys(FoCta *cta, FoAddress address, const FoReg *s, FoOrder order)
{
    CALL(ST_SYS, S, .address = address, .a = order);
}

static void client_st_sys_at(FoCta *cta, const FoAddress *address, const FoReg *s, FoOrder order)
{
    CALL_WITH(ST_SYS_AT, address, ADDRESSES, S, .a = order);
}

static void client_red(FoCta *cta, FoAddress address, const FoReg *s, FoType type, FoOp op, FoOrder order)
{
    CALL(RED, S, .address = address, .a = type, .b = op, .c = order);
}

static void client_atom(FoCta *cta, FoReg *d, FoAddress address, const FoReg *s, FoType type, FoOp op, FoOrder order)
{
    CALL(ATOM, D, S, .address = address, .a = type, .b = op, .c = order);
}

static void client_atom_exch(FoCta *cta, FoReg *d, FoAddress address, const FoReg *s, FoOrder order)
{
    CALL(ATOM_EXCH, D, S, .address = address, .c = order);
}

static void client_atom_cas(FoCta *cta, FoReg *d, FoAddress address, const FoReg *compare, const FoReg *s,
                            FoOrder order)
{
    CALL(ATOM_CAS, D, S, .compare = number_of(of(cta), compare), .address = address, .c = order);
}

static void client_multimem_ld_reduce(FoCta *cta, FoReg *d, FoAddress address, const FoMultimem *form)
{
    CALL_WITH(MULTIMEM_LD_REDUCE, form, sizeof *form, D, .address = address);
}

static void client_multimem_st(FoCta *cta, FoAddress address, const FoReg *s, const FoMultimem *form)
{
    CALL_WITH(MULTIMEM_ST, form, sizeof *form, S, .address = address);
}

static void client_multimem_red(FoCta *cta, FoAddress address, const FoReg *s, const FoMultimem *form)
{
    CALL_WITH(MULTIMEM_RED, form, sizeof *form, S, .address = address);
}

static void client_sync(FoCta *cta) { CALL(SYNC, .d = 0); }
static void client_sync_active(FoCta *cta, unsigned barrier) { CALL(SYNC_ACTIVE, .a = barrier); }
static void client_fence(FoCta *cta) { CALL(FENCE, .d = 0); }
static void client_wait(FoCta *cta) { CALL(WAIT, .d = 0); }
static void client_sleep_ps(FoCta *cta, uint64_t delay_ps) { CALL(SLEEP, .value = delay_ps); }

static void client_poll(FoCta *cta, FoAddress address, unsigned width, FoCompare compare, uint64_t value, FoOrder order)
{
    CALL(POLL, .address = address, .a = width, .b = compare, .value = value, .c = order);
}

static void client_poll_seen(FoCta *cta, FoReg *d, FoAddress address, FoCompare compare, uint64_t value, FoOrder order)
{
    CALL(POLL_SEEN, D, .address = address, .b = compare, .value = value, .c = order);
}

static void client_poll_at(FoCta *cta, const FoAddress *address, unsigned n, unsigned width, FoCompare compare,
                           uint64_t value, FoOrder order)
{
    CALL_WITH(POLL_AT, address, MIN(n, of(cta)->count) * sizeof *address, .count = n, .a = width, .b = compare,
              .value = value, .c = order);
}

static void client_poll_members(FoCta *cta, const FoAddress *address, unsigned n, unsigned width, uint64_t value,
                                FoOrder order)
{
    CALL_WITH(POLL_MEMBERS, address, MIN(n, of(cta)->count) * sizeof *address, .count = n, .a = width, .value = value,
              .c = order);
}

static void client_loop(FoCta *cta, const FoLoop *loop) { CALL_WITH(LOOP, loop, sizeof *loop, .d = 0); }
static void client_ll(FoCta *cta, const FoLl *ll) { CALL_WITH(LL, ll, sizeof *ll, .d = 0); }

static void client_exchange(FoCta *cta, const FoExchange *exchange)
{
    g_autoptr(GByteArray) all = g_byte_array_new();
    gsize n_to, n_in;

    if (!exchange) {
        CALL(EXCHANGE, .d = 0);
        return;
    }
    /* What does not fit into a batch is refused by its number, as the model refuses what is wrong. */
    n_to = exchange->to ? MIN(exchange->n_to, 4096u) : 0;
    n_in = exchange->input ? MIN(exchange->n_in, 4096u) : 0;
    g_byte_array_append(all, (const guint8 *)exchange, sizeof *exchange);
    g_byte_array_append(all, (const guint8 *)exchange->to, (guint)(n_to * sizeof(FoAddress)));
    g_byte_array_append(all, (const guint8 *)exchange->input, (guint)(n_in * sizeof(FoAddress)));
    CALL_WITH(EXCHANGE, all->data, all->len, .a = (guint32)n_to, .b = (guint32)n_in);
}

const FoCtaCalls program_client_calls = {
    client_cta,         client_ctas,         client_threads,      client_gpu,
    client_time_ps,     client_reg,          client_get,          client_set,
    client_set_u64,     client_combine,      client_only,         client_all,
    client_ld,          client_st,           client_ld_at,        client_st_at,
    client_ld_sys,      client_st_sys,       client_st_sys_at,    client_red,
    client_atom,        client_atom_exch,    client_atom_cas,     client_multimem_ld_reduce,
    client_multimem_st, client_multimem_red, client_sync,         client_sync_active,
    client_fence,       client_wait,         client_sleep_ps,     client_poll,
    client_poll_seen,   client_poll_at,      client_poll_members, client_loop,
    client_ll,          client_exchange,
};
