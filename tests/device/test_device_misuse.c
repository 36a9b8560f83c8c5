/* device: every call with every parameter wrong, one at a time: the report says what was wrong, nothing is
 * written, and the kernel ends. The same call with right parameters is no fault. */
#include "tests/device/device_world.h"

typedef enum {
    REG,
    GET,
    SET,
    COMBINE,
    ONLY,
    LD,
    ST,
    LD_AT,
    ST_AT,
    LD_SYS,
    ST_SYS,
    ST_SYS_AT,
    RED,
    ATOM,
    EXCH,
    CAS,
    LD_REDUCE,
    MC_ST,
    MC_RED,
    SYNC_ACTIVE,
    SLEEP,
    POLL,
    POLL_SEEN,
    POLL_AT,
    POLL_MEMBERS,
    LOOP,
    LL,
    EXCHANGE,
    CALLS
} CallKind;

/* Registers by number. */
typedef enum { NONE, W4, W8, W16, W5, FOREIGN } RegKind;

/* The parameters of all calls. */
typedef struct {
    RegKind d, s, c;
    FoType type;
    FoOp op;
    FoOrder order;
    FoAddress at, mc;
    guint32 width, thread, first, count, n, barrier, only;
    FoCompare compare;
    guint64 delay_ps;
    gboolean null; /* the call's pointer is NULL */
    FoMultimem form;
    FoLoop loop;
    FoLl ll;
    FoExchange exchange;
    FoAddress to[2], input[2];
    FoReg **foreign; /* CTA 0's register, for CTA 1 */
    CallKind call;
} Args;

typedef struct {
    CallKind call;
    gsize offset, size;
    gint64 value;
    const char *says;
} Row;

/* clang-format off */
#define FIELD(member) offsetof(Args, member), sizeof(((Args *)NULL)->member)
#define WIDTHS(call, member)                                                                                          \
    {call, FIELD(member), NONE, "no register"}, {call, FIELD(member), W5, "a register of 5 B; 4, 8 or 16"},           \
    {call, FIELD(member), FOREIGN, "a register of another CTA"}
#define TYPES(call, member)                                                                        \
    {call, FIELD(member), -1, "element type -1"}, {call, FIELD(member), 18, "element type 18"},    \
    {                                                                                              \
        call, FIELD(member), 77, "element type 77"                                                 \
    }
#define OPS(call, member) {call, FIELD(member), -1, "operation -1"}, {call, FIELD(member), 7, "operation 7"}, \
    {call, FIELD(member), 44, "operation 44"}
#define ORDERS(call, other) {call, FIELD(order), 0, "order 0"}, {call, FIELD(order), FO_WEAK, "order 1"}, \
    {call, FIELD(order), other, "order"}, {call, FIELD(order), 5, "order 5"}, {call, FIELD(order), -1, "order -1"}
#define FORMS(call, bad_order)                                                                                        \
    {call, FIELD(null), 1, "no form"}, TYPES(call, form.type), {call, FIELD(form.vec), 3, "PTX ISA"},                 \
    {call, FIELD(form.vec), 16, "PTX ISA"}, {call, FIELD(form.vec), 0x80000001u, "PTX ISA"},                          \
    {call, FIELD(form.vec), 2, "PTX ISA"}, {call, FIELD(form.acc), 3, "accumulator 3"},        \
    {call, FIELD(form.acc), -1, "accumulator -1"}, {call, FIELD(form.acc), FO_ACC_F32, "PTX ISA"},                    \
    {call, FIELD(form.order), 5, "order 5"}, {call, FIELD(form.order), 50, "order 50"},                               \
    {call, FIELD(form.order), -1, "order -1"}, {call, FIELD(form.order), bad_order, "PTX ISA"},                       \
    {call, FIELD(form.scope), 5, "scope 5"}, {call, FIELD(form.scope), -1, "scope -1"}
#define BEYOND ((gint64)1 << 57)
/* clang-format on */

