/* What a SPEC.ini asks for.
 *
 *     [sweep]
 *     run = coll all_reduce                 a verb and its argument; or bench stream_bw, or replay FILE
 *     title = what the plots say            optional
 *     [fixed]                               one value each
 *     system = dgx-h100
 *     [grid]                                every combination
 *     algo = nvls, ring
 *     bytes = 1M..64M x4
 *     link.flight_ps = 100ns, 200ns
 *     switch.multicast_tags + switch.reduction_tags = 16..256 x2     both get the same value
 *     [latin]                               for each combination, points of a Latin hypercube over these
 *     points = 50
 *     seed = 7                              of the sampling, 1 unless given
 *     sm.out_packets = 20..200              any whole number in between; or a list, or a range with a step
 *     [threshold]                           for each combination, the smallest value that is good enough
 *     key = switch.reduction_buffer_bytes
 *     values = 4K..128K x2                  ascending; `metric` at `reference` (the last one unless given) is 100 %
 *     metric = busbw_GBps
 *     keep = 95 %
 *     better = higher                       or lower; unless given, times are better when lower
 *
 * [grid], [latin] and [threshold] may stand together or alone; keys are those of workload.h, or parameters as
 * `fanout systems NAME` lists them. Relative paths lie beside the spec. */
#ifndef EXPLORE_SPEC_H
#define EXPLORE_SPEC_H

#include "explore/lines.h"
#include "explore/workload.h"

typedef enum { AXIS_GRID, AXIS_LATIN, AXIS_THRESHOLD } AxisKind;

typedef struct {
    AxisKind kind;
    char **names; /* what gets the value; more than one where the spec has "a + b" */
    ValueType type;
    GPtrArray *values; /* char *, in shortest form; for AXIS_LATIN one for each sample, drawn */
    int line;
} Axis;

typedef struct {
    char *path, *folder, *title;
    const Workload *workload;
    GPtrArray *axes; /* Axis: [fixed] and [grid] in the order of the file, then [latin], then [threshold] */
    guint64 samples; /* of [latin]; 0: none */
    guint64 latin_seed;
    struct {
        const Axis *axis; /* NULL: no [threshold] */
        char *metric;
        int metric_line;
        guint32 keep_ppm;
        gboolean higher;
        guint reference; /* position among the values */
    } threshold;
    guint64 combinations; /* of [fixed], [grid] and the samples */
    guint64 stride;       /* points of one combination at most: 1, or what a bisection takes */
    GArray *systems;      /* SpecSystem: what each value of `system` means, in order of first use */
    char *fingerprint;    /* the same for the same sweep: over every word above, systems' values and traces' bytes */
} SweepSpec;

typedef struct {
    char *name;
    ParamSet *params;
    void *fabric; /* the FabricSpec under params */
} SpecSystem;

/* Reads and checks all of it. most: points it may have. GError: "FILE:LINE: [group] key: what is wrong and what would
 * be right"; SPEC_ERROR or G_FILE_ERROR. */
SweepSpec *spec_load(const char *path, guint64 most, GError **error);
void spec_free(SweepSpec *spec);

/* Names of all inputs, one a column: borrowed strings; free the array alone. */
GPtrArray *spec_inputs(const SweepSpec *spec);
/* Whether an input's values are whole numbers, and its unit ("" for none). */
gboolean spec_input_is_number(const SweepSpec *spec, const char *name);
const char *spec_input_unit(const SweepSpec *spec, const char *name);

/* Whether a metric is a time, by the unit that ends its name: less of it is better. */
gboolean spec_is_time(const char *metric);

#endif
