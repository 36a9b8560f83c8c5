/* Events of one process in another: cuIpcGetEventHandle, cuIpcOpenEventHandle. What one records the other waits for, in
 * a stream and on the host, both ways, while the process that recorded makes no call. Prints ok. */
#include "tests/clients/client.h"

static const char text[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry late(.param .u64 p, .param .u32 value)\n{\n.reg .b64 %d<2>; .reg .b32 %r<3>; .reg .pred %p;\n"
    "ld.param.u64 %d1, [p]; ld.param.u32 %r2, [value];\nmov.u32 %r1, 0;\n"
    "more: nanosleep.u32 10000; add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 50; @%p bra more;\n"
    "st.global.u32 [%d1], %r2; ret;\n}\n";

typedef struct {
    CUipcMemHandle memory;
    CUipcEventHandle event;
} Handles;

typedef struct {
    CUstream stream;
    CUfunction late;
    CUdeviceptr p;
} Side;

static void begin(Side *side)
{
    CUcontext context;
    CUmodule module;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&side->stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&side->late, module, "late"));
}

/* Half a millisecond of simulated time, and then the value stands in the memory. */
static void launch(Side *side, unsigned value)
{
    void *params[] = {&side->p, &value};
    CHECK(cuLaunchKernel(side->late, 1, 1, 1, 1, 1, 1, 0, side->stream, params, NULL));
}

static void expect(Side *side, unsigned value)
{
    unsigned found = 0;
    CHECK(cuMemcpyDtoHAsync(&found, side->p, sizeof found, side->stream));
    CHECK(cuStreamSynchronize(side->stream));
    REQUIRE(found == value);
}

static void wrong(CUevent mine, CUipcEventHandle handle)
{
    CUipcEventHandle other;
    CUevent plain, opened;
    CHECK(cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING));
    REQUIRE(cuEventCreate(&opened, CU_EVENT_INTERPROCESS) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cuIpcGetEventHandle(&other, plain) == CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(cuIpcGetEventHandle(NULL, mine) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cuIpcOpenEventHandle(&opened, handle) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cuEventDestroy(plain));
    REQUIRE(cuIpcGetEventHandle(&other, plain) == CUDA_ERROR_INVALID_HANDLE);
}

static void owner(int to, int from)
{
    Handles handles;
    CUevent event;
    CUdeviceptr gate;
    CUstream other;
    Side side;
    char byte;
    begin(&side);
    CHECK(cuMemAlloc(&side.p, 2 * MIB));
    CHECK(cuMemAlloc(&gate, 4));
    CHECK(cuMemsetD32(side.p, 0, 1));
    CHECK(cuMemsetD32(gate, 0, 1));
    CHECK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    CHECK(cuIpcGetMemHandle(&handles.memory, side.p));
    CHECK(cuIpcGetEventHandle(&handles.event, event));
    wrong(event, handles.event);
    REQUIRE(write(to, &handles, sizeof handles) == sizeof handles);
    REQUIRE(read(from, &byte, 1) == 1); /* never recorded: the guest did not wait */
    launch(&side, 7);
    CHECK(cuEventRecord(event, side.stream));
    REQUIRE(cuEventQuery(event) == CUDA_ERROR_NOT_READY);
    REQUIRE(write(to, "", 1) == 1);
    REQUIRE(read(from, &byte, 1) == 1); /* no call of this process waits meanwhile */
    CHECK(cuEventQuery(event));
    CHECK(cuStreamWaitValue32(side.stream, gate, 1, 0));
    launch(&side, 8);
    CHECK(cuEventRecord(event, side.stream));
    REQUIRE(write(to, "", 1) == 1);
    usleep(1200000); /* longer than a process that nothing can help waits */
    CHECK(cuStreamWriteValue32(other, gate, 1, 0));
    REQUIRE(read(from, &byte, 1) == 1); /* the guest has recorded now */
    CHECK(cuStreamWaitEvent(side.stream, event, 0));
    expect(&side, 9);
    CHECK(cuEventQuery(event));
    CHECK(cuEventSynchronize(event));
    CHECK(cuEventDestroy(event));
    REQUIRE(write(to, "", 1) == 1);
    REQUIRE(read(from, &byte, 1) == 1);
}

static void guest(int from, int to)
{
    CUipcEventHandle again;
    Handles handles;
    CUevent event;
    Side side;
    char byte;
    float ms;
    begin(&side);
    REQUIRE(read(from, &handles, sizeof handles) == sizeof handles);
    CHECK(cuIpcOpenMemHandle(&side.p, handles.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    CHECK(cuIpcOpenEventHandle(&event, handles.event));
    CHECK(cuEventQuery(event));
    CHECK(cuEventSynchronize(event));
    REQUIRE(cuIpcGetEventHandle(&again, event) == CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(cuEventElapsedTime(&ms, event, event) == CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(write(to, "", 1) == 1);
    REQUIRE(read(from, &byte, 1) == 1);
    CHECK(cuStreamWaitEvent(side.stream, event, 0));
    expect(&side, 7);
    CHECK(cuEventQuery(event));
    REQUIRE(write(to, "", 1) == 1);
    REQUIRE(read(from, &byte, 1) == 1);
    CHECK(cuEventSynchronize(event));
    expect(&side, 8);
    launch(&side, 9);
    CHECK(cuEventRecord(event, side.stream));
    REQUIRE(write(to, "", 1) == 1);
    REQUIRE(read(from, &byte, 1) == 1); /* the owner waited for it, and destroyed its event */
    CHECK(cuEventQuery(event));
    CHECK(cuEventDestroy(event));
    REQUIRE(cuIpcOpenEventHandle(&event, handles.event) == CUDA_ERROR_INVALID_HANDLE);
    memset(&handles.event, 1, sizeof handles.event);
    REQUIRE(cuIpcOpenEventHandle(&event, handles.event) == CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(write(to, "", 1) == 1);
}

int main(void) { return run_pair(owner, guest); }
