/* Names of a body: registers and ranges of them, variables, labels, prototypes, tables, in nested scopes. */
#include <string.h>

#include "ptx/read/reader.h"

static void name_free(gpointer data)
{
    PtxName *name = data;
    g_free(name->ids);
    g_free(name);
}

void ptx_scope_open(PtxReader *reader)
{
    PtxNameScope *scope = g_new0(PtxNameScope, 1);
    scope->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, name_free);
    scope->outer = reader->scope;
    reader->scope = scope;
    reader->depth++;
}

/* Labels that were used but stand nowhere inside may stand outside. */
gboolean ptx_scope_close(PtxReader *reader)
{
    PtxNameScope *scope = reader->scope, *outer = scope->outer;
    GArray *labels = reader->body->labels, *alias = reader->body->label_alias;
    GHashTableIter iter;
    gpointer key, value;
    gboolean good = TRUE;
    g_hash_table_iter_init(&iter, scope->names);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        PtxName *name = value;
        if (name->kind != NAME_LABEL || g_array_index(labels, guint32, name->index) != G_MAXUINT32)
            continue;
        PtxName *there = outer ? g_hash_table_lookup(outer->names, key) : NULL;
        if (!outer) {
            good = FALSE;
        } else if (!there) {
            PtxName *copy = g_memdup2(name, sizeof *name);
            g_hash_table_insert(outer->names, g_strdup(key), copy);
        } else if (there->kind == NAME_LABEL) {
            g_array_index(alias, guint32, name->index) = there->index;
        } else {
            good = FALSE;
        }
    }
    reader->scope = outer;
    reader->depth--;
    g_hash_table_unref(scope->names);
    g_free(scope);
    return good;
}

PtxName *ptx_scope_own(const PtxReader *reader, const char *name)
{
    return g_hash_table_lookup(reader->scope->names, name);
}

PtxName *ptx_scope_add(PtxReader *reader, const PtxToken *token, const char *text, PtxNameKind kind)
{
    if (ptx_scope_own(reader, text)) {
        ptx_lex_fail(&reader->lex, token, PTX_LOAD_ERROR_SYMBOL, reader->error,
                     "the name is declared twice in one scope");
        return NULL;
    }
    PtxName *name = g_new0(PtxName, 1);
    name->kind = (guint8)kind;
    g_hash_table_insert(reader->scope->names, g_strdup(text), name);
    return name;
}

guint32 ptx_body_register(PtxBody *body, PtxType type)
{
    guint8 kind = (guint8)type;
    g_array_append_val(body->registers, kind);
    return body->registers->len - 1;
}

gboolean ptx_scope_range(PtxReader *reader, const PtxToken *token, const char *prefix, PtxType type, guint64 count)
{
    reader->ranged += (guint32)MIN(count, PTX_REGISTERS_MAX);
    if (count > PTX_REGISTERS_MAX || reader->ranged > PTX_REGISTERS_MAX)
        return ptx_lex_fail(&reader->lex, token, PTX_LOAD_ERROR_LIMIT, reader->error,
                            "a body with more than %u registers", PTX_REGISTERS_MAX);
    PtxName *name = ptx_scope_add(reader, token, prefix, NAME_RANGE);
    if (!name)
        return FALSE;
    name->type = (guint8)type;
    name->count = (guint32)count;
    name->ids = g_new0(guint32, MAX(count, 1));
    return TRUE;
}

/* %r17 is the member 17 of %r<100>, or 7 of %r1<10>: the longest number first. */
static const PtxName *range_find(PtxReader *reader, PtxNameScope *scope, const char *text, gsize length, guint32 *reg)
{
    char prefix[256];
    gsize digits = 0;
    if (length >= sizeof prefix) /* no compiler's registers have such names */
        return NULL;
    memcpy(prefix, text, length + 1);
    while (digits < length && g_ascii_isdigit(text[length - 1 - digits]))
        digits++;
    for (digits = MIN(digits, 9); digits > 0; digits--) {
        prefix[length - digits] = 0;
        PtxName *name = g_hash_table_lookup(scope->names, prefix);
        guint64 member = g_ascii_strtoull(text + length - digits, NULL, 10);
        if (name && name->kind == NAME_RANGE && member < name->count && (digits == 1 || text[length - digits] != '0')) {
            if (!name->ids[member])
                name->ids[member] = ptx_body_register(reader->body, name->type) + 1;
            *reg = name->ids[member] - 1;
            return name;
        }
        prefix[length - digits] = text[length - digits];
        memcpy(prefix + length - digits, text + length - digits, digits + 1);
    }
    return NULL;
}

const PtxName *ptx_scope_find(PtxReader *reader, const PtxToken *token, guint32 *reg)
{
    char small[256];
    g_autofree char *big = token->length < sizeof small ? NULL : g_malloc(token->length + 1); /* C++ knows such names */
    char *text = big ? big : small;
    memcpy(text, token->text, token->length);
    text[token->length] = 0;
    for (PtxNameScope *scope = reader->scope; scope; scope = scope->outer) {
        PtxName *name = g_hash_table_lookup(scope->names, text);
        if (name && name->kind != NAME_RANGE) {
            *reg = name->index;
            return name;
        }
        const PtxName *range = range_find(reader, scope, text, token->length, reg);
        if (range)
            return range;
    }
    return NULL;
}

guint32 ptx_scope_label(PtxReader *reader, const PtxToken *token)
{
    guint32 index;
    const PtxName *name = ptx_scope_find(reader, token, &index);
    if (name && name->kind == NAME_LABEL)
        return name->index;
    g_autofree char *text = g_strndup(token->text, token->length);
    guint32 nowhere = G_MAXUINT32;
    PtxName *label = ptx_scope_add(reader, token, text, NAME_LABEL);
    if (!label)
        return G_MAXUINT32;
    label->index = reader->body->labels->len;
    g_array_append_val(reader->body->labels, nowhere);
    g_array_append_val(reader->body->label_alias, label->index);
    return label->index;
}
