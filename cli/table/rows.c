/* See table_rows.h.
 *
 * Planners read `nccl_perf.txt` of NVIDIA's aiconfigurator, or its `custom_allreduce_perf.txt` for kernels of
 * frameworks: CSV whose first line names the columns (no comments), of which they use nccl_dtype or allreduce_dtype,
 * num_gpus, message_size (elements of the total size), op_name (all_to_all being alltoall) and latency (ms). They
 * ignore others, so ours stand behind them.
 * source: aiconfigurator collector/collect_nccl.py and sdk/operations/communication.py. */
#include "config.h"

#include "cli/table/rows.h"

#include <math.h>
#include <string.h>

#include "sim/param/size.h"

/* NVL72: a host has four GPUs; all other systems are one host. */
#define HOST_GPUS(gpus) ((gpus) > 8 ? 4u : 8u)

#define PLANNER_COLUMNS(dtype)                                                                                         \
    COLUMN_TEXT(framework, "framework", "whose figure it is: fanout"), COLUMN_TEXT(version, "version", "of fanout"),   \
        COLUMN_TEXT(device, "device", "the simulated system"),                                                         \
        COLUMN_TEXT(op_name, "operation", "as planners call it"),                                                      \
        COLUMN_TEXT(kernel_source, "source", "whose kernels are simulated, as planners call them"),                    \
        COLUMN_TEXT(dtype, "type", "of an element"), COLUMN_U64(num_gpus, "gpus", "", "ranks"),                        \
        COLUMN_U64(message_size, "size", "elements", "of the total size, as nccl-tests counts it"),                    \
        COLUMN_FIXED(latency, "latency", "ms", 6, "of a call"), COLUMN_TEXT(backend, "backend", "the same as source"), \
        COLUMN_U64(bytes, "size", "B", "the same in bytes"),                                                           \
        COLUMN_FIXED(model_latency, "model", "ms", 6, "as simulated, before the neighbours' error is taken out"),      \
        COLUMN_FIXED(uncertainty_pct, "+-", "%", 1, "half-width: nine of ten like this are not further off"),          \
        COLUMN_U64(near_rows, "near", "rows", "measured neighbours that correct it; 0: the model alone"),              \
        COLUMN_TEXT(algo, "algo", "that the program takes"), COLUMN_TEXT(proto, "proto", "which protocol"),            \
        COLUMN_U64(ctas, "ctas", "", "of each rank's kernel"),                                                         \
        COLUMN_TEXT(fidelity, "fidelity", "packet: every packet; auto: flows, with rates of packets where needed"),    \
        COLUMN_END
static const Column nccl_columns[] = {PLANNER_COLUMNS(nccl_dtype)};
static const Column allreduce_columns[] = {PLANNER_COLUMNS(allreduce_dtype)};

static const Column text_columns[] = {
    COLUMN_TEXT(op, "op", "the collective"),
    COLUMN_U64(gpus, "gpus", "", "ranks"),
    COLUMN_U64(bytes, "size", "B", "total size, as nccl-tests counts it"),
    COLUMN_FIXED(time_us, "time", "us", 2, "of a call"),
    COLUMN_FIXED(uncertainty_pct, "+-", "%", 1, "half-width: nine of ten like this are not further off"),
    COLUMN_FIXED(model_us, "model", "us", 2, "as simulated, before the neighbours' error is taken out"),
    COLUMN_U64(near_rows, "near", "rows", "measured neighbours that correct it; 0: the model alone"),
    COLUMN_TEXT(algo, "algo", "that the program takes"),
    COLUMN_TEXT(proto, "proto", "which protocol"),
    COLUMN_U64(ctas, "ctas", "", "of each rank's kernel"),
    COLUMN_TEXT(fidelity, "fidelity", "packet: every packet; auto: flows, with rates of packets where needed"),
    COLUMN_END,
};

/* ---- the cells */

static guint64 table_bytes(CollOp op, guint64 gpus, guint64 bytes, NumericType type)
{
    gboolean sliced = op == COLL_ALL_GATHER || op == COLL_REDUCE_SCATTER || op == COLL_ALL_TO_ALL;
    guint64 unit = sliced ? 16 * gpus : numeric_type_bytes(type);
    return bytes / unit * unit;
}

static ValidateRow *table_row_new(const TablePlan *plan, const System *system, CollOp op, guint64 gpus, guint64 bytes)
{
    ValidateRow *row = g_new0(ValidateRow, 1);
    row->file = g_strdup("table");
    row->schema = VALIDATE_PUBLISHED;
    row->group = g_strdup("");
    row->id = g_strdup("");
    row->preset = g_strdup(system->name);
    row->gpus = g_strdup_printf("%" G_GUINT64_FORMAT, gpus);
    row->op = g_strdup(coll_op_name(op));
    row->algo = g_strdup("auto");
    row->proto = g_strdup("");
    row->program = g_strdup(coll_library_names[plan->library]);
    row->nccl = plan->nccl;
    row->timing = g_strdup(plan->graph ? "graph" : "eager");
    row->dtype = numeric_type_name(plan->type);
    row->threads_launch = gpus <= HOST_GPUS(system->spec.system.gpus);
    row->bytes = bytes;
    row->unit = g_strdup("us");
    row->name = g_strdup_printf("%s %s %s of %s, %" G_GUINT64_FORMAT " B, %" G_GUINT64_FORMAT " GPUs", row->program,
                                row->timing, row->op, row->dtype, bytes, gpus);
    row->measured = row->simulated = row->error_pct = row->check_pct = NAN;
    return row;
}

