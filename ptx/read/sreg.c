/* Names of special registers: PTX ISA 9.0, section "Special Registers". */
#include <string.h>

#include "ptx/read/reader.h"

static const struct {
    const char *name;
    guint8 sreg, type, axes;
} rows[] = {
    {"%tid", SREG_TID_X, T_U32, 1},
    {"%ntid", SREG_NTID_X, T_U32, 1},
    {"%ctaid", SREG_CTAID_X, T_U32, 1},
    {"%nctaid", SREG_NCTAID_X, T_U32, 1},
    {"%laneid", SREG_LANEID, T_U32, 0},
    {"%warpid", SREG_WARPID, T_U32, 0},
    {"%nwarpid", SREG_NWARPID, T_U32, 0},
    {"%smid", SREG_SMID, T_U32, 0},
    {"%nsmid", SREG_NSMID, T_U32, 0},
    {"%gridid", SREG_GRIDID, T_U64, 0},
    {"%lanemask_eq", SREG_LANEMASK_EQ, T_U32, 0},
    {"%lanemask_le", SREG_LANEMASK_LE, T_U32, 0},
    {"%lanemask_lt", SREG_LANEMASK_LT, T_U32, 0},
    {"%lanemask_ge", SREG_LANEMASK_GE, T_U32, 0},
    {"%lanemask_gt", SREG_LANEMASK_GT, T_U32, 0},
    {"%clock", SREG_CLOCK, T_U32, 0},
    {"%clock_hi", SREG_CLOCK_HI, T_U32, 0},
    {"%clock64", SREG_CLOCK64, T_U64, 0},
    {"%globaltimer", SREG_GLOBALTIMER, T_U64, 0},
    {"%globaltimer_lo", SREG_GLOBALTIMER_LO, T_U32, 0},
    {"%globaltimer_hi", SREG_GLOBALTIMER_HI, T_U32, 0},
    {"%clusterid", SREG_CLUSTERID_X, T_U32, 1},
    {"%nclusterid", SREG_NCLUSTERID_X, T_U32, 1},
    {"%cluster_ctaid", SREG_CLUSTER_CTAID_X, T_U32, 1},
    {"%cluster_nctaid", SREG_CLUSTER_NCTAID_X, T_U32, 1},
    {"%cluster_ctarank", SREG_CLUSTER_CTARANK, T_U32, 0},
    {"%cluster_nctarank", SREG_CLUSTER_NCTARANK, T_U32, 0},
    {"%is_explicit_cluster", SREG_IS_EXPLICIT_CLUSTER, T_PRED, 0},
    {"%dynamic_smem_size", SREG_DYNAMIC_SMEM, T_U32, 0},
    {"%total_smem_size", SREG_TOTAL_SMEM, T_U32, 0},
    {"%aggr_smem_size", SREG_AGGR_SMEM, T_U32, 0},
    {"%envreg1", SREG_ENVREG1, T_U32, 0}, /* cooperative groups have their memory's address in these two */
    {"%envreg2", SREG_ENVREG2, T_U32, 0},
};

PtxSreg ptx_sreg_read(PtxLex *lex, PtxType *type)
{
    PtxToken token = lex->token;
    *type = T_U32;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        if (strlen(rows[i].name) != token.length || memcmp(rows[i].name, token.text, token.length))
            continue;
        *type = rows[i].type;
        PtxToken axis = ptx_lex_peek(lex);
        if (!rows[i].axes) {
            ptx_lex_next(lex);
            return rows[i].sreg;
        }
        if (axis.kind != TOKEN_DOT || axis.length != 1 || !strchr("xyzw", axis.text[0]))
            return SREG_NONE;
        ptx_lex_next(lex);
        ptx_lex_next(lex);
        return axis.text[0] == 'w' ? SREG_ZERO : rows[i].sreg + (guint)(axis.text[0] - 'x');
    }
    if ((token.length > 7 && !memcmp(token.text, "%envreg", 7)) ||
        (token.length > 3 && !memcmp(token.text, "%pm", 3)) ||
        (token.length > 20 && !memcmp(token.text, "%reserved_smem_offset", 20))) {
        if (token.length > 4 && !memcmp(token.text + token.length - 3, "_64", 3))
            *type = T_U64;
        ptx_lex_next(lex);
        return SREG_ZERO;
    }
    return SREG_NONE;
}
