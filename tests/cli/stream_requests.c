/* For the arrows of a timeline: two launches of one kernel that run side by side on two streams of GPU 0, of which one
 * stores to GPU 1 and the other loads from GPU 2; at the same time a copy to GPU 3 on a third stream; and the first
 * launch again. */
#include "examples/team.h"

#define THREADS 256
#define BYTES (THREADS * 16)

typedef struct {
    FoAddress to;
    int loads;
} Args;

static void program(FoCta *cta, const void *args)
{
    const Args *a = args;
    FoReg *v = fo_reg(cta, 16);
    const float value[4] = {1, 2, 3, 4};
    fo_set(cta, v, value);
    for (unsigned i = 0; i < 4; i++)
        if (a->loads)
            fo_ld(cta, v, a->to + i * BYTES);
        else
            fo_st(cta, a->to + i * BYTES, v);
}

int main(void)
{
    Team team;
    CUstream stream[3];
    team_open(&team, 4 * BYTES);
    const Args args[2] = {{team.unicast[1], 0}, {team.unicast[2], 1}};
    for (int s = 0; s < 3; s++)
        CHECK(cuStreamCreate(&stream[s], CU_STREAM_NON_BLOCKING));
    for (int s = 0; s < 3; s++) {
        const FoKernel kernel = {.name = "same",
                                 .program = program,
                                 .args = &args[s % 2],
                                 .args_bytes = sizeof args[0],
                                 .ctas = 1,
                                 .threads = THREADS};
        CHECK(fo_launch(&kernel, stream[s % 2]));
    }
    CHECK(cuMemcpyDtoDAsync(team.unicast[3], team.unicast[0], BYTES, stream[2]));
    CHECK(cuCtxSynchronize());
    for (int s = 0; s < 3; s++)
        CHECK(cuStreamDestroy(stream[s]));
    team_close(&team);
    return 0;
}