GPtrArray *table_rows_new(const TablePlan *plan, const System *system)
{
    GPtrArray *rows = validate_rows_new();
    for (guint o = 0; o < plan->ops; o++)
        for (guint g = 0; g < plan->gpus->len; g++) {
            guint64 gpus = g_array_index(plan->gpus, guint64, g), before = 0;
            for (guint s = 0; s < plan->sizes->len; s++) {
                guint64 bytes = table_bytes(plan->op[o], gpus, g_array_index(plan->sizes, guint64, s), plan->type);
                if (bytes && bytes != before)
                    g_ptr_array_add(rows, table_row_new(plan, system, plan->op[o], gpus, bytes));
                before = bytes;
            }
        }
    return rows;
}

/* ---- what is written of them */

struct TableWriter {
    const TablePlan *plan;
    const System *system;
    const ValidateErrors *errors;
    gboolean planner; /* its columns */
    Sim *sim;
    Fabric *fabric; /* to ask what a program takes; nothing runs on it */
};

TableWriter *table_writer_new(const TablePlan *plan, const System *system, const Options *options,
                              const ValidateErrors *errors, GError **error)
{
    TableWriter *writer = g_new0(TableWriter, 1);
    const SimSpec sim = {.seed = options->seed};
    *writer =
        (TableWriter){.plan = plan, .system = system, .errors = errors, .planner = options->format != REPORT_TEXT};
    writer->sim = sim_new(&sim, error);
    writer->fabric = writer->sim ? fabric_new(writer->sim, &system->spec, FALSE, error) : NULL;
    if (writer->fabric)
        return writer;
    table_writer_free(writer);
    return NULL;
}

void table_writer_free(TableWriter *writer)
{
    if (writer->fabric)
        fabric_free(writer->fabric);
    if (writer->sim)
        sim_free(writer->sim);
    g_free(writer);
}

const Column *table_writer_columns(const TableWriter *writer)
{
    if (!writer->planner)
        return text_columns;
    return coll_library_is_framework(writer->plan->library) ? allreduce_columns : nccl_columns;
}

void table_writer_widths(const TableWriter *writer, const GPtrArray *rows, guint *width)
{
    static const guint usual[] = {0, 4, 0, 9, 6, 9, 4, 13, 6, 4, 8};
    memset(width, 0, (G_N_ELEMENTS(nccl_columns)) * sizeof *width);
    if (writer->planner)
        return;
    memcpy(width, usual, sizeof usual);
    for (guint i = 0; i < rows->len; i++) {
        const ValidateRow *row = g_ptr_array_index(rows, i);
        g_autofree char *bytes = g_strdup_printf("%" G_GUINT64_FORMAT, row->bytes);
        width[0] = MAX(width[0], (guint)strlen(row->op));
        width[2] = MAX(width[2], (guint)strlen(bytes));
    }
}

/* What the program takes for a cell. */
static CollShape table_shape(const TableWriter *writer, CollOp op, guint32 gpus, guint64 bytes)
{
    CollGroup *group = coll_group_new(writer->fabric, NULL, gpus, NULL);
    CollSpec spec = coll_spec_default(op);
    spec.type = writer->plan->type;
    spec.library = writer->plan->library;
    spec.nccl = writer->plan->nccl;
    spec.bytes = bytes;
    coll_library_apply(group, &spec);
    CollShape shape = coll_shape(group, &spec);
    coll_group_free(group);
    return shape;
}

static const char *table_source(CollLibrary library)
{
    return library == COLL_TRTLLM   ? "TRTLLM"
           : library == COLL_VLLM   ? "vLLM_custom_graph"
           : library == COLL_SGLANG ? "SGLang_custom_graph"
                                    : "NCCL";
}

/* As planners have it; others as we do. */
static const char *table_dtype(NumericType type)
{
    return type == NUMERIC_F16                            ? "half"
           : type == NUMERIC_BF16                         ? "bfloat16"
           : type == NUMERIC_F32                          ? "float"
           : type == NUMERIC_E4M3 || type == NUMERIC_E5M2 ? "fp8"
                                                          : numeric_type_name(type);
}

