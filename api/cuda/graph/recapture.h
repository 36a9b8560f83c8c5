/* Capturing into a graph that is there already (cuStreamBeginRecaptureToGraph). */
#ifndef API_CUDA_GRAPH_RECAPTURE_H
#define API_CUDA_GRAPH_RECAPTURE_H

#include "api/cuda/graph/capture.h"

/* The capture's latest node is complete: compares it with the node of the same number of the graph that is recaptured,
 * if it is a recapture. GRAPH_RECAPTURE_FAILURE: another node, or the program's function says so.
 * The record's lock is given up while that function runs. */
CUresult recapture_look(Call *call, const Capture *capture);
/* The end of a recapture that was not spoilt: the nodes of the graph do what was captured. GRAPH_RECAPTURE_FAILURE:
 * there were fewer. */
CUresult recapture_end(Call *call, const Capture *capture);

#endif
