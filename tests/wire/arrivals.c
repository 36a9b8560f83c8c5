/* For tests/wire/test_arrivals.sh: three processes launch the same kernel at times that are known, four times. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fanout/fanout.h>

#define RANKS 3
#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        CUresult r_ = (call);                                                                                          \
        if (r_) {                                                                                                      \
            printf("line %d: %d\n", __LINE__, r_);                                                                     \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* It runs for much longer than one launch is behind the others. */
static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".visible .entry turn()\n{\n.reg .b32 %r<2>; .reg .pred %p;\nmov.u32 %r1, 10000;\n"
                           "again: sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra again;\nret;\n}\n";

static const unsigned at_us[][RANKS] = {{0, 3, 8}, {6, 0, 2}, {0, 0, 9}, {5, 5, 0}};

static int rank(int r)
{
    CUcontext context;
    CUmodule module;
    CUfunction turn;
    char name[8];
    snprintf(name, sizeof name, "%d", r);
    setenv("RANK", name, 1);
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, r));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&turn, module, "turn"));
    for (unsigned i = 0; i < sizeof at_us / sizeof at_us[0]; i++) {
        const uint64_t when_ps = 1000000000ull * (i + 1) + 1000000ull * at_us[i][r];
        uint64_t now_ps;
        CHECK(fo_now_ps(&now_ps));
        if (when_ps <= now_ps)
            return 1;
        const struct timespec left = {0, (long)((when_ps - now_ps) / 1000)};
        if (nanosleep(&left, NULL))
            return 1;
        CHECK(cuLaunchKernel(turn, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
        CHECK(cuCtxSynchronize());
    }
    return 0;
}

int main(void)
{
    int bad = 0, status;
    for (int r = 0; r < RANKS; r++)
        if (fork() == 0)
            _exit(rank(r));
    while (wait(&status) > 0)
        bad |= status;
    return bad != 0;
}