static void table_add_planner(const TableWriter *writer, Table *table, const ValidateRow *row, CollOp op, guint32 gpus,
                              double time_us)
{
    const char *source = table_source(writer->plan->library);
    table_text(table, "fanout");
    table_text(table, PACKAGE_VERSION);
    table_text(table, writer->system->name);
    table_text(table, op == COLL_ALL_TO_ALL ? "alltoall" : row->op);
    table_text(table, source);
    table_text(table, table_dtype(writer->plan->type));
    table_u64(table, gpus);
    table_u64(table, row->bytes / numeric_type_bytes(writer->plan->type));
    table_fixed(table, time_us / 1e3);
    table_text(table, source);
    table_u64(table, row->bytes);
    table_fixed(table, row->simulated / 1e3);
}

static guint32 table_gpus(const ValidateRow *row) { return (guint32)g_ascii_strtoull(row->gpus, NULL, 10); }

/* What measured rows near a cell say: how far off it is, and how sure that is; half_width_pct NAN: none is near. */
static ValidateNear table_near(const TableWriter *writer, const ValidateRow *row)
{
    ValidateNear near = {.half_width_pct = NAN};
    ValidateCell cell;
    if (writer->errors && validate_cell_of(row, &cell)) {
        cell.arch = writer->system->spec.sm.arch;
        if (writer->plan->measured)
            cell.preset = TABLE_MEASURED;
        cell.id = NULL;
        if (!cell.nccl && !coll_library_is_framework(writer->plan->library))
            cell.nccl = coll_nccl_newest();
        near = validate_near(writer->errors, &cell, VALIDATE_NEAR_ALL);
    }
    if (writer->plan->alone) { /* what would be taken out is uncertainty, then */
        near.half_width_pct = (exp(fabs(near.log_error)) * (1 + near.half_width_pct / 100) - 1) * 100;
        near.log_error = 0;
    }
    return near;
}

static void table_answer_add(GString *text, const ValidateRow *row, double time_us)
{
    g_autofree char *size = size_format(row->bytes);
    g_string_append_printf(text, "%.2f us (%s of %s GPUs at %s)", time_us, row->op, row->gpus, size);
}

void table_writer_answer(const TableWriter *writer, const GPtrArray *rows, Report *report)
{
    const ValidateRow *least = NULL, *most = NULL;
    double sure_pct = INFINITY, unsure_pct = 0, least_us = INFINITY, most_us = 0;
    guint known = 0, cells = 0;
    for (guint i = 0; i < rows->len; i++) {
        const ValidateRow *row = g_ptr_array_index(rows, i);
        if (row->skipped || isnan(row->simulated))
            continue;
        const ValidateNear near = table_near(writer, row);
        const double time_us = validate_near_time(&near, row->simulated);
        least = time_us < least_us ? row : least;
        most = time_us > most_us ? row : most;
        least_us = MIN(least_us, time_us);
        most_us = MAX(most_us, time_us);
        cells++;
        if (isnan(near.half_width_pct))
            continue;
        known++;
        sure_pct = MIN(sure_pct, near.half_width_pct);
        unsure_pct = MAX(unsure_pct, near.half_width_pct);
    }
    if (!least || !most) {
        report_add_answer(report, "no cell could be simulated: the notes say why");
        return;
    }
    g_autoptr(GString) text = g_string_new(NULL);
    table_answer_add(text, least, least_us);
    if (cells > 1) {
        g_string_append(text, " to ");
        table_answer_add(text, most, most_us);
    }
    report_add_answer(report, "calls of %s take %s", coll_library_names[writer->plan->library], text->str);
    if (known)
        report_add_answer(report,
                          "how sure that is: of ten measured calls like one of these nine were within %.1f %%, of the "
                          "least sure cell within %.1f %%; %u of %u cells have such calls",
                          sure_pct, unsure_pct, known, cells);
    else
        report_add_answer(report, "how sure that is: not known, since no measured call is near enough");
}

void table_writer_add(const TableWriter *writer, Table *table, const ValidateRow *row)
{
    CollOp op = COLL_ALL_REDUCE;
    guint32 gpus = table_gpus(row);
    coll_op_parse(row->op, &op);
    CollShape shape = table_shape(writer, op, gpus, row->bytes);
    const ValidateNear near = table_near(writer, row);
    const double time_us = validate_near_time(&near, row->simulated);
    if (writer->planner) {
        table_add_planner(writer, table, row, op, gpus, time_us);
        table_fixed(table, near.half_width_pct);
    } else {
        table_text(table, row->op);
        table_u64(table, gpus);
        table_u64(table, row->bytes);
        table_fixed(table, time_us);
        table_fixed(table, near.half_width_pct);
        table_fixed(table, row->simulated);
    }
    table_u64(table, near.rows);
    table_text(table, coll_algo_name(shape.algo));
    table_text(table, coll_proto_name(shape.proto));
    table_u64(table, shape.ctas);
    table_text(table, coll_fidelity_name(row->extrapolated ? COLL_FIDELITY_AUTO : COLL_PACKET));
}
