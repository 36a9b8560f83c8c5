/* A device program, in C and in C++: a kernel in which each thread doubles its number. */
#include <fanout/fanout.h>
#include <stdio.h>

#define THREADS 64

struct Args {
    FoAddress numbers;
};

static void program(FoCta *cta, const void *data)
{
    const struct Args *args = (const struct Args *)data;
    FoReg *mine = fo_reg(cta, 4), *sum = fo_reg(cta, 4);
    fo_ld(cta, mine, args->numbers);
    fo_ld(cta, sum, args->numbers);
    fo_combine(cta, sum, mine, FO_U32, FO_ADD);
    fo_st(cta, args->numbers, sum);
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUdeviceptr memory;
    unsigned numbers[THREADS], i;
    struct Args args;
    FoKernel kernel;
    for (i = 0; i < THREADS; i++)
        numbers[i] = i + 1;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
        cuCtxSetCurrent(context) || cuMemAlloc(&memory, sizeof numbers) ||
        cuMemcpyHtoD(memory, numbers, sizeof numbers))
        return 1;
    args.numbers = memory;
    kernel.name = "double";
    kernel.program = program;
    kernel.args = &args;
    kernel.args_bytes = sizeof args;
    kernel.ctas = 1;
    kernel.threads = THREADS;
    if (fo_launch(&kernel, NULL) || cuCtxSynchronize() || cuMemcpyDtoH(numbers, memory, sizeof numbers))
        return 1;
    for (i = 0; i < THREADS; i++)
        if (numbers[i] != 2 * (i + 1)) {
            printf("number %u: %u\n", i, numbers[i]);
            return 1;
        }
    printf("device program: %d numbers doubled\n", THREADS);
    return 0;
}
