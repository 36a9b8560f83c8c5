#include "ptx/read/lex.h"

#include <math.h>
#include <string.h>

G_DEFINE_QUARK(ptx - load - error - quark, ptx_load_error)

static gboolean is_name_start(char c) { return g_ascii_isalpha(c) || c == '_' || c == '$' || c == '%'; }
static gboolean is_name(char c) { return g_ascii_isalnum(c) || c == '_' || c == '$'; }

void ptx_lex_init(PtxLex *lex, const char *file, const char *text, const char *end, guint32 line)
{
    *lex = (PtxLex){.file = file, .at = text, .end = end, .line_start = text, .line = line};
    ptx_lex_next(lex);
}

static void lex_newline(PtxLex *lex)
{
    lex->line++;
    lex->line_start = lex->at + 1;
}

/* Comments, white space, and lines that begin with '#'. */
static void lex_skip(PtxLex *lex)
{
    while (lex->at < lex->end) {
        char c = *lex->at, d = lex->at + 1 < lex->end ? lex->at[1] : 0;
        if (c == '\n') {
            lex_newline(lex);
        } else if (c == '/' && d == '*') {
            lex->at += 2;
            while (lex->at < lex->end && !(*lex->at == '*' && lex->at + 1 < lex->end && lex->at[1] == '/')) {
                if (*lex->at == '\n')
                    lex_newline(lex);
                lex->at++;
            }
            lex->at = MIN(lex->at + 2, lex->end);
            continue;
        } else if ((c == '/' && d == '/') || (c == '#' && lex->at == lex->line_start)) {
            while (lex->at < lex->end && *lex->at != '\n')
                lex->at++;
            continue;
        } else if (c != ' ' && c != '\t' && c != '\r' && c != '\f' && c != '\v' && c != 0) {
            break;
        }
        lex->at++;
    }
}

static gboolean lex_hex(const char *at, const char *end, guint digits, guint64 *value)
{
    *value = 0;
    if (end - at < (gssize)digits)
        return FALSE;
    for (guint i = 0; i < digits; i++) {
        int digit = g_ascii_xdigit_value(at[i]);
        if (digit < 0)
            return FALSE;
        *value = *value << 4 | (guint64)digit;
    }
    return TRUE;
}

/* 0f3f800000, 0d3ff0000000000000, 1.5, 2e10. */
static gboolean lex_float(PtxLex *lex, PtxToken *token)
{
    const char *at = lex->at, *end = lex->end;
    if (*at == '0' && at + 1 < end && strchr("fFdD", at[1])) {
        guint digits = g_ascii_tolower(at[1]) == 'f' ? 8 : 16;
        if (!lex_hex(at + 2, end, digits, &token->value))
            return FALSE;
        token->kind = digits == 8 ? TOKEN_F32 : TOKEN_F64;
        lex->at += 2 + digits;
        return TRUE;
    }
    const char *p = at;
    while (p < end && g_ascii_isdigit(*p))
        p++;
    gboolean is_float = p < end && (*p == '.' || ((*p == 'e' || *p == 'E') && p > at));
    if (!is_float || (*p == '.' && (p + 1 >= end || !g_ascii_isdigit(p[1])) && p == at))
        return FALSE;
    char text[64] = {0};
    memcpy(text, at, (gsize)MIN(end - at, (gssize)sizeof text - 1));
    if (g_ascii_isdigit(text[0]) && (text[1] == 'x' || text[1] == 'X'))
        return FALSE;
    char *stop;
    double value = g_ascii_strtod(text, &stop);
    if (stop == text)
        return FALSE;
    memcpy(&token->value, &value, sizeof value);
    token->kind = TOKEN_F64;
    lex->at += stop - text;
    return TRUE;
}

static void lex_number(PtxLex *lex, PtxToken *token)
{
    if (lex_float(lex, token))
        return;
    guint base = 10;
    const char *at = lex->at;
    if (*at == '0' && at + 1 < lex->end) {
        char c = g_ascii_tolower(at[1]);
        base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
        at += base == 8 ? 1 : 2;
    }
    guint64 value = 0;
    const char *first = at;
    token->kind = TOKEN_INTEGER;
    for (; at < lex->end && g_ascii_isxdigit(*at); at++) {
        guint digit = (guint)g_ascii_xdigit_value(*at);
        if (digit >= base || value > (G_MAXUINT64 - digit) / base) {
            token->kind = TOKEN_BAD;
            break;
        }
        value = value * base + digit;
    }
    if (at == first && base != 8)
        token->kind = TOKEN_BAD;
    if (at < lex->end && (*at == 'U' || *at == 'u')) {
        token->is_unsigned = TRUE;
        at++;
    }
    if (at < lex->end && is_name(*at))
        token->kind = TOKEN_BAD;
    token->is_unsigned |= value > G_MAXINT64;
    token->value = value;
    lex->at = at;
}

static void lex_string(PtxLex *lex, PtxToken *token)
{
    const char *at = lex->at + 1;
    while (at < lex->end && *at != '"' && *at != '\n')
        at += *at == '\\' && at + 1 < lex->end ? 2 : 1;
    token->kind = at < lex->end && *at == '"' ? TOKEN_STRING : TOKEN_BAD;
    token->text = lex->at + 1;
    token->length = (guint32)(MIN(at, lex->end) - token->text);
    lex->at = MIN(at + 1, lex->end);
}

