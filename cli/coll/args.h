/* The options of `fanout coll` and what they mean: words in, a plan of rows out. */
#ifndef CLI_COLL_ARGS_H
#define CLI_COLL_ARGS_H

#include "cli/options.h"
#include "coll/coll.h"

#define COLL_ALGOS_MAX 16
#define COLL_TYPES_MAX 10

/* As they stand on the command line. */
#define COLL_NOT_GIVEN G_MININT /* of a number: its default stands */
typedef struct {
    char *min, *max, *factor, *algos, *type, *reduce, *proto, *record, *program, *nccl;
    gint gpus, ctas, threads, root, warmup, iterations;
    gint64 crossings;
    gboolean no_compare, what_if, no_what_if;
} CollWords;
/* Whether the fastest row runs again with twice of what held it up: where that is cheap and people read the report. */
typedef enum { COLL_WHAT_IF_AUTO, COLL_WHAT_IF_ALWAYS, COLL_WHAT_IF_NEVER } CollWhatIf;
typedef struct {
    CollSpec spec;
    guint64 min, max, factor;
    CollAlgo algo[COLL_ALGOS_MAX];
    guint algos;
    NumericType type[COLL_TYPES_MAX]; /* one, or with -d all several */
    guint types;
    gboolean skip[COLL_TYPES_MAX][COLL_ALGOS_MAX]; /* of several types: what cannot run, */
    char *skipped;                                 /* in words; NULL: nothing; to be freed */
    guint32 gpus;                                  /* 0: all */
    gboolean compare;                              /* with the fastest that needs no multicast */
    CollWhatIf what_if;
} CollPlan;

/* Fills *plan, which is zero. FALSE: something is unknown or out of its bounds. */
gboolean coll_args_parse(CollPlan *plan, const char *op, const CollWords *words, GError **error);
/* "--threads 256 --iters 3": what changes results and no column says. Caller frees. */
char *coll_args_settings(const CollPlan *plan, const Options *options);
void coll_args_clear(CollWords *words);

#endif
