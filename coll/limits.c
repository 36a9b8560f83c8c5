/* What is possible: whether a system, a group and a spec go together, and with how many CTAs. */
#include "coll/internal.h"
#include "sim/param/size.h"

static guint64 coll_bytes_max(CollOp op, guint32 ranks, NumericType type)
{
    guint64 whole = numeric_type_bytes(type) * (coll_is_sliced(op) ? ranks : 1);
    if (coll_is_sliced(op)) /* parts of 16 bytes suit every protocol */
        whole = MAX(whole, 16ull * ranks);
    return COLL_BYTES_MAX / whole * whole;
}

static gboolean coll_check_size(const CollGroup *group, const CollSpec *spec, GError **error)
{
    guint64 element = numeric_type_bytes(spec->type);
    if (spec->op == COLL_BARRIER)
        return TRUE;
    guint64 most = coll_bytes_max(spec->op, group->n, spec->type);
    if (spec->bytes > most) {
        g_autofree char *size = size_format(spec->bytes), *right = size_format(most);
        return coll_refuse(error, "%s are more than a simulated GPU holds; the largest size that fits is %s", size,
                           right);
    }
    if (spec->bytes == 0)
        return coll_refuse(error, "a size of 0 bytes moves nothing; %u or more is right", (guint)element);
    if (spec->bytes % element)
        return coll_refuse(error, "%" G_GUINT64_FORMAT " bytes are no whole number of %s elements of %u bytes",
                           spec->bytes, numeric_type_name(spec->type), (guint)element);
    if (coll_is_sliced(spec->op) && spec->bytes % (group->n * element))
        return coll_refuse(error,
                           "%" G_GUINT64_FORMAT " bytes cannot be divided among %u ranks in whole %s "
                           "elements",
                           spec->bytes, group->n, numeric_type_name(spec->type));
    if (coll_is_sliced(spec->op) && spec->bytes / group->n % 4)
        return coll_refuse(error,
                           "a part of %" G_GUINT64_FORMAT " bytes a rank is no multiple of 4 bytes, "
                           "the smallest access that the model moves",
                           spec->bytes / group->n);
    return TRUE;
}

static gboolean coll_check_switch(const CollGroup *group, const CollSpec *spec, CollAlgo algo, const CollRow *row,
                                  GError **error)
{
    const FabricSpec *fabric = &group->fabric->spec;
    if ((coll_needs_multicast(spec->op, algo) || coll_kernel_is_mnnvl(spec->kernel)) && fabric->mctable.entries == 0)
        return coll_refuse(error,
                           "%s needs multicast, which the switches of this system do not have (multicast.entries is 0)",
                           coll_algo_name(algo));
    if (!row->reduces_in_switch)
        return TRUE;
    PtxMultimem form = {.instruction = PTX_LD_REDUCE, .op = spec->reduce, .type = spec->type};
    FoMultimem wide = {.type = (FoType)spec->type};
    gboolean vector = numeric_is_float(spec->type) && spec->type != NUMERIC_F64;
    device_widen_form(&wide, vector ? 16 : numeric_type_bytes(spec->type));
    form.type = (NumericType)wide.type;
    form.vec = wide.vec;
    form.acc = (PtxAcc)spec->acc;
    const PtxTarget target = {(guint)fabric->sm.arch, TRUE};
    return ptx_check(&form, &target, error);
}

/* What was asked for, or the algorithm's default, cut to what the GPUs can hold at once. */
static gboolean coll_is_moe(const CollSpec *spec, const CollRow *row)
{
    return spec->kernel == COLL_KERNEL_MOE && (row->algo == COLL_DIRECT || row->algo == COLL_PULL);
}

guint32 coll_threads(const CollGroup *group, const CollSpec *spec, const CollRow *row, CollProto proto)
{
    if (spec->threads)
        return spec->threads;
    if (coll_is_moe(spec, row))
        return coll_moe_threads(group, spec);
    return coll_is_tuned(row) ? coll_tune(group, spec, row, proto).threads : coll_threads_fit(group, row->threads);
}

