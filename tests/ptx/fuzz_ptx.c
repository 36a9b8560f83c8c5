/* Fuzz target of the PTX reader: whatever the bytes, a module is read and its bodies lowered, or an error says why
 * not; never a crash, a hang or a leak. What can be read is also run for a while.
 *
 * With libFuzzer, from the build tree after make:
 *
 *     clang -DFUZZ_LIBFUZZER -fsanitize=fuzzer -D_GNU_SOURCE -I$SRC -I$SRC/api/include -I. \
 *         $SRC/tests/ptx/fuzz_ptx.c $SRC/tests/ptx/flat_host.c -Wl,-u,sc_main .libs/libfanout_core.a -lstdc++
 * -lm \ -lpthread $(pkg-config --cflags --libs glib-2.0 gio-2.0 zlib yajl libprotobuf-c json-glib-1.0 systemc)
 *
 * Alone (make check, make fuzz): files named as arguments, else tests/fuzz.h's mutations of the built-in texts, and
 * such with PTX's own words. */
#include "tests/test.h"

#include <stdlib.h>

#include "sim/rng.h"
#include "tests/ptx/flat_host.h"
#include "tests/fuzz.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize bytes);

static void drive(const char *text, gsize bytes)
{
    Flat *flat = flat_new(1 << 16);
    GError *error = NULL;
    FlatModule *loaded = flat_load(flat, "fuzz.ptx", text, (gssize)bytes, &error);
    flat->turns_max = 20;
    flat->slice = 200;
    for (guint i = 0; loaded && i < loaded->module->functions->len; i++) {
        PtxFunction *function = loaded->module->functions->pdata[i];
        PtxUsage usage;
        guint8 *param = g_malloc0(function->param_bytes + 8u);
        if (!function->body || !ptx_function_usage(function, &usage, &error)) {
            g_clear_error(&error);
        } else if (function->entry) {
            guint64 va = FLAT_BASE;
            memcpy(param, &va, MIN(8u, function->param_bytes));
            flat_launch(loaded, function->symbol->name, 1, 40, 64, param, &error);
        }
        if (error)
            g_assert(g_utf8_validate(error->message, -1, NULL));
        g_clear_error(&error);
        g_free(param);
    }
    if (error)
        g_assert(g_utf8_validate(error->message, -1, NULL));
    g_clear_error(&error);
    flat_unload(loaded);
    flat_free(flat);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize bytes)
{
    char *copy = g_malloc(bytes + 1); /* with nothing readable behind it */
    memcpy(copy, data, bytes);
    copy[bytes] = '\0';
    drive(copy, bytes);
    g_free(copy);
    return 0;
}

#ifndef FUZZ_LIBFUZZER

