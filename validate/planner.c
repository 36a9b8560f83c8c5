/* Reading what a planner has measured: nccl_perf.txt and custom_allreduce_perf.txt of NVIDIA's aiconfigurator.
 *
 * CSV whose first line names the columns, in any order: nccl_dtype or allreduce_dtype, num_gpus, message_size (elements
 * of the total size), latency (ms), and where they are there op_name (all_reduce without it), kernel_source and version
 * (of NCCL, where the source is NCCL). Others are passed over. `fanout table` writes such files, too.
 * source: aiconfigurator collector/collect_nccl.py and sdk/operations/communication.py. */
#include <math.h>
#include <string.h>

#include "sim/param/whole.h"
#include "validate/validate.h"

typedef enum {
    AT_TYPE,
    AT_GPUS,
    AT_SIZE,
    AT_TIME,
    AT_NEEDED,
    AT_OP = AT_NEEDED,
    AT_SOURCE,
    AT_VERSION,
    AT_ALL
} PlannerAt;

typedef struct {
    const char *path;
    guint line, cells;
    int at[AT_ALL]; /* which cell, or -1 */
    char **cell;
    GError **error;
} PlannerFile;

static gboolean planner_bad(const PlannerFile *file, const char *what, const char *text)
{
    g_set_error(file->error, VALIDATE_ERROR, VALIDATE_ERROR_FILE, "%s:%u: %s: '%s'", file->path, file->line, what,
                text);
    return FALSE;
}

static const char *planner_cell(const PlannerFile *file, PlannerAt what)
{
    return file->at[what] < 0 ? "" : file->cell[file->at[what]];
}

static gboolean planner_head(PlannerFile *file, const char *line)
{
    static const char *const names[AT_ALL] = {"nccl_dtype", "num_gpus",      "message_size", "latency",
                                              "op_name",    "kernel_source", "version"};
    g_auto(GStrv) name = validate_split_line(line);
    file->cells = g_strv_length(name);
    for (guint what = 0; what < AT_ALL; what++) {
        file->at[what] = -1;
        for (guint i = 0; i < file->cells; i++)
            if (strcmp(name[i], names[what]) == 0 || (what == AT_TYPE && strcmp(name[i], "allreduce_dtype") == 0))
                file->at[what] = (int)i;
        if (file->at[what] < 0 && what < AT_NEEDED)
            return planner_bad(file,
                               "no column for what a planner's table has (nccl_dtype or allreduce_dtype, num_gpus, "
                               "message_size, latency); missing is",
                               names[what]);
    }
    return TRUE;
}

/* Elements as planners call them. */
static gboolean planner_type(const char *text, NumericType *type)
{
    static const struct {
        const char *name;
        NumericType type;
    } types[] = {{"half", NUMERIC_F16},    {"float16", NUMERIC_F16}, {"bfloat16", NUMERIC_BF16}, {"float", NUMERIC_F32},
                 {"float32", NUMERIC_F32}, {"fp8", NUMERIC_E4M3},    {"fp8_e4m3", NUMERIC_E4M3}};
    for (guint i = 0; i < G_N_ELEMENTS(types); i++)
        if (strcmp(types[i].name, text) == 0) {
            *type = types[i].type;
            return TRUE;
        }
    return FALSE;
}

/* Whose kernels, and how they are launched there. */
static void planner_program(ValidateRow *row, const char *source)
{
    gboolean trtllm = g_ascii_strncasecmp(source, "trt", 3) == 0, vllm = g_ascii_strncasecmp(source, "vllm", 4) == 0,
             sglang = g_ascii_strncasecmp(source, "sglang", 6) == 0;
    row->program = g_strdup(trtllm ? "trtllm" : vllm ? "vllm" : sglang ? "sglang" : "nccl");
    row->timing = g_strdup(trtllm || vllm || sglang ? "graph" : "eager");
}

