/* Multicast store: one GPU writes, every GPU of the team gets a copy.
 *
 * The switch makes the copies: the writer's link carries each line once. In CUDA:
 *     asm("multimem.st.weak.global.v4.f32 [%0], {%1, %2, %3, %4};" ...); */
#include <stdio.h>

#include "examples/team.h"

#define THREADS 256

typedef struct {
    FoAddress to;
    int writer;
} Args;

static void program(FoCta *cta, const void *args)
{
    const Args *a = args;
    const FoMultimem st = {.type = FO_F32, .vec = 4};
    const float value[4] = {1, 2, 3, 4};
    if (!a->writer)
        return;
    FoReg *v = fo_reg(cta, 16); /* float4 v; */
    fo_set(cta, v, value);
    fo_multimem_st(cta, a->to, v, &st); /* thread t: 16 bytes at to + 16 t */
}

int main(void)
{
    Team team;
    Args args[TEAM_GPUS] = {{0, 0}};
    float got[4 * THREADS];
    team_open(&team, sizeof got);
    for (int i = 0; i < TEAM_GPUS; i++)
        args[i] = (Args){team.multicast, i == 0};
    team_run(&team, "multicast_store", program, args, sizeof args[0], 1, THREADS);
    for (int i = 0; i < TEAM_GPUS; i++) {
        CHECK(cuMemcpyDtoH(got, team.unicast[i], sizeof got));
        for (int k = 0; k < 4 * THREADS; k++)
            if (got[k] != (float)(k % 4 + 1)) {
                printf("GPU %d, element %d: %g\n", i, k, (double)got[k]);
                return 1;
            }
    }
    printf("GPU 0 stored %zu bytes once; all %d GPUs have them\n", sizeof got, TEAM_GPUS);
    team_close(&team);
    return 0;
}
