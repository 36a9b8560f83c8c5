/* Lab 6: a barrier of your own, solved.
 *
 * The instructor's solution of docs/labs/barrier.c: your_barrier() is filled in, the rest is the same.
 *
 * Everything below "the check" is given; you need not change it. */
#include <stdio.h>

#include "examples/team.h"

#define ROUNDS 8
#define THREADS 64
#define STORES 32 /* of each thread before an odd round */

typedef struct {
    uint64_t came_ps, left_ps; /* at the barrier and from it */
    uint64_t wrong;            /* lines of 128 B that were not there behind the barrier */
} Visit;                       /* of one GPU to one barrier */
typedef struct {
    FoAddress flags[TEAM_GPUS]; /* of each GPU: a flag of 4 B for each writer, 128 B apart */
    FoAddress counter_all;      /* a counter of 4 B on each GPU, 0 at first: all of them at once, by multicast */
    FoAddress counter_mine;     /* this GPU's own copy of it */
    FoAddress next_data;        /* memory of the next GPU, for the check */
    FoAddress my_data;          /* the same of this GPU: the GPU before it writes there */
    FoAddress visits;           /* where this GPU puts what it saw */
    unsigned rank;              /* 0 to TEAM_GPUS - 1 */
    int yours;                  /* which barrier */
} Args;

/* Round 1, 2, 3 ...: flags only grow, so that none must be set back. */
static void flag_barrier(FoCta *cta, const Args *a, unsigned round)
{
    FoAddress theirs[TEAM_GPUS], mine[TEAM_GPUS];
    FoReg *flag = fo_reg(cta, 4);
    for (unsigned r = 0; r < TEAM_GPUS; r++) {
        theirs[r] = a->flags[r] + a->rank * 128;
        mine[r] = a->flags[a->rank] + r * 128;
    }
    fo_sync(cta);               /* all threads of this GPU are here */
    fo_only(cta, 0, TEAM_GPUS); /* thread t tells GPU t, and waits for GPU t */
    fo_set_u64(cta, flag, round);
    fo_st_sys_at(cta, theirs, flag, FO_RELEASE); /* behind everything that was stored before */
    fo_poll_at(cta, mine, TEAM_GPUS, 4, FO_GE, round, FO_ACQUIRE);
    fo_all(cta);
    fo_sync(cta); /* no thread goes on before they have seen all flags */
}

/* The same with the counter: add 1 to all copies, wait until the own copy says that all GPUs have added in this
 * round and in all rounds before it. */
static void your_barrier(FoCta *cta, const Args *a, unsigned round)
{
    fo_sync(cta);
    FoReg *one = fo_reg(cta, 4);
    const FoMultimem add = {.type = FO_U32, .op = FO_ADD, .order = FO_RELEASE, .scope = FO_SCOPE_SYS};
    fo_only(cta, 0, 1);
    fo_set_u64(cta, one, 1);
    fo_multimem_red(cta, a->counter_all, one, &add);
    fo_poll(cta, a->counter_mine, 4, FO_GE, round * TEAM_GPUS, FO_ACQUIRE);
    fo_all(cta);
    fo_sync(cta);
}

/* ---- the check: in each round another GPU comes late. No GPU may leave before it came. In odd rounds each GPU stores
 * 32 KiB to the next one before the barrier, and all of it must be there behind it; even rounds are for the time. */
static void check_data(FoCta *cta, const Args *a, unsigned round, uint64_t *wrong)
{
    FoReg *data[STORES];
    uint64_t seen[2];
    for (unsigned i = STORES; i-- > 0;) { /* what was stored last first, and all at once */
        data[i] = fo_reg(cta, 16);
        fo_ld(cta, data[i], a->my_data + (round * STORES + i) * THREADS * 16);
    }
    for (unsigned i = 0; i < STORES; i++)
        for (unsigned thread = 0; thread < THREADS; thread += 8) { /* 128 B hold what 8 threads store */
            fo_get(cta, data[i], thread, seen);
            *wrong += seen[0] != round;
        }
}

