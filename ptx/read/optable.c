#include "ptx/read/optable.h"

#define RND "rn|rz|rm|rp"
#define RNDI "rn|rz|rm|rp|rni|rzi|rmi|rpi|rna"
#define COMPARE "!eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan"
#define INTS "u16|s16|u32|s32|u64|s64"
#define BITS_ "b16|b32|b64"
#define MEM "b8|u8|s8|b16|u16|s16|b32|u32|s32|b64|u64|s64|f32|f64|b128"
#define SHARED_ "shared|shared::cta|shared::cluster"
#define SCOPE "cta|cluster|gpu|sys"
#define EVICT                                                                                                          \
    "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate "                             \
    "L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged L2::cache_hint "                              \
    "L2::64B|L2::128B|L2::256B"
#define VEC "v2|v4|v8"
#define NUMBERS "u16|s16|u32|s32|u64|s64|b16|b32|b64|f32|f64|f16|f16x2|bf16|bf16x2"
#define ATOMIC "!add|min|max|inc|dec|cas|exch|and|or|xor"
#define ATOMIC_TYPES "b16|b32|b64|b128|u32|u64|s32|s64|f16|f16x2|bf16|bf16x2|f32|f64"
#define MULTI_TYPES "u32|s32|u64|s64|b32|b64|f16|f16x2|bf16|bf16x2|f32|f64|e4m3|e4m3x2|e4m3x4|e5m2|e5m2x2|e5m2x4"
#define TX "mbarrier::complete_tx::bytes"
#define BULK_OP "!add|min|max|and|or|xor|inc|dec noftz"
#define BULK_TYPES "u32|s32|u64|s64|b32|b64|f16|bf16|f32|f64"
#define DIM "1d|2d|3d|4d|5d"
#define MBAR "weak|relaxed|acquire|release|sc cta|cluster " SHARED_
#define FABRIC_ "!async !shared::cta !mbarrier::report::fabric relaxed sys"
#define FABRIC_HINT " L2::cache_hint"
#define FABRIC_MC FABRIC_ " multimem !mbarrier::complete_tx::16B" FABRIC_HINT
#define FABRIC_PULL FABRIC_ " !multimem !" TX " !sync"
#define FABRIC_ATOM_                                                                                                   \
    "!async !shared::cta !mbarrier::report::fabric !relaxed !sys !mbarrier::complete_tx::16B" FABRIC_HINT
#define FABRIC_ADDS "u32|u64|f16|bf16|f32|f64"
#define FABRIC_ORDERS "u32|s32|u64|s64|f16|bf16"
#define MBAR_PHASE "relaxed|acquire cta|cluster shared|shared::cta"
#define TENSOR_CORE "of tensor cores' instructions mma and wgmma are simulated"
#define SPARSE "sparse matrices are not simulated"
#define TEXTURE "textures and surfaces are not simulated"
#define V(words) words " add|min|max"
#define MMA_ "!sync !aligned !m0n0k0 !row|col !row/b|col/b"
#define WGMMA_ "!mma_async !sync !aligned !m0n0k0"

#define FORM(name, opcode, modifiers, types, operands, kind, sm)                                                       \
    {opcode, modifiers, types, operands, OP_##name, COST_##kind, sm, NULL},
const PtxOpRow ptx_op_rows[] = {
#include "ptx/operations.h"
/* what is left out, and why */
#define REFUSED(name, words, why)                                                                                      \
    {                                                                                                                  \
        name, words, "", "", OP_NONE, COST_FREE, 0, why                                                                \
    }
    REFUSED("wmma", "", TENSOR_CORE),
    REFUSED("mma", "!sp|sp::ordered_metadata", SPARSE),
    REFUSED("mma", "!block_scale", "scaled blocks are not simulated"),
    REFUSED("wgmma", "!sp", SPARSE),
    REFUSED("tcgen05", "", TENSOR_CORE),
    REFUSED("tex", "", TEXTURE),
    REFUSED("tld4", "", TEXTURE),
    REFUSED("txq", "", TEXTURE),
    REFUSED("suld", "", TEXTURE),
    REFUSED("sust", "", TEXTURE),
    REFUSED("sured", "", TEXTURE),
    REFUSED("suq", "", TEXTURE),
    REFUSED("istypep", "", TEXTURE),
    REFUSED("clusterlaunchcontrol", "", "CTAs do not take over others' work"),
    REFUSED("stacksave", "", "stacks of dynamic size are not simulated"),
    REFUSED("stackrestore", "", "stacks of dynamic size are not simulated"),
    REFUSED("alloca", "", "stacks of dynamic size are not simulated"),
};
const guint ptx_op_row_count = G_N_ELEMENTS(ptx_op_rows);
