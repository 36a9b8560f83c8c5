/* Whether a statement is one of the forms of the instruction table, and its operands have the table's kinds and widths.
 */
#include <string.h>

#include "ptx/read/reader.h"

#define FAIL(reader, token, code, ...) ptx_lex_fail(&(reader)->lex, token, code, (reader)->error, __VA_ARGS__)

static gboolean arg_fail(PtxReader *reader, const PtxStatement *statement, const PtxArg *arg, guint at,
                         const char *want)
{
    guint length = 0;
    while (statement->name[length] && !strchr(" \t\r\n;", statement->name[length]) && length < 80)
        length++;
    return ptx_body_fail(reader->body, arg->line, arg->column, PTX_LOAD_ERROR_SYNTAX, reader->error,
                         "operand %u of %.*s must be %s", at + 1, (int)length, statement->name, want);
}

static guint reg_bytes(const PtxReader *reader, const PtxArg *arg)
{
    return ptx_types[g_array_index(reader->body->registers, guint8, arg->index)].bytes;
}

static PtxType reg_type(const PtxReader *reader, const PtxArg *arg)
{
    return g_array_index(reader->body->registers, guint8, arg->index);
}

static gboolean is_number(const PtxArg *arg)
{
    return arg->kind == ARG_INT || arg->kind == ARG_F32 || arg->kind == ARG_F64;
}

/* Registers of bits go with every type, and every register with a type of bits; whole numbers with each other, signed
 * or not; floats and packed types with their own kind alone. A register of .f16x2 is one of 32 bits to whole numbers,
 * and T_NONE asks for no kind. Source: the PTX ISA's rules of operands, and what ptxas of CUDA 13.0 takes of 110 forms
 * by 14 types of registers. */
static gboolean kinds_agree(PtxType want, PtxType have)
{
    PtxTypeKind kind = ptx_types[want].kind;
    if (want == T_NONE || kind == TYPE_BITS || ptx_types[have].kind == TYPE_BITS)
        return TRUE;
    if (want == T_BF16 && ptx_types[have].kind != TYPE_FLOAT) /* ptxas takes some */
        return TRUE;
    if (kind == TYPE_FLOAT || have == T_F16X2)
        return want == have || (have == T_F16X2 && kind != TYPE_FLOAT);
    return want != T_U16X2 && want != T_S16X2 && ptx_types[have].kind != TYPE_FLOAT;
}

/* What may stand for a value of so many bytes, and of the kind that `type` has. */
static gboolean good_kind(const PtxReader *reader, const PtxArg *arg, PtxType type, guint bytes, gboolean wider,
                          gboolean is_dst)
{
    if (arg->kind == ARG_REG) {
        guint have = reg_bytes(reader, arg);
        return reg_type(reader, arg) != T_PRED && (have == bytes || (wider && have > bytes)) &&
               kinds_agree(type, reg_type(reader, arg));
    }
    if (is_dst)
        return FALSE;
    if (arg->kind == ARG_SREG)
        return ptx_types[arg->value].bytes == bytes || (arg->value == T_U64 && bytes == 4) ||
               (arg->value == T_U32 && bytes == 8);
    return is_number(arg) || ((arg->kind == ARG_SYMBOL || arg->kind == ARG_VAR) && bytes >= 4);
}

static gboolean good_value(const PtxReader *reader, const PtxArg *arg, guint bytes, gboolean wider, gboolean is_dst)
{
    return good_kind(reader, arg, T_NONE, bytes, wider, is_dst);
}

static gboolean good_vector(const PtxReader *reader, const PtxStatement *statement, const PtxArg *arg, gboolean is_dst)
{
    PtxType type = statement->n_types ? statement->types[statement->n_types - 1] : T_B32;
    guint bytes = MAX(ptx_types[type].memory, 1u);
    if (type == T_BF16X2) /* of multimem, where ptxas takes any register of 32 bits */
        type = T_B32;
    guint want = ptx_statement_has(statement, W_V2)   ? 2
                 : ptx_statement_has(statement, W_V4) ? 4
                 : ptx_statement_has(statement, W_V8) ? 8
                                                      : 1;
    if (want == 1 && arg->kind != ARG_VECTOR)
        return (is_dst && arg->kind == ARG_SINK) || good_kind(reader, arg, type, bytes, TRUE, is_dst);
    if (arg->kind != ARG_VECTOR || arg->n != want)
        return FALSE;
    for (guint i = 0; i < arg->n; i++) {
        const PtxArg *part = &g_array_index(reader->body->parts, PtxArg, arg->index + i);
        if (!(is_dst && part->kind == ARG_SINK) && !good_kind(reader, part, type, bytes, TRUE, is_dst))
            return FALSE;
    }
    return TRUE;
}

