/* Two halves of the rows, and what is aimed at for published rows by machine, GPUs, size and timing.
 *
 * A parameter that is taken from rows fits these rows by nature. So rows are halved once for all, by a hash of their
 * ids, and what the model is worth is said by the half that no parameter comes from. */
#include <string.h>

#include "validate/validate.h"

#define MIB (1ull << 20)
#define HOPPER "dgx-h100 dgx-h200"
#define BLACKWELL "hgx-b200 hgx-b300 gb200 gb300"

const ValidateFidelity validate_fidelity[] = {
    {"hopper8", "Hopper, 8 GPUs, 4 MiB and more", HOPPER, 5, 8, 4 * MIB, G_MAXUINT64, NULL, NULL, 3, 8, 0},
    {"hopper4", "Hopper, 2 and 4 GPUs, 4 MiB and more", HOPPER, 2, 4, 4 * MIB, G_MAXUINT64, NULL, NULL, 4, 10, 0},
    {"ampere", "A100, 2 to 8 GPUs, 4 MiB and more", "dgx-a100", 2, 8, 4 * MIB, G_MAXUINT64, NULL, NULL, 0, 0, 0},
    {"trays", "NVL72 and GB300, 5 to 64 GPUs, all sizes", "gb200 gb300", 5, 64, 0, G_MAXUINT64, NULL, NULL, 8, 20, 0},
    {"blackwell8", "Blackwell, 2 to 8 GPUs of a host, 4 MiB and more", BLACKWELL, 2, 8, 4 * MIB, G_MAXUINT64, NULL,
     NULL, 5, 12, 20},
    {"nvl72", "NVL72, 65 to 72 GPUs, 4 MiB and more", "gb200 gb300", 65, 72, 4 * MIB, G_MAXUINT64, NULL, NULL, 8, 15,
     0},
    {"graph", "graph and kernel rows below 4 MiB", HOPPER " " BLACKWELL, 2, 72, 0, 4 * MIB - 1, "graph kernel", NULL, 7,
     18, 0},
    {"eager", "eager rows below 4 MiB", HOPPER " " BLACKWELL, 2, 72, 0, 4 * MIB - 1, "eager", NULL, 5, 15, 0},
    {"all_to_all", "of these, all_to_all, 4 MiB and more", HOPPER " " BLACKWELL " dgx-a100", 2, 72, 4 * MIB,
     G_MAXUINT64, NULL, "all_to_all", 4, 10, 0},
    {NULL, NULL, NULL, 0, 0, 0, 0, NULL, NULL, 0, 0, 0},
};

static gboolean fidelity_has_prefix(const char *prefixes, const char *preset)
{
    g_auto(GStrv) each = g_strsplit(prefixes, " ", 0);
    for (char **prefix = each; *prefix; prefix++)
        if (g_str_has_prefix(preset, *prefix))
            return TRUE;
    return FALSE;
}

static gboolean fidelity_has_word(const char *words, const char *word)
{
    g_auto(GStrv) each = g_strsplit(words, " ", 0);
    return g_strv_contains((const char *const *)each, word);
}

gboolean validate_fidelity_has(const ValidateFidelity *group, const ValidateRow *row)
{
    guint64 gpus = row->schema == VALIDATE_PUBLISHED ? g_ascii_strtoull(row->gpus, NULL, 10) : 0;
    return gpus >= group->gpus_min && gpus <= group->gpus_max && row->bytes >= group->bytes_min &&
           row->bytes <= group->bytes_max && fidelity_has_prefix(group->presets, row->preset) &&
           (!group->timings || fidelity_has_word(group->timings, row->timing)) &&
           (!group->ops || fidelity_has_word(group->ops, row->op));
}

const ValidateFidelity *validate_fidelity_of(const ValidateRow *row)
{
    for (const ValidateFidelity *group = validate_fidelity; group->name; group++)
        if (!group->ops && validate_fidelity_has(group, row))
            return group;
    return NULL;
}

const char *const validate_half_names[VALIDATE_HALVES + 1] = {"calibrate", "judge", NULL};

ValidateHalf validate_half(const ValidateRow *row)
{
    g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, row->id, -1);
    return *sum < '8' ? VALIDATE_CALIBRATE : VALIDATE_JUDGE; /* digits stand before letters */
}

void validate_rows_keep(GPtrArray *rows, ValidateHalf half)
{
    for (guint i = rows->len; i-- > 0;)
        if (validate_half(g_ptr_array_index(rows, i)) != half)
            g_ptr_array_remove_index(rows, i);
}

typedef struct {
    char *sum, *group;
    ValidateRow *row;
} FidelityDrawn;

static void fidelity_drawn_clear(gpointer data)
{
    FidelityDrawn *drawn = data;
    g_free(drawn->sum);
    g_free(drawn->group);
}

static int fidelity_compare(gconstpointer a, gconstpointer b)
{
    return strcmp(((const FidelityDrawn *)a)->sum, ((const FidelityDrawn *)b)->sum);
}

guint validate_rows_sample(GPtrArray *rows, guint most)
{
    g_autoptr(GArray) drawn = g_array_new(FALSE, FALSE, sizeof(FidelityDrawn));
    g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    guint before = rows->len;
    g_array_set_clear_func(drawn, fidelity_drawn_clear);
    for (guint i = 0; i < rows->len; i++) {
        ValidateRow *row = g_ptr_array_index(rows, i);
        const ValidateFidelity *group = validate_fidelity_of(row);
        FidelityDrawn one = {
            g_compute_checksum_for_string(G_CHECKSUM_SHA256, row->id, -1),
            g_strconcat(group ? group->key : row->group, ".", validate_half_names[validate_half(row)], NULL), row};
        g_array_append_val(drawn, one);
    }
    g_array_sort(drawn, fidelity_compare);
    for (guint i = 0; i < drawn->len; i++) {
        const FidelityDrawn *one = &g_array_index(drawn, FidelityDrawn, i);
        guint so_far = GPOINTER_TO_UINT(g_hash_table_lookup(taken, one->group));
        if (so_far < most)
            g_hash_table_insert(taken, g_strdup(one->group), GUINT_TO_POINTER(so_far + 1));
        else
            g_ptr_array_remove(rows, one->row);
    }
    return before - rows->len;
}

GPtrArray *validate_rows_of(const GPtrArray *rows, ValidateHalf half)
{
    GPtrArray *some = g_ptr_array_new();
    for (guint i = 0; i < rows->len; i++)
        if (validate_half(g_ptr_array_index(rows, i)) == half)
            g_ptr_array_add(some, g_ptr_array_index(rows, i));
    return some;
}
