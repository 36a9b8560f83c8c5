/* Packets of data and flag in one store of 8 or 16 bytes (LL of NCCL and mscclpp), from one process into memory that
 * another one polls: a poll sees a packet whole or not at all, however the lanes' packets lie. Prints ok. */
#include "tests/clients/client.h"

#define LANES 32u
#define TURNS 20000u
#define WRONG (64u << 10) /* where the reader counts, in the same memory */

/* write: TURNS packets a lane, one over the other, of value i and what is made of it. read: polls until the last one
 * has come, and counts those that do not fit together. */
static const char text[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
#define HEAD                                                                                                           \
    "(.param .u64 p, .param .u32 stride, .param .u32 turns) {\n.reg .b64 %d<6>; .reg .b32 %r<16>; .reg .pred %p<3>;\n" \
    "ld.param.u64 %d1, [p]; ld.param.u32 %r1, [stride]; ld.param.u32 %r2, [turns];\n"                                  \
    "mov.u32 %r3, %tid.x; mul.wide.u32 %d2, %r3, %r1; add.s64 %d3, %d1, %d2; add.s64 %d4, %d1, 65536;\n"               \
    "mov.u32 %r4, 0; mov.u32 %r12, 0;\n"
#define TAIL "exit_: red.global.add.u32 [%d4], %r12; ret;\n}\n"
    ".visible .entry write8" HEAD
    "more: add.u32 %r4, %r4, 1; mul.lo.u32 %r5, %r4, 3; st.volatile.global.v2.u32 [%d3], {%r5, %r4};\n"
    "setp.lt.u32 %p1, %r4, %r2; @%p1 bra more; ret;\n}\n"
    ".visible .entry write16" HEAD "more: add.u32 %r4, %r4, 1; mul.lo.u32 %r5, %r4, 3; mul.lo.u32 %r6, %r4, 5;\n"
    "st.volatile.global.v4.u32 [%d3], {%r5, %r4, %r6, %r4}; setp.lt.u32 %p1, %r4, %r2; @%p1 bra more; ret;\n}\n"
    ".visible .entry read8" HEAD
    "more: ld.volatile.global.v2.u32 {%r5, %r4}, [%d3]; mul.lo.u32 %r6, %r4, 3; setp.ne.u32 %p1, %r5, %r6;\n"
    "@%p1 add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r4, %r2; @%p2 bra more;\n" TAIL ".visible .entry read16" HEAD
    "more: ld.volatile.global.v4.u32 {%r5, %r4, %r7, %r8}, [%d3]; mul.lo.u32 %r6, %r4, 3; mul.lo.u32 %r9, %r4, 5;\n"
    "setp.ne.u32 %p1, %r5, %r6; setp.ne.or.u32 %p1, %r7, %r9, %p1; setp.ne.or.u32 %p1, %r4, %r8, %p1;\n"
    "@%p1 add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r4, %r2; @%p2 bra more;\n" TAIL;

/* Packets side by side, and with gaps in which the other half of a line's bytes stays as it is. */
static const struct {
    const char *write, *read;
    unsigned stride;
} forms[] = {{"write8", "read8", 8}, {"write8", "read8", 24}, {"write16", "read16", 16}, {"write16", "read16", 48}};
#define FORMS (sizeof forms / sizeof forms[0])

static void begin(int device, CUmodule *module)
{
    CHECK(cuInit(0));
    use_device(device);
    CHECK(cuModuleLoadData(module, text));
}

static void launch(CUmodule module, const char *name, CUdeviceptr p, unsigned stride)
{
    CUfunction function;
    unsigned turns = TURNS;
    void *params[] = {&p, &stride, &turns};
    CHECK(cuModuleGetFunction(&function, module, name));
    CHECK(cuLaunchKernel(function, 1, 1, 1, LANES, 1, 1, 0, NULL, params, NULL));
}

static void reader(int to, int from)
{
    CUmodule module;
    CUdeviceptr p;
    CUipcMemHandle handle;
    char byte;
    begin(0, &module);
    CHECK(cuMemAlloc(&p, 2 * MIB));
    CHECK(cuIpcGetMemHandle(&handle, p));
    REQUIRE(write(to, &handle, sizeof handle) == sizeof handle);
    REQUIRE(read(from, &byte, 1) == 1);
    for (unsigned f = 0; f < FORMS; f++) {
        CHECK(cuMemsetD32(p, 0, 2 * MIB / 4));
        launch(module, forms[f].read, p, forms[f].stride);
        REQUIRE(write(to, "", 1) == 1);
        CHECK(cuCtxSynchronize());
        unsigned wrong = word_at(p + WRONG);
        if (wrong > 0)
            fprintf(stderr, "%s, stride %u: %u polls saw a part of a packet\n", forms[f].write, forms[f].stride, wrong);
        REQUIRE(wrong == 0);
        REQUIRE(read(from, &byte, 1) == 1);
    }
}

static void writer(int from, int to)
{
    CUmodule module;
    CUdeviceptr p;
    CUipcMemHandle handle;
    char byte;
    begin(1, &module);
    REQUIRE(read(from, &handle, sizeof handle) == sizeof handle);
    CHECK(cuIpcOpenMemHandle(&p, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    REQUIRE(write(to, "", 1) == 1);
    for (unsigned f = 0; f < FORMS; f++) {
        REQUIRE(read(from, &byte, 1) == 1);
        launch(module, forms[f].write, p, forms[f].stride);
        CHECK(cuCtxSynchronize());
        REQUIRE(write(to, "", 1) == 1);
    }
}

int main(void) { return run_pair(reader, writer); }
