/* What a replay found out, in sentences: how long the traces take, how much of that is communication that no
 * computing hides, which operation takes most of it. What multicast saves is said by the tables of both
 * (traces/replay/report.h). */
#ifndef CLI_REPLAY_ANSWER_H
#define CLI_REPLAY_ANSWER_H

#include "traces/replay/replay.h"

/* algos: whose, or which, algorithms ran. compared: others were replayed beside it; why: an option that leaves that
 * out, or NULL. */
void replay_answer_add(Report *report, const char *system, const char *algos, const ReplayJob *jobs,
                       const ReplayResult *result, gboolean compared, const char *why);

#endif
