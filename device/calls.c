/* See calls.h: each public call of a device program is the one of its CTA's table. */
#include "device/calls.h"

/* The first member of every FoCta. */
static const FoCtaCalls *calls_of(const FoCta *cta) { return *(const FoCtaCalls *const *)(const void *)cta; }

unsigned fo_cta(const FoCta *cta) { return calls_of(cta)->cta(cta); }

unsigned fo_ctas(const FoCta *cta) { return calls_of(cta)->ctas(cta); }

unsigned fo_threads(const FoCta *cta) { return calls_of(cta)->threads(cta); }

unsigned fo_gpu(const FoCta *cta) { return calls_of(cta)->gpu(cta); }

uint64_t fo_time_ps(FoCta *cta) { return calls_of(cta)->time_ps(cta); }

FoReg *fo_reg(FoCta *cta, unsigned width) { return calls_of(cta)->reg(cta, width); }

void fo_get(FoCta *cta, const FoReg *reg, unsigned thread, void *value) { calls_of(cta)->get(cta, reg, thread, value); }

void fo_set(FoCta *cta, FoReg *reg, const void *value) { calls_of(cta)->set(cta, reg, value); }

void fo_set_u64(FoCta *cta, FoReg *reg, uint64_t value) { calls_of(cta)->set_u64(cta, reg, value); }

void fo_combine(FoCta *cta, FoReg *d, const FoReg *s, FoType type, FoOp op)
{
    calls_of(cta)->combine(cta, d, s, type, op);
}

void fo_only(FoCta *cta, unsigned first, unsigned count) { calls_of(cta)->only(cta, first, count); }

void fo_all(FoCta *cta) { calls_of(cta)->all(cta); }

void fo_ld(FoCta *cta, FoReg *d, FoAddress address) { calls_of(cta)->ld(cta, d, address); }

void fo_st(FoCta *cta, FoAddress address, const FoReg *s) { calls_of(cta)->st(cta, address, s); }

void fo_ld_at(FoCta *cta, FoReg *d, const FoAddress *address) { calls_of(cta)->ld_at(cta, d, address); }

void fo_st_at(FoCta *cta, const FoAddress *address, const FoReg *s) { calls_of(cta)->st_at(cta, address, s); }

void fo_ld_sys(FoCta *cta, FoReg *d, FoAddress address, FoOrder order)
{
    calls_of(cta)->ld_sys(cta, d, address, order);
}

void fo_st_sys(FoCta *cta, FoAddress address, const FoReg *s, FoOrder order)
{
    calls_of(cta)->st_sys(cta, address, s, order);
}

void fo_st_sys_at(FoCta *cta, const FoAddress *address, const FoReg *s, FoOrder order)
{
    calls_of(cta)->st_sys_at(cta, address, s, order);
}

void fo_red(FoCta *cta, FoAddress address, const FoReg *s, FoType type, FoOp op, FoOrder order)
{
    calls_of(cta)->red(cta, address, s, type, op, order);
}

void fo_atom(FoCta *cta, FoReg *d, FoAddress address, const FoReg *s, FoType type, FoOp op, FoOrder order)
{
    calls_of(cta)->atom(cta, d, address, s, type, op, order);
}

void fo_atom_exch(FoCta *cta, FoReg *d, FoAddress address, const FoReg *s, FoOrder order)
{
    calls_of(cta)->atom_exch(cta, d, address, s, order);
}

void fo_atom_cas(FoCta *cta, FoReg *d, FoAddress address, const FoReg *compare, const FoReg *s, FoOrder order)
{
    calls_of(cta)->atom_cas(cta, d, address, compare, s, order);
}

void fo_multimem_ld_reduce(FoCta *cta, FoReg *d, FoAddress address, const FoMultimem *form)
{
    calls_of(cta)->multimem_ld_reduce(cta, d, address, form);
}

void fo_multimem_st(FoCta *cta, FoAddress address, const FoReg *s, const FoMultimem *form)
{
    calls_of(cta)->multimem_st(cta, address, s, form);
}

void fo_multimem_red(FoCta *cta, FoAddress address, const FoReg *s, const FoMultimem *form)
{
    calls_of(cta)->multimem_red(cta, address, s, form);
}

void fo_sync(FoCta *cta) { calls_of(cta)->sync(cta); }

void fo_sync_active(FoCta *cta, unsigned barrier) { calls_of(cta)->sync_active(cta, barrier); }

void fo_fence(FoCta *cta) { calls_of(cta)->fence(cta); }

void fo_wait(FoCta *cta) { calls_of(cta)->wait(cta); }

void fo_sleep_ps(FoCta *cta, uint64_t delay_ps) { calls_of(cta)->sleep_ps(cta, delay_ps); }

void fo_poll(FoCta *cta, FoAddress address, unsigned width, FoCompare compare, uint64_t value, FoOrder order)
{
    calls_of(cta)->poll(cta, address, width, compare, value, order);
}

void fo_poll_seen(FoCta *cta, FoReg *seen, FoAddress address, FoCompare compare, uint64_t value, FoOrder order)
{
    calls_of(cta)->poll_seen(cta, seen, address, compare, value, order);
}

void fo_poll_at(FoCta *cta, const FoAddress *address, unsigned n, unsigned width, FoCompare compare, uint64_t value,
                FoOrder order)
{
    calls_of(cta)->poll_at(cta, address, n, width, compare, value, order);
}

void fo_poll_members(FoCta *cta, const FoAddress *address, unsigned n, unsigned width, uint64_t value, FoOrder order)
{
    calls_of(cta)->poll_members(cta, address, n, width, value, order);
}

void fo_loop(FoCta *cta, const FoLoop *loop) { calls_of(cta)->loop(cta, loop); }

void fo_ll(FoCta *cta, const FoLl *ll) { calls_of(cta)->ll(cta, ll); }

void fo_exchange(FoCta *cta, const FoExchange *exchange) { calls_of(cta)->exchange(cta, exchange); }

const FoCtaCalls device_calls = {
    .cta = program_cta,
    .ctas = program_ctas,
    .threads = program_threads,
    .gpu = program_gpu,
    .time_ps = program_time_ps,
    .reg = program_reg,
    .get = program_get,
    .set = program_set,
    .set_u64 = program_set_u64,
    .combine = program_combine,
    .only = program_only,
    .all = program_all,
    .ld = program_ld,
    .st = program_st,
    .ld_at = program_ld_at,
    .st_at = program_st_at,
    .ld_sys = program_ld_sys,
    .st_sys = program_st_sys,
    .st_sys_at = program_st_sys_at,
    .red = program_red,
    .atom = program_atom,
    .atom_exch = program_atom_exch,
    .atom_cas = program_atom_cas,
    .multimem_ld_reduce = program_multimem_ld_reduce,
    .multimem_st = program_multimem_st,
    .multimem_red = program_multimem_red,
    .sync = program_sync,
    .sync_active = program_sync_active,
    .fence = program_fence,
    .wait = program_wait,
    .sleep_ps = program_sleep_ps,
    .poll = program_poll,
    .poll_seen = program_poll_seen,
    .poll_at = program_poll_at,
    .poll_members = program_poll_members,
    .loop = program_loop,
    .ll = program_ll,
    .exchange = program_exchange,
};
