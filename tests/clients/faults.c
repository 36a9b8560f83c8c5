/* What a kernel's faults end as: each in a process of its own, since the first one stays with its context. The codes
 * are those of a real driver (H100, driver 580). `faults KIND` makes one, for a look at its report. */
#include <cuda.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"
#define REGISTERS "{ .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .pred %p<4>;\n"
static const struct {
    const char *name, *text;
    CUresult expected;
} kinds[] = {
    {"address",
     HEAD ".visible .entry k() " REGISTERS "mov.u64 %d1, 4096; ld.global.u32 %r1, [%d1];\n"
          "st.global.u32 [%d1], %r1; ret; }\n",
     CUDA_ERROR_ILLEGAL_ADDRESS},
    {"misaligned",
     HEAD ".visible .global .align 8 .b8 g[64];\n.visible .entry k() " REGISTERS
          "mov.u64 %d1, g; st.global.u32 [%d1+2], %r1; ret; }\n",
     CUDA_ERROR_MISALIGNED_ADDRESS},
    {"trap", HEAD ".visible .entry k() { trap; ret; }\n", CUDA_ERROR_LAUNCH_FAILED},
    {"assert",
     HEAD
     ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "
     ".param .b64 e);\n.global .align 1 .b8 what[6] = {104, 101, 114, 101, 33, 0};\n.visible .entry k() " REGISTERS
     "mov.u64 %d1, what; cvta.global.u64 %d2, %d1; mov.u32 %r1, 12; mov.u64 %d3, 1;\n{ .param .b64 a; .param .b64 b; "
     ".param .b32 c; .param .b64 d; .param .b64 e; st.param.b64 [a], %d2; st.param.b64 [b], %d2; st.param.b32 [c], "
     "%r1; st.param.b64 [d], %d2; st.param.b64 [e], %d3; call.uni __assertfail, (a, b, c, d, e); } ret; }\n",
     CUDA_ERROR_ASSERT},
    {"shared",
     HEAD ".visible .entry k() " REGISTERS ".shared .align 4 .b8 s[16]; mov.u32 %r1, 1048576;\n"
          "st.shared.u32 [%r1], %r2; ret; }\n",
     CUDA_ERROR_ILLEGAL_ADDRESS},
    {"lanes",
     HEAD ".visible .entry k() " REGISTERS "mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 37; @%p1 ret;\n"
          "mov.u64 %d1, 0; st.global.u32 [%d1], %r1; ret; }\n",
     CUDA_ERROR_ILLEGAL_ADDRESS},
};

static CUresult run(int i)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction f;
    CUresult r;

    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context))
        return (CUresult)-1;
    if ((r = cuModuleLoadData(&module, kinds[i].text)) || (r = cuModuleGetFunction(&f, module, "k")) ||
        (r = cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL))) {
        printf("%s: before the launch: %d\n", kinds[i].name, r);
        return r;
    }
    r = cuCtxSynchronize();
    if (cuCtxSynchronize() != r) /* it stays */
        printf("%s: does not stay\n", kinds[i].name);
    return r;
}

int main(int argc, char **argv)
{
    int bad = 0;

    for (int i = 0; i < (int)(sizeof kinds / sizeof kinds[0]); i++) {
        int how = 0;
        if (argc > 1) {
            if (strcmp(argv[1], kinds[i].name) == 0)
                return run(i) != kinds[i].expected;
            continue;
        }
        fflush(stdout);
        if (fork() == 0) {
            CUresult got = run(i);
            if (got != kinds[i].expected)
                printf("%s: %d, expected %d\n", kinds[i].name, got, kinds[i].expected);
            fflush(stdout);
            _exit(got != kinds[i].expected);
        }
        wait(&how);
        bad |= how != 0;
    }
    puts(bad ? "bad" : "ok");
    return bad;
}
