/* What held a run up, in words: which unit of the switches was full and when, and where the time of its requests went.
 * For the sentences that a report opens with. */
#ifndef CLI_LIVE_LIMITS_H
#define CLI_LIVE_LIMITS_H

#include "observe/series/latency_breakdown.h"

/* Of the points of a run (SeriesPoint): "the reduction buffer of a port is full for 6.70 us, from 5.80 to 12.50 us
 * (switch.reduction_buffer_bytes=131072)"; several are joined by "; ". Caller frees; NULL: nothing was full for a
 * twentieth of the time. */
char *limits_full(const GArray *points, const Fabric *fabric, SimTime passed_ps);
/* "36 % queueing, 23 % reduction buffer, 12 % room at the target": the three largest parts of the time of a run, each
 * of which is at least a twentieth of it. Caller frees; NULL: nothing was taken apart. */
char *limits_parts(const LatencyTotal *where);
/* What the switches' counters know of every run: "1,234 requests waited for a tag and 56 for the reduction buffer of a
 * port". Caller frees; NULL: none waited. */
char *limits_waits(const Fabric *fabric);

#endif
