/* See error_model.h. */
#include "validate/error_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/param/whole.h"
#include "validate/errors.gen.h"
#include "validate/kriging.h"

#define ERRORS_RESOURCE "/fanout/validate/errors.csv"
enum { AT_ID, AT_PRESET, AT_GPUS, AT_OP, AT_PROGRAM, AT_NCCL, AT_TIMING, AT_BYTES, AT_MEASURED, AT_SIMULATED, AT_ALL };

typedef struct {
    ValidateCell cell; /* its strings and its id are the chunk's */
    ValidateHalf half;
    double log_error;
} ErrorRow;

struct ValidateErrors {
    GArray *row;         /* ErrorRow */
    GHashTable *by_id;   /* its number + 1 */
    GStringChunk *chunk; /* the strings */
};

/* ---- rows */

/* Of presets by their names, which begin alike; 0: none that is known. */
static guint64 errors_arch(const char *preset)
{
    static const struct {
        const char *prefix;
        guint64 arch;
    } archs[] = {{"dgx-a", 80}, {"dgx-h", 90}, {"hgx-b", 100}, {"gb", 100}};
    for (guint i = 0; i < G_N_ELEMENTS(archs); i++)
        if (g_str_has_prefix(preset, archs[i].prefix))
            return archs[i].arch;
    return 0;
}

gboolean validate_cell_of(const ValidateRow *row, ValidateCell *cell)
{
    guint64 gpus;
    *cell = (ValidateCell){
        .preset = row->preset, .bytes = row->bytes, .program = row->program, .nccl = row->nccl, .id = row->id};
    if (row->schema != VALIDATE_PUBLISHED || !coll_op_parse(row->op, &cell->op) || row->bytes == 0 ||
        !g_ascii_string_to_unsigned(row->gpus, 10, 1, G_MAXUINT16, &gpus, NULL))
        return FALSE;
    cell->arch = errors_arch(row->preset);
    cell->gpus = (guint32)gpus;
    return TRUE;
}

void validate_errors_put(ValidateErrors *errors, const ValidateCell *cell, double measured, double simulated)
{
    ValidateRow named = {.id = (char *)cell->id};
    ErrorRow row = {*cell, validate_half(&named), log(simulated / measured)};
    row.cell.preset = g_string_chunk_insert_const(errors->chunk, cell->preset);
    row.cell.program = g_string_chunk_insert_const(errors->chunk, cell->program);
    row.cell.id = g_string_chunk_insert_const(errors->chunk, cell->id);
    guint at = GPOINTER_TO_UINT(g_hash_table_lookup(errors->by_id, row.cell.id));
    if (at) {
        g_array_index(errors->row, ErrorRow, at - 1) = row;
        return;
    }
    g_array_append_val(errors->row, row);
    g_hash_table_insert(errors->by_id, (char *)row.cell.id, GUINT_TO_POINTER(errors->row->len));
}

/* ---- the file */

static gboolean errors_bad(GError **error, const char *path, guint line, const char *what, const char *text)
{
    g_set_error(error, VALIDATE_ERROR, VALIDATE_ERROR_FILE,
                "%s:%u: %s: '%s' is wrong; the columns are " VALIDATE_ERRORS_HEAD
                ", as `fanout validate --errors` writes them",
                path, line, what, text);
    return FALSE;
}

static gboolean errors_time(const char *text, double *us)
{
    char *end;
    *us = g_ascii_strtod(text, &end);
    return *text && !*end && isfinite(*us) && *us > 0;
}

static gboolean errors_take(ValidateErrors *errors, char **cell, const char *path, guint line, GError **error)
{
    guint64 gpus;
    double measured, simulated;
    ValidateCell at = {.preset = cell[AT_PRESET],
                       .arch = errors_arch(cell[AT_PRESET]),
                       .program = cell[AT_PROGRAM],
                       .id = cell[AT_ID]};
    if (!coll_op_parse(cell[AT_OP], &at.op))
        return errors_bad(error, path, line, "op", cell[AT_OP]);
    if (!g_ascii_string_to_unsigned(cell[AT_GPUS], 10, 2, G_MAXUINT16, &gpus, NULL))
        return errors_bad(error, path, line, "gpus", cell[AT_GPUS]);
    if (!g_ascii_string_to_unsigned(cell[AT_BYTES], 10, 1, COLL_BYTES_MAX, &at.bytes, NULL))
        return errors_bad(error, path, line, "bytes", cell[AT_BYTES]);
    if (*cell[AT_NCCL] && !coll_nccl_parse(cell[AT_NCCL], &at.nccl, NULL))
        return errors_bad(error, path, line, "nccl", cell[AT_NCCL]);
    if (!errors_time(cell[AT_MEASURED], &measured))
        return errors_bad(error, path, line, "measured_us", cell[AT_MEASURED]);
    if (!errors_time(cell[AT_SIMULATED], &simulated))
        return errors_bad(error, path, line, "simulated_us", cell[AT_SIMULATED]);
    at.gpus = (guint32)gpus;
    validate_errors_put(errors, &at, measured, simulated);
    return TRUE;
}

