/* Flag barrier: every GPU writes a flag into every other GPU's memory and waits for all of its own.
 *
 * Plain stores and loads, no multicast: thread t tells GPU t, and waits for GPU t. Polling costs no
 * host time here: fo_poll_at sleeps until the flag's line is written. */
#include <stdio.h>

#include "examples/team.h"

#define ROUNDS 10

typedef struct {
    FoAddress flags[TEAM_GPUS]; /* of each GPU: one 8 B flag for each writer, a line apart */
    FoAddress result;           /* where this GPU puts the time of a barrier, in ns */
    unsigned rank;
} Args;

static void program(FoCta *cta, const void *args)
{
    const Args *a = args;
    FoAddress theirs[TEAM_GPUS], mine[TEAM_GPUS];
    FoReg *flag = fo_reg(cta, 8), *ns = fo_reg(cta, 8);
    uint64_t begin_ps = fo_time_ps(cta);
    for (unsigned r = 0; r < TEAM_GPUS; r++) {
        theirs[r] = a->flags[r] + a->rank * 128;
        mine[r] = a->flags[a->rank] + r * 128;
    }
    for (unsigned round = 1; round <= ROUNDS; round++) {
        fo_sync(cta);
        fo_only(cta, 0, TEAM_GPUS); /* if (threadIdx.x < TEAM_GPUS) { */
        fo_set_u64(cta, flag, round);
        fo_st_sys_at(cta, theirs, flag, FO_RELEASE);
        fo_poll_at(cta, mine, TEAM_GPUS, 8, FO_GE, round, FO_ACQUIRE);
        fo_all(cta); /* } */
        fo_sync(cta);
    }
    fo_wait(cta); /* the function ran ahead: let the warps catch up */
    fo_only(cta, 0, 1);
    fo_set_u64(cta, ns, (fo_time_ps(cta) - begin_ps) / 1000 / ROUNDS);
    fo_st(cta, a->result, ns);
}

int main(void)
{
    Team team;
    Args args[TEAM_GPUS];
    uint64_t ns = 0;
    team_open(&team, 4096);
    for (unsigned i = 0; i < TEAM_GPUS; i++) {
        for (unsigned r = 0; r < TEAM_GPUS; r++)
            args[i].flags[r] = team.unicast[r];
        args[i].result = team.unicast[i] + 2048;
        args[i].rank = i;
    }
    team_run(&team, "flag_barrier", program, args, sizeof args[0], 1, 64);
    for (unsigned i = 0; i < TEAM_GPUS; i++) {
        CHECK(cuMemcpyDtoH(&ns, team.unicast[i] + 2048, sizeof ns));
        printf("GPU %u: %llu ns a barrier\n", i, (unsigned long long)ns);
    }
    team_close(&team);
    return 0;
}
