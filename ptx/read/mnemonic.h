/* The vocabulary of PTX: the fundamental types, and the modifiers that follow an opcode after dots.
 *
 * Source: PTX ISA 9.0, sections "Fundamental Types" and "Instruction Set". A word that is not here is
 * unknown, and an instruction that uses it is refused. */
#ifndef PTX_READ_MNEMONIC_H
#define PTX_READ_MNEMONIC_H

#include <glib.h>

/* clang-format off */
typedef enum {
    T_NONE, T_PRED,
    T_B8, T_U8, T_S8, T_B16, T_U16, T_S16, T_B32, T_U32, T_S32, T_B64, T_U64, T_S64, T_B128,
    T_F16, T_BF16, T_F16X2, T_BF16X2, T_F32, T_F32X2, T_F64, T_TF32, T_U16X2, T_S16X2,
    T_E4M3, T_E5M2, T_E4M3X2, T_E5M2X2, T_E4M3X4, T_E5M2X4, T_E2M3X2, T_E3M2X2, T_E2M1X2, T_UE8M0X2, T_S4, T_U4, T_B1,
    T_COUNT
} PtxType;

typedef enum { TYPE_BITS, TYPE_UNSIGNED, TYPE_SIGNED, TYPE_FLOAT, TYPE_PREDICATE } PtxTypeKind;

