/* What tests of bandwidth share: a grid-stride loop, once or several times. */
#ifndef BENCH_BANDWIDTH_H
#define BENCH_BANDWIDTH_H

#include "bench/world.h"

typedef struct {
    LoopSpec loop;
    guint32 reps;
} BandwidthArgs;

void bandwidth_program(FoCta *cta, const void *args);
/* The loops of `stream`: reads keep 8 in flight, then go one by one. FALSE: there is no such variant. */
gboolean bandwidth_stream(const char *variant, FoAddress base, guint64 bytes, BandwidthArgs *flow);

#endif
