/* In words, what `auto` stands for: the algorithm that a library takes, and the rule by which it does. */
#include "coll/internal.h"

/* Of classic NCCL, alone or inside of a framework. */
static char *why_nccl(const CollSpec *taken, CollAlgo algo)
{
    if (algo == COLL_NVLS_BUFFERED)
        return g_strdup("NVLS through NCCL's own buffers, since the user's are not registered with it "
                        "(--program nccl-registered: NVLS on them)");
    if (algo == COLL_NVLS && taken->library == COLL_NCCL_REGISTERED)
        return g_strdup("NVLS on the user's buffers, which are registered with NCCL (--program nccl: copied through "
                        "NCCL's own)");
    if (algo == COLL_P2P)
        return g_strdup("NCCL's sends and receives");
    if (!coll_has_protocols(taken->op, algo))
        return g_strdup_printf("NCCL having no %s of its own", coll_op_name(taken->op));
    return g_strdup("the fastest by NCCL's published cost model");
}

char *coll_library_why(const CollGroup *group, const CollSpec *spec)
{
    CollSpec taken = *spec;
    CollAlgo algo;
    CollProto proto;
    coll_library_apply(group, &taken);
    gboolean own = taken.algo != COLL_AUTO && !coll_algo_is_nccl(taken.algo);
    coll_choice(group, &taken, &algo, &proto);
    const char *name = coll_library_names[spec->library];
    if (!coll_library_is_framework(spec->library))
        return spec->library == COLL_NCCL_SYM && own
                   ? g_strdup("NCCL's kernel for symmetric memory that its cost model finds the fastest")
                   : why_nccl(&taken, algo);
    if (own)
        return g_strdup_printf("%s's own kernel, by its table for %u GPUs of this architecture%s", name, group->n,
                               taken.copies ? ", with copies into its buffer and out of it" : "");
    g_autofree char *nccl = why_nccl(&taken, algo);
    return g_strdup_printf("%s, for which %s has no kernel of its own", nccl, name);
}