static gboolean planner_row(GPtrArray *rows, const PlannerFile *file, const char *preset)
{
    guint64 gpus, elements;
    CollOp op;
    NumericType type;
    const char *operation = file->at[AT_OP] < 0 ? "all_reduce" : planner_cell(file, AT_OP);
    const char *time = planner_cell(file, AT_TIME);
    char *end;
    double ms = g_ascii_strtod(time, &end);
    if (strcmp(operation, "alltoall") == 0)
        operation = "all_to_all";
    if (!planner_type(planner_cell(file, AT_TYPE), &type))
        return planner_bad(file, "a type must be half, bfloat16, float or fp8, and not", planner_cell(file, AT_TYPE));
    if (!g_ascii_string_to_unsigned(planner_cell(file, AT_GPUS), 10, 2, G_MAXUINT16, &gpus, NULL))
        return planner_bad(file, "num_gpus must be a whole number from 2 on, and not", planner_cell(file, AT_GPUS));
    if (!g_ascii_string_to_unsigned(planner_cell(file, AT_SIZE), 10, 1, COLL_BYTES_MAX / 8, &elements, NULL))
        return planner_bad(file, "message_size must be a whole number from 1 on, and not", planner_cell(file, AT_SIZE));
    if (!*time || *end || !isfinite(ms) || ms <= 0)
        return planner_bad(file, "latency must be milliseconds above 0, and not", time);
    if (!coll_op_parse(operation, &op))
        return planner_bad(file, "op_name is not an operation of collectives", operation);
    ValidateRow *row = g_new0(ValidateRow, 1);
    g_ptr_array_add(rows, row);
    row->file = g_path_get_basename(file->path);
    row->line = file->line;
    row->schema = VALIDATE_PUBLISHED;
    row->group = g_strdup("measured");
    row->id = g_strdup_printf("%s-%u", row->file, row->line);
    row->preset = g_strdup(preset);
    row->gpus = g_strdup_printf("%" G_GUINT64_FORMAT, gpus);
    row->op = g_strdup(coll_op_name(op));
    row->algo = g_strdup("auto");
    row->proto = g_strdup("");
    planner_program(row, planner_cell(file, AT_SOURCE));
    if (g_str_has_prefix(row->program, "nccl"))
        coll_nccl_parse(planner_cell(file, AT_VERSION), &row->nccl, NULL); /* of a framework it is another's version */
    row->threads_launch = TRUE;
    row->dtype = numeric_type_name(type);
    row->bytes = elements * numeric_type_bytes(type);
    row->unit = g_strdup("us");
    row->measured = ms * 1e3;
    row->simulated = row->error_pct = row->check_pct = NAN;
    row->name = g_strdup_printf("%s, measured: %s of %" G_GUINT64_FORMAT " GPUs, %" G_GUINT64_FORMAT " B", row->id,
                                row->op, gpus, row->bytes);
    return TRUE;
}

gboolean validate_load_planner(GPtrArray *rows, const char *path, const char *preset, GError **error)
{
    g_autofree char *text = NULL;
    PlannerFile file = {.path = path, .error = error};
    if (!whole_read(path, &text, NULL, error))
        return FALSE;
    g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
    for (guint i = 0; lines[i]; i++) {
        char *line = g_strchomp(lines[i]);
        file.line = i + 1;
        if (*line == '\0' || *line == '#')
            continue;
        if (file.cells == 0) {
            if (!planner_head(&file, line))
                return FALSE;
            continue;
        }
        g_auto(GStrv) cell = validate_split_line(line);
        file.cell = cell;
        if (g_strv_length(cell) != file.cells)
            return planner_bad(&file, "not as many fields as the first line", line);
        if (!planner_row(rows, &file, preset))
            return FALSE;
    }
    if (file.cells)
        return TRUE;
    file.line = 1;
    return planner_bad(&file, "the file is empty; its first line must name the columns of a planner's table", "");
}