static const Row rows[] = {
    {REG, FIELD(width), 0, "a register of 0 B"},
    {REG, FIELD(width), 1, "a register of 1 B"},
    {REG, FIELD(width), 5, "a register of 5 B"},
    {REG, FIELD(width), 12, "a register of 12 B"},
    {REG, FIELD(width), 32, "a register of 32 B"},
    {REG, FIELD(width), -1, "a register of 4294967295 B"},
    WIDTHS(GET, s),
    {GET, FIELD(thread), 64, "thread 64; the CTA has 64"},
    {GET, FIELD(thread), 500, "thread 500"},
    {GET, FIELD(thread), -1, "thread 4294967295"},
    {GET, FIELD(null), 1, "no place for the value"},
    WIDTHS(SET, d),
    {SET, FIELD(null), 1, "no value"},
    WIDTHS(COMBINE, d),
    WIDTHS(COMBINE, s),
    TYPES(COMBINE, type),
    OPS(COMBINE, op),
    {COMBINE, FIELD(s), W16, "registers of 4 and 16 B"},
    {COMBINE, FIELD(type), FO_U64, "u64 in 4 B; a multiple of its 8"},
    {COMBINE, FIELD(type), FO_F64, "f64 in 4 B"},
    {ONLY, FIELD(first), 1, "threads 1 to"},
    {ONLY, FIELD(first), 33, "threads 33 to"},
    {ONLY, FIELD(first), 64, "threads 64 to"},
    {ONLY, FIELD(first), -32, "threads 4294967264 to"},
    {ONLY, FIELD(count), 65, "threads 0 to 64 of 64"},
    {ONLY, FIELD(count), 1000, "threads 0 to 999"},
    {ONLY, FIELD(count), -1, "of 64"},
    WIDTHS(LD, d),
    {LD, FIELD(at), -2, "multiple of the access's width"},
    {LD, FIELD(at), 0x1000, "no memory is mapped"},
    WIDTHS(ST, s),
    {ST, FIELD(at), 0x1002, "multiple of the access's width"},
    WIDTHS(LD_AT, d),
    {LD_AT, FIELD(null), 1, "no addresses"},
    WIDTHS(ST_AT, s),
    {ST_AT, FIELD(null), 1, "no addresses"},
    WIDTHS(LD_SYS, d),
    ORDERS(LD_SYS, FO_RELEASE),
    WIDTHS(ST_SYS, s),
    ORDERS(ST_SYS, FO_ACQUIRE),
    WIDTHS(ST_SYS_AT, s),
    ORDERS(ST_SYS_AT, FO_ACQUIRE),
    {ST_SYS_AT, FIELD(null), 1, "no addresses"},
    WIDTHS(RED, s),
    TYPES(RED, type),
    OPS(RED, op),
    ORDERS(RED, FO_ACQUIRE),
    {RED, FIELD(op), FO_AND, "b32 and b64"},
    {RED, FIELD(type), FO_U64, "the width is not the type's"},
    {RED, FIELD(type), FO_S64, "the width is not the type's"},
    {RED, FIELD(type), FO_E4M3X4, "no atomic operations"},
    {RED, FIELD(s), W16, "the width is not the type's"},
    {RED, FIELD(at), 0x1002, "multiple of the access's width"},
    WIDTHS(ATOM, d),
    WIDTHS(ATOM, s),
    TYPES(ATOM, type),
    OPS(ATOM, op),
    {ATOM, FIELD(order), 0, "order 0"},
    {ATOM, FIELD(order), FO_WEAK, "order 1"},
    {ATOM, FIELD(order), 5, "order 5"},
    {ATOM, FIELD(d), W8, "registers of 8 and 4"},
    {ATOM, FIELD(op), FO_XOR, "b32 and b64"},
    {ATOM, FIELD(op), FO_MUL, "FO_ADD to FO_XOR are right"},
    {ATOM, FIELD(type), FO_F64, "the width is not the type's"},
    WIDTHS(EXCH, d),
    WIDTHS(EXCH, s),
    {EXCH, FIELD(order), 0, "order 0"},
    {EXCH, FIELD(order), FO_WEAK, "order 1"},
    {EXCH, FIELD(s), W16, "registers of 4 and 16"},
    WIDTHS(CAS, d),
    WIDTHS(CAS, s),
    WIDTHS(CAS, c),
    {CAS, FIELD(order), 0, "order 0"},
    {CAS, FIELD(c), W8, "registers of 4 and 8"},
    {CAS, FIELD(only), 2, "by 2 active threads"},
    {CAS, FIELD(only), 64, "by 64 active threads"},
    WIDTHS(LD_REDUCE, d),
    FORMS(LD_REDUCE, FO_RELEASE),
    OPS(LD_REDUCE, form.op),
    {LD_REDUCE, FIELD(d), W8, "a register of 8 B"},
    WIDTHS(MC_ST, s),
    FORMS(MC_ST, FO_ACQUIRE),
    {MC_ST, FIELD(s), W16, "a register of 16 B"},
    {MC_ST, FIELD(mc), 0x1002, "no multiple of the access's 4 bytes"},
    WIDTHS(MC_RED, s),
    FORMS(MC_RED, FO_WEAK),
    OPS(MC_RED, form.op),
    {MC_RED, FIELD(s), W8, "a register of 8 B"},
    {SYNC_ACTIVE, FIELD(barrier), 0, "barrier 0"},
    {SYNC_ACTIVE, FIELD(barrier), 16, "barrier 16"},
    {SYNC_ACTIVE, FIELD(barrier), -1, "barrier 4294967295"},
    {SYNC_ACTIVE, FIELD(only), 33, "33 active threads; whole warps"},
    {SLEEP, FIELD(delay_ps), 1000000000000001, "a sleep of 1000000000000001 ps"},
    {SLEEP, FIELD(delay_ps), -1, "a sleep of 184467"},
    {POLL, FIELD(width), 0, "a poll of 0 B"},
    {POLL, FIELD(width), 2, "a poll of 2 B"},
    {POLL, FIELD(width), 16, "a poll of 16 B"},
    {POLL, FIELD(compare), 3, "comparison 3"},
    {POLL, FIELD(compare), -1, "comparison -1"},
    ORDERS(POLL, FO_RELEASE),
    {POLL, FIELD(at), 0x1002, "multiple of the access's width"},
    {POLL, FIELD(at), 0x1000, "no memory is mapped"},
    WIDTHS(POLL_SEEN, d),
    {POLL_SEEN, FIELD(d), W16, "a poll of 16 B"},
    {POLL_SEEN, FIELD(compare), 3, "comparison 3"},
    ORDERS(POLL_SEEN, FO_RELEASE),
    {POLL_SEEN, FIELD(at), 0x1001, "multiple of the access's width"},
    {POLL_AT, FIELD(n), 65, "a poll by 65 threads"},
    {POLL_AT, FIELD(n), -1, "a poll by 4294967295"},
    {POLL_AT, FIELD(null), 1, "no addresses"},
    {POLL_MEMBERS, FIELD(width), 16, "a poll of 16 B"},
    {POLL_MEMBERS, FIELD(n), 65, "a poll by 65"},
    {POLL_MEMBERS, FIELD(null), 1, "no addresses"},
    ORDERS(POLL_MEMBERS, FO_RELEASE),
    {LOOP, FIELD(null), 1, "no loop"},
    {LOOP, FIELD(loop.width), 0, "a loop of 0 B"},
    {LOOP, FIELD(loop.width), 5, "a loop of 5 B"},
    {LOOP, FIELD(loop.width), 32, "a loop of 32 B"},
    {LOOP, FIELD(loop.unroll), 0, "unrolled 0 times; 1 to 32"},
    {LOOP, FIELD(loop.unroll), 33, "unrolled 33 times"},
    {LOOP, FIELD(loop.unroll), -1, "unrolled 4294967295"},
    {LOOP, FIELD(loop.bytes), BEYOND, "with bytes"},
    {LOOP, FIELD(loop.bytes), -1, "with bytes"},
    {LOOP, FIELD(loop.first), BEYOND, "with first"},
    {LOOP, FIELD(loop.step), BEYOND, "with step"},
    {LOOP, FIELD(loop.segment), BEYOND, "with segment"},
    {LOOP, FIELD(loop.stride), -16, "with stride"},
    {LOOP, FIELD(loop.warp_step), BEYOND, "with warp_step"},
    {LOOP, FIELD(loop.unroll_step), -1, "with unroll_step"},
    {LOOP, FIELD(loop.segment), 24, "a loop over segments of 24 B"},
    {LOOP, FIELD(loop.sources), 17, "17 sources"},
    {LOOP, FIELD(loop.sources), -1, "4294967295 sources"},
    {LOOP, FIELD(loop.destinations), 17, "17 destinations"},
    {LOOP, FIELD(loop.source[0].access), FO_ST, "access 2 of a loop's source"},
    {LOOP, FIELD(loop.source[0].access), -1, "access -1 of a loop's source"},
    {LOOP, FIELD(loop.destination[0].access), FO_LD, "access 0 of a loop's destination"},
    {LOOP, FIELD(loop.destination[0].access), 6, "access 6 of a loop's destination"},
    TYPES(LOOP, loop.type),
    OPS(LOOP, loop.op),
    {LOOP, FIELD(loop.op), FO_XOR, "xor of f32"},
    {LOOP, FIELD(loop.destination[0].access), FO_MULTIMEM_RED, "multimem"},
    {LOOP, FIELD(loop.source[0].base), 0x1002, "multiple of the access's width"},
    {LOOP, FIELD(only), 33, "by 33 of 64 threads"},
    {LOOP, FIELD(only), 32, "without step"},
    {LL, FIELD(null), 1, "no lines"},
    {LL, FIELD(ll.kind), 2, "lines of kind 2"},
    {LL, FIELD(ll.bytes), 3, "lines of 3 B"},
    {LL, FIELD(ll.bytes), -4, "lines of 18446744073709551612 B"},
    {LL, FIELD(ll.n_from), 4, "lines from 4"},
    {LL, FIELD(ll.n_to), 4, "to 4 peers"},
    {LL, FIELD(ll.n_to), -1, "to 4294967295 peers"},
    {LL, FIELD(ll.to_flag), 0, "flag 0"},
    {LL, FIELD(ll.n_from), 1, "flag 0"},
    {LL, FIELD(ll.to[0]), 0x1008, "multiple of"},
    {LL, FIELD(ll.input), 0x1008, "multiple of"},
    {LL, FIELD(ll.output), 0x1004, "multiple of"},
    {LL, FIELD(ll.element), 3, "by 3 B"},
    {LL, FIELD(ll.element), 16, "by 16 B"},
    {LL, FIELD(only), 33, "33 active threads"},
    {EXCHANGE, FIELD(null), 1, "no exchange"},
    {EXCHANGE, FIELD(exchange.bytes), 516, "an exchange of 516 B"},
    {EXCHANGE, FIELD(exchange.bytes), 6, "an exchange of 6 B"},
    {EXCHANGE, FIELD(exchange.ranks), 0, "no rank"},
    {EXCHANGE, FIELD(exchange.n_in), 0, "0 parts"},
    {EXCHANGE, FIELD(exchange.n_in), 3, "3 parts to 1 ranks"},
    {EXCHANGE, FIELD(exchange.flag), 0, "flag 0"},
    {EXCHANGE, FIELD(exchange.to), 0, "no addresses"},
    {EXCHANGE, FIELD(exchange.input), 0, "no addresses"},
    {EXCHANGE, FIELD(exchange.from), 0x1008, "multiple of"},
    {EXCHANGE, FIELD(exchange.output), 0x1004, "multiple of"},
    {EXCHANGE, FIELD(exchange.from_stride), 8, "8 B and outputs"},
    {EXCHANGE, FIELD(exchange.output_stride), 4, "outputs 4 B apart"},
    {EXCHANGE, FIELD(to[0]), 0x1004, "multiple of"},
};

