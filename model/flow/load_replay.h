/* One simulation of loads by all GPUs: see load_rate.h. */
#ifndef MODEL_FLOW_LOAD_REPLAY_H
#define MODEL_FLOW_LOAD_REPLAY_H

#include "model/flow/load_rate.h"

#define LOAD_ANSWER_FLITS (1u + LINE_BYTES / FLIT_BYTES)

/* The share of their links' time that so many CTAs of each GPU use, in millionths. weight (or NULL): what each CTA
 * gets, in thousandths of the mean. */
guint32 load_play(const Fabric *fabric, guint32 ctas, const LoadKind *kind, guint32 *weight);

#endif
