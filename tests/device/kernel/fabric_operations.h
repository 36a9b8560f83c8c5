/* Kernels of one operation on a logical endpoint each, as text: every operation that PTX has, in its plain, masked,
 * counted and multicast forms, and operations on boxes of a tensor. Plain C: programs of the driver's interface use it,
 * too. */
#ifndef TESTS_DEVICE_KERNEL_FABRIC_OPERATIONS_H
#define TESTS_DEVICE_KERNEL_FABRIC_OPERATIONS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define FABRIC_FOUND (512u << 10)  /* where a kernel writes its shared memory when the operation is complete, */
#define FABRIC_REPORT (768u << 10) /* and 1 << 8 | value if there was a report, else 0 */
#define FABRIC_MOST 8192u          /* bytes of one operation */

/* What a kernel is given. */
typedef struct {
    uint32_t endpoint, bytes; /* of the operation */
    uint64_t offset, counter, own;
    uint32_t rank, tx; /* transactions that its mbarrier expects */
} FabricArgs;

#define FABRIC_UNITS ".mbarrier::complete_tx::16B.mbarrier::report::fabric"
#define FABRIC_SHARED ".async.shared::cta"

/* Word i of shared memory begins as 1000 * rank + i; then `operation`, by lane 0 if `guard` is "@p", is submitted and
 * waited for. */
static inline void fabric_kernel(FILE *text, const char *name, const char *guard, const char *operation)
{
    fprintf(
        text,
        ".visible .entry %s(.param .u32 p_id, .param .u32 p_bytes, .param .u64 p_off, .param .u64 p_ctr, .param .u64 "
        "p_own, "
        ".param .u32 p_rank, .param .u32 p_tx)\n{\n"
        ".reg .b32 %%r<20>; .reg .b64 %%w<20>; .reg .pred %%p<9>; .reg .b8 %%b<3>; .reg .b16 %%h<3>; .reg .b32 id; "
        ".reg .b32 size;\n"
        ".reg .b64 off; .reg .b64 ctr; .reg .pred p;\n"
        ".shared .align 128 .b8 sm[%u]; .shared .align 8 .b64 bar;\n"
        "ld.param.u32 id, [p_id]; ld.param.u32 size, [p_bytes]; ld.param.u64 off, [p_off]; ld.param.u64 ctr, [p_ctr];\n"
        "ld.param.u64 %%w1, [p_own]; ld.param.u32 %%r1, [p_rank]; ld.param.u32 %%r2, [p_tx]; mov.u32 %%r3, %%tid.x;\n"
        "setp.eq.u32 p, %%r3, 0; mul.lo.u32 %%r4, %%r1, 1000; mov.u32 %%r5, sm; mov.u32 %%r6, %%r3; mov.b16 %%h1, "
        "0x0ff3;\n"
        "$F: add.u32 %%r7, %%r4, %%r6; shl.b32 %%r8, %%r6, 2; add.u32 %%r8, %%r8, %%r5; st.shared.u32 [%%r8], %%r7;\n"
        "add.u32 %%r6, %%r6, 32; shl.b32 %%r9, %%r6, 2; setp.lt.u32 %%p1, %%r9, %u; @%%p1 bra $F;\n"
        "@p mbarrier.init.layout::v1.shared::cta.b64 [bar], 1;\nbar.sync 0;\nfence.proxy.async.shared::cta;\n"
        "%s %s\nfabric.submit;\n@p mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %%r2;\n"
        "$W: mbarrier.try_wait.parity.phase_type::primary.acquire.cta.shared::cta.b64 %%p2|%%p3, %%b1, [bar], 0;\n"
        "@!%%p2 bra $W;\n"
        "fence.proxy.generic::fabric.alias.acquire.sys;\n"
        "mov.u32 %%r6, %%r3;\n"
        "$O: shl.b32 %%r8, %%r6, 2; add.u32 %%r9, %%r8, %%r5; ld.shared.u32 %%r10, [%%r9]; cvt.u64.u32 %%w2, %%r8;\n"
        "add.s64 %%w3, %%w1, %%w2; st.global.u32 [%%w3+%u], %%r10;\n"
        "add.u32 %%r6, %%r6, 32; shl.b32 %%r9, %%r6, 2; setp.lt.u32 %%p1, %%r9, %u; @%%p1 bra $O;\n"
        "cvt.u32.u8 %%r11, %%b1; selp.u32 %%r12, 256, 0, %%p3; or.b32 %%r11, %%r11, %%r12;\n"
        "@p st.global.u32 [%%w1+%u], %%r11;\nret;\n}\n",
        name, FABRIC_MOST, FABRIC_MOST, guard, operation, FABRIC_FOUND, FABRIC_MOST, FABRIC_REPORT);
}

