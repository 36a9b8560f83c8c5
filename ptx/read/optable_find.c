/* The instruction table made ready for look-ups: for each row, which word belongs to which group, and sets of
 * types as bits. */
#include <string.h>

#include "ptx/read/optable.h"

#define GROUPS_MAX 30

typedef struct {
    const PtxOpRow *row;
    guint8 group[W_COUNT]; /* 0: not allowed */
    guint32 must;          /* groups of which one has to be there */
    guint n_types;
    guint64 types[PTX_TYPES_MAX];
    guint args_min, args_max;
} OpEntry;

struct PtxOpTable {
    OpEntry *entries;
    GHashTable *names; /* name -> first entry's index + 1 chain */
    guint *next;       /* of the same name: index + 1 */
};

static void entry_words(OpEntry *entry)
{
    guint group = 0;
    for (const char *at = entry->row->words; *at;) {
        if (*at == ' ') {
            at++;
            continue;
        }
        gboolean must = *at == '!';
        at += must;
        group++;
        g_assert(group < GROUPS_MAX);
        if (must)
            entry->must |= 1u << group;
        while (*at && *at != ' ') {
            gsize length = strcspn(at, "| ");
            PtxWord word = ptx_word_find(at, length);
            g_assert(word != W_NONE && entry->group[word] == 0);
            entry->group[word] = (guint8)group;
            at += length + (at[length] == '|');
        }
    }
}

static void entry_types(OpEntry *entry)
{
    for (const char *at = entry->row->types; *at; at += *at == ' ') {
        guint position = entry->n_types++;
        while (*at && *at != ' ') {
            gsize length = strcspn(at, "| ");
            PtxType type = ptx_type_find(at, length);
            g_assert(type != T_NONE);
            entry->types[position] |= (guint64)1 << type;
            at += length + (at[length] == '|');
        }
    }
}

static void entry_operands(OpEntry *entry)
{
    for (const char *at = entry->row->operands; *at; at++) {
        gboolean optional = at[1] == '?' || *at == ROLE_DST_PAIR;
        if (*at == '?')
            continue;
        entry->args_max += *at != ROLE_DST_PAIR;
        entry->args_min += !optional;
    }
}

PtxOpTable *ptx_optable_new(void)
{
    PtxOpTable *table = g_new0(PtxOpTable, 1);
    table->entries = g_new0(OpEntry, ptx_op_row_count);
    table->next = g_new0(guint, ptx_op_row_count);
    table->names = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = ptx_op_row_count; i-- > 0;) { /* so that chains keep the rows' order */
        OpEntry *entry = &table->entries[i];
        entry->row = &ptx_op_rows[i];
        entry_words(entry);
        entry_types(entry);
        entry_operands(entry);
        gpointer name = (gpointer)entry->row->name;
        table->next[i] = GPOINTER_TO_UINT(g_hash_table_lookup(table->names, name));
        g_hash_table_insert(table->names, name, GUINT_TO_POINTER(i + 1));
    }
    return table;
}

void ptx_optable_free(PtxOpTable *table)
{
    if (!table)
        return;
    g_hash_table_unref(table->names);
    g_free(table->next);
    g_free(table->entries);
    g_free(table);
}

static guint table_first(const PtxOpTable *table, const PtxOpKey *key)
{
    char name[32];
    if (key->name_length >= sizeof name)
        return 0;
    memcpy(name, key->name, key->name_length);
    name[key->name_length] = 0;
    return GPOINTER_TO_UINT(g_hash_table_lookup(table->names, name));
}

const PtxOpRow *ptx_optable_refused(const PtxOpTable *table, const PtxOpKey *key)
{
    for (guint i = table_first(table, key); i; i = table->next[i - 1]) {
        const OpEntry *entry = &table->entries[i - 1];
        guint32 seen = 0;
        for (guint w = 0; w < key->n_words; w++)
            seen |= 1u << entry->group[key->words[w]];
        if (entry->row->refused && (seen & entry->must) == entry->must)
            return entry->row;
    }
    return NULL;
}

