/* The order of instructions within a basic block: PTX has them as the source has, and what runs is what ptxas makes of
 * it, which issues loads early and their uses late.
 *
 * List scheduling, as in any textbook: of the instructions whose operands are there, the one with the longest way to
 * the end goes first; if there is none, the one whose operands come first. Results are those of the text: registers
 * are read and written in its order, memory of one state space too, but for reads among themselves and for
 * ld.global.nc, which reads what a kernel does not write. What synchronises, is volatile or ordered, reads the time,
 * calls or ends a block stays where it is, and nothing moves past it. A stretch has at most SPAN instructions, which
 * bounds the registers that it costs.
 * Left out: what ptxas knows of pointers that do not alias, register pressure as a goal. */
#include <string.h>

#include "ptx/translate/lower.h"

#define SPAN 128u
#define LOAD_CLK 200u /* taken for a load from global memory; only that it is long matters */

typedef struct {
    guint64 bits[SPAN / 64];
} Set;

static void set_add(Set *set, guint i) { set->bits[i / 64] |= (guint64)1 << (i % 64); }
static gboolean set_has(const Set *set, guint i) { return set->bits[i / 64] >> (i % 64) & 1; }
static gboolean set_within(const Set *a, const Set *b)
{
    for (guint w = 0; w < SPAN / 64; w++)
        if (a->bits[w] & ~b->bits[w])
            return FALSE;
    return TRUE;
}

typedef struct {
    guint32 write;   /* last writer of the stretch, + 1; 0: none */
    Set reads;       /* since then */
    guint32 stretch; /* in which that was so */
} Register;

typedef struct {
    PtxCode *code;
    PtxIns *ins; /* of the stretch */
    guint n;
    Register *registers; /* by number; the last one is the condition code */
    guint32 n_registers, stretch;
    Set before[SPAN]; /* what each waits for */
    guint32 latency[SPAN], height[SPAN], ready[SPAN];
    guint at;
    gboolean any_load;
} Schedule;

typedef enum { SPACE_ALL, MEMORY_GLOBAL, MEMORY_SHARED, MEMORY_LOCAL, MEMORY_PARAM, MEMORY_CONST, MEMORY_NC } Memory;

static Memory memory_of(const PtxIns *ins)
{
    switch ((PtxSpace)ins->space) {
    case SPACE_GLOBAL: return ins->flags & FLAG_NC ? MEMORY_NC : MEMORY_GLOBAL;
    case SPACE_SHARED:
    case SPACE_SHARED_CLUSTER: return MEMORY_SHARED;
    case SPACE_LOCAL: return MEMORY_LOCAL;
    case SPACE_PARAM: return MEMORY_PARAM;
    case SPACE_CONST: return MEMORY_CONST;
    default: return SPACE_ALL;
    }
}

static gboolean is_access(const PtxIns *ins) { return ins->op == OP_LD || ins->op == OP_ST; }

static gboolean is_weak(const PtxIns *ins)
{
    return (ins->order == 0 || ins->order == W_WEAK) && !(ins->flags & (FLAG_ACQUIRE | FLAG_RELEASE));
}

static gboolean stays(const PtxIns *ins)
{
    if (is_access(ins))
        return !is_weak(ins);
    if (ins->op == OP_SREG)
        return (ins->imm >= SREG_CLOCK && ins->imm <= SREG_GLOBALTIMER_HI) || ins->imm == SREG_SMID;
    return ins->op > OP_NOP || ins->op == OP_CARRY_MAD;
}

static gboolean conflict(const PtxIns *a, const PtxIns *b)
{
    Memory x = memory_of(a), y = memory_of(b);
    if ((a->op == OP_LD && b->op == OP_LD) || x == MEMORY_NC || y == MEMORY_NC)
        return FALSE;
    return x == y || x == SPACE_ALL || y == SPACE_ALL;
}

static Register *register_at(Schedule *s, guint32 number)
{
    Register *r = &s->registers[number];
    if (r->stretch != s->stretch)
        *r = (Register){.stretch = s->stretch};
    return r;
}