#define HEAD ".version 8.6\n.target sm_100a\n.address_size 64\n"
static const FuzzSeed seeds[] = {
    {"ptx",
     HEAD
     ".extern .shared .align 16 .b8 more[];\n.shared .align 8 .b32 fixed[5];\n.const .align 4 .f32 half = 0f3f000000;\n"
     ".visible .global .align 16 .b32 list[3] = {1, -2, 0x30};\n.weak .global .align 8 .u64 at[2] = {generic(list)+8, "
     "list};\n"
     ".func (.reg .u32 o) f(.reg .u32 i) { .local .align 8 .b8 x[24]; st.local.u32 [x+4],i; add.u32 o,i,1; ret; }\n"
     ".visible .entry k(.param .u64 .ptr .global .align 8 p, .param .b8 q[12]) .maxntid 64, 2\n{ // comment\n"
     " .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p<3>; .shared .b32 own[3];\n ld.param.u32 %r0,[q+4]; call "
     "(%r1),f,(%r0);\n"
     " mov.u32 %r2,own; mov.u64 %d0,more; st.shared.u32 [%r2],%r1; st.shared.v2.f32 [%d0],{1.5,-2e1};\n"
     "L: add.u32 %r0,%r0,%tid.x; setp.lt.and.u32 %p0|%p1,%r0,40,!%p2; @%p0 bra L; bar.sync 0;\n"
     " ld.param.u64 %d1,[p]; ld.global.v2.u32 {%r3,%r4},[%d1]; shfl.sync.bfly.b32 %r5|%p1,%r3,4,0x1f,-1; st.global.u32 "
     "[%d1+8],%r5; ret; }\n",
     0},
    {"ptx-2",
     HEAD
     ".visible .entry k(.param .u64 p) { .reg .b64 %d<9>; .reg .f32 %f<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg "
     ".pred "
     "%q;\n"
     " .shared .align 8 .b64 bar; ld.param.u64 %d0,[p]; cvt.rn.satfinite.e4m3x2.f32 %h1,%f1,%f2; fma.rn.bf16x2 "
     "%r1,%r2,%r3,%r4;\n"
     " atom.global.add.u32 %r5,[%d0],1; red.relaxed.gpu.global.max.s32 [%d0+4],%r5; atom.cas.b64 %d1,[%d0+8],%d2,%d3;\n"
     " mov.u32 %r6,bar; mbarrier.init.shared.b64 [%r6],40; mbarrier.arrive.shared.b64 %d4,[%r6]; vote.sync.ballot.b32 "
     "%r7,%q,-1;\n"
     " { .param .b32 a; P: .callprototype _ (.param .b32 _); st.param.b32 [a],%r7; @%q call %d0,(a),P; }\n"
     " T: .branchtargets A, B; and.b32 %r8,%r8,1; brx.idx %r8,T; A: trap; B: "
     "multimem.ld_reduce.acquire.sys.global.add.v4.f32 {%f0,%f1,%f2,%f3},[%d0];\n"
     " lop3.b32 %r1,%r2,%r3,%r4,0x96; prmt.b32 %r1,%r2,%r3,0x5410; vadd4.s32.s32.s32.sat %r1,%r2,%r3,%r4; ret; }\n",
     0},
    {"ptx-fabric",
     ".version 9.3\n.target sm_100\n.address_size 64\n.visible .entry k(.param .u32 p_next, .param .u64 p_own) {\n"
     " .reg .b32 %r<9>; .reg .b64 %w<9>; .reg .pred %p<4>; .reg .b8 %b<2>; .reg .b16 %h<2>;\n"
     " .shared .align 128 .b8 sm[2048]; .shared .align 8 .b64 bar; ld.param.u32 %r0,[p_next]; ld.param.u64 "
     "%w1,[p_own];\n"
     " mov.u32 %r3,%tid.x; mov.u64 %w2,0; mov.u64 %w3,65536; mov.b16 %h1,7; setp.eq.u32 %p1,%r3,0;\n"
     " @%p1 mbarrier.init.layout::v1.shared::cta.b64 [bar],1; fence.proxy.async.shared::cta; bar.sync 0;\n"
     " @%p1 fabric.try_put.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.counted::bytes"
     ".relaxed.sys.b128 [%r0,%w2,%w3],[sm],1024,[bar];\n"
     " @%p1 fabric.try_put.async.multimem.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric"
     ".relaxed.sys.b128 [%r0,%w2],[sm],1024,[bar];\n"
     " @%p1 fabric.try_get.async.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.b128 "
     "[sm],[%r0,%w2],256,[bar];\n"
     " fabric.submit;\n @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _,[bar],128;\n"
     "S: mbarrier.try_wait.parity.phase_type::primary.acquire.cta.shared::cta.b64 %p2|%p3,%b1,[bar],0; @!%p2 bra S;\n"
     " @%p3 trap; fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric"
     ".relaxed.sys.add.u32.sync [sm+1024],[%r0,%w2],1024,[bar],0xffffffff;\n"
     " fabric.submit.op_restrict::fetching; fabric.wait.sync_restrict::read 2; ret; }\n",
     0},
    {"ptx-tensor",
     ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
     " .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .pred %p;\n"
     " .shared .align 128 .b8 map[128]; .shared .align 128 .b8 sm[2048]; .shared .align 8 .b64 bar; ld.param.u64 "
     "%d1,[p];\n"
     " mov.u32 %r0,sm; mov.u32 %r2,bar; mov.u32 %r3,4; mov.u32 %r4,map; mbarrier.init.shared.b64 [%r2],1;\n"
     " tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r4],1; tensormap.replace.tile.box_dim.shared::cta.b1024.b32 "
     "[%r4],0,%r3;\n"
     " tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r4],7; fence.proxy.async;\n"
     " cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0],[%d1,{%r3,%r3}],[%r2];\n"
     " cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%d1,{%r3,%r3}],[%r0];\n"
     " cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\n"
     " mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,"
     "%f3};\n"
     " ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r5,%r6},[%r0]; setp.eq.u32 %p,%r3,4; wgmma.fence.sync.aligned;\n"
     " wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3},%d2,%d3,%p,1,1,0,0;\n"
     " wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; ret; }\n",
     0},
};
static const char *const tokens[] = {"-1",
                                     "0",
                                     "99999999999999999999",
                                     "0xffffffffffffffff",
                                     "\"",
                                     "{",
                                     "}",
                                     "[",
                                     "]",
                                     ",",
                                     ";",
                                     "(",
                                     ")",
                                     ".u64",
                                     ".v8",
                                     ".pred",
                                     ".reg",
                                     "%r1",
                                     "%d1",
                                     "%p0",
                                     "%tid.x",
                                     "@",
                                     "!",
                                     "|",
                                     "+",
                                     "call",
                                     "bra L;",
                                     ".shared",
                                     "\xff\xfe",
                                     "\n",
                                     "1e309",
                                     "/*",
                                     "//",
                                     ".func",
                                     "ret;",
                                     "0f",
                                     "<999999999>",
                                     ".local .b8 z[500000];"};

