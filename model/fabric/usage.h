/* What a fabric did, as tables of a report: operations with their latencies, how busy links were,
 * what the switches replicated and summed.
 *
 * Utilisation is the time for which flits were on the wire, over the time that passed since a mark. A packet that is on
 * the wire at a mark, or at the end, counts as far as it has got.
 */
#ifndef MODEL_FABRIC_USAGE_H
#define MODEL_FABRIC_USAGE_H

#include "model/fabric/fabric.h"
#include "sim/report/report.h"

/* The links' counters at one time. */
typedef struct UsageMark UsageMark;
UsageMark *usage_mark(const Fabric *fabric);
void usage_mark_free(UsageMark *mark);
/* While a run goes on, from an event of its own: links take the decisions that were due before now. To be called before
 * usage_mark(), usage_of() and usage_of_switch(); it changes no result. */
void usage_settle(Fabric *fabric);

typedef enum { USAGE_UP, USAGE_DOWN, USAGE_DIRECTIONS } UsageDirection; /* seen from the GPUs */
typedef struct {
    double mean_pct, min_pct, max_pct; /* over the links of one direction; 0 when no time passed */
    guint64 packets, flits;
} Usage;
/* From `since` until now, over all links of the GPUs `gpu[0..n-1]` (NULL: all GPUs). */
Usage usage_of(const Fabric *fabric, const UsageMark *since, UsageDirection direction, const guint16 *gpu, guint32 n);
/* The switch whose ports were busiest: the mean of its ports, in or out, whichever is more; trunks are ports, too. */
double usage_of_switch(const Fabric *fabric, const UsageMark *since);

/* Tables "operations" (one row for each kind of operation and target class: the GPU's own memory,
 * other GPUs, each multicast object), "links" (one row a direction), "link_rows" (one row a link,
 * not in text), "switch_levels" (where there are two) and "switches" (one row a switch; of more than
 * USAGE_SWITCHES_TEXT not in text). Trunks are links, too. `since` bounds the links' tables; operations count from the
 * start. */
#define USAGE_SWITCHES_TEXT 64
void usage_add_operations(const Fabric *fabric, Report *report);
void usage_add_links(const Fabric *fabric, const UsageMark *since, Report *report);
void usage_add_switches(const Fabric *fabric, Report *report);

#endif
