/* LL push: a small message to all GPUs with its flag in the same 8 bytes, through one multicast store.
 *
 * Nothing has to be fenced: whoever sees the flag has the data. Each receiver polls its own copy. This
 * is how small collectives get from one GPU to all others in a single flight. */
#include <stdio.h>

#include "examples/team.h"

#define THREADS 32
#define FLAG 1u

typedef struct {
    FoAddress to;    /* multicast address of the lines */
    FoAddress lines; /* this GPU's copy */
    FoAddress result;
    unsigned rank;
} Args;

static void program(FoCta *cta, const void *args)
{
    const Args *a = args;
    FoReg *line = fo_reg(cta, 8);
    FoAddress flag[THREADS];
    if (a->rank == 0) {
        const FoMultimem st = {.type = FO_B64, .order = FO_RELAXED, .scope = FO_SCOPE_SYS};
        const uint32_t message[2] = {4711, FLAG};
        fo_set(cta, line, message); /* {data, flag} in each thread */
        fo_multimem_st(cta, a->to, line, &st);
    }
    for (unsigned t = 0; t < THREADS; t++)
        flag[t] = a->lines + t * 8 + 4;
    fo_poll_at(cta, flag, THREADS, 4, FO_EQ, FLAG, FO_RELAXED);
    fo_ld(cta, line, a->lines);
    fo_st(cta, a->result, line);
}

int main(void)
{
    Team team;
    Args args[TEAM_GPUS];
    uint32_t got[2 * THREADS];
    team_open(&team, 4096);
    for (unsigned i = 0; i < TEAM_GPUS; i++)
        args[i] = (Args){team.multicast, team.unicast[i], team.unicast[i] + 2048, i};
    team_run(&team, "ll_push", program, args, sizeof args[0], 1, THREADS);
    for (unsigned i = 0; i < TEAM_GPUS; i++) {
        CHECK(cuMemcpyDtoH(got, team.unicast[i] + 2048, sizeof got));
        for (unsigned t = 0; t < THREADS; t++)
            if (got[2 * t] != 4711 || got[2 * t + 1] != FLAG) {
                printf("GPU %u, thread %u: %u, flag %u\n", i, t, got[2 * t], got[2 * t + 1]);
                return 1;
            }
    }
    printf("%d words reached %d GPUs with their flags\n", THREADS, TEAM_GPUS);
    team_close(&team);
    return 0;
}