static inline char *fabric_text(void)
{
    static const struct {
        const char *name, *guard, *operation;
    } kernels[] = {
        {"put", "@p", "fabric.try_put" FABRIC_SHARED FABRIC_UNITS ".relaxed.sys.b128 [id, off], [sm], size, [bar];"},
        {"put_all", "@p",
         "fabric.try_put.async.multimem.shared::cta" FABRIC_UNITS ".relaxed.sys.b128 [id, off], [sm], size, [bar];"},
        {"put_masked", "@p",
         "fabric.try_put" FABRIC_SHARED FABRIC_UNITS ".cp_mask.relaxed.sys.b128 [id, off], [sm], size, [bar], %h1;"},
        {"put_all_masked", "@p",
         "fabric.try_put.async.multimem.shared::cta" FABRIC_UNITS
         ".cp_mask.relaxed.sys.b128 [id, off], [sm], size, [bar], %h1;"},
        {"put_counted", "@p",
         "fabric.try_put" FABRIC_SHARED FABRIC_UNITS
         ".counted::bytes.relaxed.sys.b128 [id, off, ctr], [sm], size, [bar];"},
        {"put_all_counted", "@p",
         "fabric.try_put.async.multimem.shared::cta" FABRIC_UNITS
         ".counted::bytes.relaxed.sys.b128 [id, off, ctr], [sm], size, [bar];"},
        {"get", "@p",
         "fabric.try_get" FABRIC_SHARED
         ".mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.b128 [sm], [id, off], size, [bar];"},
        {"red", "@p", "fabric.try_red" FABRIC_SHARED FABRIC_UNITS ".relaxed.sys.add.u32 [id, off], [sm], size, [bar];"},
        {"red_max", "@p",
         "fabric.try_red" FABRIC_SHARED FABRIC_UNITS ".relaxed.sys.max.u64 [id, off], [sm], size, [bar];"},
        {"red_counted", "@p",
         "fabric.try_red" FABRIC_SHARED FABRIC_UNITS
         ".counted::bytes.relaxed.sys.add.u32 [id, off, ctr], [sm], size, [bar];"},
        {"red_all", "@p",
         "fabric.try_red.async.multimem.shared::cta" FABRIC_UNITS ".relaxed.sys.add.u32 [id, off], [sm], size, [bar];"},
        {"red_all_counted", "@p",
         "fabric.try_red.async.multimem.shared::cta" FABRIC_UNITS
         ".counted::bytes.relaxed.sys.add.u32 [id, off, ctr], [sm], size, [bar];"},
        {"pull", "",
         "fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric"
         ".relaxed.sys.add.u32.sync [sm], [id, off], size, [bar], 0xffffffff;"},
        {"pull_max", "",
         "fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric"
         ".relaxed.sys.max.s32.sync [sm], [id, off], size, [bar], 0xffffffff;"},
        {"atom", "@p",
         "fabric.try_atom" FABRIC_SHARED FABRIC_UNITS ".relaxed.sys.add.u32 [id, off], [sm], [sm+32], [bar];"},
        {"atom_cas", "@p",
         "fabric.try_atom" FABRIC_SHARED FABRIC_UNITS ".relaxed.sys.cas.b32 [id, off], [sm], [sm+32], [bar];"},
        {"atom_exch", "@p",
         "fabric.try_atom" FABRIC_SHARED FABRIC_UNITS ".relaxed.sys.exch.b128 [id, off], [sm], [sm+32], [bar];"},
    };
    char *bytes = NULL;
    size_t length;
    FILE *text = open_memstream(&bytes, &length);

    fputs(".version 9.4\n.target sm_100\n.address_size 64\n", text);
    for (unsigned k = 0; k < sizeof kernels / sizeof *kernels; k++)
        fabric_kernel(text, kernels[k].name, kernels[k].guard, kernels[k].operation);
    fclose(text);
    return bytes;
}

/* ---- boxes of a tensor */

typedef struct {
    uint8_t map[128];
    uint64_t offset, counter, own;
    uint32_t endpoint, bytes, rank, tx, x, y, low;
    uint16_t dim[2], high;
} FabricTensorArgs;

