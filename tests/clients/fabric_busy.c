/* Memory of a logical endpoint is unbound, and an endpoint destroyed, while a kernel puts to it: the kernel goes on,
 * and what does not arrive is a report at its mbarrier.
 *
 * fabric_busy unicast|multicast|destroy */
#define FANOUT_CUDA_VERSION 13050
#include "tests/clients/client.h"

#define GRAIN (2 * MIB)
#define TURNS 200u

/* A turn is four puts of 1 KiB; of each turn with a report one is counted, and what the last report said is kept. */
#define KERNEL(name, multimem)                                                                                         \
    ".visible .entry " name "(.param .u32 p_id, .param .u64 p_out, .param .u32 p_turns)\n{\n"                          \
    ".reg .b32 %r<20>; .reg .b64 %w<9>; .reg .pred %p<9>; .reg .b8 %b<3>; .reg .b32 id;\n"                             \
    ".shared .align 128 .b8 sm[1024]; .shared .align 8 .b64 bar;\n"                                                    \
    "ld.param.u32 id, [p_id]; ld.param.u64 %w1, [p_out]; ld.param.u32 %r1, [p_turns]; mov.u32 %r2, 0;\n"               \
    "mov.u32 %r3, 0; mov.u32 %r4, 0; mbarrier.init.layout::v1.shared::cta.b64 [bar], 1;\n"                             \
    "$L: mov.u64 %w2, 0;\n$Q: fabric.try_put.async" multimem ".shared::cta.mbarrier::complete_tx::16B"                 \
    ".mbarrier::report::fabric.relaxed.sys.b128 [id, %w2], [sm], 1024, [bar];\n"                                       \
    "add.u64 %w2, %w2, 1024; setp.lt.u64 %p1, %w2, 4096; @%p1 bra $Q;\n"                                               \
    "fabric.submit; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256; and.b32 %r5, %r2, 1;\n"                   \
    "$W: mbarrier.try_wait.parity.phase_type::primary.acquire.cta.shared::cta.b64 %p2|%p3, %b1, [bar], %r5;\n"         \
    "@!%p2 bra $W; @%p3 add.u32 %r3, %r3, 1; @%p3 cvt.u32.u8 %r4, %b1;\n"                                              \
    "add.u32 %r2, %r2, 1; setp.lt.u32 %p4, %r2, %r1; @%p4 bra $L;\n"                                                   \
    "st.global.u32 [%w1], %r3; st.global.u32 [%w1+4], %r4; st.global.u32 [%w1+8], %r2;\nret;\n}\n"

static const char text[] = ".version 9.3\n.target sm_100\n.address_size 64\n" KERNEL("puts", "")
    KERNEL("puts_all", ".multimem");

static CUlogicalEndpointId ready_endpoint(int team, CUdeviceptr *memory)
{
    CUlogicalEndpointProp prop;
    CUlogicalEndpointId id;
    int ready = 0;

    memset(&prop, 0, sizeof prop);
    prop.type = team ? CU_LOGICAL_ENDPOINT_TYPE_MULTICAST : CU_LOGICAL_ENDPOINT_TYPE_UNICAST;
    if (team)
        prop.multicast.numDevices = 2;
    else
        prop.unicast.device = 1;
    prop.size = GRAIN;
    CHECK(cuLogicalEndpointIdReserve(&id, 1));
    CHECK(cuLogicalEndpointCreate(id, &prop));
    for (int d = 0; team && d < 2; d++)
        CHECK(cuLogicalEndpointAddDevice(id, d));
    while (!ready)
        CHECK(cuLogicalEndpointQuery(id, 1, &ready));
    for (int d = team ? 0 : 1; d < 2; d++)
        CHECK(cuLogicalEndpointBindAddr(id, d, 0, (void *)memory[d], GRAIN, 0));
    return id;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "unicast";
    const int team = strcmp(how, "multicast") == 0;
    uint32_t found[3], turns = TURNS;
    CUdeviceptr memory[2], out;
    CUmodule module;
    CUfunction kernel;

    CHECK(cuInit(0));
    for (int d = 1; d >= 0; d--) {
        use_device(d);
        memory[d] = fabric_memory(d, GRAIN);
    }
    CHECK(cuMemAlloc(&out, 16));
    CUlogicalEndpointId id = ready_endpoint(team, memory);
    void *arguments[] = {&id, &out, &turns};
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&kernel, module, team ? "puts_all" : "puts"));
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, arguments, 0));
    for (int i = 0; i < 30; i++) /* each lets a microsecond pass */
        REQUIRE(cuStreamQuery(0) == CUDA_ERROR_NOT_READY);
    if (strcmp(how, "destroy") == 0)
        CHECK(cuLogicalEndpointDestroy(id));
    else
        CHECK(cuLogicalEndpointUnbind(id, 1, 0, GRAIN));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(found, out, sizeof found));
    printf("%s: %s, last report %u of %u turns\n", how, found[0] > 0 && found[0] < TURNS ? "some reported" : "WRONG",
           found[1], found[2]);
    return !(found[0] > 0 && found[0] < TURNS);
}