static gboolean is_byte(const PtxReader *reader, const PtxArg *arg)
{
    PtxType type = arg->kind == ARG_REG ? reg_type(reader, arg) : T_NONE;
    return type == T_B8 || type == T_U8 || type == T_S8;
}

static gboolean check_role(PtxReader *reader, const PtxStatement *statement, char role, const PtxArg *arg, guint at)
{
    PtxType first = statement->n_types ? statement->types[0] : T_B32;
    PtxType last = statement->n_types ? statement->types[statement->n_types - 1] : T_B32;
    guint bytes = ptx_types[first].bytes;
    gboolean pred = first == T_PRED, is_pred = arg->kind == ARG_REG && reg_type(reader, arg) == T_PRED;
    gboolean src = pred ? is_pred || arg->kind == ARG_INT : good_kind(reader, arg, first, bytes, FALSE, FALSE);
    const char *want = NULL;
    switch (role) {
    case ROLE_DST:
        want = (pred ? is_pred : good_kind(reader, arg, first, bytes, FALSE, TRUE))
                   ? NULL
                   : "a register as wide as the type, and of its kind";
        break;
    case ROLE_DST_CVT:
        want = good_kind(reader, arg, first, bytes, TRUE, TRUE)
                   ? NULL
                   : "a register that holds the first type, and of its kind";
        break;
    case ROLE_DST_WIDE:
        want = good_kind(reader, arg, first, 2 * bytes, FALSE, TRUE) ? NULL : "a register twice as wide as the type";
        break;
    case ROLE_DST_32: want = good_value(reader, arg, 4, FALSE, TRUE) ? NULL : "a register of 32 bits"; break;
    case ROLE_DST_PRED: want = is_pred || arg->kind == ARG_SINK ? NULL : "a predicate register"; break;
    case ROLE_DST_PAIR: want = is_pred || arg->kind == ARG_SINK ? NULL : "a predicate register"; break;
    case ROLE_DST_ANY:
        want = good_vector(reader, statement, arg, TRUE) ? NULL : "a register (or vector) that holds the type";
        break;
    case ROLE_SRC: want = src ? NULL : "a value as wide as the type, and of its kind"; break;
    case ROLE_SRC_LAST:
        want = good_kind(reader, arg, last, ptx_types[last].bytes, FALSE, FALSE)
                   ? NULL
                   : "a value as wide as the last type, and of its kind";
        break;
    case ROLE_SRC_WIDE:
        want = good_kind(reader, arg, first, 2 * bytes, FALSE, FALSE) ? NULL : "a value twice as wide as the type";
        break;
    case ROLE_DST_8: want = is_byte(reader, arg) ? NULL : "a register of type .b8"; break;
    case ROLE_HANDLE:
        want = ptx_handle_is(reader, arg, 2) ? NULL : "[endpoint (.b32), offset (.b64)], registers";
        break;
    case ROLE_COUNTED:
        want = ptx_handle_is(reader, arg, 3) ? NULL : "[endpoint (.b32), offset, counter's offset (.b64)], registers";
        break;
    case ROLE_TENSOR_PLACE:
        want =
            ptx_tensor_place_is(reader, statement, arg)
                ? NULL
                : "[tensor map (.b64), endpoint (.b32), offset (.b64), {coordinates}], registers; between them the "
                  "counter's offset, {sizes} and, with .global_dim_stride, {strides}, high bits, where modifiers ask "
                  "for them";
        break;
    case ROLE_SRC_16: want = good_value(reader, arg, 2, FALSE, FALSE) ? NULL : "a value of 16 bits"; break;
    case ROLE_SRC_32: want = good_value(reader, arg, 4, FALSE, FALSE) ? NULL : "a value of 32 bits"; break;
    case ROLE_SRC_64: want = good_value(reader, arg, 8, FALSE, FALSE) ? NULL : "a value of 64 bits"; break;
    case ROLE_SRC_PRED: want = is_pred || arg->kind == ARG_INT ? NULL : "a predicate"; break;
    case ROLE_SRC_ANY:
        want = good_vector(reader, statement, arg, FALSE) ? NULL : "a value (or vector) that holds the type";
        break;
    case ROLE_IMMEDIATE: want = arg->kind == ARG_INT ? NULL : "a number"; break;
    case ROLE_ADDRESS: want = arg->kind == ARG_ADDRESS && !arg->n ? NULL : "an address in [brackets]"; break;
    case ROLE_TENSOR:
        want = arg->kind == ARG_ADDRESS && arg->n ? NULL : "a tensor map and coordinates: [address, {x, y}]";
        break;
    default: break;
    }
    if (!want && arg->negated && role != ROLE_SRC_PRED && !(role == ROLE_SRC && pred))
        want = "without '!'";
    if (!want && arg->kind == ARG_LABEL && role != ROLE_FREE)
        return ptx_body_fail(reader->body, arg->line, arg->column, PTX_LOAD_ERROR_SYMBOL, reader->error,
                             "nothing has this name here");
    return !want || arg_fail(reader, statement, arg, at, want);
}

