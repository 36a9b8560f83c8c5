/* See table.h. */
#include "cli/coll/table.h"

#include <string.h>

const Column coll_table_columns[COLL_COLUMNS + 1] = {
    COLUMN_TEXT(op, "op", "the collective"),
    COLUMN_U64(bytes, "size", "B", "total size, as nccl-tests counts it"),
    COLUMN_U64(count, "count", "elements", "elements in that size"),
    COLUMN_TEXT(type, "type", "element type"),
    COLUMN_TEXT(redop, "redop", "reduction, none for moves"),
    COLUMN_TEXT(algo, "algo", "which algorithm ran"),
    COLUMN_TEXT(proto, "proto", "which protocol"),
    COLUMN_U64(gpus, "gpus", "", "ranks"),
    COLUMN_U64(ctas, "ctas", "", "of each rank's kernel"),
    COLUMN_FIXED(time_us, "time", "us", 2, "from the launch to the end of the last rank"),
    COLUMN_FIXED(kernel_us, "kernel", "us", 2, "the same without launch and exit"),
    COLUMN_FIXED(algbw_GBps, "algbw", "GB/s", 2, "size / time"),
    COLUMN_FIXED(busbw_GBps, "busbw", "GB/s", 2, "algbw with nccl-tests' factor of the operation"),
    COLUMN_FIXED(up_pct, "up", "%", 1, "time in which the links to the switches carried flits, mean"),
    COLUMN_FIXED(down_pct, "down", "%", 1, "the same of the links from the switches"),
    COLUMN_BOOL(verified, "verified", "every byte of every rank's result is right; - not checked"),
    COLUMN_TEXT(fidelity, "fidelity", "packet: every packet; flow: rates; auto: rates of short runs in packets"),
    COLUMN_END,
};

void coll_table_add(Table *table, const CollSpec *spec, const CollResult *result, guint32 gpus,
                    const Usage usage[USAGE_DIRECTIONS])
{
    table_text(table, coll_op_name(spec->op));
    table_u64(table, spec->bytes);
    table_u64(table, spec->bytes / numeric_type_bytes(spec->type));
    table_text(table, numeric_type_name(spec->type));
    table_text(table, coll_redop_name(spec));
    table_text(table, coll_algo_name(result->algo));
    table_text(table, coll_proto_name(result->proto));
    table_u64(table, gpus);
    table_u64(table, result->ctas);
    table_fixed(table, (double)result->time_ps / 1e6);
    table_fixed(table, (double)result->kernel_ps / 1e6);
    table_fixed(table, (double)result->algbw_MBps / 1e3);
    table_fixed(table, (double)result->busbw_MBps / 1e3);
    table_fixed(table, usage[USAGE_UP].mean_pct);
    table_fixed(table, usage[USAGE_DOWN].mean_pct);
    if (result->check == COLL_NOT_CHECKED)
        table_null(table);
    else
        table_bool(table, result->check == COLL_VERIFIED);
    table_text(table, coll_fidelity_name(result->fidelity));
}

void coll_table_widths(const CollPlan *plan, guint width[COLL_COLUMNS])
{
    static const guint usual[] = {0, 0, 0, 0, 0, 0, 6, 0, 0, 9, 9, 7, 7, 5, 5, 0, 6};
    g_autofree char *bytes = g_strdup_printf("%" G_GUINT64_FORMAT, plan->max);
    memcpy(width, usual, COLL_COLUMNS * sizeof *width);
    width[0] = (guint)strlen(coll_op_name(plan->spec.op));
    width[1] = (guint)strlen(bytes);
    for (guint a = 0; a < plan->algos; a++) {
        CollAlgo widest = plan->algo[a] == COLL_UNICAST ? COLL_TWOSHOT : plan->algo[a];
        if (widest == COLL_AUTO || widest == COLL_BEST)
            widest = COLL_NVLS_BUFFERED;
        width[5] = MAX(width[5], (guint)strlen(coll_algo_name(widest)));
    }
}