static void lex_name(PtxLex *lex)
{
    while (lex->at < lex->end)
        if (is_name(*lex->at))
            lex->at++;
        else if (lex->token.kind == TOKEN_DOT && lex->at + 2 < lex->end && lex->at[0] == ':' && lex->at[1] == ':' &&
                 is_name(lex->at[2]))
            lex->at += 2;
        else
            break;
}

void ptx_lex_next(PtxLex *lex)
{
    lex_skip(lex);
    PtxToken *token = &lex->token;
    *token = (PtxToken){
        .kind = TOKEN_END, .text = lex->at, .line = lex->line, .column = (guint32)(lex->at - lex->line_start) + 1};
    if (lex->at >= lex->end)
        return;
    char c = *lex->at, d = lex->at + 1 < lex->end ? lex->at[1] : 0;
    if (is_name_start(c)) {
        token->kind = TOKEN_WORD;
        lex->at++;
        lex_name(lex);
    } else if (c == '.' && (is_name_start(d) || g_ascii_isdigit(d)) &&
               !(g_ascii_isdigit(d) && lex->at == lex->line_start)) {
        token->kind = TOKEN_DOT;
        token->text = ++lex->at;
        lex_name(lex);
    } else if (g_ascii_isdigit(c)) {
        lex_number(lex, token);
    } else if (c == '"') {
        lex_string(lex, token);
        return;
    } else if (c > ' ' && c < 127) {
        token->kind = TOKEN_PUNCT;
        token->punct = c;
        token->wide = ((c == '<' || c == '>' || c == '&' || c == '|') && d == c) ||
                      ((c == '=' || c == '!' || c == '<' || c == '>') && d == '=');
        lex->at += 1 + token->wide;
    } else {
        token->kind = TOKEN_BAD;
        lex->at++;
    }
    token->length = (guint32)(lex->at - token->text);
}

PtxToken ptx_lex_peek(const PtxLex *lex)
{
    PtxLex ahead = *lex;
    ptx_lex_next(&ahead);
    return ahead.token;
}

gboolean ptx_lex_skip_body(PtxLex *lex)
{
    guint depth = 1;
    while (lex->at < lex->end) {
        lex_skip(lex);
        if (lex->at >= lex->end)
            break;
        char c = *lex->at;
        if (c == '"') {
            PtxToken string = {0};
            lex_string(lex, &string);
            continue;
        }
        lex->at++;
        if (c == '{')
            depth++;
        if (c == '}' && --depth == 0) {
            ptx_lex_next(lex);
            return TRUE;
        }
    }
    lex->at = lex->end;
    ptx_lex_next(lex);
    return FALSE;
}

static gboolean token_equals(const PtxToken *token, PtxTokenKind kind, const char *word)
{
    return token->kind == kind && token->length == strlen(word) && !memcmp(token->text, word, token->length);
}

gboolean ptx_lex_is_word(const PtxLex *lex, const char *word) { return token_equals(&lex->token, TOKEN_WORD, word); }
gboolean ptx_lex_is_dot(const PtxLex *lex, const char *word) { return token_equals(&lex->token, TOKEN_DOT, word); }

gboolean ptx_lex_take(PtxLex *lex, char punct)
{
    if (!ptx_lex_is(lex, punct))
        return FALSE;
    ptx_lex_next(lex);
    return TRUE;
}

gboolean ptx_lex_take_dot(PtxLex *lex, const char *word)
{
    if (!ptx_lex_is_dot(lex, word))
        return FALSE;
    ptx_lex_next(lex);
    return TRUE;
}

gboolean ptx_lex_expect(PtxLex *lex, char punct, GError **error)
{
    if (ptx_lex_take(lex, punct))
        return TRUE;
    return ptx_lex_fail(lex, &lex->token, PTX_LOAD_ERROR_SYNTAX, error, "'%c' is expected here", punct);
}

char *ptx_lex_name(PtxLex *lex, const char *what, GError **error)
{
    if (lex->token.kind != TOKEN_WORD) {
        ptx_lex_fail(lex, &lex->token, PTX_LOAD_ERROR_SYNTAX, error, "%s is expected here", what);
        return NULL;
    }
    char *name = g_strndup(lex->token.text, lex->token.length);
    ptx_lex_next(lex);
    return name;
}

gboolean ptx_lex_fail(const PtxLex *lex, const PtxToken *token, PtxLoadError code, GError **error, const char *format,
                      ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_autofree char *found = NULL;
    if (token->kind == TOKEN_END)
        found = g_strdup("the end of the text");
    else if (token->kind == TOKEN_STRING)
        found = g_strdup("a string");
    else
        found = g_strdup_printf("'%.*s'", (int)MIN(token->length, 60u), token->text);
    g_autofree char *printable = g_utf8_make_valid(found, -1);
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_set_error(error, PTX_LOAD_ERROR, code, "%s:%u:%u: %s (at %s)", lex->file, token->line, token->column, valid,
                printable);
    return FALSE;
}