static gboolean errors_read(ValidateErrors *errors, const char *text, const char *path, GError **error)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
    if (!lines[0] || strcmp(g_strchomp(lines[0]), VALIDATE_ERRORS_HEAD) != 0)
        return errors_bad(error, path, 1, "the first line", lines[0] ? lines[0] : "");
    for (guint i = 1; lines[i]; i++) {
        if (!*g_strchomp(lines[i]))
            continue;
        g_auto(GStrv) cell = g_strsplit(lines[i], ",", 0);
        if (g_strv_length(cell) != AT_ALL)
            return errors_bad(error, path, i + 1, "not ten columns", lines[i]);
        if (!errors_take(errors, cell, path, i + 1, error))
            return FALSE;
    }
    return TRUE;
}

ValidateErrors *validate_errors_new(const char *path, GError **error)
{
    g_autofree char *text = NULL;
    if (path && !whole_read(path, &text, NULL, error))
        return NULL;
    if (!path) {
        GBytes *bytes = g_resource_lookup_data(errors_get_resource(), ERRORS_RESOURCE, 0, NULL);
        g_assert(bytes);
        text = g_strndup(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
        g_bytes_unref(bytes);
    }
    ValidateErrors *errors = g_new0(ValidateErrors, 1);
    errors->row = g_array_new(FALSE, FALSE, sizeof(ErrorRow));
    errors->by_id = g_hash_table_new(g_str_hash, g_str_equal);
    errors->chunk = g_string_chunk_new(4096);
    if (errors_read(errors, text, path ? path : "errors.csv", error))
        return errors;
    validate_errors_free(errors);
    return NULL;
}

void validate_errors_free(ValidateErrors *errors)
{
    if (!errors)
        return;
    g_array_free(errors->row, TRUE);
    g_hash_table_destroy(errors->by_id);
    g_string_chunk_free(errors->chunk);
    g_free(errors);
}

guint validate_errors_count(const ValidateErrors *errors) { return errors->row->len; }

static gboolean errors_has(const ValidateRow *row, ValidateCell *cell)
{
    return !row->skipped && row->simulated > 0 && isfinite(row->simulated) && row->measured > 0 &&
           isfinite(row->measured) && validate_cell_of(row, cell);
}

void validate_errors_add(ValidateErrors *errors, const GPtrArray *rows)
{
    for (guint i = 0; i < rows->len; i++) {
        const ValidateRow *row = g_ptr_array_index(rows, i);
        ValidateCell cell;
        if (errors_has(row, &cell))
            validate_errors_put(errors, &cell, row->measured, row->simulated);
    }
}

gboolean validate_errors_save(const GPtrArray *rows, const char *path, GError **error)
{
    g_autoptr(GString) text = g_string_new(VALIDATE_ERRORS_HEAD "\n");
    for (guint i = 0; i < rows->len; i++) {
        const ValidateRow *row = g_ptr_array_index(rows, i);
        char measured[G_ASCII_DTOSTR_BUF_SIZE], simulated[G_ASCII_DTOSTR_BUF_SIZE];
        ValidateCell cell;
        if (!errors_has(row, &cell) || strchr(row->id, ','))
            continue;
        g_autofree char *nccl = row->nccl ? coll_nccl_format(row->nccl) : g_strdup("");
        g_ascii_formatd(measured, sizeof measured, "%.3f", row->measured);
        g_ascii_formatd(simulated, sizeof simulated, "%.3f", row->simulated);
        g_string_append_printf(text, "%s,%s,%s,%s,%s,%s,%s,%" G_GUINT64_FORMAT ",%s,%s\n", row->id, row->preset,
                               row->gpus, row->op, row->program, nccl, row->timing, row->bytes, measured, simulated);
    }
    return g_file_set_contents(path, text->str, (gssize)text->len, error);
}

/* ---- what is near */

static guint64 near_generation(guint64 arch) { return arch >= 100 ? 100 : arch; }

static double near_correlation(const ValidateCell *a, const ValidateCell *b)
{
    double factor = 1;
    if (strcmp(a->program, b->program) != 0 || near_generation(a->arch) != near_generation(b->arch))
        return 0;
    if (a->op != b->op)
        factor *= VALIDATE_NEAR_OP;
    if (a->nccl / 1000 != b->nccl / 1000) /* the third number is a repair */
        factor *= VALIDATE_NEAR_NCCL;
    if (strcmp(a->preset, b->preset) != 0)
        factor *= VALIDATE_NEAR_MACHINE;
    return factor * exp(-fabs(log2((double)a->bytes / (double)b->bytes)) / VALIDATE_NEAR_SIZE_LENGTH -
                        fabs(log2((double)a->gpus / (double)b->gpus)) / VALIDATE_NEAR_GPUS_LENGTH);
}

typedef struct {
    double correlation;
    const ErrorRow *row;
} NearRow;

/* Descending; of equal ones those that stand first in the file. */
static int near_compare(const void *a, const void *b)
{
    const NearRow *x = a, *y = b;
    if (x->correlation != y->correlation)
        return x->correlation < y->correlation ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

static guint near_find(const ValidateErrors *errors, const ValidateCell *cell, ValidateNearUse use, NearRow *near)
{
    guint n = 0;
    for (guint i = 0; i < errors->row->len; i++) {
        const ErrorRow *row = &g_array_index(errors->row, ErrorRow, i);
        if ((use == VALIDATE_NEAR_TO_JUDGE && row->half != VALIDATE_CALIBRATE) ||
            (cell->id && strcmp(cell->id, row->cell.id) == 0))
            continue;
        double correlation = near_correlation(cell, &row->cell);
        if (correlation >= VALIDATE_NEAR_LEAST)
            near[n++] = (NearRow){correlation, row};
    }
    if (n)
        qsort(near, n, sizeof *near, near_compare);
    return MIN(n, VALIDATE_NEAR_ROWS);
}

ValidateNear validate_near(const ValidateErrors *errors, const ValidateCell *cell, ValidateNearUse use)
{
    g_autofree NearRow *near = g_new(NearRow, errors->row->len + 1);
    guint n = near_find(errors, cell, use, near);
    if (n == 0)
        return (ValidateNear){.half_width_pct = NAN};
    double value[VALIDATE_NEAR_ROWS], with[VALIDATE_NEAR_ROWS];
    g_autofree double *correlation = g_new(double, n *n);
    for (guint i = 0; i < n; i++) {
        value[i] = near[i].row->log_error;
        with[i] = near[i].correlation;
        for (guint j = 0; j < n; j++)
            correlation[i * n + j] = near_correlation(&near[i].row->cell, &near[j].row->cell);
    }
    KrigingEstimate estimate = kriging_estimate(n, value, correlation, with, VALIDATE_NEAR_SD, VALIDATE_NEAR_NOISE_SD);
    return (ValidateNear){n, estimate.mean,
                          (exp(VALIDATE_NINE_OF_TEN_SD * hypot(estimate.sd, VALIDATE_NEAR_NOISE_SD)) - 1) * 100};
}

GPtrArray *validate_near_rows(const ValidateErrors *errors, const GPtrArray *rows, guint *covered)
{
    GPtrArray *corrected = g_ptr_array_new_with_free_func(g_free);
    *covered = 0;
    for (guint i = 0; i < rows->len; i++) {
        const ValidateRow *row = g_ptr_array_index(rows, i);
        ValidateCell cell;
        if (!errors_has(row, &cell))
            continue;
        const ValidateNear near = validate_near(errors, &cell, VALIDATE_NEAR_TO_JUDGE);
        if (near.rows == 0)
            continue;
        ValidateRow *copy = g_memdup2(row, sizeof *row);
        copy->simulated = validate_near_time(&near, row->simulated);
        copy->error_pct = (copy->simulated / row->measured - 1) * 100;
        *covered += fabs(copy->error_pct) <= near.half_width_pct;
        g_ptr_array_add(corrected, copy);
    }
    return corrected;
}

double validate_near_time(const ValidateNear *near, double simulated) { return simulated * exp(-near->log_error); }
