/* Statements of a body: declarations, labels, guarded instructions, calls. */
#include <string.h>

#include "ptx/read/reader.h"

#define FAIL(reader, token, code, ...) ptx_lex_fail(&(reader)->lex, token, code, (reader)->error, __VA_ARGS__)

/* ---- declarations */

static gboolean declare_register(PtxReader *reader, const PtxDeclaration *declaration)
{
    PtxLex *lex = &reader->lex;
    PtxToken token = lex->token;
    g_autofree char *name = ptx_lex_name(lex, "a register's name", reader->error);
    if (!name)
        return FALSE;
    if (ptx_lex_take(lex, '<')) {
        PtxToken number = lex->token;
        ptx_lex_next(lex);
        if (number.kind != TOKEN_INTEGER)
            return FAIL(reader, &number, PTX_LOAD_ERROR_SYNTAX, "a number of registers is expected here");
        return ptx_scope_range(reader, &token, name, declaration->type, number.value) &&
               ptx_lex_expect(lex, '>', reader->error);
    }
    PtxName *entry = ptx_scope_add(reader, &token, name, NAME_REG);
    if (!entry)
        return FALSE;
    entry->type = (guint8)declaration->type;
    entry->index = ptx_body_register(reader->body, declaration->type);
    return TRUE;
}

static guint32 *var_bank(PtxBody *body, PtxSpace space, guint32 *most)
{
    *most = space == SPACE_LOCAL    ? PTX_LOCAL_BYTES_MAX
            : space == SPACE_SHARED ? PTX_SHARED_BYTES_MAX
                                    : PTX_FUNC_PARAM_BYTES_MAX;
    return space == SPACE_LOCAL ? &body->local_bytes : space == SPACE_SHARED ? &body->shared_bytes : &body->param_bytes;
}

static gboolean declare_var(PtxReader *reader, const PtxDeclaration *declaration)
{
    PtxLex *lex = &reader->lex;
    PtxToken token = lex->token;
    g_autofree char *name = ptx_lex_name(lex, "a variable's name", reader->error);
    guint64 elements;
    gboolean open;
    guint32 most, *bank = var_bank(reader->body, declaration->space, &most);
    PtxName *entry = name ? ptx_scope_add(reader, &token, name, NAME_VAR) : NULL;
    if (!entry || !ptx_dimensions_read(lex, &elements, &open, reader->error))
        return FALSE;
    guint64 bytes = elements * ptx_types[declaration->type].memory * declaration->vector;
    guint64 align = ptx_declaration_align(declaration);
    guint64 offset = (*bank + align - 1) / align * align;
    if (open || bytes > most || offset + bytes > most)
        return FAIL(reader, &token, PTX_LOAD_ERROR_LIMIT, "the variable does not fit: at most %u bytes", most);
    *bank = (guint32)(offset + bytes);
    PtxVar var = {.name = g_steal_pointer(&name),
                  .space = (guint8)declaration->space,
                  .type = (guint8)declaration->type,
                  .bytes = (guint32)bytes,
                  .align = (guint32)align,
                  .offset = (guint32)offset};
    entry->index = reader->body->vars->len;
    g_array_append_val(reader->body->vars, var);
    return TRUE;
}

static gboolean read_declaration(PtxReader *reader, PtxSpace space)
{
    PtxDeclaration declaration = {.space = space};
    PtxToken token = reader->lex.token;
    ptx_lex_next(&reader->lex);
    if (!ptx_declaration_read(&reader->lex, &declaration, reader->error))
        return FALSE;
    if (space == SPACE_REG && declaration.vector > 1)
        return FAIL(reader, &token, PTX_LOAD_ERROR_UNSUPPORTED, "vector registers are not supported");
    if (space != SPACE_REG && declaration.type == T_PRED)
        return FAIL(reader, &token, PTX_LOAD_ERROR_SYNTAX, "predicates live in registers alone");
    do {
        if (!(space == SPACE_REG ? declare_register(reader, &declaration) : declare_var(reader, &declaration)))
            return FALSE;
    } while (ptx_lex_take(&reader->lex, ','));
    return ptx_lex_expect(&reader->lex, ';', reader->error);
}

static gboolean read_loc(PtxReader *reader)
{
    PtxLex *lex = &reader->lex;
    ptx_lex_next(lex);
    ptx_lex_next(lex); /* the file */
    if (lex->token.kind != TOKEN_INTEGER)
        return FAIL(reader, &lex->token, PTX_LOAD_ERROR_SYNTAX, "a line is expected here");
    reader->source_line = (guint32)MIN(lex->token.value, G_MAXUINT32);
    ptx_lex_next(lex);
    if (lex->token.kind == TOKEN_INTEGER)
        ptx_lex_next(lex);
    /* ", function_name label, inlined_at ...": to the end of the line */
    guint32 line = lex->token.line;
    while (ptx_lex_take(lex, ','))
        while (lex->token.line == line && lex->token.kind != TOKEN_END && !ptx_lex_is(lex, ',') &&
               !ptx_lex_is(lex, '}'))
            ptx_lex_next(lex);
    return TRUE;
}

