/* What a sweep found out, in sentences: of each metric that it has, the best point, and of one input from where on more
 * of it gives next to nothing. */
#ifndef CLI_SWEEP_ANSWER_H
#define CLI_SWEEP_ANSWER_H

#include "explore/frame.h"
#include "sim/report/report.h"

void sweep_answer_add(Report *report, const Frame *frame);

#endif