static gboolean check_operands(PtxReader *reader, const PtxStatement *statement)
{
    const PtxArg *args = &g_array_index(reader->body->args, PtxArg, statement->first_arg);
    guint at = 0;
    for (const char *role = statement->row->operands; *role; role++) {
        if (*role == '?')
            continue;
        if (*role == ROLE_DST_PAIR) {
            if (at < statement->n_args && args[at].paired && !check_role(reader, statement, *role, &args[at], at))
                return FALSE;
            at += at < statement->n_args && args[at].paired;
            continue;
        }
        if (at >= statement->n_args)
            break;
        if (args[at].paired)
            return arg_fail(reader, statement, &args[at], at, "not a pair of registers");
        if (!check_role(reader, statement, *role, &args[at], at))
            return FALSE;
        at++;
    }
    if (at < statement->n_args)
        return arg_fail(reader, statement, &args[at], at, "left out");
    return TRUE;
}

static gboolean look_fail(PtxReader *reader, PtxStatement *statement, const PtxToken *token, PtxOpLook look,
                          guint which, const PtxOpRow *row)
{
    int length = (int)token->length;
    switch (look) {
    case OPTABLE_NAME: return FAIL(reader, token, PTX_LOAD_ERROR_SYNTAX, "unknown instruction");
    case OPTABLE_WORD:
        return FAIL(reader, token, PTX_LOAD_ERROR_SYNTAX, "%.*s does not take .%s here", length, token->text,
                    ptx_word_name(statement->words[which]));
    case OPTABLE_TYPE:
        return FAIL(reader, token, PTX_LOAD_ERROR_SYNTAX, "%.*s does not take the type .%s here", length, token->text,
                    ptx_types[statement->types[which]].name);
    case OPTABLE_OPERANDS:
        return FAIL(reader, token, PTX_LOAD_ERROR_SYNTAX, "%.*s does not take %u operands here", length, token->text,
                    statement->n_args);
    default:
        return FAIL(reader, token, PTX_LOAD_ERROR_SYNTAX,
                    "%.*s: modifiers or types are missing, or do not go together; "
                    "its form is%s%s%s%s",
                    length, token->text, row && *row->words ? " ." : "", row ? row->words : "",
                    row && *row->types ? ", type " : "", row ? row->types : "");
    }
}

/* The operand of a cache policy, which a hint adds at the end, has no effect. */
static gboolean drop_policy(PtxReader *reader, PtxStatement *statement)
{
    if (!ptx_statement_has(statement, W_L2_CACHE_HINT) || statement->n_args < 2)
        return FALSE;
    const PtxArg *last = &g_array_index(reader->body->args, PtxArg, statement->first_arg + statement->n_args - 1u);
    if (last->kind != ARG_REG || reg_bytes(reader, last) != 8)
        return FALSE;
    statement->n_args--;
    return TRUE;
}

/* What words ask of each other, or of operands, which the table does not say. NULL: it is there. */
static const char *missing(const PtxStatement *statement, gboolean has_policy)
{
    const PtxStatement *s = statement;
    gboolean phase = ptx_statement_has(s, W_PHASE_PRIMARY) || ptx_statement_has(s, W_PHASE_CONDITIONAL);
    gboolean order = ptx_statement_has(s, W_RELAXED) || ptx_statement_has(s, W_ACQUIRE);
    gboolean scope = ptx_statement_has(s, W_CTA) || ptx_statement_has(s, W_CLUSTER);
    if (ptx_statement_has(s, W_REPORT_FABRIC) && ptx_statement_has(s, W_L2_CACHE_HINT) && !has_policy)
        return "a cache policy, a register of 64 bits, is the last operand where .L2::cache_hint is written";
    if (ptx_statement_has(s, W_FABRIC) && !g_str_has_prefix(s->name, "createpolicy.range."))
        return "the name is createpolicy.range; modifiers follow it";
    return phase && order != scope ? "an order needs a scope, and a scope an order" : NULL;
}

