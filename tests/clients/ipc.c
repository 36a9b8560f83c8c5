/* Memory of one process mapped by another: cuIpcGetMemHandle, cuIpcOpenMemHandle, cuIpcCloseMemHandle. The second
 * process reads what the first wrote, by a copy and by a kernel, and writes back, also while it waits for no call.
 * Prints ok. */
#include "tests/clients/client.h"

#define WORDS 256u

static const char text[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry more(.param .u64 p)\n{\n.reg .b64 %d<4>; .reg .b32 %r<4>;\nld.param.u64 %d1, [p];\n"
    "mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;\n"
    "ld.global.u32 %r2, [%d3]; add.u32 %r2, %r2, 1000; st.global.u32 [%d3], %r2; ret;\n}\n";

typedef struct {
    CUipcMemHandle small, large;
} Handles;

static void begin(void)
{
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
}

static void fill(CUdeviceptr at, unsigned from)
{
    unsigned words[WORDS];
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = from + i;
    CHECK(cuMemcpyHtoD(at, words, sizeof words));
}

static void owner(int to, int from)
{
    CUdeviceptr small[2], large, mine;
    Handles handles, again;
    unsigned words[WORDS];
    char byte;
    begin();
    for (int i = 0; i < 2; i++) /* a second piece of a larger memory */
        CHECK(cuMemAlloc(&small[i], sizeof words));
    CHECK(cuMemAlloc(&large, 8 * MIB));
    fill(small[1], 1);
    fill(large + 4 * MIB, 5);
    CHECK(cuIpcGetMemHandle(&handles.small, small[1]));
    CHECK(cuIpcGetMemHandle(&handles.large, large));
    CHECK(cuIpcGetMemHandle(&again.large, large + 4 * MIB)); /* the same allocation */
    REQUIRE(memcmp(&handles.large, &again.large, sizeof again.large) == 0);
    REQUIRE(cuIpcGetMemHandle(&again.small, 4096) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cuIpcOpenMemHandle(&mine, handles.small, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) == CUDA_ERROR_INVALID_CONTEXT);
    REQUIRE(write(to, &handles, sizeof handles) == sizeof handles);
    REQUIRE(read(from, &byte, 1) == 1);
    CHECK(cuMemcpyDtoH(words, small[1], sizeof words));
    for (unsigned i = 0; i < WORDS; i++)
        REQUIRE(words[i] == 1001 + i);
    /* what the other process hands out gets here, though it waits for nothing but our answer */
    REQUIRE(write(to, "", 1) == 1);
    do {
        CHECK(cuMemcpyDtoH(words, small[1], sizeof words[0]));
    } while (words[0] != 77);
    REQUIRE(write(to, "", 1) == 1);
    CHECK(cuMemFree(small[1]));
}

static void guest(int from, int to)
{
    CUdeviceptr p, again, large;
    CUmodule module;
    CUfunction function;
    Handles handles;
    unsigned words[WORDS];
    char byte;
    begin();
    REQUIRE(read(from, &handles, sizeof handles) == sizeof handles);
    CHECK(cuIpcOpenMemHandle(&p, handles.small, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    CHECK(cuIpcOpenMemHandle(&again, handles.small, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    REQUIRE(p == again);
    CHECK(cuIpcOpenMemHandle(&large, handles.large, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    CHECK(cuMemcpyDtoH(words, large + 4 * MIB, sizeof words));
    REQUIRE(words[0] == 5 && words[WORDS - 1] == 4 + WORDS);
    REQUIRE(cuMemFree(p) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&function, module, "more"));
    void *params[] = {&p};
    CHECK(cuLaunchKernel(function, 1, 1, 1, WORDS, 1, 1, 0, NULL, params, NULL));
    CHECK(cuCtxSynchronize());
    REQUIRE(write(to, "", 1) == 1);
    REQUIRE(read(from, &byte, 1) == 1);
    CHECK(cuMemsetD32Async(p, 77, 1, NULL));
    REQUIRE(read(from, &byte, 1) == 1);
    CHECK(cuIpcCloseMemHandle(p));
    CHECK(cuIpcCloseMemHandle(p));
    REQUIRE(cuIpcCloseMemHandle(p) == CUDA_ERROR_INVALID_VALUE);
    memset(&handles.small, 1, sizeof handles.small);
    REQUIRE(cuIpcOpenMemHandle(&p, handles.small, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cuIpcOpenMemHandle(&p, handles.large, 6) == CUDA_ERROR_INVALID_VALUE);
}

int main(void) { return run_pair(owner, guest); }
