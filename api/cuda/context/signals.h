/* SIGINT and SIGTERM under `fanout exec`: a process that they end writes its report first. */
#ifndef API_CUDA_CONTEXT_SIGNALS_H
#define API_CUDA_CONTEXT_SIGNALS_H

#include "machine/engine/engine.h"

/* Before the engine starts: what it is to look at. Installs handlers where the program has none. */
void cuda_signals_watch(EngineSpec *spec);

#endif
