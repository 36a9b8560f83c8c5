/* Wrong uses of logical endpoints, one a run: what the calls answer is printed, a line each, and the report says the
 * rest. The endpoint of each run has the number 1, is device 1's, and where memory is bound has 2 MiB of it.
 *
 * endpoints_bad unreserved|alive|early|aligned|clique|unwaited|full */
#define FANOUT_CUDA_VERSION 13050
#include "tests/clients/client.h"

#define GRAIN (2 * MIB)
#define ID 1u /* the first that is given out */

#define PUT                                                                                                            \
    "fabric.try_put.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.relaxed.sys.b128 [id, "      \
    "off], "                                                                                                           \
    "[sm], 256, [bar];\n"
#define BEGIN(name)                                                                                                    \
    ".visible .entry " name "(.param .u32 p_id, .param .u64 p_out)\n{\n"                                               \
    ".reg .b32 %r<9>; .reg .b64 %w<9>; .reg .pred %p<9>; .reg .b8 %b<3>; .reg .b32 id; .reg .b64 off;\n"               \
    ".shared .align 128 .b8 sm[1024]; .shared .align 8 .b64 bar;\n"                                                    \
    "ld.param.u32 id, [p_id]; ld.param.u64 %w1, [p_out]; mov.u64 off, 0;\n"                                            \
    "mbarrier.init.layout::v1.shared::cta.b64 [bar], 1;\n"
#define WAIT(tx)                                                                                                       \
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " tx ";\n"                                                    \
    "$W: mbarrier.try_wait.parity.phase_type::primary.acquire.cta.shared::cta.b64 %p2|%p3, %b1, [bar], 0;\n"           \
    "@!%p2 bra $W;\n"

/* One put and what its report says; one that nobody waits for; 64 of them. */
static const char text[] = ".version 9.3\n.target sm_100\n.address_size 64\n" BEGIN("one") PUT "fabric.submit;\n" WAIT(
    "16") "cvt.u32.u8 %r1, %b1; selp.u32 %r2, 256, 0, %p3; or.b32 %r1, %r1, %r2; st.global.u32 [%w1], %r1;\n"
          "ret;\n}\n" BEGIN("unwaited") PUT
    "fabric.submit;\nret;\n}\n" BEGIN("many") "mov.u32 %r1, 0;\n$L:\n" PUT
                                              "add.s64 off, off, 256; add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 64; "
                                              "@%p1 bra $L;\nfabric.submit;\n" WAIT("1024") "ret;\n}\n";

static void say(const char *what, CUresult result)
{
    const char *name = "?";

    cuGetErrorName(result, &name);
    printf("%s: %s\n", what, name);
}

static CUlogicalEndpointProp of_device_1(void)
{
    CUlogicalEndpointProp prop;

    memset(&prop, 0, sizeof prop);
    prop.type = CU_LOGICAL_ENDPOINT_TYPE_UNICAST;
    prop.unicast.device = 1;
    prop.size = GRAIN;
    return prop;
}

static void create(int wait)
{
    CUlogicalEndpointProp prop = of_device_1();
    CUlogicalEndpointId id;
    int ready = 0;

    CHECK(cuLogicalEndpointIdReserve(&id, 1));
    REQUIRE(id == ID);
    CHECK(cuLogicalEndpointCreate(ID, &prop));
    while (wait && !ready)
        CHECK(cuLogicalEndpointQuery(ID, 1, &ready));
}

static CUmemGenericAllocationHandle memory(size_t bytes)
{
    CUmemAllocationProp prop = device_memory(1, 0);
    CUmemGenericAllocationHandle handle;

    CHECK(cuMemCreate(&handle, bytes, &prop, 0));
    return handle;
}

static CUresult copy_to(CUlogicalEndpointId id, CUdeviceptr from)
{
    CUDA_FABRIC_COPY_BATCH_OP op;
    CUstream stream;

    memset(&op, 0, sizeof op);
    op.src.type = CU_FABRIC_COPY_OPERAND_TYPE_POINTER;
    op.src.op.ptr.ptr = from;
    op.dst.type = CU_FABRIC_COPY_OPERAND_TYPE_LOGICAL_ENDPOINT;
    op.dst.op.le.id = id;
    op.size = 16;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return cuFabricCpyBatchAsync(1, &op, 0, stream);
}

