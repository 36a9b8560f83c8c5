/* What every example starts with: some GPUs, the same amount of memory on each, all of it mapped for all,
 * and one multicast address over the copies. Plain CUDA driver API (see the CUDA programming guide,
 * "Multicast objects"); nothing here is particular to Fanout. */
#ifndef EXAMPLES_TEAM_H
#define EXAMPLES_TEAM_H

#include <fanout/fanout.h>

#define TEAM_GPUS 4

typedef struct {
    size_t bytes; /* of each GPU's copy */
    CUcontext context[TEAM_GPUS];
    CUmemGenericAllocationHandle memory[TEAM_GPUS], object;
    CUdeviceptr unicast[TEAM_GPUS]; /* one GPU's copy, for all GPUs */
    CUdeviceptr multicast;          /* all copies at once */
} Team;

/* Ends the program with a message when a call fails. */
#define CHECK(call) team_check((call), #call)
void team_check(CUresult result, const char *call);

void team_open(Team *team, size_t bytes); /* bytes is rounded up to the multicast granularity */
void team_close(Team *team);
/* Runs one kernel on each GPU at the same time (args[i]: GPU i's arguments) and waits for all. */
void team_run(Team *team, const char *name, FoProgram program, const void *args, size_t args_bytes, unsigned ctas,
              unsigned threads);

#endif