static PtxOpLook entry_look(const OpEntry *entry, const PtxOpKey *key, guint *which)
{
    guint32 seen = 0;
    for (guint w = 0; w < key->n_words; w++) {
        guint group = entry->group[key->words[w]];
        *which = w;
        if (group == 0)
            return OPTABLE_WORD;
        if (seen >> group & 1)
            return OPTABLE_FORM;
        seen |= 1u << group;
    }
    if ((seen & entry->must) != entry->must)
        return OPTABLE_FORM;
    for (guint t = 0; t < key->n_types; t++) {
        *which = t;
        if (t >= entry->n_types || !(entry->types[t] >> key->types[t] & 1))
            return OPTABLE_TYPE;
    }
    if (key->n_types < entry->n_types)
        return OPTABLE_FORM;
    return key->n_args < entry->args_min || key->n_args > entry->args_max ? OPTABLE_OPERANDS : OPTABLE_FOUND;
}

PtxOpLook ptx_optable_find(const PtxOpTable *table, const PtxOpKey *key, const PtxOpRow **row, guint *which)
{
    static const guint8 nearness[] = {[OPTABLE_FOUND] = 9, [OPTABLE_NAME] = 0, [OPTABLE_WORD] = 1,
                                      [OPTABLE_FORM] = 3,  [OPTABLE_TYPE] = 2, [OPTABLE_OPERANDS] = 4};
    PtxOpLook best = OPTABLE_NAME;
    guint best_which = 0;
    *row = NULL;
    for (guint i = table_first(table, key); i; i = table->next[i - 1]) {
        guint at = 0;
        PtxOpLook look = entry_look(&table->entries[i - 1], key, &at);
        /* of two that fail at words, or at types, the one that gets further says more */
        gboolean further = look == best && (look == OPTABLE_WORD || look == OPTABLE_TYPE) && at > best_which;
        if (nearness[look] > nearness[best] || further) {
            best = look;
            best_which = at;
            *row = table->entries[i - 1].row;
        }
        if (look == OPTABLE_FOUND)
            break;
    }
    *which = best_which;
    return best;
}

static gboolean key_has(const PtxOpKey *key, PtxWord word)
{
    for (guint w = 0; w < key->n_words; w++)
        if (key->words[w] == word)
            return TRUE;
    return FALSE;
}

/* Opcode, state space and ordering for memory; opcode and leading words for the rest; i, f or f16 for arithmetic. */
char *ptx_optable_family(const PtxOpRow *row, const PtxOpKey *key)
{
    static const guint8 spaces[] = {W_GLOBAL, W_SHARED, W_SHARED_CTA, W_SHARED_CLUSTER, W_LOCAL, W_PARAM, W_CONST};
    static const guint8 orders[] = {W_RELAXED, W_ACQUIRE, W_RELEASE, W_ACQ_REL, W_SC, W_VOLATILE, W_MMIO};
    static const guint8 kinds[] = {W_ADD, W_MIN, W_MAX, W_INC, W_DEC, W_CAS, W_EXCH, W_AND, W_OR, W_XOR};
    GString *text = g_string_new(row->name);
    gboolean plain = row->op == OP_LD || row->op == OP_ST, atomic = row->op == OP_ATOM || row->op == OP_RED;
    if (plain || atomic) {
        const char *space = "generic";
        for (guint i = 0; i < G_N_ELEMENTS(spaces); i++)
            if (key_has(key, spaces[i]))
                space = ptx_word_name(spaces[i]);
        g_string_append_printf(text, ".%s", space);
        const guint8 *more = atomic ? kinds : orders;
        for (guint i = 0; i < (atomic ? G_N_ELEMENTS(kinds) : G_N_ELEMENTS(orders)); i++)
            if (key_has(key, more[i]))
                g_string_append_printf(text, ".%s", ptx_word_name(more[i]));
    } else if (row->cost >= COST_SHUFFLE || row->op >= OP_LD) {
        for (guint w = 0; w < key->n_words && w < 2; w++)
            if (key->words[w] != W_UNI && key->words[w] != W_ALIGNED)
                g_string_append_printf(text, ".%s", ptx_word_name(key->words[w]));
    } else if (key->n_types > 0 && row->op <= OP_MAX && row->op != OP_NONE) {
        PtxType type = key->types[0];
        gboolean half = type == T_F16 || type == T_F16X2 || type == T_BF16 || type == T_BF16X2;
        g_string_append(text, half ? ".f16" : ptx_type_is_float(type) ? ".f" : ".i");
    }
    return g_string_free(text, FALSE);
}
