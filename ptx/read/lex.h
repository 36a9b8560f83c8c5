/* Cuts PTX text into tokens, each with the line and column where it stands.
 *
 * An opcode with modifiers is a word and then dotted words ("ld" ".global" ".L1::no_allocate" ".v4" ".u32");
 * so is "%tid" ".x". Comments and preprocessor-like lines (# line markers) are skipped. The text needs no
 * terminating NUL and is not copied: tokens point into it. A token that is none ends the text with TOKEN_BAD. */
#ifndef PTX_READ_LEX_H
#define PTX_READ_LEX_H

#include <glib.h>

typedef enum {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_DOT /* text without the dot */,
    TOKEN_INTEGER,
    TOKEN_F32,
    TOKEN_F64,
    TOKEN_STRING,
    TOKEN_PUNCT,
    TOKEN_BAD
} PtxTokenKind;

typedef struct {
    guint8 kind;          /* PtxTokenKind */
    char punct;           /* of TOKEN_PUNCT: the character; two-character operators by their first, see `wide` */
    gboolean wide;        /* << >> && || == != <= >= */
    gboolean is_unsigned; /* of TOKEN_INTEGER: it has the suffix U, or needs 64 bits */
    const char *text;
    guint32 length;
    guint32 line, column; /* from 1 */
    guint64 value;        /* integers; floats: their bits */
} PtxToken;

typedef struct {
    const char *file; /* for messages; not owned */
    const char *at, *end;
    const char *line_start;
    guint32 line;
    PtxToken token; /* the one at hand */
} PtxLex;

#define PTX_LOAD_ERROR (ptx_load_error_quark())
GQuark ptx_load_error_quark(void);
typedef enum {
    PTX_LOAD_ERROR_SYNTAX,      /* the text is not PTX, or not for its target */
    PTX_LOAD_ERROR_UNSUPPORTED, /* it is, but needs what Fanout does not have */
    PTX_LOAD_ERROR_SYMBOL,      /* a symbol is missing, twice there, or of the wrong kind */
    PTX_LOAD_ERROR_LIMIT,       /* a size or depth is beyond what the machine has */
    PTX_LOAD_ERROR_VERSION,     /* it is of a later or an earlier PTX ISA */
    PTX_LOAD_ERROR_IMAGE        /* a fatbinary that is damaged or holds no PTX */
} PtxLoadError;

void ptx_lex_init(PtxLex *lex, const char *file, const char *text, const char *end, guint32 line);
void ptx_lex_next(PtxLex *lex);           /* to the next token */
PtxToken ptx_lex_peek(const PtxLex *lex); /* the one after the one at hand */
/* From an opening brace at hand to behind its closing one, strings and comments skipped. FALSE: there is none. */
gboolean ptx_lex_skip_body(PtxLex *lex);

static inline gboolean ptx_lex_is(const PtxLex *lex, char punct)
{
    return lex->token.kind == TOKEN_PUNCT && lex->token.punct == punct && !lex->token.wide;
}
gboolean ptx_lex_is_word(const PtxLex *lex, const char *word);
gboolean ptx_lex_is_dot(const PtxLex *lex, const char *word);
gboolean ptx_lex_take(PtxLex *lex, char punct); /* skips it if it is at hand */
gboolean ptx_lex_take_dot(PtxLex *lex, const char *word);
gboolean ptx_lex_expect(PtxLex *lex, char punct, GError **error);
char *ptx_lex_name(PtxLex *lex, const char *what, GError **error); /* takes a word; g_free it */

/* Sets "file:line:column: text" for the token given; always FALSE. */
gboolean ptx_lex_fail(const PtxLex *lex, const PtxToken *token, PtxLoadError code, GError **error, const char *format,
                      ...) G_GNUC_PRINTF(5, 6);

#endif
