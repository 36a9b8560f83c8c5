/* Two-shot all-reduce in the switch: GPU r sums slice r of everybody's buffer and stores it to everybody.
 *
 * Barriers before (all inputs are there) and after (all results are there). fo_loop is the grid-stride
 * loop `for (i = id; i < n; i += all) st(out + i, ld_reduce(in + i))`, four iterations unrolled. */
#include <stdio.h>
#include <stdlib.h>

#include "examples/team.h"

#define CTAS 8
#define THREADS 512
#define BYTES (4u << 20)

typedef struct {
    FoAddress data;     /* multicast address of the buffer, reduced in place */
    FoAddress flag;     /* multicast address of CTAS counters, one a line */
    FoAddress own_flag; /* this GPU's copy of them */
    unsigned rank;
} Args;

static void barrier(FoCta *cta, const Args *a, unsigned generation)
{
    const FoMultimem add = {.type = FO_U32, .op = FO_ADD};
    FoReg *one = fo_reg(cta, 4);
    fo_fence(cta); /* what the warps stored is performed */
    fo_sync(cta);
    fo_only(cta, 0, 1); /* if (threadIdx.x == 0) */
    fo_set_u64(cta, one, 1);
    fo_multimem_red(cta, a->flag + fo_cta(cta) * 128, one, &add);
    fo_poll(cta, a->own_flag + fo_cta(cta) * 128, 4, FO_GE, generation * TEAM_GPUS, FO_ACQUIRE);
    fo_all(cta);
    fo_sync(cta);
}

static void program(FoCta *cta, const void *args)
{
    const Args *a = args;
    FoAddress slice = a->data + (FoAddress)a->rank * (BYTES / TEAM_GPUS);
    FoLoop loop = {.bytes = BYTES / TEAM_GPUS,
                   .width = 16,
                   .unroll = 4,
                   .sources = 1,
                   .destinations = 1,
                   .type = FO_F32,
                   .op = FO_ADD};
    loop.source[0] = (FoStream){FO_LD_REDUCE, slice};
    loop.destination[0] = (FoStream){FO_MULTIMEM_ST, slice};
    barrier(cta, a, 1);
    fo_loop(cta, &loop);
    barrier(cta, a, 2);
}

int main(void)
{
    Team team;
    Args args[TEAM_GPUS];
    float *data = malloc(BYTES);
    uint64_t begin_ps = 0, end_ps = 0;
    team_open(&team, BYTES + CTAS * 128);
    for (unsigned i = 0; i < TEAM_GPUS; i++) {
        for (unsigned k = 0; k < BYTES / 4; k++)
            data[k] = (float)((k + i) % 100);
        CHECK(cuMemcpyHtoD(team.unicast[i], data, BYTES));
        args[i] = (Args){team.multicast, team.multicast + BYTES, team.unicast[i] + BYTES, i};
    }
    CHECK(fo_now_ps(&begin_ps));
    team_run(&team, "twoshot_allreduce", program, args, sizeof args[0], CTAS, THREADS);
    CHECK(fo_now_ps(&end_ps));
    for (unsigned i = 0; i < TEAM_GPUS; i++) {
        CHECK(cuMemcpyDtoH(data, team.unicast[i], BYTES));
        for (unsigned k = 0; k < BYTES / 4; k++) {
            float right = 0;
            for (unsigned r = 0; r < TEAM_GPUS; r++)
                right += (float)((k + r) % 100);
            if (data[k] != right) {
                printf("GPU %u, element %u: %g, not %g\n", i, k, (double)data[k], (double)right);
                return 1;
            }
        }
    }
    printf("all-reduce of %u bytes on %d GPUs: %.1f us, correct\n", BYTES, TEAM_GPUS,
           (double)(end_ps - begin_ps) / 1e6);
    free(data);
    team_close(&team);
    return 0;
}
