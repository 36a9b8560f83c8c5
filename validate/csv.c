/* Reading reference CSV files into rows. */
#include <math.h>
#include <string.h>

#include "validate/validate.h"
#include "sim/param/whole.h"

G_DEFINE_QUARK(validate - error - quark, validate_error)

static void validate_row_free(gpointer data)
{
    ValidateRow *row = data;
    char *texts[] = {row->file,   row->group,   row->name, row->test,  row->variant, row->gpus,
                     row->preset, row->op,      row->algo, row->proto, row->program, row->timing,
                     row->unit,   row->skipped, row->more, row->id};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
    g_free(row);
}

GPtrArray *validate_rows_new(void) { return g_ptr_array_new_with_free_func(validate_row_free); }

static const char *const schema_headers[] = {
    [VALIDATE_MEASURED] = "test,variant,gpus,ctas,threads,bytes,value,unit",
    [VALIDATE_PUBLISHED] = "id,group,preset,gpus,op,algo,proto,ctas,program,bytes,time_us,timing,derived,"
                           "source_url",
    [VALIDATE_DRIVER] = "kind,case,value,name",
};

/* One file being read: where errors are. */
typedef struct {
    const char *path;
    guint line;
    char **cell;
    guint cells;
    guint known; /* of them belong to the schema; the others are the file's own */
    char **name; /* of each cell */
    GError **error;
} CsvAt;

static gboolean csv_fail(const CsvAt *at, const char *format, ...) G_GNUC_PRINTF(2, 3);
static gboolean csv_fail(const CsvAt *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(at->error, VALIDATE_ERROR, VALIDATE_ERROR_FILE, "%s:%u: %s", at->path, at->line, text);
    return FALSE;
}

char **validate_split_line(const char *line)
{
    GPtrArray *cells = g_ptr_array_new();
    GString *cell = g_string_new(NULL);
    gboolean quoted = FALSE;
    for (const char *c = line; *c; c++)
        if (*c == '"' && quoted && c[1] == '"')
            g_string_append_c(cell, *c++);
        else if (*c == '"')
            quoted = !quoted;
        else if (*c == ',' && !quoted) {
            g_ptr_array_add(cells, g_string_free(cell, FALSE));
            cell = g_string_new(NULL);
        } else
            g_string_append_c(cell, *c);
    g_ptr_array_add(cells, g_string_free(cell, FALSE));
    g_ptr_array_add(cells, NULL);
    return (char **)g_ptr_array_free(cells, FALSE);
}

static gboolean csv_u64(const CsvAt *at, guint cell, const char *name, guint64 max, guint64 *value)
{
    const char *text = at->cell[cell];
    GError *error = NULL;
    *value = 0;
    if (*text == '\0')
        return TRUE;
    if (g_ascii_string_to_unsigned(text, 10, 0, max, value, &error))
        return TRUE;
    g_clear_error(&error);
    return csv_fail(at, "%s: '%s' is no whole number up to %" G_GUINT64_FORMAT, name, text, max);
}

static gboolean csv_positive(const CsvAt *at, guint cell, const char *name, double *value)
{
    char *end;
    const char *text = at->cell[cell];
    *value = g_ascii_strtod(text, &end);
    if (*text && *end == '\0' && isfinite(*value) && *value >= 0)
        return TRUE;
    return csv_fail(at, "%s: '%s' is no measured number", name, text);
}

