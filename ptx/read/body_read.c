/* A body's text, scope by scope and statement by statement, into a PtxBody. */
#include <string.h>

#include "ptx/read/reader.h"

/* Formal parameters are names of the outermost scope: variables, or registers. Returns come first. */
static gboolean add_formals(PtxReader *reader, const GArray *params)
{
    PtxBody *body = reader->body;
    for (guint i = 0; i < params->len; i++) {
        const PtxParam *param = &g_array_index(params, PtxParam, i);
        PtxToken token = {.kind = TOKEN_WORD,
                          .text = param->name,
                          .length = (guint32)strlen(param->name),
                          .line = body->function->symbol->line,
                          .column = body->function->symbol->column};
        PtxName *name = ptx_scope_add(reader, &token, param->name, param->space == SPACE_REG ? NAME_REG : NAME_VAR);
        if (!name)
            return FALSE;
        if (param->space == SPACE_REG) {
            name->type = param->type;
            name->index = ptx_body_register(body, param->type);
        }
        guint32 offset = (body->param_bytes + param->align - 1) / param->align * param->align;
        PtxVar var = {.name = g_strdup(param->name),
                      .space = SPACE_PARAM,
                      .type = param->type,
                      .formal = TRUE,
                      .bytes = param->bytes,
                      .align = param->align,
                      .offset = offset};
        if (param->space != SPACE_REG)
            name->index = body->vars->len;
        body->param_bytes = offset + param->bytes;
        g_array_append_val(body->vars, var);
    }
    return TRUE;
}

static gboolean read_scopes(PtxReader *reader)
{
    PtxLex *lex = &reader->lex;
    for (;;) {
        PtxToken token = lex->token;
        if (token.kind == TOKEN_END)
            return ptx_lex_fail(lex, &token, PTX_LOAD_ERROR_SYNTAX, reader->error, "the body has no closing '}'");
        if (ptx_lex_take(lex, '{')) {
            if (reader->depth > PTX_SCOPES_MAX)
                return ptx_lex_fail(lex, &token, PTX_LOAD_ERROR_LIMIT, reader->error, "braces are nested too deep");
            ptx_scope_open(reader);
        } else if (ptx_lex_is(lex, '}')) {
            if (!ptx_scope_close(reader))
                return ptx_lex_fail(lex, &token, PTX_LOAD_ERROR_SYMBOL, reader->error,
                                    "a name that is used in this body is declared nowhere");
            if (!reader->scope)
                return TRUE;
            ptx_lex_next(lex);
        } else if (!ptx_statement_read(reader)) {
            return FALSE;
        }
    }
}

/* Labels that are used and placed nowhere: named by the statement that uses them. */
static gboolean check_labels(PtxBody *body, GError **error)
{
    for (guint i = 0; i < body->args->len; i++) {
        const PtxArg *arg = &g_array_index(body->args, PtxArg, i);
        if (arg->kind == ARG_LABEL && arg->base == NAME_LABEL && ptx_body_label(body, arg->index) == G_MAXUINT32)
            return ptx_body_fail(body, arg->line, arg->column, PTX_LOAD_ERROR_SYMBOL, error,
                                 "nothing has this name here");
    }
    return TRUE;
}

PtxBody *ptx_body_read(PtxFunction *function, GError **error)
{
    PtxBody *body = ptx_body_new(function);
    GError *local = NULL;
    PtxReader reader = {.body = body, .error = &local};
    reader.lex = (PtxLex){.file = function->unit->file,
                          .at = function->body,
                          .end = function->body_end,
                          .line_start = function->body_line_start,
                          .line = function->body_line};
    ptx_lex_next(&reader.lex);
    ptx_scope_open(&reader);
    gboolean good = add_formals(&reader, function->rets) && add_formals(&reader, function->params) &&
                    read_scopes(&reader);
    while (reader.scope)
        ptx_scope_close(&reader);
    GError *labels = NULL; /* says more than that something is missing */
    if ((good || g_error_matches(local, PTX_LOAD_ERROR, PTX_LOAD_ERROR_SYMBOL)) && !check_labels(body, &labels)) {
        g_clear_error(&local);
        local = labels;
        good = FALSE;
    }
    if (good)
        return body;
    g_propagate_error(error, local);
    ptx_body_free(body);
    return NULL;
}
