#include "ptx/read/body.h"

#include <string.h>

static void var_clear(gpointer data) { g_free(((PtxVar *)data)->name); }

static void call_free(gpointer data)
{
    PtxCallSite *site = data;
    g_array_unref(site->rets);
    g_array_unref(site->args);
    g_free(site);
}

static PtxBody *body_new(PtxFunction *function)
{
    PtxBody *body = g_new0(PtxBody, 1);
    body->function = function;
    body->unit = function->unit;
    body->statements = g_array_new(FALSE, FALSE, sizeof(PtxStatement));
    body->args = g_array_new(FALSE, FALSE, sizeof(PtxArg));
    body->parts = g_array_new(FALSE, FALSE, sizeof(PtxArg));
    body->registers = g_array_new(FALSE, FALSE, 1);
    body->vars = g_array_new(FALSE, FALSE, sizeof(PtxVar));
    g_array_set_clear_func(body->vars, var_clear);
    body->labels = g_array_new(FALSE, FALSE, sizeof(guint32));
    body->label_alias = g_array_new(FALSE, FALSE, sizeof(guint32));
    body->calls = g_ptr_array_new_with_free_func(call_free);
    body->protos = g_ptr_array_new();
    body->tables = g_ptr_array_new();
    return body;
}

void ptx_body_free(PtxBody *body)
{
    if (!body)
        return;
    g_array_unref(body->statements);
    g_array_unref(body->args);
    g_array_unref(body->parts);
    g_array_unref(body->registers);
    g_array_unref(body->vars);
    g_array_unref(body->labels);
    g_array_unref(body->label_alias);
    g_ptr_array_unref(body->calls);
    g_ptr_array_unref(body->protos);
    g_ptr_array_unref(body->tables);
    g_free(body);
}

/* Formal parameters are names of the outermost scope: variables, or registers. Returns come first. */
static gboolean add_formals(PtxReader *reader, const GArray *params)
{
    PtxBody *body = reader->body;
    for (guint i = 0; i < params->len; i++) {
        const PtxParam *param = &g_array_index(params, PtxParam, i);
        PtxToken token = {.kind = TOKEN_WORD, .text = param->name, .length = (guint32)strlen(param->name),
                          .line = body->function->symbol->line, .column = body->function->symbol->column};
        PtxName *name = ptx_scope_add(reader, &token, param->name, param->space == SPACE_REG ? NAME_REG : NAME_VAR);
        if (!name)
            return FALSE;
        if (param->space == SPACE_REG) {
            name->type = param->type;
            name->index = ptx_body_register(body, param->type);
        }
        guint32 offset = (body->param_bytes + param->align - 1) / param->align * param->align;
        PtxVar var = {.name = g_strdup(param->name), .space = SPACE_PARAM, .type = param->type, .formal = TRUE,
                      .bytes = param->bytes, .align = param->align, .offset = offset};
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
    PtxBody *body = body_new(function);
    GError *local = NULL;
    PtxReader reader = {.body = body, .error = &local};
    reader.lex = (PtxLex){.file = function->unit->file, .at = function->body, .end = function->body_end,
                          .line_start = function->body_line_start, .line = function->body_line};
    ptx_lex_next(&reader.lex);
    ptx_scope_open(&reader);
    gboolean good =
        add_formals(&reader, function->rets) && add_formals(&reader, function->params) && read_scopes(&reader);
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

guint32 ptx_body_label(const PtxBody *body, guint32 label)
{
    for (guint step = 0; step < PTX_SCOPES_MAX; step++) {
        guint32 alias = g_array_index(body->label_alias, guint32, label);
        if (alias == label)
            break;
        label = alias;
    }
    return g_array_index(body->labels, guint32, label);
}

gboolean ptx_statement_has(const PtxStatement *statement, PtxWord word)
{
    for (guint w = 0; w < statement->n_words; w++)
        if (statement->words[w] == word)
            return TRUE;
    return FALSE;
}

gboolean ptx_body_fail(const PtxBody *body, guint32 line, guint32 column, PtxLoadError code, GError **error,
                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_set_error(error, PTX_LOAD_ERROR, code, "%s:%u:%u: %s", body->unit->file, line, column, valid);
    return FALSE;
}