static gboolean read_directive(PtxReader *reader)
{
    static const struct {
        const char *word;
        PtxSpace space;
    } spaces[] = {{"reg", SPACE_REG}, {"local", SPACE_LOCAL}, {"shared", SPACE_SHARED}, {"param", SPACE_PARAM}};
    PtxLex *lex = &reader->lex;
    PtxToken token = lex->token;
    for (guint i = 0; i < G_N_ELEMENTS(spaces); i++)
        if (ptx_lex_is_dot(lex, spaces[i].word))
            return read_declaration(reader, spaces[i].space);
    if (ptx_lex_is_dot(lex, "loc"))
        return read_loc(reader);
    if (ptx_lex_take_dot(lex, "pragma")) {
        while (lex->token.kind == TOKEN_STRING || ptx_lex_is(lex, ','))
            ptx_lex_next(lex);
        return ptx_lex_expect(lex, ';', reader->error);
    }
    return FAIL(reader, &token, PTX_LOAD_ERROR_SYNTAX, "not known inside a function");
}

/* ---- label: .callprototype, .branchtargets, or a plain label */

static void proto_free(gpointer data)
{
    PtxProto *proto = data;
    g_array_unref(proto->params);
    g_array_unref(proto->rets);
    g_free(proto);
}

static gboolean read_prototype(PtxReader *reader, const PtxToken *token, const char *text)
{
    PtxLex *lex = &reader->lex;
    PtxName *name = ptx_scope_add(reader, token, text, NAME_PROTO);
    if (!name)
        return FALSE;
    PtxProto *proto = g_new0(PtxProto, 1);
    guint32 ret_bytes = 0, bytes = 0;
    proto->params = g_array_new(FALSE, FALSE, sizeof(PtxParam));
    proto->rets = g_array_new(FALSE, FALSE, sizeof(PtxParam));
    g_array_set_clear_func(proto->params, ptx_param_clear);
    g_array_set_clear_func(proto->rets, ptx_param_clear);
    name->index = reader->body->protos->len;
    g_ptr_array_set_free_func(reader->body->protos, proto_free);
    g_ptr_array_add(reader->body->protos, proto);
    ptx_lex_next(lex);
    if (ptx_lex_is(lex, '(') &&
        !ptx_parameters_read(lex, proto->rets, &ret_bytes, PTX_FUNC_PARAM_BYTES_MAX, reader->error))
        return FALSE;
    g_autofree char *dummy = ptx_lex_name(lex, "'_'", reader->error);
    if (!dummy || (ptx_lex_is(lex, '(') &&
                   !ptx_parameters_read(lex, proto->params, &bytes, PTX_FUNC_PARAM_BYTES_MAX, reader->error)))
        return FALSE;
    while (lex->token.kind == TOKEN_DOT) /* .noreturn */
        ptx_lex_next(lex);
    return ptx_lex_expect(lex, ';', reader->error);
}

static void table_free(gpointer data) { g_array_unref(data); }

/* .branchtargets gives labels; .calltargets names functions, which are not needed: any may be called. */
static gboolean read_targets(PtxReader *reader, const PtxToken *token, const char *text)
{
    PtxLex *lex = &reader->lex;
    gboolean calls = ptx_lex_is_dot(lex, "calltargets");
    PtxName *name = ptx_scope_add(reader, token, text, calls ? NAME_PROTO : NAME_TABLE);
    if (!name)
        return FALSE;
    GArray *table = g_array_new(FALSE, FALSE, sizeof(guint32));
    name->index = calls ? G_MAXUINT32 : reader->body->tables->len;
    g_ptr_array_set_free_func(reader->body->tables, table_free);
    g_ptr_array_add(reader->body->tables, table);
    ptx_lex_next(lex);
    do {
        PtxToken target = lex->token;
        if (target.kind != TOKEN_WORD)
            return FAIL(reader, &target, PTX_LOAD_ERROR_SYNTAX, "a label is expected here");
        guint32 label = calls ? 0 : ptx_scope_label(reader, &target);
        if (label == G_MAXUINT32)
            return FALSE;
        g_array_append_val(table, label);
        ptx_lex_next(lex);
    } while (ptx_lex_take(lex, ','));
    return ptx_lex_expect(lex, ';', reader->error);
}

