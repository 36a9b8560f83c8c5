/* Work for the engine: queued in a stream, or waited for, and what its answer means to a caller of the driver API. */
#ifndef API_CUDA_STREAM_SUBMIT_H
#define API_CUDA_STREAM_SUBMIT_H

#include "api/cuda/context/ctx.h"

/* What an engine's answer means to a caller of the driver API. */
CUresult engine_result(EngineStatus status, const EngineReply *reply);
/* Posts a request that may take simulated time: the record's lock is given up meanwhile. */
CUresult engine_wait(Call *call, const EngineRequest *request);
/* The same for a query, which waits for its quantum of time: what *reply says. */
CUresult engine_query(Call *call, const EngineRequest *request, EngineReply *reply);
/* Queues work, or has it recorded if its stream captures: a copy or fill by its EngineWait, and then the record's lock
 * is given up meanwhile; all other work never waits. */
CUresult engine_submit(Call *call, const EngineRequest *request);

#endif