guint32 coll_ctas(const CollGroup *group, const CollSpec *spec, const CollRow *row, CollProto proto)
{
    if (spec->ctas)
        return spec->ctas;
    if (coll_is_moe(spec, row))
        return coll_moe_ctas(group, spec);
    guint32 most = coll_resident(group, coll_threads(group, spec, row, proto));
    if (row->buffered)
        return MIN(coll_channels(group, spec, row), most);
    if (coll_is_tuned(row))
        return MIN(coll_tune(group, spec, row, proto).ctas, most);
    if (row->symmetric)
        return MIN(coll_sym_ctas(group, spec, row->algo), most);
    return MIN(row->ctas ? row->ctas : coll_p2p_ctas(spec, proto, group->n), most);
}

gboolean coll_check_algo(const CollGroup *group, const CollSpec *spec, CollAlgo algo, CollProto proto, GError **error)
{
    const CollRow *row = coll_row(spec->op, algo);
    if (!row) {
        GString *names = g_string_new(NULL);
        const CollAlgoList all = coll_algos_of(spec->op);
        for (const CollAlgo *a = all.algo; *a != COLL_ALGOS; a++)
            g_string_append_printf(names, "%s%s", names->len ? ", " : "", coll_algo_name(*a));
        coll_refuse(error, "%s has no algorithm '%s'; it has %s, auto, best, unicast", coll_op_name(spec->op),
                    coll_algo_name(algo), names->str);
        g_string_free(names, TRUE);
        return FALSE;
    }
    if (!coll_nccl_check(group, spec, error))
        return FALSE;
    guint32 ctas = coll_ctas(group, spec, row, proto), threads = coll_threads(group, spec, row, proto);
    guint32 resident = coll_resident(group, threads);
    if (proto > COLL_SIMPLE && (!row->protocols || (algo == COLL_P2P && proto == COLL_LL128)))
        return coll_refuse(error, "%s with %s has no protocol '%s'; ring, tree and p2p have it", coll_op_name(spec->op),
                           coll_algo_name(algo), coll_proto_name(proto));
    if (proto > COLL_SIMPLE && coll_is_sliced(spec->op) && spec->bytes / group->n % 16)
        return coll_refuse(error,
                           "%s moves parts of whole 16 bytes; a rank's part is %" G_GUINT64_FORMAT
                           " bytes here: simple can do that",
                           coll_proto_name(proto), spec->bytes / group->n);
    const CollAlgorithm *own = coll_algorithm(algo);
    if (own->check && !own->check(group, spec, row, ctas, threads, error))
        return FALSE;
    if (coll_reduces(spec->op) && (spec->average || spec->reduce == NUMERIC_MUL) && !coll_is_tuned(row))
        return coll_refuse(error,
                           "%s has no %s: switches and kernels of one's own add, and take the least or the most; "
                           "ring and tree have it",
                           coll_algo_name(algo), spec->average ? "avg" : "prod");
    if (!numeric_allows(spec->type, spec->reduce) && coll_reduces(spec->op))
        return coll_refuse(error, "the operation %s does not go with the type %s; %s", numeric_op_name(spec->reduce),
                           numeric_type_name(spec->type),
                           spec->reduce == NUMERIC_AND || spec->reduce == NUMERIC_OR || spec->reduce == NUMERIC_XOR
                               ? "and, or and xor are of int32, uint32, int64 and uint64"
                               : "float and half have sum, prod, min and max");
    guint32 most = coll_threads_most(group);
    if (threads % WARP_LANES || threads == 0 || threads > most)
        return coll_refuse(error, "%u threads a CTA: a multiple of 32 from 32 to %u is right", threads, most);
    if (ctas == 0 || ctas > resident)
        return coll_refuse(error,
                           "%u CTAs cannot be resident at once, and waiting for each other they would "
                           "never end; 1 to %u is right",
                           ctas, resident);
    if (spec->root >= group->n)
        return coll_refuse(error, "root %u: there are ranks 0 to %u", spec->root, group->n - 1);
    return coll_check_size(group, spec, error) && coll_check_switch(group, spec, algo, row, error);
}