static gboolean read_label(PtxReader *reader)
{
    PtxLex *lex = &reader->lex;
    PtxToken token = lex->token;
    g_autofree char *text = g_strndup(token.text, token.length);
    ptx_lex_next(lex);
    ptx_lex_next(lex);
    if (ptx_lex_is_dot(lex, "callprototype"))
        return read_prototype(reader, &token, text);
    if (ptx_lex_is_dot(lex, "branchtargets") || ptx_lex_is_dot(lex, "calltargets"))
        return read_targets(reader, &token, text);
    PtxName *name = ptx_scope_own(reader, text);
    GArray *labels = reader->body->labels;
    if (!name) {
        name = ptx_scope_add(reader, &token, text, NAME_LABEL);
        name->index = labels->len;
        guint32 nowhere = G_MAXUINT32;
        g_array_append_val(labels, nowhere);
        g_array_append_val(reader->body->label_alias, name->index);
    }
    if (name->kind != NAME_LABEL || g_array_index(labels, guint32, name->index) != G_MAXUINT32)
        return FAIL(reader, &token, PTX_LOAD_ERROR_SYMBOL, "the name is declared twice in one scope");
    g_array_index(labels, guint32, name->index) = reader->body->statements->len;
    return TRUE;
}

/* ---- calls */

static gboolean read_call_list(PtxReader *reader, GArray *list)
{
    PtxLex *lex = &reader->lex;
    if (!ptx_lex_take(lex, '('))
        return TRUE;
    if (ptx_lex_take(lex, ')'))
        return TRUE;
    do {
        PtxArg arg;
        if (list->len == PTX_CALL_ARGS_MAX)
            return FAIL(reader, &lex->token, PTX_LOAD_ERROR_LIMIT, "a call with too many arguments");
        if (!ptx_arg_read(reader, &arg))
            return FALSE;
        g_array_append_val(list, arg);
    } while (ptx_lex_take(lex, ','));
    return ptx_lex_expect(lex, ')', reader->error);
}

/* call (rets), target, (args), prototype; */
static gboolean read_call(PtxReader *reader, PtxStatement *statement)
{
    PtxLex *lex = &reader->lex;
    PtxCallSite *site = g_new0(PtxCallSite, 1);
    site->rets = g_array_new(FALSE, FALSE, sizeof(PtxArg));
    site->args = g_array_new(FALSE, FALSE, sizeof(PtxArg));
    site->proto = -1;
    statement->op = OP_CALL;
    statement->extra = reader->body->calls->len;
    g_ptr_array_add(reader->body->calls, site);
    if (ptx_lex_is(lex, '(') && (!read_call_list(reader, site->rets) || !ptx_lex_expect(lex, ',', reader->error)))
        return FALSE;
    PtxToken token = lex->token;
    if (!ptx_arg_read(reader, &site->target))
        return FALSE;
    if (site->target.kind == ARG_LABEL)
        return FAIL(reader, &token, PTX_LOAD_ERROR_SYMBOL, "no function has this name");
    if ((site->target.kind != ARG_SYMBOL || site->target.symbol->space != SPACE_CODE) && site->target.kind != ARG_REG)
        return FAIL(reader, &token, PTX_LOAD_ERROR_SYNTAX, "a function or a register is called");
    if (ptx_lex_take(lex, ',') && ptx_lex_is(lex, '(')) {
        if (!read_call_list(reader, site->args))
            return FALSE;
        ptx_lex_take(lex, ',');
    }
    if (lex->token.kind == TOKEN_WORD) {
        guint32 index;
        const PtxName *name = ptx_scope_find(reader, &lex->token, &index);
        if (name && name->kind == NAME_PROTO && index != G_MAXUINT32)
            site->proto = (gint)index;
        ptx_lex_next(lex);
    }
    if (site->target.kind == ARG_REG && site->proto < 0 && (site->args->len || site->rets->len))
        return FAIL(reader, &token, PTX_LOAD_ERROR_SYNTAX, "an indirect call with arguments needs a prototype");
    return TRUE;
}

/* ---- instructions */

/* The second of two orders is that of B. */
static PtxWord word_of(const PtxToken *token, PtxStatement *statement, const PtxOpKey *key)
{
    PtxWord word = ptx_word_find(token->text, token->length),
            before = key->n_words ? key->words[key->n_words - 1] : W_NONE;
    if ((word == W_ROW || word == W_COL) && (before == W_ROW || before == W_COL))
        return word == W_ROW ? W_ROW_OF_B : W_COL_OF_B;
    if (word != W_NONE && word != W_SHAPE)
        return word;
    return ptx_shape_find(token->text, token->length, statement->shape) ? W_SHAPE : W_NONE;
}