static FoReg *reg_of(FoCta *cta, const Args *a, RegKind kind)
{
    static const unsigned widths[] = {[W4] = 4, [W8] = 8, [W16] = 16, [W5] = 5};
    if (kind == NONE)
        return NULL;
    FoReg *reg = kind == FOREIGN ? *a->foreign : fo_reg(cta, widths[kind]);
    if (kind != FOREIGN && kind != W5)
        fo_set_u64(cta, reg, 7);
    return reg;
}

static void call_registers(FoCta *cta, const Args *a, FoReg *d, FoReg *s)
{
    const guint64 seven[2] = {7, 7};
    guint8 value[16] = {0};
    FoReg *four;
    switch (a->call) {
    case REG: /* nothing takes it afterwards */
        four = fo_reg(cta, a->width);
        if (a->width != 4)
            fo_st(cta, a->at, four);
        break;
    case GET: fo_get(cta, s, a->thread, a->null ? NULL : value); break;
    case SET: fo_set(cta, d, a->null ? NULL : seven); break;
    case COMBINE: fo_combine(cta, d, s, a->type, a->op); break;
    default:
        four = fo_reg(cta, 4);
        fo_set_u64(cta, four, 7);
        fo_only(cta, a->first, a->count);
        fo_st(cta, a->at, four);
        break;
    }
}

