/* Operands that name a place in a logical endpoint, or a tensor there. */
#include "ptx/read/reader.h"

#define FAIL(reader, token, code, ...) ptx_lex_fail(&(reader)->lex, token, code, (reader)->error, __VA_ARGS__)
#define REGISTERS_MAX 4u
#define GROUPS_MAX 3u /* in {braces}: sizes, low words of strides, coordinates */

/* What stands in the brackets, in this order. */
typedef struct {
    PtxArg part[REGISTERS_MAX];
    guint n;
    PtxArg group[GROUPS_MAX]; /* vectors */
    guint groups;
    PtxArg high; /* high bits of strides, between the last two groups; kind 0: none */
} Inside;

static gboolean read_register(PtxReader *reader, PtxArg *into)
{
    PtxToken token = reader->lex.token;
    const PtxName *name = token.kind == TOKEN_WORD ? ptx_scope_find(reader, &token, &into->index) : NULL;
    if (!name || (name->kind != NAME_REG && name->kind != NAME_RANGE))
        return FAIL(reader, &token, PTX_LOAD_ERROR_SYNTAX,
                    "a place in an endpoint is two or three registers, behind the map where it is a tensor's");
    into->kind = ARG_REG;
    ptx_lex_next(&reader->lex);
    return TRUE;
}

static gboolean read_inside(PtxReader *reader, PtxVectorRead vector, Inside *inside)
{
    PtxLex *lex = &reader->lex;
    while (ptx_lex_take(lex, ',')) {
        PtxToken token = lex->token;
        gboolean group = ptx_lex_is(lex, '{');
        if (group ? inside->groups == GROUPS_MAX : inside->groups == 0 && inside->n == REGISTERS_MAX)
            return FAIL(reader, &token, PTX_LOAD_ERROR_SYNTAX, "more than a place in an endpoint needs");
        if (!group && inside->groups && (inside->groups != 2 || inside->high.kind))
            return FAIL(reader, &token, PTX_LOAD_ERROR_SYNTAX, "one register with the strides' high bits follows them");
        if (group ? !vector(reader, &inside->group[inside->groups++])
                  : !read_register(reader, inside->groups ? &inside->high : &inside->part[inside->n++]))
            return FALSE;
    }
    return TRUE;
}

static void keep_group(PtxReader *reader, const PtxArg *group)
{
    for (guint i = 0; i < group->n; i++) {
        const PtxArg part = g_array_index(reader->body->parts, PtxArg, group->index + i);
        g_array_append_val(reader->body->parts, part);
    }
}

/* A place in a logical endpoint: [endpoint, offset] and, of counted operations, the counter's offset. Registers alone:
 * ptxas takes neither numbers nor sums there. Of a tensor: [map, endpoint, offset, counter's offset, {sizes}, {low
 * words of strides}, high bits of strides, {coordinates}], of which the modifiers say what is there. */
gboolean ptx_handle_read(PtxReader *reader, const PtxArg *first, PtxVectorRead vector, PtxArg *arg)
{
    Inside inside = {.part = {*first}, .n = 1};
    GArray *parts = reader->body->parts;
    if (!read_inside(reader, vector, &inside))
        return FALSE;
    arg->kind = inside.groups ? ARG_TENSOR_PLACE : ARG_HANDLE;
    arg->index = parts->len;
    g_array_append_vals(parts, inside.part, inside.n);
    if (!inside.groups) {
        arg->n = (guint8)inside.n;
        return ptx_lex_expect(&reader->lex, ']', reader->error);
    }
    arg->registers = (guint8)inside.n;
    arg->n = inside.group[inside.groups - 1].n;
    arg->sizes = inside.groups > 1 ? inside.group[0].n : 0;
    arg->strides = inside.groups > 2 ? inside.group[1].n : 0;
    for (guint g = 0; g < inside.groups; g++) {
        if (g == inside.groups - 1 && inside.high.kind)
            g_array_append_val(parts, inside.high);
        if (g == inside.groups - 1)
            arg->parts = parts->len;
        keep_group(reader, &inside.group[g]);
    }
    if ((inside.groups == 3) != (inside.high.kind != 0))
        return FAIL(reader, &reader->lex.token, PTX_LOAD_ERROR_SYNTAX,
                    "a register with the strides' high bits stands between their low words and the coordinates");
    return ptx_lex_expect(&reader->lex, ']', reader->error);
}

static PtxType type_of(const PtxReader *reader, const PtxArg *arg)
{
    return arg->kind == ARG_REG ? g_array_index(reader->body->registers, guint8, arg->index) : T_NONE;
}

/* Registers of so many bytes, or numbers. */
static gboolean are_words(const PtxReader *reader, guint32 from, guint n, guint bytes, gboolean numbers)
{
    for (guint i = 0; i < n; i++) {
        const PtxArg *part = &g_array_index(reader->body->parts, PtxArg, from + i);
        PtxType type = type_of(reader, part);
        if (part->kind == ARG_INT ? !numbers : ptx_types[type].bytes != bytes || ptx_type_is_float(type))
            return FALSE;
    }
    return TRUE;
}

/* [endpoint, offset] or [endpoint, offset, counter's offset]. */
gboolean ptx_handle_is(const PtxReader *reader, const PtxArg *arg, guint n)
{
    return arg->kind == ARG_HANDLE && arg->n == n && are_words(reader, arg->index, 1, 4, FALSE) &&
           are_words(reader, arg->index + 1, n - 1, 8, FALSE);
}

static gboolean sizes_are(const PtxReader *reader, const PtxArg *arg)
{
    PtxType first = T_NONE;
    for (guint i = 0; i < arg->sizes; i++) {
        PtxType type = type_of(reader, &g_array_index(reader->body->parts, PtxArg, arg->index + arg->registers + i));
        if ((type != T_B16 && type != T_B8) || (i && type != first))
            return FALSE;
        first = type;
    }
    return TRUE;
}

gboolean ptx_tensor_place_is(const PtxReader *reader, const PtxStatement *s, const PtxArg *arg)
{
    static const guint8 words[] = {W_DIM_1, W_DIM_2, W_DIM_3, W_DIM_4, W_DIM_5};
    guint rank = 0, counted = ptx_statement_has(s, W_COUNTED_BYTES);
    gboolean dim = ptx_statement_has(s, W_OVER_DIM), strides = ptx_statement_has(s, W_OVER_DIM_STRIDE);
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (ptx_statement_has(s, words[i]))
            rank = i + 1;
    guint32 low = arg->index + arg->registers + arg->sizes;
    if (arg->kind != ARG_TENSOR_PLACE || arg->registers != 3 + counted || arg->n != rank ||
        arg->sizes != (dim || strides ? rank : 0) || arg->strides != (strides ? rank - 1 : 0) || (dim && rank != 1) ||
        (strides && rank < 2))
        return FALSE;
    return are_words(reader, arg->index, 1, 8, FALSE) && are_words(reader, arg->index + 1, 1, 4, FALSE) &&
           are_words(reader, arg->index + 2, 1 + counted, 8, FALSE) && sizes_are(reader, arg) &&
           are_words(reader, low, arg->strides, 4, FALSE) && are_words(reader, low + arg->strides, strides, 2, FALSE) &&
           are_words(reader, arg->parts, arg->n, 4, TRUE);
}