static gboolean is_plain(PtxType type)
{
    return ptx_types[type].kind == TYPE_UNSIGNED || ptx_types[type].kind == TYPE_SIGNED || type == T_F16 ||
           type == T_BF16 || type == T_F32 || type == T_F64;
}

/* The rounding that a conversion of numbers must name; NULL: none, or it does. */
static const char *missing_rounding(const PtxStatement *s)
{
    if (s->op != OP_CVT || s->n_types != 2 || !is_plain(s->types[0]) || !is_plain(s->types[1]))
        return NULL;
    gboolean to_float = ptx_type_is_float(s->types[0]), from_float = ptx_type_is_float(s->types[1]);
    if (to_float && (!from_float || ptx_types[s->types[0]].memory < ptx_types[s->types[1]].memory))
        return ptx_statement_has(s, W_RN) || ptx_statement_has(s, W_RZ) || ptx_statement_has(s, W_RM) ||
                       ptx_statement_has(s, W_RP)
                   ? NULL
                   : ".rn, .rz, .rm or .rp";
    if (!to_float && from_float)
        return ptx_statement_has(s, W_RNI) || ptx_statement_has(s, W_RZI) || ptx_statement_has(s, W_RMI) ||
                       ptx_statement_has(s, W_RPI)
                   ? NULL
                   : ".rni, .rzi, .rmi or .rpi";
    return NULL;
}

/* Of a wait for an mbarrier's phase that gives a report's value, too, the form has a word of its own: forms are told
 * apart by words, and the number of operands would not do. */
static void add_report(PtxReader *reader, const PtxStatement *statement, PtxOpKey *key)
{
    const PtxArg *args = &g_array_index(reader->body->args, PtxArg, statement->first_arg);
    guint at = statement->n_args > 1 && args[1].paired ? 2 : 1;
    if (ptx_statement_has(statement, W_PHASE_PRIMARY) && at < statement->n_args && args[at].kind != ARG_ADDRESS &&
        key->n_words < PTX_MODIFIERS_MAX)
        key->words[key->n_words++] = W_REPORT_VALUE;
}

/* The second priority of a cache policy: forms have each word once, and a policy has no effect. */
static void drop_second_priority(PtxOpKey *key)
{
    guint priorities = 0;
    if (key->name_length != strlen("createpolicy") || memcmp(key->name, "createpolicy", key->name_length))
        return;
    for (guint w = 0; w < key->n_words; w++) {
        guint8 word = key->words[w];
        priorities += word >= W_L2_EVICT_LAST && word <= W_L2_EVICT_UNCHANGED;
        if (priorities != 2 || (word != W_L2_EVICT_FIRST && word != W_L2_EVICT_UNCHANGED))
            continue;
        memmove(key->words + w, key->words + w + 1, (key->n_words - w - 1) * sizeof *key->words);
        key->n_words--;
        return;
    }
}

gboolean ptx_statement_check(PtxReader *reader, PtxStatement *statement, const PtxToken *token)
{
    PtxOpKey key = {.name = token->text,
                    .name_length = token->length,
                    .n_words = statement->n_words,
                    .n_types = statement->n_types};
    guint which = 0;
    memcpy(key.words, statement->words, sizeof key.words);
    memcpy(key.types, statement->types, sizeof key.types);
    const char *wants = missing(statement, drop_policy(reader, statement));
    if (wants)
        return FAIL(reader, token, PTX_LOAD_ERROR_SYNTAX, "%s", wants);
    add_report(reader, statement, &key);
    drop_second_priority(&key);
    const PtxArg *args = &g_array_index(reader->body->args, PtxArg, statement->first_arg);
    for (guint i = 0; i < statement->n_args; i++)
        key.n_args += !args[i].paired;
    PtxOpLook look = ptx_optable_find(reader->body->unit->module->ops, &key, &statement->row, &which);
    if (look != OPTABLE_FOUND)
        return look_fail(reader, statement, token, look, which, statement->row);
    statement->op = (guint8)statement->row->op;
    if (statement->row->sm > reader->body->unit->sm)
        return FAIL(reader, token, PTX_LOAD_ERROR_SYNTAX, "this form of %.*s needs sm_%u; the target is sm_%u",
                    (int)token->length, token->text, statement->row->sm, reader->body->unit->sm);
    const char *rounding = missing_rounding(statement);
    if (rounding)
        return FAIL(reader, token, PTX_LOAD_ERROR_SYNTAX, "%.*s needs a rounding: %s", (int)token->length, token->text,
                    rounding);
    return check_operands(reader, statement);
}