#define PTX_WORDS(X) \
    X(RN, "rn") X(RZ, "rz") X(RM, "rm") X(RP, "rp") X(RNA, "rna") X(RS, "rs") X(RNI, "rni") X(RZI, "rzi") \
    X(RMI, "rmi") \
    X(RPI, "rpi") X(FTZ, "ftz") X(NOFTZ, "noftz") X(SAT, "sat") X(SATFINITE, "satfinite") X(RELU, "relu") \
    X(NAN_, "NaN") X(XORSIGN, "xorsign") X(ABS, "abs") X(OOB, "oob") X(APPROX, "approx") X(FULL, "full") \
    X(LO, "lo") X(HI, "hi") X(WIDE, "wide") X(CC, "cc") \
    X(EQ, "eq") X(NE, "ne") X(LT, "lt") X(LE, "le") X(GT, "gt") X(GE, "ge") X(LS, "ls") X(HS, "hs") X(EQU, "equ") \
    X(NEU, "neu") X(LTU, "ltu") X(LEU, "leu") X(GTU, "gtu") X(GEU, "geu") X(NUM, "num") X(NANC, "nan") \
    X(AND, "and") X(OR, "or") X(XOR, "xor") X(POPC, "popc") \
    X(FINITE, "finite") X(INFINITE, "infinite") X(NUMBER, "number") X(NOTANUMBER, "notanumber") X(NORMAL, "normal") \
    X(SUBNORMAL, "subnormal") \
    X(L, "l") X(R, "r") X(WRAP, "wrap") X(CLAMP, "clamp") X(SHIFTAMT, "shiftamt") X(SHR7, "shr7") X(SHR15, "shr15") \
    X(PO, "po") \
    X(F4E, "f4e") X(B4E, "b4e") X(RC8, "rc8") X(ECL, "ecl") X(ECR, "ecr") X(RC16, "rc16") X(PACK, "pack") \
    X(GLOBAL, "global") X(SHARED, "shared") X(SHARED_CTA, "shared::cta") X(SHARED_CLUSTER, "shared::cluster") \
    X(LOCAL, "local") X(PARAM, "param") X(PARAM_ENTRY, "param::entry") X(PARAM_FUNC, "param::func") \
    X(CONST, "const") X(TO, "to") \
    X(WEAK, "weak") X(RELAXED, "relaxed") X(ACQUIRE, "acquire") X(RELEASE, "release") X(ACQ_REL, "acq_rel") \
    X(SC, "sc") \
    X(VOLATILE, "volatile") X(MMIO, "mmio") \
    X(CTA, "cta") X(CLUSTER, "cluster") X(GPU, "gpu") X(SYS, "sys") X(GL, "gl") \
    X(CA, "ca") X(CG, "cg") X(CS, "cs") X(LU, "lu") X(CV, "cv") X(WB, "wb") X(WT, "wt") X(NC, "nc") \
    X(L1_EVICT_NORMAL, "L1::evict_normal") X(L1_EVICT_UNCHANGED, "L1::evict_unchanged") \
    X(L1_EVICT_FIRST, "L1::evict_first") \
    X(L1_EVICT_LAST, "L1::evict_last") X(L1_NO_ALLOCATE, "L1::no_allocate") X(L2_EVICT_LAST, "L2::evict_last") \
    X(L2_EVICT_NORMAL, "L2::evict_normal") X(L2_EVICT_FIRST, "L2::evict_first") \
    X(L2_EVICT_UNCHANGED, "L2::evict_unchanged") \
    X(L2_64B, "L2::64B") X(L2_128B, "L2::128B") X(L2_256B, "L2::256B") X(L2_CACHE_HINT, "L2::cache_hint") \
    X(L1, "L1") X(L2, "L2") X(FRACTIONAL, "fractional") X(RANGE, "range") \
    X(V2, "v2") X(V4, "v4") X(V8, "v8") X(UNIFIED, "unified") \
    X(ADD, "add") X(MIN, "min") X(MAX, "max") X(INC, "inc") X(DEC, "dec") X(CAS, "cas") X(EXCH, "exch") \
    X(UP, "up") X(DOWN, "down") X(BFLY, "bfly") X(IDX, "idx") X(ALL, "all") X(ANY, "any") X(UNI, "uni") \
    X(BALLOT, "ballot") \
    X(SYNC, "sync") X(ARRIVE, "arrive") X(RED, "red") X(WARP, "warp") X(ALIGNED, "aligned") X(WAIT, "wait") \
    X(LD_REDUCE, "ld_reduce") X(ST, "st") X(ACC_F16, "acc::f16") X(ACC_F32, "acc::f32") X(CP, "cp") \
    X(REDUCE, "reduce") \
    X(ASYNC, "async") X(BULK, "bulk") X(COMMIT_GROUP, "commit_group") X(WAIT_GROUP, "wait_group") \
    X(WAIT_ALL, "wait_all") \
    X(READ, "read") X(MBARRIER, "mbarrier") X(NOINC, "noinc") X(COMPLETE_TX_BYTES, "mbarrier::complete_tx::bytes") \
    X(BULK_GROUP, "bulk_group") X(MULTICAST_CLUSTER, "multicast::cluster") X(CP_MASK, "cp_mask") \
    X(PREFETCH, "prefetch") \
    X(IGNORE_OOB, "ignore_oob") X(TENSOR, "tensor") X(TENSORMAP, "tensormap") \
    X(INIT, "init") X(INVAL, "inval") X(EXPECT_TX, "expect_tx") X(COMPLETE_TX, "complete_tx") \
    X(ARRIVE_DROP, "arrive_drop") \
    X(PENDING_COUNT, "pending_count") X(TEST_WAIT, "test_wait") X(TRY_WAIT, "try_wait") X(PARITY, "parity") \
    X(NOCOMPLETE, "noComplete") X(B64SHARED, "b64shared") \
    X(PROXY, "proxy") X(ALIAS, "alias") X(ASYNC_GLOBAL, "async.global") X(MBARRIER_INIT, "mbarrier_init") \
    X(TENSORMAP_GENERIC, "tensormap::generic") X(SYNC_RESTRICT_CTA, "sync_restrict::shared::cta") \
    X(SYNC_RESTRICT_CLUSTER, "sync_restrict::shared::cluster") X(ASYNC_GENERIC, "async::generic") \
    X(LAUNCH_DEPENDENTS, "launch_dependents") X(B0, "b0") X(B1, "b1") X(B2, "b2") X(B3, "b3") X(H0, "h0") X(H1, "h1") \
    X(WIDE_X, "x") X(LEVEL_L2, "level::L2") X(MEMBAR_LEVEL, "level") \
    X(SHAPE, "m0n0k0") X(ROW, "row") X(COL, "col") X(ROW_OF_B, "row/b") X(COL_OF_B, "col/b") X(X1, "x1") X(X2, "x2") \
    X(X4, "x4") X(TRANS, "trans") X(SP, "sp") X(SP_ORDERED, "sp::ordered_metadata") X(BLOCK_SCALE, "block_scale") \
    X(MMA_ASYNC, "mma_async") X(FENCE, "fence") \
    X(DIM_1, "1d") X(DIM_2, "2d") X(DIM_3, "3d") X(DIM_4, "4d") X(DIM_5, "5d") X(TILE, "tile") X(IM2COL, "im2col") \
    X(IM2COL_NO_OFFS, "im2col_no_offs") X(REPLACE, "replace") X(B1024, "b1024") X(GLOBAL_ADDRESS, "global_address") \
    X(RANK, "rank") X(BOX_DIM, "box_dim") X(GLOBAL_DIM, "global_dim") X(GLOBAL_STRIDE, "global_stride") \
    X(ELEMENT_STRIDE, "element_stride") X(ELEMTYPE, "elemtype") X(INTERLEAVE_LAYOUT, "interleave_layout") \
    X(SWIZZLE_MODE, "swizzle_mode") X(FILL_MODE, "fill_mode") X(SWIZZLE_ATOMICITY, "swizzle_atomicity") \
    X(CP_FENCEPROXY, "cp_fenceproxy") \
    X(TRY_GET, "try_get") X(TRY_PUT, "try_put") X(TRY_RED, "try_red") X(TRY_PULLRED, "try_pullred") \
    X(TRY_ATOM, "try_atom") X(SUBMIT, "submit") X(MULTIMEM, "multimem") \
    X(COMPLETE_TX_16B, "mbarrier::complete_tx::16B") X(REPORT_FABRIC, "mbarrier::report::fabric") \
    X(COUNTED_BYTES, "counted::bytes") X(FETCHING, "op_restrict::fetching") X(READS, "sync_restrict::reads") \
    X(READ_N, "sync_restrict::read") X(LAYOUT_V0, "layout::v0") X(LAYOUT_V1, "layout::v1") \
    X(PHASE_PRIMARY, "phase_type::primary") X(PHASE_CONDITIONAL, "phase_type::conditional") \
    X(CHECK_LAYOUT, "check_layout") X(REPORT_VALUE, "report/value") \
    X(GENERIC_FABRIC, "generic::fabric") X(FABRIC_GENERIC, "fabric::generic") \
    X(FABRIC_FABRIC, "fabric::fabric") X(OVER_ADDRESS, "override::global_address") \
    X(OVER_DIM, "override::global_dim") X(OVER_DIM_STRIDE, "override::global_dim_stride") X(FABRIC, "fabric")
