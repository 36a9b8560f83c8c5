/* Constant expressions of PTX, section "Constant Expressions": integers of 64 bits with C's operators and
 * precedence; floating point only as a literal with a sign. */
#include <string.h>

#include "ptx/read/parse.h"

#define DEPTH_MAX 64

typedef struct {
    PtxLex *lex;
    GError **error;
    guint depth;
} Reader;

static gboolean read_binary(Reader *reader, guint least, guint64 *value);

static gboolean read_unary(Reader *reader, guint64 *value)
{
    PtxLex *lex = reader->lex;
    PtxToken token = lex->token;
    if (++reader->depth > DEPTH_MAX)
        return ptx_lex_fail(lex, &token, PTX_LOAD_ERROR_LIMIT, reader->error, "expression is nested too deep");
    gboolean good = TRUE;
    if (token.kind == TOKEN_INTEGER) {
        *value = token.value;
        ptx_lex_next(lex);
    } else if (ptx_lex_is_word(lex, "WARP_SZ")) {
        *value = 32;
        ptx_lex_next(lex);
    } else if (ptx_lex_take(lex, '(')) {
        if (lex->token.kind == TOKEN_DOT) { /* a cast: .s64 or .u64 */
            ptx_lex_next(lex);
            good = ptx_lex_expect(lex, ')', reader->error) && read_unary(reader, value);
        } else {
            good = read_binary(reader, 0, value) && ptx_lex_expect(lex, ')', reader->error);
        }
    } else if (ptx_lex_take(lex, '-')) {
        good = read_unary(reader, value);
        *value = 0 - *value;
    } else if (ptx_lex_take(lex, '+')) {
        good = read_unary(reader, value);
    } else if (ptx_lex_take(lex, '~')) {
        good = read_unary(reader, value);
        *value = ~*value;
    } else if (ptx_lex_take(lex, '!')) {
        good = read_unary(reader, value);
        *value = !*value;
    } else {
        good = ptx_lex_fail(lex, &token, PTX_LOAD_ERROR_SYNTAX, reader->error, "a number is expected here");
    }
    reader->depth--;
    return good;
}

static guint operator_rank(const PtxToken *token)
{
    if (token->kind != TOKEN_PUNCT)
        return 0;
    static const struct {
        char text[3];
        guint8 rank;
    } ranks[] = {
        {"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5}, {"==", 6}, {"!=", 6}, {"<", 7},  {">", 7},
        {"<=", 7}, {">=", 7}, {"<<", 8}, {">>", 8}, {"+", 9}, {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
    };
    for (guint i = 0; i < G_N_ELEMENTS(ranks); i++)
        if (strlen(ranks[i].text) == token->length && !memcmp(ranks[i].text, token->text, token->length))
            return ranks[i].rank;
    return 0;
}

static gboolean operate(Reader *reader, const PtxToken *op, guint64 *left, guint64 right)
{
    gint64 a = (gint64)*left, b = (gint64)right;
    char second = op->length > 1 ? op->text[1] : 0;
    switch (op->text[0]) {
    case '|': *left = second ? a || b : (*left | right); break;
    case '&': *left = second ? a && b : (*left & right); break;
    case '^': *left ^= right; break;
    case '=': *left = a == b; break;
    case '!': *left = a != b; break;
    case '<': *left = second == '<' ? (right < 64 ? *left << right : 0) : second ? a <= b : a < b; break;
    case '>': *left = second == '>' ? (guint64)(a >> MIN(right, 63u)) : second ? a >= b : a > b; break;
    case '+': *left += right; break;
    case '-': *left -= right; break;
    case '*': *left *= right; break;
    default:
        if (b == 0 || (b == -1 && a == G_MININT64))
            return ptx_lex_fail(reader->lex, op, PTX_LOAD_ERROR_SYNTAX, reader->error, "division by zero or overflow");
        *left = (guint64)(op->text[0] == '/' ? a / b : a % b);
    }
    return TRUE;
}

static gboolean read_binary(Reader *reader, guint least, guint64 *value)
{
    if (++reader->depth > DEPTH_MAX)
        return ptx_lex_fail(reader->lex, &reader->lex->token, PTX_LOAD_ERROR_LIMIT, reader->error,
                            "expression is nested too deep");
    if (!read_unary(reader, value))
        return FALSE;
    for (;;) {
        PtxToken op = reader->lex->token;
        guint rank = operator_rank(&op);
        guint64 right;
        if (rank == 0 || rank <= least)
            break;
        ptx_lex_next(reader->lex);
        if (!read_binary(reader, rank, &right) || !operate(reader, &op, value, right))
            return FALSE;
    }
    if (least == 0 && ptx_lex_is(reader->lex, '?')) {
        guint64 yes, no;
        ptx_lex_next(reader->lex);
        if (!read_binary(reader, 0, &yes) || !ptx_lex_expect(reader->lex, ':', reader->error) ||
            !read_binary(reader, 0, &no))
            return FALSE;
        *value = *value ? yes : no;
    }
    reader->depth--;
    return TRUE;
}

static gboolean take_float(PtxLex *lex, gboolean negative, PtxConstant *constant)
{
    constant->is_float = TRUE;
    constant->is_single = lex->token.kind == TOKEN_F32;
    constant->value = lex->token.value;
    if (negative)
        constant->value ^= (guint64)1 << (constant->is_single ? 31 : 63);
    ptx_lex_next(lex);
    return TRUE;
}

gboolean ptx_expression_read(PtxLex *lex, PtxConstant *constant, GError **error)
{
    *constant = (PtxConstant){0};
    PtxToken next = ptx_lex_is(lex, '-') ? ptx_lex_peek(lex) : (PtxToken){0};
    if (lex->token.kind == TOKEN_F32 || lex->token.kind == TOKEN_F64)
        return take_float(lex, FALSE, constant);
    if (next.kind == TOKEN_F32 || next.kind == TOKEN_F64) {
        ptx_lex_next(lex);
        return take_float(lex, TRUE, constant);
    }
    Reader reader = {.lex = lex, .error = error};
    return read_binary(&reader, 0, &constant->value);
}