static void call_plain(FoCta *cta, const Args *a, FoReg *d, FoReg *s, const FoAddress *each)
{
    switch (a->call) {
    case LD: fo_ld(cta, d, a->at); break;
    case ST: fo_st(cta, a->at, s); break;
    case LD_AT: fo_ld_at(cta, d, each); break;
    case ST_AT: fo_st_at(cta, each, s); break;
    case LD_SYS: fo_ld_sys(cta, d, a->at, a->order); break;
    case ST_SYS: fo_st_sys(cta, a->at, s, a->order); break;
    case ST_SYS_AT: fo_st_sys_at(cta, each, s, a->order); break;
    case RED: fo_red(cta, a->at, s, a->type, a->op, a->order); break;
    case ATOM: fo_atom(cta, d, a->at, s, a->type, a->op, a->order); break;
    case EXCH: fo_atom_exch(cta, d, a->at, s, a->order); break;
    default: fo_atom_cas(cta, d, a->at, reg_of(cta, a, a->c), s, a->order); break;
    }
}

static void call_rest(FoCta *cta, const Args *a, FoReg *d, FoReg *s, const FoAddress *each)
{
    const FoMultimem *form = a->null ? NULL : &a->form;
    FoExchange exchange = a->exchange;
    exchange.to = exchange.to ? a->to : NULL;
    exchange.input = exchange.input ? a->input : NULL;
    switch (a->call) {
    case LD_REDUCE: fo_multimem_ld_reduce(cta, d, a->mc, form); break;
    case MC_ST: fo_multimem_st(cta, a->mc, s, form); break;
    case MC_RED: fo_multimem_red(cta, a->mc, s, form); break;
    case SYNC_ACTIVE: fo_sync_active(cta, a->barrier); break;
    case SLEEP: fo_sleep_ps(cta, a->delay_ps); break;
    case POLL: fo_poll(cta, a->at, a->width, a->compare, 0, a->order); break;
    case POLL_SEEN: fo_poll_seen(cta, d, a->at, a->compare, 0, a->order); break;
    case POLL_AT: fo_poll_at(cta, each, a->n, a->width, a->compare, 0, a->order); break;
    case POLL_MEMBERS: fo_poll_members(cta, each, a->n, a->width, 0, a->order); break;
    case LOOP: fo_loop(cta, a->null ? NULL : &a->loop); break;
    case LL: fo_ll(cta, a->null ? NULL : &a->ll); break;
    default: fo_exchange(cta, a->null ? NULL : &exchange); break;
    }
}

