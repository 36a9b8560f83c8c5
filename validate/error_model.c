/* See error_model.h. */
#include "validate/error_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/param/whole.h"
#include "validate/errors.gen.h"
#include "validate/validate.h"

#define ERRORS_HEAD "id,preset,gpus,op,program,timing,bytes,measured_us,simulated_us"
#define ERRORS_RESOURCE "/fanout/validate/errors.csv"
enum { AT_ID, AT_PRESET, AT_GPUS, AT_OP, AT_PROGRAM, AT_TIMING, AT_BYTES, AT_MEASURED, AT_SIMULATED, AT_ALL };

typedef struct {
    ValidateCell cell;
    double error_pct;
} ErrorRow;

struct ValidateErrors {
    GArray *row; /* ErrorRow */
};

/* ---- the file */

static gboolean errors_bad(GError **error, const char *path, guint line, const char *what, const char *text)
{
    g_set_error(error, VALIDATE_ERROR, VALIDATE_ERROR_FILE,
                "%s:%u: %s: '%s' is wrong; the columns are " ERRORS_HEAD ", as `fanout validate --errors` writes them",
                path, line, what, text);
    return FALSE;
}

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

ValidateKind validate_kind(const char *program)
{
    if (strcmp(program, "nccl-sym") == 0)
        return VALIDATE_NCCL_SYM;
    return g_str_has_prefix(program, "nccl") ? VALIDATE_NCCL : VALIDATE_KERNEL;
}

static gboolean errors_time(const char *text, double *us)
{
    char *end;
    *us = g_ascii_strtod(text, &end);
    return *text && !*end && isfinite(*us) && *us > 0;
}

static gboolean errors_take(ValidateErrors *errors, char **cell, const char *path, guint line, GError **error)
{
    ErrorRow row = {0};
    guint64 gpus;
    double measured, simulated;
    ValidateRow named = {.id = cell[AT_ID]};
    if (!coll_op_parse(cell[AT_OP], &row.cell.op))
        return errors_bad(error, path, line, "op", cell[AT_OP]);
    if (!g_ascii_string_to_unsigned(cell[AT_GPUS], 10, 2, G_MAXUINT16, &gpus, NULL))
        return errors_bad(error, path, line, "gpus", cell[AT_GPUS]);
    if (!g_ascii_string_to_unsigned(cell[AT_BYTES], 10, 1, COLL_BYTES_MAX, &row.cell.bytes, NULL))
        return errors_bad(error, path, line, "bytes", cell[AT_BYTES]);
    if (!errors_time(cell[AT_MEASURED], &measured))
        return errors_bad(error, path, line, "measured_us", cell[AT_MEASURED]);
    if (!errors_time(cell[AT_SIMULATED], &simulated))
        return errors_bad(error, path, line, "simulated_us", cell[AT_SIMULATED]);
    row.cell.arch = errors_arch(cell[AT_PRESET]);
    row.cell.gpus = (guint32)gpus;
    row.cell.kind = validate_kind(cell[AT_PROGRAM]);
    row.cell.eager = strcmp(cell[AT_TIMING], "eager") == 0;
    row.error_pct = (simulated / measured - 1) * 100;
    if (row.cell.arch && validate_half(&named) == VALIDATE_JUDGE)
        g_array_append_val(errors->row, row);
    return TRUE;
}

static gboolean errors_read(ValidateErrors *errors, const char *text, const char *path, GError **error)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
    if (!lines[0] || strcmp(g_strchomp(lines[0]), ERRORS_HEAD) != 0)
        return errors_bad(error, path, 1, "the first line", lines[0] ? lines[0] : "");
    for (guint i = 1; lines[i]; i++) {
        if (!*g_strchomp(lines[i]))
            continue;
        g_auto(GStrv) cell = g_strsplit(lines[i], ",", 0);
        if (g_strv_length(cell) != AT_ALL)
            return errors_bad(error, path, i + 1, "not nine columns", lines[i]);
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
    g_free(errors);
}

guint validate_errors_count(const ValidateErrors *errors) { return errors->row->len; }

gboolean validate_errors_save(const GPtrArray *rows, const char *path, GError **error)
{
    g_autoptr(GString) text = g_string_new(ERRORS_HEAD "\n");
    for (guint i = 0; i < rows->len; i++) {
        const ValidateRow *row = g_ptr_array_index(rows, i);
        char measured[G_ASCII_DTOSTR_BUF_SIZE], simulated[G_ASCII_DTOSTR_BUF_SIZE];
        if (row->schema != VALIDATE_PUBLISHED || row->skipped || isnan(row->simulated) || strchr(row->id, ','))
            continue;
        g_ascii_formatd(measured, sizeof measured, "%.3f", row->measured);
        g_ascii_formatd(simulated, sizeof simulated, "%.3f", row->simulated);
        g_string_append_printf(text, "%s,%s,%s,%s,%s,%s,%" G_GUINT64_FORMAT ",%s,%s\n", row->id, row->preset, row->gpus,
                               row->op, row->program, row->timing, row->bytes, measured, simulated);
    }
    return g_file_set_contents(path, text->str, (gssize)text->len, error);
}

/* ---- what is near */

static double near_log2(double a, double b) { return fabs(log2(a / b)); }

static double near_distance(const ValidateCell *a, const ValidateCell *b)
{
    if ((a->arch >= 100 ? 100 : a->arch) != (b->arch >= 100 ? 100 : b->arch) || a->op != b->op || a->kind != b->kind ||
        a->eager != b->eager)
        return INFINITY;
    return near_log2((double)a->bytes, (double)b->bytes) + 2 * near_log2(a->gpus, b->gpus);
}

static int near_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

ValidateNear validate_near(const ValidateErrors *errors, const ValidateCell *cell)
{
    ValidateNear near = {0};
    guint n = errors->row->len;
    g_autofree double *away = g_new(double, n + 1), *sorted = g_new(double, n + 1), *abs_pct = g_new(double, n + 1);
    for (guint i = 0; i < n; i++)
        sorted[i] = away[i] = near_distance(cell, &g_array_index(errors->row, ErrorRow, i).cell);
    qsort(sorted, n, sizeof *sorted, near_compare);
    double limit = n ? sorted[MIN(n, VALIDATE_NEAR_ROWS) - 1] : 0;
    limit = MIN(limit, VALIDATE_NEAR_MAX) + 1e-9;
    for (guint i = 0; i < n; i++) {
        double pct = g_array_index(errors->row, ErrorRow, i).error_pct;
        if (away[i] > limit)
            continue;
        abs_pct[near.rows++] = fabs(pct);
        near.mean_pct += pct;
        near.distance = MAX(near.distance, away[i]);
    }
    if (near.rows < VALIDATE_NEAR_LEAST)
        return (ValidateNear){0};
    qsort(abs_pct, near.rows, sizeof *abs_pct, near_compare);
    near.half_width_pct = abs_pct[(9 * near.rows + 9) / 10 - 1]; /* the first that nine of ten are not above */
    near.mean_pct /= near.rows;
    return near;
}