/* clang-format on */

typedef enum {
    W_NONE,
#define X(name, text) W_##name,
    PTX_WORDS(X)
#undef X
        W_COUNT
} PtxWord;
G_STATIC_ASSERT(W_COUNT <= 256); /* tables and instructions keep a word in a byte */

typedef struct {
    const char *name;
    guint8 bytes;  /* of a register that holds it; predicates 0 */
    guint8 kind;   /* PtxTypeKind */
    guint8 memory; /* bytes in memory */
} PtxTypeRow;
extern const PtxTypeRow ptx_types[T_COUNT];

PtxType ptx_type_find(const char *text, gsize length); /* "u32" without its dot; T_NONE: no type */
PtxWord ptx_word_find(const char *text, gsize length); /* W_NONE: unknown */
const char *ptx_word_name(PtxWord word);
/* "m16n8k16", "m8n8": W_SHAPE stands for all of them. FALSE: it is none. */
gboolean ptx_shape_find(const char *text, gsize length, guint16 shape[3]);

static inline gboolean ptx_type_is_signed(PtxType type) { return ptx_types[type].kind == TYPE_SIGNED; }
static inline gboolean ptx_type_is_float(PtxType type) { return ptx_types[type].kind == TYPE_FLOAT; }
/* The version of PTX, 78 for 7.8, that texts for a target (90 for sm_90) need at least; 0: any that is read. */
guint ptx_target_since(guint sm);

#endif
