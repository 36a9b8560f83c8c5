/* The names of operations, protocols and fidelities, and the error that says what cannot be. */
#include <string.h>

#include "coll/internal.h"

G_DEFINE_QUARK(coll - error - quark, coll_error)

gboolean coll_refuse(GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(error, COLL_ERROR, COLL_ERROR_SPEC, text);
    return FALSE;
}

const char *const coll_op_names[COLL_OPS + 1] = {
    "all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all", "sendrecv",
    "reduce",     "gather",     "scatter",        "barrier",   NULL};
static const char *const fidelity_names[] = {"packet", "flow", "auto"};
const char *const coll_proto_names[COLL_PROTOS + 1] = {"auto", "simple", "ll", "ll128", NULL};

const char *coll_op_name(CollOp op) { return coll_op_names[op]; }

gboolean coll_reduces(CollOp op) { return op == COLL_ALL_REDUCE || op == COLL_REDUCE_SCATTER || op == COLL_REDUCE; }

gboolean coll_has_root(CollOp op)
{
    return op == COLL_BROADCAST || op == COLL_REDUCE || op == COLL_GATHER || op == COLL_SCATTER;
}

const char *coll_redop_name(const CollSpec *spec)
{
    return !coll_reduces(spec->op)       ? "none"
           : spec->average               ? "avg"
           : spec->reduce == NUMERIC_MUL ? "prod"
                                         : numeric_op_name(spec->reduce);
}

const char *coll_proto_name(CollProto proto) { return coll_proto_names[proto]; }
const char *coll_fidelity_name(CollFidelity fidelity) { return fidelity_names[fidelity]; }

int coll_index(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (g_ascii_strcasecmp(names[i], name) == 0)
            return i;
    return -1;
}

gboolean coll_op_parse(const char *name, CollOp *op)
{
    int i = coll_index(coll_op_names, COLL_OPS, strcmp(name, "alltoall") == 0 ? "all_to_all" : name);
    if (i >= 0)
        *op = (CollOp)i;
    return i >= 0;
}

gboolean coll_proto_parse(const char *name, CollProto *proto)
{
    int i = coll_index(coll_proto_names, COLL_PROTOS, name);
    if (i >= 0)
        *proto = (CollProto)i;
    return i >= 0;
}
