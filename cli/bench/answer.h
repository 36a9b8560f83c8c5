/* What rows of a micro-benchmark say together: the value, or the least and the most of them and where these are. */
#ifndef CLI_BENCH_ANSWER_H
#define CLI_BENCH_ANSWER_H

#include "bench/bench.h"
#include "sim/report/report.h"

typedef struct {
    double value;
    char *text; /* "312.500 GB/s (store, 0>1, 16 x 512, 64K)" */
    const char *unit;
} BenchFound;

/* Zero but for the report, to begin with. */
typedef struct {
    Report *report;
    BenchFound least, most;
    guint rows;
    gboolean mixed; /* their units differ */
} BenchAnswer;

void bench_answer_row(BenchAnswer *answer, const BenchRequest *request, const BenchRow *row);
void bench_answer_end(BenchAnswer *answer, const char *test); /* adds the sentence */
void bench_answer_clear(BenchAnswer *answer);

#endif