static void use(Schedule *s, guint32 number, gboolean write)
{
    Register *r = register_at(s, number);
    Set *before = &s->before[s->at];
    if (r->write && r->write - 1 != s->at)
        set_add(before, r->write - 1);
    if (!write) {
        set_add(&r->reads, s->at);
        return;
    }
    for (guint w = 0; w < SPAN / 64; w++)
        before->bits[w] |= r->reads.bits[w];
    before->bits[s->at / 64] &= ~((guint64)1 << (s->at % 64));
    *r = (Register){.write = s->at + 1, .stretch = s->stretch};
}

static void visit_use(void *user, guint32 *place, gboolean write) { use(user, *place >> 1, write); }

static void find_orders(Schedule *s)
{
    s->stretch++;
    s->any_load = FALSE;
    memset(s->before, 0, s->n * sizeof *s->before);
    for (s->at = 0; s->at < s->n; s->at++) {
        PtxIns *ins = &s->ins[s->at];
        ptx_ins_visit(s->code, ins, visit_use, s);
        if (ins->flags & (FLAG_CC | FLAG_CARRY))
            use(s, s->n_registers, TRUE);
        for (guint i = 0; is_access(ins) && i < s->at; i++)
            if (is_access(&s->ins[i]) && conflict(&s->ins[i], ins))
                set_add(&s->before[s->at], i);
        gboolean far = ins->op == OP_LD && (ins->space == SPACE_GLOBAL || ins->space == SPACE_GENERIC);
        s->any_load |= far || ins->op == OP_LD; /* shared memory takes its time too */
        s->latency[s->at] = far ? LOAD_CLK : ptx_cost_latency(s->code, ins) / COST_CLK;
    }
    for (guint i = s->n; i-- > 0;) {
        s->height[i] = s->latency[i];
        s->ready[i] = 0;
        for (guint j = i + 1; j < s->n; j++)
            if (set_has(&s->before[j], i))
                s->height[i] = MAX(s->height[i], s->latency[i] + s->height[j]);
    }
}

/* The next one: ready now and with the longest way to the end, else the first to be ready. */
static guint choose(const Schedule *s, const Set *done, guint32 now)
{
    guint best = s->n;
    for (guint i = 0; i < s->n; i++) {
        if (set_has(done, i) || !set_within(&s->before[i], done))
            continue;
        if (best == s->n) {
            best = i;
            continue;
        }
        gboolean ready = s->ready[i] <= now, best_ready = s->ready[best] <= now;
        if (ready != best_ready ? ready : ready ? s->height[i] > s->height[best] : s->ready[i] < s->ready[best])
            best = i;
    }
    return best;
}

static void order_stretch(Schedule *s)
{
    PtxIns ordered[SPAN];
    Set done = {{0}};
    guint32 now = 0;
    find_orders(s);
    if (!s->any_load) /* the order matters little then */
        return;
    for (guint k = 0; k < s->n; k++) {
        guint i = choose(s, &done, now);
        now = MAX(now, s->ready[i]);
        for (guint j = i + 1; j < s->n; j++)
            if (set_has(&s->before[j], i))
                s->ready[j] = MAX(s->ready[j], now + s->latency[i]);
        set_add(&done, i);
        ordered[k] = s->ins[i];
        now++;
    }
    memcpy(s->ins, ordered, s->n * sizeof *ordered);
}

void ptx_schedule(PtxCode *code, const PtxFlow *flow, guint32 n_registers)
{
    Schedule *s = g_new0(Schedule, 1);
    s->code = code;
    s->n_registers = n_registers;
    s->registers = g_new0(Register, n_registers + 1u);
    for (guint32 b = 0; b < flow->n; b++) {
        guint32 end = flow->block[b].last + 1;
        for (guint32 i = flow->block[b].first; i < end;) {
            guint32 to = i;
            while (to < end && to - i < SPAN && !stays(&code->ins[to]))
                to++;
            s->ins = &code->ins[i];
            s->n = to - i;
            if (s->n > 2)
                order_stretch(s);
            i = MAX(to, i + 1);
            if (to < end && stays(&code->ins[to]))
                i = to + 1;
        }
    }
    g_free(s->registers);
    g_free(s);
}
