/* The parts of the front end, in the order in which they are opened, started and closed, and in which they give up what
 * belongs to a context. A part that the record must ask something of is a row here. */
#include "api/cuda/context/part.h"

#include "api/cuda/context/report.h"
#include "api/cuda/context/signals.h"
#include "api/cuda/graph/graph.h"
#include "api/cuda/memory/array.h"
#include "api/cuda/multicast/team.h"
#include "api/cuda/symbols.h"

static void report_start(Cuda *cuda, EngineSpec *spec)
{
    (void)cuda;
    spec->watch = cuda_report_watch();
}

static void report_close(Cuda *cuda, const char *why) { cuda_report_write(cuda, why); }

static void signals_start(Cuda *cuda, EngineSpec *spec)
{
    (void)cuda;
    cuda_signals_watch(spec);
}

static void phys_open(Cuda *cuda) { cuda->phys = phys_table_new(); }

static void team_open(Cuda *cuda) { cuda->teams = team_table_new(); }

static void team_start(Cuda *cuda, EngineSpec *spec)
{
    spec->others = team_others_live;
    spec->others_user = cuda;
}

static void capture_open(Cuda *cuda) { cuda->recorder = &capture_recorder; }

static const CudaPart table[] = {
    {.knows = cuda_symbols_know},
    {.wrong = cuda_report_wrong, .start = report_start, .close = report_close},
    {.start = signals_start},
    {.open = phys_open},
    /* a launch meets what other processes have bound meanwhile */
    {.open = team_open, .start = team_start, .memory_freed = team_detach, .before_launch = team_sync_all},
    {.open = capture_open},
    {.context_gone = module_context_gone},
    {.context_gone = memory_context_gone},
    {.context_gone = array_context_gone},
    {.context_gone = stream_context_gone},
    {.context_gone = event_context_gone},
};

/* The record is made by the first call of any kind, so that no caller could hand this in. */
__attribute__((constructor)) static void parts_enter(void) { cuda_parts_enter(table, G_N_ELEMENTS(table)); }