static void misuse_program(FoCta *cta, const void *args)
{
    const Args *a = args;
    FoAddress each[64];
    for (guint t = 0; t < G_N_ELEMENTS(each); t++)
        each[t] = a->at + 8 * t;
    if (a->foreign && fo_cta(cta) == 0) { /* lives until the other has used its register */
        *a->foreign = fo_reg(cta, 4);
        fo_sleep_ps(cta, 50000000);
        fo_wait(cta);
        return;
    }
    FoReg *d = reg_of(cta, a, a->d), *s = reg_of(cta, a, a->s);
    fo_only(cta, 0, a->only);
    if (a->call <= ONLY)
        call_registers(cta, a, d, s);
    else if (a->call <= CAS)
        call_plain(cta, a, d, s, a->null ? NULL : each);
    else
        call_rest(cta, a, d, s, a->null ? NULL : each);
}

static Args right_args(const World *world, CallKind call)
{
    gboolean poll = call >= POLL && call <= POLL_MEMBERS;
    Args a = {.d = W4,
              .s = W4,
              .c = W4,
              .type = FO_U32,
              .op = FO_ADD,
              .order = FO_RELAXED,
              .at = world->va[poll ? 0 : 1],
              .mc = world->mc_va,
              .width = 4,
              .count = 64,
              .n = 4,
              .barrier = 1,
              .only = call == CAS ? 1 : 64,
              .compare = FO_EQ,
              .delay_ps = 1000,
              .form = {.type = FO_U32, .op = FO_ADD},
              .to = {world->va[0]},
              .input = {world->va[1]},
              .call = call};
    if (call == MC_ST)
        a.form.type = FO_B32;
    a.loop = (FoLoop){.bytes = 1024,
                      .width = 16,
                      .unroll = 2,
                      .sources = 2,
                      .destinations = 1,
                      .type = FO_F32,
                      .source = {{FO_LD, world->va[2]}, {FO_LD, world->va[3]}},
                      .destination = {{FO_ST, world->va[1]}}};
    a.ll = (FoLl){.kind = FO_LL, .bytes = 512, .n_to = 1, .to = {world->va[1]}, .input = world->va[2], .to_flag = 1};
    a.exchange = (FoExchange){.bytes = 512,
                              .ranks = 1,
                              .n_to = 1,
                              .n_in = 1,
                              .to = a.to,
                              .input = a.input,
                              .from = world->va[0],
                              .output = world->va[1] + 65536,
                              .from_stride = 8192,
                              .flag = 1};
    return a;
}

