/* The options of `fanout advise` and what they mean. */
#ifndef CLI_ADVISE_ARGS_H
#define CLI_ADVISE_ARGS_H

#include "cli/options.h"
#include "model/fabric/fabric.h"

#define ADVISE_SIZES_MAX 64

typedef struct {
    char *min, *max, *factor, *sizes, *program, *type;
    gint gpus;
    gint64 crossings;
    gboolean unicast;
} AdviseWords;
typedef struct {
    CollSpec spec; /* what all simulations share; algo COLL_BEST or COLL_UNICAST */
    guint32 gpus;
    guint64 size[ADVISE_SIZES_MAX];
    guint sizes;
} AdvisePlan;

/* Fills *plan, which is zero, for a system. FALSE: something is unknown or out of its bounds. */
gboolean advise_args_parse(AdvisePlan *plan, const char *op, const AdviseWords *words, const Options *options,
                           const FabricSpec *spec, GError **error);
void advise_args_clear(AdviseWords *words);

#endif