static void program(FoCta *cta, const void *args)
{
    const Args *a = args;
    Visit visit[ROUNDS] = {{0, 0, 0}};
    FoReg *data = fo_reg(cta, 16), *value = fo_reg(cta, 8);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        Visit *v = &visit[round - 1];
        if (a->rank == round % TEAM_GPUS)
            fo_sleep_ps(cta, 3000000);
        fo_wait(cta); /* until the threads have come so far: the function runs ahead of them */
        v->came_ps = fo_time_ps(cta);
        fo_set(cta, data, (const uint64_t[2]){round, round});
        for (unsigned i = 0; round % 2 == 1 && i < STORES; i++)
            fo_st(cta, a->next_data + (round * STORES + i) * THREADS * 16, data);
        (a->yours ? your_barrier : flag_barrier)(cta, a, round);
        fo_wait(cta);
        v->left_ps = fo_time_ps(cta);
        if (round % 2 == 1)
            check_data(cta, a, round, &v->wrong);
    }
    fo_only(cta, 0, 1);
    for (unsigned i = 0; i < sizeof visit / 8; i++) {
        fo_set_u64(cta, value, ((const uint64_t *)visit)[i]);
        fo_st(cta, a->visits + i * 8, value);
    }
}

/* Prints what is wrong and returns 0, or returns the mean time from the last GPU's coming to the last one's leaving. */
static double check(const char *name, Visit visit[TEAM_GPUS][ROUNDS])
{
    double sum_ps = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned late = 0, last = 0;
        for (unsigned g = 0; g < TEAM_GPUS; g++) {
            late = visit[g][round].came_ps > visit[late][round].came_ps ? g : late;
            last = visit[g][round].left_ps > visit[last][round].left_ps ? g : last;
        }
        for (unsigned g = 0; g < TEAM_GPUS; g++) {
            if (visit[g][round].left_ps < visit[late][round].came_ps) {
                printf("%s: in round %u GPU %u left %.0f ns before GPU %u came: it does not wait for all.\n", name,
                       round + 1, g, (double)(visit[late][round].came_ps - visit[g][round].left_ps) / 1000, late);
                return 0;
            }
            if (visit[g][round].wrong != 0) {
                printf("%s: after round %u GPU %u misses %llu of %d lines that GPU %u stored before it: is the add a "
                       "release, do all threads store behind the barrier alone?\n",
                       name, round + 1, g, (unsigned long long)visit[g][round].wrong, STORES * THREADS / 8,
                       (g + TEAM_GPUS - 1) % TEAM_GPUS);
                return 0;
            }
        }
        if (round % 2 == 1) /* round 2, 4 ... */
            sum_ps += (double)(visit[last][round].left_ps - visit[late][round].came_ps);
    }
    return sum_ps / (ROUNDS / 2);
}

static double run(const char *name, int yours)
{
    Team team;
    Args args[TEAM_GPUS];
    Visit visit[TEAM_GPUS][ROUNDS];
    team_open(&team, 1 << 20);
    for (unsigned i = 0; i < TEAM_GPUS; i++) {
        for (unsigned r = 0; r < TEAM_GPUS; r++)
            args[i].flags[r] = team.unicast[r];
        args[i].counter_all = team.multicast + 1024;
        args[i].counter_mine = team.unicast[i] + 1024;
        args[i].visits = team.unicast[i] + 2048;
        args[i].next_data = team.unicast[(i + 1) % TEAM_GPUS] + 4096;
        args[i].my_data = team.unicast[i] + 4096;
        args[i].rank = i;
        args[i].yours = yours;
    }
    team_run(&team, name, program, args, sizeof args[0], 1, THREADS);
    for (unsigned i = 0; i < TEAM_GPUS; i++)
        CHECK(cuMemcpyDtoH(visit[i], team.unicast[i] + 2048, sizeof visit[i]));
    team_close(&team);
    return check(name, visit);
}

int main(void)
{
    double flags_ps = run("flag_barrier", 0), yours_ps = run("your_barrier", 1);
    if (flags_ps == 0 || yours_ps == 0)
        return 1;
    printf("flag_barrier: %.0f ns, your_barrier: %.0f ns. Both wait for all, and all see what was stored.\n",
           flags_ps / 1000, yours_ps / 1000);
    return 0;
}