static gboolean untouched(const World *world)
{
    static const guint8 zero[1 << 20];
    for (guint g = 0; g < 4; g++)
        if (memcmp(world->region[g]->host, zero, sizeof zero) != 0)
            return FALSE;
    return TRUE;
}

static void run_args(World *world, Args *a)
{
    FoReg *foreign = NULL;
    gboolean other = a->d == FOREIGN || a->s == FOREIGN || a->c == FOREIGN;
    if (other)
        a->foreign = &foreign;
    world_run(world, misuse_program, a, sizeof *a, other ? 2 : 1, 64);
}

static const char *last_text(const World *world)
{
    const FabricFault *fault = &g_array_index(world->fabric->faults, FabricFault, world->fabric->faults->len - 1);
    return fault->text ? fault->text : fault_kind_text(fault->kind);
}

/* Proves that each call with right parameters is no fault, so that what follows is about the wrong ones. */
static void test_right_calls(void **state)
{
    (void)state;
    static const gboolean writes[CALLS] = {
        [ONLY] = TRUE, [ST] = TRUE,   [ST_AT] = TRUE, [ST_SYS] = TRUE, [ST_SYS_AT] = TRUE, [RED] = TRUE,
        [ATOM] = TRUE, [EXCH] = TRUE, [MC_ST] = TRUE, [MC_RED] = TRUE, [LL] = TRUE,        [EXCHANGE] = TRUE};
    for (guint call = 0; call < CALLS; call++) {
        World *world = world_new(WORLD_BYTES);
        Args a = right_args(world, (CallKind)call);
        run_args(world, &a);
        if (world->fabric->n_faults)
            fail_msg("call %u: %s", call, last_text(world));
        assert_int_equal(untouched(world), !writes[call]);
        world_free(world);
    }
}