static gboolean read_modifiers(PtxReader *reader, PtxStatement *statement, PtxOpKey *key)
{
    PtxLex *lex = &reader->lex;
    PtxToken first = lex->token;
    key->name = first.text;
    key->name_length = first.length;
    PtxToken bad = {0};
    for (ptx_lex_next(lex); lex->token.kind == TOKEN_DOT; ptx_lex_next(lex)) {
        PtxToken token = lex->token;
        PtxType type = ptx_type_find(token.text, token.length);
        PtxWord word = type == T_NONE ? word_of(&token, statement, key) : W_NONE;
        if (type != T_NONE && key->n_types < PTX_TYPES_MAX)
            key->types[key->n_types++] = (guint8)type;
        else if (word != W_NONE && key->n_words < PTX_MODIFIERS_MAX)
            key->words[key->n_words++] = (guint8)word;
        else if (!bad.text)
            bad = token;
    }
    const PtxOpRow *refused = ptx_optable_refused(reader->body->unit->module->ops, key);
    if (refused)
        return FAIL(reader, &first, PTX_LOAD_ERROR_UNSUPPORTED, "instruction %.*s: %s",
                    (int)(lex->token.text - first.text > 80 ? 80 : strcspn(first.text, " \t\n;")), first.text,
                    refused->refused);
    if (bad.text)
        return FAIL(reader, &bad, PTX_LOAD_ERROR_SYNTAX, "no modifier or type that %.*s knows", (int)first.length,
                    first.text);
    memcpy(statement->words, key->words, sizeof key->words);
    memcpy(statement->types, key->types, sizeof key->types);
    statement->n_words = (guint8)key->n_words;
    statement->n_types = (guint8)key->n_types;
    return TRUE;
}

static gboolean read_args(PtxReader *reader, PtxStatement *statement)
{
    PtxLex *lex = &reader->lex;
    statement->first_arg = reader->body->args->len;
    while (!ptx_lex_is(lex, ';')) {
        PtxArg arg;
        if (statement->n_args == PTX_ARGS_MAX)
            return FAIL(reader, &lex->token, PTX_LOAD_ERROR_SYNTAX, "more than %u operands", PTX_ARGS_MAX);
        if (!ptx_arg_read(reader, &arg))
            return FALSE;
        g_array_append_val(reader->body->args, arg);
        statement->n_args++;
        if (ptx_lex_take(lex, '|')) {
            PtxArg pair;
            if (!ptx_arg_read(reader, &pair))
                return FALSE;
            pair.paired = TRUE;
            g_array_append_val(reader->body->args, pair);
            statement->n_args++;
        }
        if (!ptx_lex_take(lex, ','))
            break;
    }
    return TRUE;
}

static gboolean read_instruction(PtxReader *reader, PtxStatement *statement)
{
    PtxLex *lex = &reader->lex;
    PtxToken token = lex->token;
    PtxOpKey key = {0};
    if (token.kind != TOKEN_WORD)
        return FAIL(reader, &token, PTX_LOAD_ERROR_SYNTAX, "an instruction is expected here");
    statement->line = token.line;
    statement->column = token.column;
    statement->source_line = reader->source_line;
    statement->name = token.text;
    if (reader->body->statements->len >= PTX_STATEMENTS_MAX)
        return FAIL(reader, &token, PTX_LOAD_ERROR_LIMIT, "a body of more than %u instructions", PTX_STATEMENTS_MAX);
    if (!read_modifiers(reader, statement, &key))
        return FALSE;
    if (token.length == 4 && !memcmp(token.text, "call", 4)) {
        if (!read_call(reader, statement))
            return FALSE;
    } else if (!read_args(reader, statement) || !ptx_statement_check(reader, statement, &token)) {
        return FALSE;
    }
    g_array_append_val(reader->body->statements, *statement);
    return ptx_lex_expect(lex, ';', reader->error);
}

gboolean ptx_statement_read(PtxReader *reader)
{
    PtxLex *lex = &reader->lex;
    PtxStatement statement = {0};
    if (lex->token.kind == TOKEN_DOT)
        return read_directive(reader);
    if (ptx_lex_take(lex, ';'))
        return TRUE;
    if (lex->token.kind == TOKEN_WORD) {
        PtxToken next = ptx_lex_peek(lex);
        if (next.kind == TOKEN_PUNCT && next.punct == ':')
            return read_label(reader);
    }
    if (ptx_lex_take(lex, '@')) {
        PtxToken token;
        statement.guarded = TRUE;
        statement.guard_negated = ptx_lex_take(lex, '!');
        token = lex->token;
        const PtxName *name = token.kind == TOKEN_WORD ? ptx_scope_find(reader, &token, &statement.guard) : NULL;
        if (!name || (name->kind != NAME_REG && name->kind != NAME_RANGE) ||
            g_array_index(reader->body->registers, guint8, statement.guard) != T_PRED)
            return FAIL(reader, &token, PTX_LOAD_ERROR_SYNTAX, "a guard is a predicate register");
        ptx_lex_next(lex);
    }
    return read_instruction(reader, &statement);
}
