/* Kernels that go wrong while they run, each in a process of its own: calls without end, wild jumps and calls, loops
 * without end, more shared memory than there is. Each ends as an error of the API, and the log says where. With a
 * name it runs that one alone. Prints ok. */
#include "tests/clients/client.h"

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"
#define REGISTERS "{ .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .pred %p<4>;\n"
#define THREADS 64

static const struct {
    const char *name, *text;
    unsigned shared;
    CUresult load, launch, end;
} kinds[] = {
    {"cycle",
     HEAD ".func a();\n.func b() { call.uni a, (); ret; }\n"
          ".func a() { .local .align 8 .b8 x[256]; .reg .b64 %d; mov.u64 %d, x; st.local.u64 [%d], %d; "
          "call.uni b, (); ret;\n}\n"
          ".visible .entry k() { call.uni a, (); ret; }\n",
     .end = CUDA_ERROR_LAUNCH_FAILED},
    {"jump",
     HEAD ".visible .entry k() " REGISTERS "mov.u32 %r1, 77;\nT: .branchtargets A, B;\nbrx.idx %r1, T;\n"
          "A: ret;\nB: ret; }\n",
     .end = CUDA_ERROR_LAUNCH_FAILED},
    {"call",
     HEAD ".visible .entry k() " REGISTERS "mov.u64 %d1, 4096;\nP: .callprototype _ ();\ncall %d1, (), P;\n"
          "ret; }\n",
     .end = CUDA_ERROR_LAUNCH_FAILED},
    {"loop", HEAD ".visible .entry k() " REGISTERS "L: bra L; }\n", .end = CUDA_ERROR_LAUNCH_TIMEOUT},
    {"shared", HEAD ".visible .entry k() { .shared .align 4 .b8 s[4294967296]; ret; }\n",
     .load = CUDA_ERROR_INVALID_PTX},
    {"dynamic", HEAD ".visible .entry k() { ret; }\n", .shared = 0xffffffffu, .launch = CUDA_ERROR_INVALID_VALUE},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

static void expect(const char *name, const char *when, CUresult seen, CUresult wanted)
{
    if (seen == wanted)
        return;
    printf("%s: %s: %d, not %d\n", name, when, (int)seen, (int)wanted);
    exit(1);
}

static void run(unsigned i)
{
    CUcontext context;
    CUmodule module;
    CUfunction function = NULL;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CUresult result = cuModuleLoadData(&module, kinds[i].text);
    if (result == CUDA_SUCCESS)
        result = cuModuleGetFunction(&function, module, "k");
    expect(kinds[i].name, "load", result, kinds[i].load);
    if (result != CUDA_SUCCESS)
        return;
    result = cuLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, kinds[i].shared, NULL, NULL, NULL);
    expect(kinds[i].name, "launch", result, kinds[i].launch);
    if (result == CUDA_SUCCESS)
        expect(kinds[i].name, "end", cuCtxSynchronize(), kinds[i].end);
}

int main(int argc, char **argv)
{
    int bad = 0;
    for (unsigned i = 0; i < KINDS; i++) {
        int how = 0;
        if (argc > 1 && strcmp(argv[1], kinds[i].name) == 0) {
            run(i);
            return 0;
        }
        if (argc > 1)
            continue;
        pid_t child = fork();
        if (child == 0) {
            run(i);
            return 0;
        }
        REQUIRE(waitpid(child, &how, 0) == child);
        bad |= how != 0;
    }
    if (argc > 1 || bad)
        return 1;
    puts("ok");
    return 0;
}
