/* The multicast tables of one switch: which ports a multicast ID is replicated to.
 *
 * What hardware it stands for: MCRID main and extended entries of NVSwitch 3's ROUTE unit: spray groups
 * (alternative port strings, one picked by the address hash), directives, rounds.
 * Modelled: the number of entries, directives and spray groups, and what happens when a team does not
 * fit (a knob); the rounds a replication takes. With set_flits a request names its members itself: it is
 * so much longer on its way to the last switch, no entry holds them, and no team is refused.
 * Left out: tile columns, VC hops, primary replica order.
 * Sources: docs/hardware.md, "Multicast tables" (128 + 16 entries, 32 directives, 16 spray groups, 3 directives a
 * round). */
#ifndef MODEL_SWITCH_MULTICAST_TABLE_H
#define MODEL_SWITCH_MULTICAST_TABLE_H

#include <glib.h>

#include "model/shared/spec.h"

#define MCTABLE_SETS 16384u /* teams at a time, where requests name their members (set_flits) */

typedef struct {
    gboolean valid, extended;
    guint32 spray_groups; /* links of each GPU on this switch that carry the team */
    guint32 n_members;
    const guint16 *member; /* GPU numbers */
    guint32 team;          /* number of this list of members, among all that there ever were */
    guint32 rounds;        /* of one replication */
    guint16 *up;           /* by spray group: the port to the spine in which the team's tree has its root; the entry's
                           * own. NULL: requests are replicated here */
} McEntry;

typedef struct {
    const McTableSpec *spec;
    McEntry *entry; /* by multicast ID */
    guint32 extended_used;
    guint32 extended_taken, entries_taken; /* by others: fault.extended_taken, fault.entries_taken */
    GPtrArray *teams;                      /* lists of members: GArrays of guint16 */
} McTable;

void mctable_init(McTable *table, const McTableSpec *spec);
void mctable_clear(McTable *table);
/* Programs an entry for a team, `links` being the links of each GPU on this switch. The number of spray
 * groups that carry it, 0 when it does not fit at all (nothing changed). */
guint32 mctable_program(McTable *table, guint32 mcid, const guint16 *member, guint32 n_members, guint32 links);
/* Why it does not fit: names the key of [multicast], the value that it needs and the one that is set. */
void mctable_explain(const McTable *table, guint32 n_members, const char *where, GError **error);
void mctable_release(McTable *table, guint32 mcid);

#endif