/* Proves that each wrong value of each parameter of each call is reported in words, with who did it, and that
 * nothing is written. */
static void test_wrong_calls(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        const Row *row = &rows[i];
        Args a = right_args(world, row->call);
        memcpy((guint8 *)&a + row->offset, &row->value, row->size);
        g_array_set_size(world->fabric->faults, 0);
        world->fabric->n_faults = 0;
        run_args(world, &a);
        gboolean said = FALSE;
        for (guint f = 0; f < world->fabric->faults->len && !said; f++) {
            const FabricFault *fault = &g_array_index(world->fabric->faults, FabricFault, f);
            said = strstr(fault->text ? fault->text : fault_kind_text(fault->kind), row->says) &&
                   g_str_equal(fault->who, "test") && fault->gpu == 0;
        }
        if (!said)
            fail_msg("row %u (call %d, value %" G_GINT64_FORMAT "): not '%s' but %s", i, (int)row->call, row->value,
                     row->says, world->fabric->faults->len ? last_text(world) : "nothing");
        if (!untouched(world))
            fail_msg("row %u (call %d, value %" G_GINT64_FORMAT "): something was written", i, (int)row->call,
                     row->value);
    }
    world_free(world);
}

/* Proves that a poll of memory that is not the GPU's own, of a multicast address, and of memory
 * without a right to it is reported and ends, and that polls of members look at other GPUs' memory.
 */
static void test_polls(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    Args a = right_args(world, POLL);
    FoAddress closed = vas_choose(world->vas, 4096, 1u << 21);
    vas_map(world->vas, closed, 4096, world->region[0], NULL, 0);
    const struct {
        FoAddress at;
        const char *says;
    } polls[] = {{world->va[1], "not the GPU's own"},
                 {world->mc_va, "plain access to a multicast"},
                 {closed, "no access right"}};
    for (guint i = 0; i < G_N_ELEMENTS(polls); i++) {
        a.at = polls[i].at;
        a.compare = FO_NE; /* memory holds 0: it would wait for ever */
        run_args(world, &a);
        if (!strstr(last_text(world), polls[i].says))
            fail_msg("poll %u: %s", i, last_text(world));
    }
    guint64 before = world->fabric->n_faults;
    a = right_args(world, POLL_MEMBERS);
    a.at = world->va[3];
    run_args(world, &a);
    assert_int_equal(world->fabric->n_faults, before);
    world_free(world);
}

/* Proves what a loop without sources stores, words and a tail shorter than the width, in every
 * width, by CTAs of one and of many threads, unrolled as far as it may be. */
static void test_fills_with_a_tail(void **state)
{
    (void)state;
    static const guint32 fill[4] = {0x11111111, 0x22222222, 0x33333333, 0x44444444};
    World *world = world_new(WORLD_BYTES);
    FoAddress at = world->va[1];
    for (guint width = 4; width <= 16; width *= 2)
        for (guint threads = 1; threads <= 64; threads += 63)
            for (guint words = 0; words < 23; words++, at += 4096) {
                Args a = right_args(world, LOOP);
                a.only = threads;
                a.loop = (FoLoop){
                    .bytes = 4 * words, .width = width, .unroll = 32, .destinations = 1, .destination = {{FO_ST, at}}};
                memcpy(a.loop.fill, fill, sizeof fill);
                world_run(world, misuse_program, &a, sizeof a, 1, threads);
                for (guint i = 0; i < 32; i++)
                    assert_int_equal(word_of(world, 1, (at - world->va[1]) / 4 + i),
                                     i < words ? fill[i % (width / 4)] : 0);
            }
    assert_int_equal(world->fabric->n_faults, 0);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_right_calls), cmocka_unit_test(test_wrong_calls),
                                       cmocka_unit_test(test_polls), cmocka_unit_test(test_fills_with_a_tail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
