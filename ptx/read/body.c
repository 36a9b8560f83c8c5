#include "ptx/read/reader.h"

static void var_clear(gpointer data) { g_free(((PtxVar *)data)->name); }

static void call_free(gpointer data)
{
    PtxCallSite *site = data;
    g_array_unref(site->rets);
    g_array_unref(site->args);
    g_free(site);
}

PtxBody *ptx_body_new(PtxFunction *function)
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
