/* The calls of device programs (fanout/device.h): which CTA they are about says who does them.
 *
 * A CTA runs in the process that has the model, and its calls are done here (program_*, in operations.c, loop.c,
        poll.c,
 * registers.c, ll.c, ll_exchange.c); or its function runs in a client of a machine's owner,
        and its calls travel there
 * (machine/wire/program_client.c). A FoCta of either kind begins with its table. */
#ifndef DEVICE_CALLS_H
#define DEVICE_CALLS_H

#include "fanout/device.h"

typedef struct {
    unsigned (*cta)(const FoCta *cta);
    unsigned (*ctas)(const FoCta *cta);
    unsigned (*threads)(const FoCta *cta);
    unsigned (*gpu)(const FoCta *cta);
    uint64_t (*time_ps)(FoCta *cta);
    FoReg *(*reg)(FoCta *cta, unsigned width);
    void (*get)(FoCta *cta, const FoReg *reg, unsigned thread, void *value);
    void (*set)(FoCta *cta, FoReg *reg, const void *value);
    void (*set_u64)(FoCta *cta, FoReg *reg, uint64_t value);
    void (*combine)(FoCta *cta, FoReg *d, const FoReg *s, FoType type, FoOp op);
    void (*only)(FoCta *cta, unsigned first, unsigned count);
    void (*all)(FoCta *cta);
    void (*ld)(FoCta *cta, FoReg *d, FoAddress address);
    void (*st)(FoCta *cta, FoAddress address, const FoReg *s);
    void (*ld_at)(FoCta *cta, FoReg *d, const FoAddress *address);
    void (*st_at)(FoCta *cta, const FoAddress *address, const FoReg *s);
    void (*ld_sys)(FoCta *cta, FoReg *d, FoAddress address, FoOrder order);
    void (*st_sys)(FoCta *cta, FoAddress address, const FoReg *s, FoOrder order);
    void (*st_sys_at)(FoCta *cta, const FoAddress *address, const FoReg *s, FoOrder order);
    void (*red)(FoCta *cta, FoAddress address, const FoReg *s, FoType type, FoOp op, FoOrder order);
    void (*atom)(FoCta *cta, FoReg *d, FoAddress address, const FoReg *s, FoType type, FoOp op, FoOrder order);
    void (*atom_exch)(FoCta *cta, FoReg *d, FoAddress address, const FoReg *s, FoOrder order);
    void (*atom_cas)(FoCta *cta, FoReg *d, FoAddress address, const FoReg *compare, const FoReg *s, FoOrder order);
    void (*multimem_ld_reduce)(FoCta *cta, FoReg *d, FoAddress address, const FoMultimem *form);
    void (*multimem_st)(FoCta *cta, FoAddress address, const FoReg *s, const FoMultimem *form);
    void (*multimem_red)(FoCta *cta, FoAddress address, const FoReg *s, const FoMultimem *form);
    void (*sync)(FoCta *cta);
    void (*sync_active)(FoCta *cta, unsigned barrier);
    void (*fence)(FoCta *cta);
    void (*wait)(FoCta *cta);
    void (*sleep_ps)(FoCta *cta, uint64_t delay_ps);
    void (*poll)(FoCta *cta, FoAddress address, unsigned width, FoCompare compare, uint64_t value, FoOrder order);
    void (*poll_seen)(FoCta *cta, FoReg *seen, FoAddress address, FoCompare compare, uint64_t value, FoOrder order);
    void (*poll_at)(FoCta *cta, const FoAddress *address, unsigned n, unsigned width, FoCompare compare, uint64_t value,
                    FoOrder order);
    void (*poll_members)(FoCta *cta, const FoAddress *address, unsigned n, unsigned width, uint64_t value,
                         FoOrder order);
    void (*loop)(FoCta *cta, const FoLoop *loop);
    void (*ll)(FoCta *cta, const FoLl *ll);
    void (*exchange)(FoCta *cta, const FoExchange *exchange);
} FoCtaCalls;

extern const FoCtaCalls device_calls; /* of CTAs that run here */

unsigned program_cta(const FoCta *cta);
unsigned program_ctas(const FoCta *cta);
unsigned program_threads(const FoCta *cta);
unsigned program_gpu(const FoCta *cta);
uint64_t program_time_ps(FoCta *cta);
FoReg *program_reg(FoCta *cta, unsigned width);
void program_get(FoCta *cta, const FoReg *reg, unsigned thread, void *value);
void program_set(FoCta *cta, FoReg *reg, const void *value);
void program_set_u64(FoCta *cta, FoReg *reg, uint64_t value);
void program_combine(FoCta *cta, FoReg *d, const FoReg *s, FoType type, FoOp op);
void program_only(FoCta *cta, unsigned first, unsigned count);
void program_all(FoCta *cta);
void program_ld(FoCta *cta, FoReg *d, FoAddress address);
void program_st(FoCta *cta, FoAddress address, const FoReg *s);
void program_ld_at(FoCta *cta, FoReg *d, const FoAddress *address);
void program_st_at(FoCta *cta, const FoAddress *address, const FoReg *s);
void program_ld_sys(FoCta *cta, FoReg *d, FoAddress address, FoOrder order);
void program_st_sys(FoCta *cta, FoAddress address, const FoReg *s, FoOrder order);
void program_st_sys_at(FoCta *cta, const FoAddress *address, const FoReg *s, FoOrder order);
void program_red(FoCta *cta, FoAddress address, const FoReg *s, FoType type, FoOp op, FoOrder order);
void program_atom(FoCta *cta, FoReg *d, FoAddress address, const FoReg *s, FoType type, FoOp op, FoOrder order);
void program_atom_exch(FoCta *cta, FoReg *d, FoAddress address, const FoReg *s, FoOrder order);
void program_atom_cas(FoCta *cta, FoReg *d, FoAddress address, const FoReg *compare, const FoReg *s, FoOrder order);
void program_multimem_ld_reduce(FoCta *cta, FoReg *d, FoAddress address, const FoMultimem *form);
void program_multimem_st(FoCta *cta, FoAddress address, const FoReg *s, const FoMultimem *form);
void program_multimem_red(FoCta *cta, FoAddress address, const FoReg *s, const FoMultimem *form);
void program_sync(FoCta *cta);
void program_sync_active(FoCta *cta, unsigned barrier);
void program_fence(FoCta *cta);
void program_wait(FoCta *cta);
void program_sleep_ps(FoCta *cta, uint64_t delay_ps);
void program_poll(FoCta *cta, FoAddress address, unsigned width, FoCompare compare, uint64_t value, FoOrder order);
void program_poll_seen(FoCta *cta, FoReg *seen, FoAddress address, FoCompare compare, uint64_t value, FoOrder order);
void program_poll_at(FoCta *cta, const FoAddress *address, unsigned n, unsigned width, FoCompare compare,
                     uint64_t value, FoOrder order);
void program_poll_members(FoCta *cta, const FoAddress *address, unsigned n, unsigned width, uint64_t value,
                          FoOrder order);
void program_loop(FoCta *cta, const FoLoop *loop);
void program_ll(FoCta *cta, const FoLl *ll);
void program_exchange(FoCta *cta, const FoExchange *exchange);

#endif
