/* Which launch or copy a request is of. A packet does not tell: its transaction knows the warp, the register or the
 * copy that waits for it, and of a register only the SM, just when it asks, knows the warp. */
#include "model/gpu/copy_engine.h"
#include "observe/series/tracks_parts.h"
#include "model/sm/sm.h"

struct Causes {
    Fabric *fabric;
    GHashTable *of_owner; /* by a Txn's owner, a warp or a register: what its last request was of */
};

Causes *causes_new(Fabric *fabric)
{
    Causes *causes = g_new0(Causes, 1);
    causes->fabric = fabric;
    causes->of_owner = g_hash_table_new(g_direct_hash, g_direct_equal);
    return causes;
}

void causes_free(Causes *causes)
{
    if (!causes)
        return;
    g_hash_table_destroy(causes->of_owner);
    g_free(causes);
}

void causes_note(Causes *causes, const Warp *warp)
{
    g_hash_table_insert(causes->of_owner, (gpointer)warp, (gpointer)warp->cta->cause);
    if (warp->current.dst)
        g_hash_table_insert(causes->of_owner, warp->current.dst, (gpointer)warp->cta->cause);
}

const void *causes_of(const Causes *causes, const Packet *packet)
{
    const Txn *txn = txn_at(&causes->fabric->txns[packet->src], packet->txn);
    const void *copied = copy_user_of(txn);
    return copied ? copied : g_hash_table_lookup(causes->of_owner, txn->owner);
}