/* Word i of shared memory begins as 1000 * rank + i; the operation, by lane 0, is submitted and waited for. */
static inline void fabric_tensor_kernel(FILE *text, const char *name, const char *operation)
{
    fprintf(
        text,
        ".visible .entry %s(.param .align 64 .b8 p[%u])\n{\n"
        ".reg .b32 %%r<20>; .reg .b64 %%w<20>; .reg .pred %%p<9>; .reg .b8 %%b<3>; .reg .b32 id; .reg .b32 size;\n"
        ".reg .b64 off; .reg .b64 ctr; .reg .b64 map; .reg .b32 x; .reg .b32 y; .reg .b32 low; .reg .b16 d<3>;\n"
        ".reg .b16 high; .shared .align 128 .b8 sm[256]; .shared .align 8 .b64 bar;\n"
        "mov.b64 %%w5, p; cvta.param.u64 map, %%w5;\n"
        "ld.param.u64 off, [p+128]; ld.param.u64 ctr, [p+136]; ld.param.u64 %%w1, [p+144]; ld.param.u32 id, [p+152];\n"
        "ld.param.u32 size, [p+156]; ld.param.u32 %%r1, [p+160]; ld.param.u32 %%r2, [p+164]; ld.param.u32 x, [p+168];\n"
        "ld.param.u32 y, [p+172]; ld.param.u32 low, [p+176]; ld.param.b16 d1, [p+180]; ld.param.b16 d2, [p+182];\n"
        "ld.param.b16 high, [p+184]; mov.u32 %%r3, %%tid.x; setp.eq.u32 %%p4, %%r3, 0; mul.lo.u32 %%r4, %%r1, 1000;\n"
        "shl.b32 %%r8, %%r3, 2; mov.u32 %%r5, sm; add.u32 %%r5, %%r5, %%r8; add.u32 %%r7, %%r4, %%r3;\n"
        "st.shared.u32 [%%r5], %%r7;\n"
        "@%%p4 mbarrier.init.layout::v1.shared::cta.b64 [bar], 1;\nbar.sync 0;\nfence.proxy.async.shared::cta;\n"
        "@%%p4 %s\nfabric.submit;\n@%%p4 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %%r2;\n"
        "$W: mbarrier.try_wait.parity.phase_type::primary.acquire.cta.shared::cta.b64 %%p2|%%p3, %%b1, [bar], 0;\n"
        "@!%%p2 bra $W;\n"
        "ld.shared.u32 %%r10, [%%r5]; cvt.u64.u32 %%w2, %%r8; add.s64 %%w3, %%w1, %%w2;\n"
        "st.global.u32 [%%w3+%u], %%r10; cvt.u32.u8 %%r11, %%b1; selp.u32 %%r12, 256, 0, %%p3;\n"
        "or.b32 %%r11, %%r11, %%r12; @%%p4 st.global.u32 [%%w1+%u], %%r11;\nret;\n}\n",
        name, (unsigned)sizeof(FabricTensorArgs), operation, FABRIC_FOUND, FABRIC_REPORT);
}

#define FABRIC_TENSOR(op, more) "fabric." op ".async.tensor" more ".2d.shared::cta.tile.mbarrier::report::fabric"
#define FABRIC_BASE ".override::global_address"
#define FABRIC_SIZED FABRIC_BASE ".override::global_dim_stride"
#define FABRIC_UNIT_TX ".mbarrier::complete_tx::16B"

static inline char *fabric_tensor_text(void)
{
    char *bytes = NULL;
    size_t length;
    FILE *text = open_memstream(&bytes, &length);

    fputs(".version 9.5\n.target sm_107f\n.address_size 64\n", text);
    fabric_tensor_kernel(text, "put",
                         FABRIC_TENSOR("try_put", "") FABRIC_UNIT_TX FABRIC_BASE
                         ".relaxed.sys.b128 [map, id, off, {x, y}], [sm], size, [bar];");
    fabric_tensor_kernel(text, "put_sized",
                         FABRIC_TENSOR("try_put", "") FABRIC_UNIT_TX FABRIC_SIZED
                         ".b128 [map, id, off, {d1, d2}, {low}, high, {x, y}], [sm], size, [bar];");
    fabric_tensor_kernel(text, "put_counted",
                         FABRIC_TENSOR("try_put", "") FABRIC_UNIT_TX
                         ".counted::bytes" FABRIC_BASE ".b128 [map, id, off, ctr, {x, y}], [sm], size, [bar];");
    fabric_tensor_kernel(text, "add_all",
                         FABRIC_TENSOR("try_red", ".multimem") FABRIC_UNIT_TX FABRIC_BASE
                         ".add [map, id, off, {x, y}], [sm], size, [bar];");
    fabric_tensor_kernel(text, "get",
                         FABRIC_TENSOR("try_get", "") ".mbarrier::complete_tx::bytes" FABRIC_BASE
                                                      ".b128 [sm], [map, id, off, {x, y}], [bar];");
    fclose(text);
    return bytes;
}

#endif