static char *mutate(Rng *rng, const char *seed, gsize *bytes)
{
    GString *text = g_string_new(seed);
    for (guint64 changes = 1 + rng_below(rng, 5); changes > 0 && text->len > 0; changes--) {
        gsize at = rng_below(rng, text->len), n = 1 + rng_below(rng, 16);
        n = MIN(n, text->len - at);
        switch (rng_below(rng, 6)) {
        case 0: text->str[at] = (char)(text->str[at] ^ (1 << rng_below(rng, 8))); break;
        case 1: g_string_erase(text, (gssize)at, (gssize)n); break;
        case 2:
            if (rng_below(rng, 8) == 0)
                g_string_truncate(text, at);
            break;
        case 3: {
            g_autofree char *copy = g_strndup(text->str + at, n);
            g_string_insert(text, (gssize)rng_below(rng, text->len), copy);
            break;
        }
        default: g_string_insert(text, (gssize)at, tokens[rng_below(rng, G_N_ELEMENTS(tokens))]);
        }
    }
    *bytes = text->len;
    return g_string_free(text, FALSE);
}

/* Every other input is made with PTX's own words, of the seed itself. */
static void one(const FuzzSeed *seed, const guint8 *data, gsize bytes, guint64 turn)
{
    g_autofree char *text = NULL;
    Rng rng;
    if (turn % 2) {
        rng_init(&rng, fuzz_variable("FUZZ_SEED", 1) * 1000003 + turn, seed->name);
        text = mutate(&rng, seed->text, &bytes);
    } else {
        text = g_strndup((const char *)data, bytes);
    }
    LLVMFuzzerTestOneInput((const guint8 *)text, bytes);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *data;
        gsize bytes;
        if (g_file_get_contents(argv[i], &data, &bytes, NULL)) {
            LLVMFuzzerTestOneInput((guint8 *)data, bytes);
            g_free(data);
        }
    }
    for (gsize s = 0; s < G_N_ELEMENTS(seeds); s++) {
        GError *error = NULL;
        PtxModule *module = ptx_module_read("seed", seeds[s].text, strlen(seeds[s].text), &error);
        for (guint i = 0; module && i < module->functions->len && !error; i++)
            ptx_function_code(module->functions->pdata[i], &error);
        if (error)
            g_error("a seed is no PTX: %s", error->message);
        ptx_module_free(module);
    }
    return argc > 1 ? 0 : fuzz_run(seeds, G_N_ELEMENTS(seeds), one);
}

#endif
