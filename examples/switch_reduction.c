/* In-switch reduction: one load that returns the sum of all GPUs' values.
 *
 * The switch asks every member for its line, adds, and answers with one. In CUDA:
 *     asm("multimem.ld_reduce.weak.global.add.v4.f32 {%0, %1, %2, %3}, [%4];" ...); */
#include <stdio.h>

#include "examples/team.h"

#define THREADS 256

typedef struct {
    FoAddress from, to; /* multicast address; this GPU's place for the sum */
} Args;

static void program(FoCta *cta, const void *args)
{
    const Args *a = args;
    const FoMultimem sum = {.type = FO_F32, .op = FO_ADD, .vec = 4};
    FoReg *v = fo_reg(cta, 16);
    fo_multimem_ld_reduce(cta, v, a->from, &sum);
    fo_st(cta, a->to, v); /* waits for v, as any use does */
}

int main(void)
{
    Team team;
    Args args[TEAM_GPUS];
    float mine[4 * THREADS], got[4 * THREADS];
    team_open(&team, 2 * sizeof mine);
    for (int i = 0; i < TEAM_GPUS; i++) {
        for (int k = 0; k < 4 * THREADS; k++)
            mine[k] = (float)(k + i);
        CHECK(cuMemcpyHtoD(team.unicast[i], mine, sizeof mine));
        args[i] = (Args){team.multicast, team.unicast[i] + sizeof mine};
    }
    team_run(&team, "switch_reduction", program, args, sizeof args[0], 1, THREADS);
    for (int i = 0; i < TEAM_GPUS; i++) {
        CHECK(cuMemcpyDtoH(got, team.unicast[i] + sizeof mine, sizeof got));
        for (int k = 0; k < 4 * THREADS; k++)
            if (got[k] != (float)(TEAM_GPUS * k + TEAM_GPUS * (TEAM_GPUS - 1) / 2)) {
                printf("GPU %d, element %d: %g\n", i, k, (double)got[k]);
                return 1;
            }
    }
    printf("each of %d GPUs read the sum of all in one load a thread\n", TEAM_GPUS);
    team_close(&team);
    return 0;
}
