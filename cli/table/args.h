/* The options of `fanout table` and what they mean: words in, a grid of cells out. */
#ifndef CLI_TABLE_ARGS_H
#define CLI_TABLE_ARGS_H

#include "cli/options.h"
#include "model/fabric/fabric.h"

#define TABLE_MEASURED "measured" /* the machine of --measured, as neighbours know it */

typedef struct {
    char *ops, *gpus, *sizes, *program, *nccl, *timing, *type, *errors, *neighbours, *measured, *resume;
    gint jobs;
    gint64 crossings;
} TableWords;
typedef struct {
    CollOp op[COLL_OPS];
    guint ops;
    GArray *gpus, *sizes; /* guint64 */
    CollLibrary library;
    guint32 nccl;   /* its version; 0: the newest that was read */
    gboolean graph; /* calls in a CUDA graph, else one by one */
    NumericType type;
    gboolean alone;    /* cells are not corrected by measured neighbours */
    gboolean measured; /* the user's own machine is among them; the published ones are others of its generation */
} TablePlan;

/* Fills *plan, which is zero, for a system. FALSE: something is unknown or out of its bounds; nothing to clear. */
gboolean table_args_parse(TablePlan *plan, const TableWords *words, const FabricSpec *spec, GError **error);
void table_args_clear(TablePlan *plan);
void table_words_clear(TableWords *words);

#endif