static const char *csv_measured_group(const ValidateRow *row)
{
    static const struct {
        const char *test, *group;
    } groups[] = {
        {"stream_bw", "bandwidth"},
        {"kernel_bw_by_size", "bandwidth"},
        {"sparse_bw", "bandwidth"},
        {"copy_engine_bw", "bandwidth"},
        {"contention", "contention"},
        {"mixed_single", "mixed"},
        {"mixed_ring", "mixed"},
        {"copy_kernel", "mixed"},
        {"atomics", "mixed"},
        {"hot_lines", "mixed"},
        {"footprint_bw", "footprint"},
        {"load_latency", "latency"},
        {"dram_latency", "latency"},
        {"atomic_latency", "latency"},
        {"flag_pingpong_rtt", "latency"},
        {"message_rtt", "messages"},
        {"loaded_latency_ns", "loaded_latency"},
        {"loaded_latency_bg", "loaded_latency"},
        {"barrier", "barriers"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(groups); i++)
        if (strcmp(groups[i].test, row->test) == 0)
            return groups[i].group;
    if (g_str_has_prefix(row->test, "nccl_")) {
        if (!g_str_has_suffix(row->variant, "_Simple"))
            return "nccl_other";
        return row->bytes >= 256 << 10 ? "nccl_simple" : "nccl_simple_small";
    }
    if (g_str_has_prefix(row->test, "all"))
        return row->bytes >= 256 << 10 ? "collectives" : "collectives_small";
    return "other";
}

static gboolean csv_measured(const CsvAt *at, ValidateRow *row)
{
    guint64 ctas, threads;
    row->test = g_strdup(at->cell[0]);
    row->variant = g_strdup(at->cell[1]);
    row->gpus = g_strdup(at->cell[2]);
    row->unit = g_strdup(at->cell[7]);
    if (!csv_u64(at, 3, "ctas", 65535, &ctas) || !csv_u64(at, 4, "threads", 1024, &threads) ||
        !csv_u64(at, 5, "bytes", 1ull << 40, &row->bytes) || !csv_positive(at, 6, "value", &row->measured))
        return FALSE;
    row->ctas = (guint32)ctas;
    row->threads = (guint32)threads;
    row->group = g_strdup(csv_measured_group(row));
    row->name = g_strdup_printf("%s %s %s %ux%u %" G_GUINT64_FORMAT, row->test, row->variant, row->gpus, row->ctas,
                                row->threads, row->bytes);
    row->id = g_strdup(row->name);
    if (row->measured == 0)
        row->skipped = g_strdup("measured as 0: nothing to compare with");
    return TRUE;
}

/* Whose benchmark it is tells how calls were timed: PyTorch's all_reduce_bench times each call between two events.
 * Where it ran tells what NCCL was set to: AWS' plugin sets NCCL_NVLS_CHUNKSIZE (aws-ofi-nccl, platform-aws.c), and the
 * bench's B200 were AWS' p6-b200. */
static void csv_site(ValidateRow *row, const char *source)
{
    if (strstr(source, "trtllm_alltoall_perf") && strcmp(row->algo, "direct") == 0)
        row->token_bytes = 4032; /* nvfp4 */
    row->moe = strstr(source, "trtllm_alltoall_perf") || strstr(source, "One_Sided_AlltoAll");
    row->threads_launch = strstr(source, "ai-dynamo/aiconfigurator") != NULL; /* nccl-tests -t N */
    static const struct {
        const char *source, *preset;
        gboolean torch;
        guint64 nvls_chunk_bytes;
    } sites[] = {
        {"stas00/ml-engineering", "hgx-b200", TRUE, 512u << 10},
        {"stas00/ml-engineering", "", TRUE, 0},
        {"aws-samples/", "", FALSE, 512u << 10},
    };
    for (guint i = 0; i < G_N_ELEMENTS(sites); i++) {
        if (!strstr(source, sites[i].source) || !g_str_has_prefix(row->preset, sites[i].preset))
            continue;
        row->torch = sites[i].torch;
        row->nvls_chunk_bytes = sites[i].nvls_chunk_bytes;
        return;
    }
}

static gboolean csv_published(const CsvAt *at, ValidateRow *row)
{
    guint64 ctas;
    row->id = g_strdup(at->cell[0]);
    row->group = g_strdup(at->cell[1]);
    row->preset = g_strdup(at->cell[2]);
    row->gpus = g_strdup(at->cell[3]);
    row->op = g_strdup(at->cell[4]);
    row->algo = g_strdup(at->cell[5]);
    row->proto = g_strdup(at->cell[6]);
    row->program = g_strdup(at->cell[8]);
    row->timing = g_strdup(at->cell[11]);
    csv_site(row, at->cell[13]);
    row->unit = g_strdup("us");
    if (!csv_u64(at, 7, "ctas", 65535, &ctas) || !csv_u64(at, 9, "bytes", 1ull << 44, &row->bytes) ||
        !csv_positive(at, 10, "time_us", &row->measured))
        return FALSE;
    row->ctas = (guint32)ctas;
    guint64 whole = 16 * MAX(g_ascii_strtoull(row->gpus, NULL, 10), 1);
    if (strcmp(row->op, "all_to_all") == 0 && row->bytes % 4) /* worked out of a rate: whole 16 bytes for each rank */
        row->bytes = (row->bytes + whole / 2) / whole * whole;
    row->name = g_strdup_printf("%s %s %s %s %s %s/%s %" G_GUINT64_FORMAT, at->cell[0], row->preset, row->gpus, row->op,
                                row->algo, row->program, row->timing, row->bytes);
    if (row->measured == 0)
        row->skipped = g_strdup("published as 0: nothing to compare with");
    return TRUE;
}

static gboolean csv_driver(const CsvAt *at, ValidateRow *row)
{
    row->group = g_strdup("driver");
    row->unit = g_strdup("");
    row->measured = NAN;
    row->name = g_strdup_printf("%s %s", at->cell[0], at->cell[1]);
    row->id = g_strdup(row->name);
    row->skipped = g_strdup("an answer of the CUDA driver: nothing is simulated");
    return TRUE;
}

/* What the file's own columns say: "note=...; site=..."; NULL: it has none. */
static char *csv_more(const CsvAt *at)
{
    if (at->cells == at->known)
        return NULL;
    GString *text = g_string_new(NULL);
    for (guint i = at->known; i < at->cells && at->cell[i]; i++)
        if (*at->cell[i])
            g_string_append_printf(text, "%s%s=%s", text->len ? "; " : "", at->name[i], at->cell[i]);
    return g_string_free(text, FALSE);
}

/* Own columns that mean something: `nccl`, the version that the row's program is, and `left_out`, why its time is not
 * to be trusted. */
static gboolean csv_own(const CsvAt *at, ValidateRow *row)
{
    for (guint i = at->known; i < at->cells && at->cell[i]; i++) {
        g_autoptr(GError) error = NULL;
        if (strcmp(at->name[i], "left_out") == 0 && *at->cell[i] && !row->skipped)
            row->skipped = g_strdup_printf("left out: %s (validate/reference/witness.py)", at->cell[i]);
        if (strcmp(at->name[i], "nccl") == 0 && *at->cell[i] && !coll_nccl_parse(at->cell[i], &row->nccl, &error))
            return csv_fail(at, "nccl: %s", error->message);
    }
    return TRUE;
}

static gboolean csv_row(GPtrArray *rows, const CsvAt *at, ValidateSchema schema)
{
    static gboolean (*const readers[])(const CsvAt *, ValidateRow *) = {csv_measured, csv_published, csv_driver};
    guint columns = g_strv_length((char **)at->cell);
    if (columns != at->cells && !(schema == VALIDATE_DRIVER && columns >= at->cells))
        return csv_fail(at, "%u fields; the header has %u", columns, at->cells);
    ValidateRow *row = g_new0(ValidateRow, 1);
    g_ptr_array_add(rows, row);
    row->more = csv_more(at);
    row->file = g_path_get_basename(at->path);
    row->line = at->line;
    row->schema = schema;
    row->simulated = row->error_pct = NAN;
    return readers[schema](at, row) && (schema != VALIDATE_PUBLISHED || csv_own(at, row));
}

static gboolean csv_find_schema(CsvAt *at, const char *line, ValidateSchema *schema)
{
    for (guint i = 0; i < G_N_ELEMENTS(schema_headers); i++) {
        gsize length = strlen(schema_headers[i]);
        if (strncmp(line, schema_headers[i], length) == 0 && (line[length] == '\0' || line[length] == ',')) {
            g_auto(GStrv) known = g_strsplit(schema_headers[i], ",", 0);
            at->known = g_strv_length(known);
            *schema = (ValidateSchema)i;
            return TRUE;
        }
    }
    return csv_fail(at,
                    "the header '%.60s' is not known; it must be '%s' or '%s'; columns of your own "
                    "may follow",
                    line, schema_headers[VALIDATE_MEASURED], schema_headers[VALIDATE_PUBLISHED]);
}

gboolean validate_load(GPtrArray *rows, const char *path, GError **error)
{
    g_autofree char *text = NULL;
    if (!whole_read(path, &text, NULL, error))
        return FALSE;
    CsvAt at = {.path = path, .error = error};
    if (!g_utf8_validate(text, -1, NULL)) {
        at.line = 1;
        return csv_fail(&at, "the file is no UTF-8 text");
    }
    g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
    g_auto(GStrv) names = NULL;
    ValidateSchema schema = VALIDATE_MEASURED;
    for (guint i = 0; lines[i]; i++) {
        char *line = g_strchomp(lines[i]);
        at.line = i + 1;
        if (*line == '\0' || *line == '#')
            continue;
        if (!names) {
            if (!csv_find_schema(&at, line, &schema))
                return FALSE;
            at.name = names = validate_split_line(line);
            at.cells = g_strv_length(names);
            continue;
        }
        g_auto(GStrv) cells = validate_split_line(line);
        at.cell = cells;
        if (!csv_row(rows, &at, schema))
            return FALSE;
    }
    if (!names) {
        at.line = 1;
        return csv_fail(&at, "the file is empty; its first line must be '%s' or '%s'",
                        schema_headers[VALIDATE_MEASURED], schema_headers[VALIDATE_PUBLISHED]);
    }
    return TRUE;
}
