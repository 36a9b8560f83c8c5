/* What tests of SMs and warps share: a CTA on GPU 0 of a small system, with memory mapped for it.
 */
#ifndef TESTS_MODEL_WARP_TEST_H
#define TESTS_MODEL_WARP_TEST_H

#include "tests/model/model_test.h"

#include "model/memory/numeric.h"

#define NEAR_VA 0x100000u   /* GPU 0's memory */
#define FAR_VA 0x200000u    /* GPU 1's */
#define TEAM_VA 0x300000u   /* multicast */
#define LOCKED_VA 0x400000u /* without access right */
#define MAPPED_BYTES 0x40000u

typedef struct {
    Bed bed;
    Vas *vas;
    MemRegion *near, *far, *member[4];
    McObject *object;
    Cta *cta;
    guint placed;
} Stand;

static inline void stand_on_placed(Cta *cta, SimTime now_ps)
{
    (void)now_ps;
    ((Stand *)cta->user)->placed++;
}

static inline void stand_open(Stand *stand, guint32 threads, const char *const *sets)
{
    memset(stand, 0, sizeof *stand);
    bed_open(&stand->bed, "teach-4gpu", sets, NULL);
    stand->near = bed_region(&stand->bed, 0, MAPPED_BYTES);
    stand->far = bed_region(&stand->bed, 1, MAPPED_BYTES);
    stand->object = bed_team(&stand->bed, 4, MAPPED_BYTES, stand->member);
    stand->vas = vas_new(stand->bed.fabric->memory, (guint32)stand->bed.fabric->spec.system.gpus);
    vas_set_access(vas_map(stand->vas, NEAR_VA, MAPPED_BYTES, stand->near, NULL, 0), 0, VAS_ACCESS_READWRITE);
    vas_set_access(vas_map(stand->vas, FAR_VA, MAPPED_BYTES, stand->far, NULL, 0), 0, VAS_ACCESS_READWRITE);
    vas_set_access(vas_map(stand->vas, TEAM_VA, MAPPED_BYTES, NULL, stand->object, 0), 0, VAS_ACCESS_READWRITE);
    vas_map(stand->vas, LOCKED_VA, MAPPED_BYTES, stand->far, NULL, 0);
    stand->cta = cta_new(&stand->bed.fabric->gpu[0], stand->vas, 0, threads, "test");
    stand->cta->user = stand;
    cta_place(stand->cta, stand_on_placed);
    assert_int_equal(stand->placed, 1);
}

static inline void stand_run(Stand *stand)
{
    assert_int_equal(sim_run(stand->bed.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_true(fabric_is_quiet(stand->bed.fabric));
}

static inline void stand_close(Stand *stand)
{
    cta_free(stand->cta);
    vas_free(stand->vas);
    bed_close(&stand->bed);
}

static inline Uop uop_of(UopKind kind, guint64 va, guint8 width, gint64 stride, Reg *reg)
{
    Uop uop = {.kind = (guint8)kind, .va = va, .width = width, .lanes = 32, .lane_stride = stride};
    if (kind == UOP_LOAD || kind == UOP_MC_LOAD)
        uop.dst = reg;
    else
        uop.src = reg;
    return uop;
}

#endif
