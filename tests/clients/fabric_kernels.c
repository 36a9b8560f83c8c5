/* A kernel with several fabric.* at once on endpoints that the driver made: every rank puts a block to its neighbour,
 * whose counter counts it, and one to all, waits for its own counter by plain loads, and brings the sum of all ranks'
 * words into its shared memory. Everything is compared, word by word. */
#include "tests/clients/endpoint_ranks.h"

#define WORDS 256u /* of a block */
#define BLOCK (WORDS * 4)
#define COUNTER 65536u /* of the own endpoint's memory */
#define FOUND 131072u
#define TO_ALL 0u /* of the team's: a block of each rank, and what is summed */
#define SUMMED 131072u

static const char text[] =
    ".version 9.3\n.target sm_100\n.address_size 64\n"
    ".visible .entry exchange(.param .u32 p_next, .param .u32 p_team, .param .u64 p_own, .param .u32 p_rank)\n{\n"
    ".reg .b32 %r<20>; .reg .b64 %w<20>; .reg .pred %p<9>; .reg .b8 %b<3>; .reg .b32 next; .reg .b32 team;\n"
    ".reg .b64 off; .reg .b64 ctr; .reg .b64 all; .reg .b64 sums;\n"
    ".shared .align 128 .b8 sm[2048]; .shared .align 8 .b64 sent; .shared .align 8 .b64 fetched;\n"
    "ld.param.u32 next, [p_next]; ld.param.u32 team, [p_team]; ld.param.u64 %w1, [p_own]; ld.param.u32 %r1, [p_rank];\n"
    "mov.u32 %r3, %tid.x; mov.u32 %r5, sm; mov.u64 off, 0; mov.u64 ctr, 65536; mov.u64 sums, 131072;\n"
    "mul.wide.u32 all, %r1, 1024; setp.eq.u32 %p1, %r3, 0; mul.lo.u32 %r4, %r1, 1000; mov.u32 %r6, %r3;\n"
    "$F: add.u32 %r7, %r4, %r6; shl.b32 %r8, %r6, 2; add.u32 %r8, %r8, %r5; st.shared.u32 [%r8], %r7;\n"
    "add.u32 %r6, %r6, 32; setp.lt.u32 %p2, %r6, 256; @%p2 bra $F;\n"
    "@%p1 mbarrier.init.layout::v1.shared::cta.b64 [sent], 1;\n"
    "@%p1 mbarrier.init.layout::v1.shared::cta.b64 [fetched], 1;\n"
    "bar.sync 0; fence.proxy.async.shared::cta;\n"
    "@%p1 fabric.try_put.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.counted::bytes"
    ".relaxed.sys.b128 [next, off, ctr], [sm], 1024, [sent];\n"
    "@%p1 fabric.try_put.async.multimem.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric"
    ".relaxed.sys.b128 [team, all], [sm], 1024, [sent];\n"
    "fabric.submit;\n@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [sent], 128;\n"
    "$S: mbarrier.try_wait.parity.phase_type::primary.acquire.cta.shared::cta.b64 %p2|%p3, %b1, [sent], 0;\n"
    "@!%p2 bra $S;\n@%p3 trap;\n"
    "$C: ld.acquire.sys.global.u64 %w2, [%w1+65536]; setp.ne.u64 %p2, %w2, 1024; @%p2 bra $C;\n"
    "fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric"
    ".relaxed.sys.add.u32.sync [sm+1024], [team, sums], 1024, [fetched], 0xffffffff;\n"
    "fabric.submit.op_restrict::fetching;\n@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [fetched], 1024;\n"
    "$P: mbarrier.try_wait.parity.phase_type::primary.acquire.cta.shared::cta.b64 %p2|%p3, %b1, [fetched], 0;\n"
    "@!%p2 bra $P;\n@%p3 trap;\nmov.u32 %r6, %r3;\n"
    "$O: shl.b32 %r8, %r6, 2; add.u32 %r9, %r8, %r5; ld.shared.u32 %r10, [%r9+1024]; cvt.u64.u32 %w3, %r8;\n"
    "add.s64 %w4, %w1, %w3; st.global.u32 [%w4+131072], %r10;\n"
    "add.u32 %r6, %r6, 32; setp.lt.u32 %p2, %r6, 256; @%p2 bra $O;\nret;\n}\n";

static uint32_t begins(int rank, unsigned i) { return (uint32_t)rank * 1000 + i; }
static uint32_t summand(int rank, unsigned i) { return (uint32_t)(rank + 1) * (i + 1); }

static void launch(const Ranks *me, int r)
{
    uint32_t next = me->id + (unsigned)((r + 1) % me->ranks), team = team_of(me), rank = (uint32_t)r;
    CUdeviceptr own = me->own[r];
    void *arguments[] = {&next, &team, &own, &rank};
    CUmodule module;
    CUfunction kernel;

    use_rank(me, r);
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&kernel, module, "exchange"));
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, arguments, 0));
}

static void look(const Ranks *me, int r)
{
    const int before = (r + me->ranks - 1) % me->ranks;
    uint32_t want[WORDS], sums[WORDS] = {0};

    use_rank(me, r);
    for (int from = 0; from < me->ranks; from++) {
        for (unsigned i = 0; i < WORDS; i++) {
            want[i] = begins(from, i);
            sums[i] += summand(from, i);
        }
        compare(me, me->shared[r] + TO_ALL + (size_t)from * BLOCK, want, WORDS);
        if (from == before)
            compare(me, me->own[r], want, WORDS);
    }
    compare(me, me->own[r] + FOUND, sums, WORDS);
}

static void work(const Ranks *me)
{
    uint32_t words[WORDS];

    for (int r = me->first; r < me->last; r++) {
        for (unsigned i = 0; i < WORDS; i++)
            words[i] = summand(r, i);
        use_rank(me, r);
        CHECK(cuMemcpyHtoD(me->shared[r] + SUMMED, words, sizeof words));
    }
    meet(me);
    for (int r = me->first; r < me->last; r++)
        launch(me, r);
    for (int r = me->first; r < me->last; r++) {
        use_rank(me, r);
        CHECK(cuCtxSynchronize());
    }
    meet(me);
    for (int r = me->first; r < me->last; r++)
        look(me, r);
}

int main(int argc, char **argv) { return run_program(argc, argv, work); }
