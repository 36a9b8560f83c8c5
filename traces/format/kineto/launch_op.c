/* Operators that launch a communicating kernel of their own, without NCCL: those of PyTorch's symmetric memory and of
 * serving frameworks. Their kernels say nothing; the operator of the same External id has the tensors' shapes (profiled
 * with record_shapes), and its concrete inputs the reduction and the group. */
#include <string.h>

#include "traces/format/kineto/kineto.h"

static const struct {
    const char *space, *name; /* "symm_mem", what stands behind "::" before _ and _out */
    RecordOp op;
    guint tensor; /* which of the tensors is what one rank puts in, from 0 */
} launch_ops[] = {
    {"symm_mem", "multimem_all_reduce", RECORD_ALL_REDUCE, 0},
    {"symm_mem", "multimem_one_shot_all_reduce", RECORD_ALL_REDUCE, 0},
    {"symm_mem", "one_shot_all_reduce", RECORD_ALL_REDUCE, 0},
    {"symm_mem", "one_shot_all_reduce_copy", RECORD_ALL_REDUCE, 1}, /* the first is the buffer, often larger */
    {"symm_mem", "two_shot_all_reduce", RECORD_ALL_REDUCE, 0},
    {"symm_mem", "multimem_all_gather", RECORD_ALL_GATHER, 0},
    {"symm_mem", "reduce_scatter", RECORD_REDUCE_SCATTER, 0},
    {"symm_mem", "nvshmem_all_to_all", RECORD_ALL_TO_ALL, 0},
    {"symm_mem", "nvshmem_broadcast", RECORD_BROADCAST, 0},
    {"symm_mem", "multimem_one_shot_reduce", RECORD_REDUCE, 0},
    {"_C_custom_ar", "all_reduce", RECORD_ALL_REDUCE, 0},
    {"_C_custom_ar", "all_reduce_reg", RECORD_ALL_REDUCE, 0},
    {"_C_custom_ar", "all_reduce_unreg", RECORD_ALL_REDUCE, 0},
    {"_C_custom_ar", "qr_all_reduce", RECORD_ALL_REDUCE, 0},
    {"_C", "all_reduce", RECORD_ALL_REDUCE, 0},
    {"sgl_kernel", "all_reduce", RECORD_ALL_REDUCE, 0},
    {"sgl_kernel", "all_reduce_reg", RECORD_ALL_REDUCE, 0},
    {"sgl_kernel", "all_reduce_unreg", RECORD_ALL_REDUCE, 0},
    {"trtllm", "allreduce", RECORD_ALL_REDUCE, 0},
};

/* FALSE: it is none of them. */
static gboolean find(const char *name, guint *index)
{
    const char *colon = strstr(name, "::");
    if (!colon)
        return FALSE;
    char *stem = g_strdup(colon + 2);
    static const char *const ends[] = {"_out", "_"};
    for (guint i = 0; i < G_N_ELEMENTS(ends); i++)
        if (g_str_has_suffix(stem, ends[i]))
            stem[strlen(stem) - strlen(ends[i])] = 0;
    gboolean found = FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(launch_ops) && !found; i++) {
        const char *space = launch_ops[i].space;
        found = strlen(space) == (gsize)(colon - name) && g_str_has_prefix(name, space) &&
                strcmp(stem, launch_ops[i].name) == 0;
        *index = found ? i : *index;
    }
    g_free(stem);
    return found;
}

/* The reduction, the root and the group among the inputs that were written down, of the form "sum", or "\"sum\"": a
 * group's name stands behind the others, but for flags ("False"), and a root right before it. */
static void concrete(Kineto *kineto, KinetoComm *comm, const Json *inputs)
{
    guint32 before = 0;
    for (const Json *at = inputs ? inputs->first : NULL; at != NULL; at = at->next) {
        const char *text = json_string(at);
        char *word = g_strdup(text ? text : "");
        gsize n = strlen(word);
        if (n >= 2 && (word[0] == '"' || word[0] == '\'') && word[n - 1] == word[0]) {
            word[n - 1] = 0;
            memmove(word, word + 1, n - 1);
        }
        RecordReduction reduction;
        if (record_reduction_parse(word, &reduction))
            comm->reduction = reduction;
        else if (word[0] != 0 && !strpbrk(word, "[]., ") && strcmp(word, "True") != 0 && strcmp(word, "False") != 0) {
            before = comm->said;
            comm->said = trace_name(kineto->reader->trace, word); /* a group's name, if there is such a group */
        }
        g_free(word);
    }
    guint64 root;
    if (record_op_has_root(comm->op) && before != 0 &&
        g_ascii_string_to_unsigned(kineto->reader->trace->names->pdata[before], 10, 0, RECORD_WORLD_MAX, &root, NULL))
        comm->peer = (gint64)root;
}

gboolean kineto_launch_op(Kineto *kineto, KinetoComm *comm, const char *name, const Json *args)
{
    guint which = 0, tensors = 0;
    if (!find(name, &which))
        return FALSE;
    const Json *dims = json_get(args, "Input Dims"), *types = json_get(args, "Input type");
    const Json *dim = dims ? dims->first : NULL, *type = types ? types->first : NULL;
    comm->has_op = TRUE;
    comm->op = launch_ops[which].op;
    comm->by_launch = TRUE;
    comm->coalesced = TRUE; /* of several kernels one has its bytes */
    for (; dim && type && !comm->has_size; dim = dim->next, type = type->next) {
        const char *text = json_string(type);
        gboolean tensor = dim->type == JSON_ARRAY && dim->n > 0 && text &&
                          reader_torch_dtype(text, &comm->dtype, &comm->element_bytes);
        if (tensor && tensors++ == launch_ops[which].tensor)
            comm->has_size = kineto_comm_elements(dim, &comm->in_elements);
    }
    concrete(kineto, comm, json_get(args, "Concrete Inputs"));
    return comm->has_size;
}