/* Runs a kernel on device 0; what it wrote. */
static uint32_t run(const char *name)
{
    CUlogicalEndpointId id = ID;
    CUdeviceptr out;
    void *arguments[] = {&id, &out};
    CUmodule module;
    CUfunction kernel;
    CUresult result;

    CHECK(cuMemAlloc(&out, 4));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&kernel, module, name));
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, arguments, 0));
    result = cuCtxSynchronize();
    say("kernel", result);
    return result == CUDA_SUCCESS ? word_at(out) : 0;
}

/* An identifier that nobody reserved, in every call that takes one. */
static void unreserved(CUdeviceptr local)
{
    CUlogicalEndpointProp prop = of_device_1();
    CUlogicalEndpointFabricHandle handle;
    int ready = -1;

    memset(&handle, 0, sizeof handle);
    say("create", cuLogicalEndpointCreate(ID, &prop));
    say("import", cuLogicalEndpointImport(ID, &handle, CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_FABRIC));
    say("add", cuLogicalEndpointAddDevice(ID, 1));
    say("query", cuLogicalEndpointQuery(ID, 1, &ready));
    say("bind", cuLogicalEndpointBindMem(ID, 1, 0, memory(GRAIN), 0, GRAIN, 0));
    say("unbind", cuLogicalEndpointUnbind(ID, 1, 0, GRAIN));
    say("export", cuLogicalEndpointExport(&handle, ID, CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_FABRIC));
    say("destroy", cuLogicalEndpointDestroy(ID));
    say("release", cuLogicalEndpointIdRelease(ID, 1));
    say("copy", copy_to(ID, local));
    printf("report %u\n", run("one"));
}

/* A team that is asked for before its devices are there: not ready, and nothing can be bound. */
static void early(void)
{
    CUlogicalEndpointProp prop = of_device_1();
    CUlogicalEndpointId id;
    int ready = -1;

    prop.type = CU_LOGICAL_ENDPOINT_TYPE_MULTICAST;
    prop.multicast.numDevices = 2;
    CHECK(cuLogicalEndpointIdReserve(&id, 1));
    CHECK(cuLogicalEndpointCreate(ID, &prop));
    CHECK(cuLogicalEndpointAddDevice(ID, 1));
    say("query", cuLogicalEndpointQuery(ID, 1, &ready));
    printf("ready %d\n", ready);
    say("bind", cuLogicalEndpointBindMem(ID, 1, 0, memory(GRAIN), 0, GRAIN, 0));
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    CUdeviceptr local;

    CHECK(cuInit(0));
    use_device(0);
    CHECK(cuMemAlloc(&local, 16));
    if (strcmp(how, "unreserved") == 0) {
        unreserved(local);
    } else if (strcmp(how, "early") == 0) {
        early();
    } else if (strcmp(how, "aligned") == 0) {
        create(1);
        say("offset", cuLogicalEndpointBindMem(ID, 1, 4096, memory(GRAIN), 0, GRAIN, 0));
        say("memory", cuLogicalEndpointBindMem(ID, 1, 0, memory(2 * GRAIN), 65536, GRAIN, 0));
        say("size", cuLogicalEndpointBindMem(ID, 1, 0, memory(GRAIN), 0, GRAIN - 256, 0));
        say("unbind", cuLogicalEndpointUnbind(ID, 1, 0, 4096));
    } else if (strcmp(how, "alive") == 0) {
        create(0);
        say("release", cuLogicalEndpointIdRelease(ID, 1));
        say("destroy", cuLogicalEndpointDestroy(ID));
        say("release", cuLogicalEndpointIdRelease(ID, 1));
    } else {
        create(1);
        CHECK(cuLogicalEndpointBindMem(ID, 1, 0, memory(GRAIN), 0, GRAIN, 0));
        if (strcmp(how, "clique") == 0)
            say("copy", copy_to(ID, local));
        printf("report %u\n", run(strcmp(how, "clique") == 0 ? "one" : strcmp(how, "full") == 0 ? "many" : "unwaited"));
    }
    return 0;
}
