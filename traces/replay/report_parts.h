/* The tables of a replay's report, each from its file: report_jobs.c,
 * report_fabric.c. */
#ifndef TRACES_REPLAY_REPORT_PARTS_H
#define TRACES_REPLAY_REPORT_PARTS_H

#include "traces/replay/report.h"

/* The job's cell: its file's name without folders. */
void replay_report_name(Table *table, const ReplayJob *job);
void replay_report_jobs(Report *report, const ReplayJob *jobs, const ReplayResult *result);
void replay_report_steps(Report *report, const ReplayJob *jobs, const ReplayResult *result);
void replay_report_links(Report *report, const ReplaySpec *spec, const ReplayResult *result);
void replay_report_switches(Report *report, const ReplaySpec *spec, const ReplayResult *result);
void replay_report_pair(Report *report, const ReplayJob *jobs, const ReplayPair *pair);

#endif
