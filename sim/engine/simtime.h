/* Simulated time: integer picoseconds, nothing else.
 *
 * No floating point ever enters a time that orders events, so that the same inputs give the same
 * bytes on every machine. 2^63 ps are 106 days: enough, and room for sums. */
#ifndef SIM_ENGINE_SIMTIME_H
#define SIM_ENGINE_SIMTIME_H

#include <stdint.h>

typedef uint64_t SimTime; /* picoseconds since the start of the run */

#define SIMTIME_NEVER ((SimTime)INT64_MAX)
#define PS_PER_NS ((SimTime)1000)
#define PS_PER_US ((SimTime)1000000)
#define PS_PER_MS ((SimTime)1000000000)
#define PS_PER_S ((SimTime)1000000000000)

/* Rates need finer grain than a picosecond (a flit of 16 B at 23.55 GB/s lasts 679.405 ps), so
 * servers keep the time at which they are free in 1/65536 ps. */
typedef uint64_t SimFine;
#define SIMFINE_SHIFT 16
/* A run ends here at the latest, at 140 s: a server may be busy for as long again before its time does not fit. */
#define SIMTIME_LAST_PS (((SimTime)1 << (63 - SIMFINE_SHIFT)) - 1)
static inline SimFine simfine_from_ps(SimTime t) { return t << SIMFINE_SHIFT; }
static inline SimTime simfine_to_ps(SimFine f)
{
    return (f + ((1u << SIMFINE_SHIFT) - 1)) >> SIMFINE_SHIFT; /* up: never early */
}

#endif
