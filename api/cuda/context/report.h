/* The report of a program that ran on the simulated fabric, and what `fanout exec` learns of it. */
#ifndef API_CUDA_CONTEXT_REPORT_H
#define API_CUDA_CONTEXT_REPORT_H

#include "api/cuda/context/process.h"
#include "api/cuda/context/report_status.h"
#include "sim/report/report.h"

/* Where FANOUT_REPORT and FANOUT_HTML say, once; no-op without them. `why`: what ended the program. FALSE: it is being
 * written, or was. */
gboolean cuda_report_write(Cuda *cuda, const char *why);
/* Tells `fanout exec` at once that options were wrong. */
void cuda_report_wrong(void);

/* Counts the user's interrupts of `fanout exec`; NULL: there is none. Lives as long as the process. */
const gint *cuda_report_interrupts(void);
/* Where `fanout exec --monitor` asks for what this process simulates; NULL: it does not, or enough others are asked.
 * Once in a process. */
WatchPage *cuda_report_watch(void);

#endif
