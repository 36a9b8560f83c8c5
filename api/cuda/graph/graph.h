/* Graphs: nodes with what they wait for, and instances of them.
 *
 * A node keeps what the program gave, and requests of the engine that do it. An instance is a copy of a graph whose
 * children are put in their nodes' place one level at a time; a launch queues its nodes, in an order in which each
 * comes behind what it waits for, into the stream and as many streams of its own as the graph is wide. */
#ifndef API_CUDA_GRAPH_GRAPH_H
#define API_CUDA_GRAPH_GRAPH_H

#include "api/cuda/module/module.h"
#include "api/cuda/stream/copy.h"
#include "api/cuda/stream/recorder.h"

typedef struct Graph Graph;

typedef struct GraphNode {
    guint64 handle;
    guint64 original; /* the node that it is a copy of, or 0 */
    Graph *graph;
    CUgraphNodeType type;
    gboolean disabled;
    gboolean captured; /* and what a stream of its capture has come to has not been changed by the program since */
    GPtrArray *before; /* GraphNode that it waits for */
    guint64 context;   /* handle of the context it runs in; 0: any */
    GArray *requests;  /* EngineRequest, one behind the other */
    Launch launch;     /* of kernels; its function is looked up again by `function` */
    guint64 function;  /* handle */
    void **params;     /* what cuGraphKernelNodeGetParams gives: pointers into launch.param */
    CUDA_MEMCPY3D copy;
    CUDA_MEMSET_NODE_PARAMS fill;
    CUDA_HOST_NODE_PARAMS host;
    CUevent event;
    Graph *child; /* owned */
    guint lane;   /* of a launch: 0 is the stream that the graph was launched into */
    guint32 done; /* engine's event behind it, where another lane waits for it; 0: none */
} GraphNode;

struct Graph {
    guint64 handle;
    guint64 original;
    gboolean instance;
    guint64 flags;
    GPtrArray *nodes;     /* GraphNode, in the order in which they were added */
    GArray *users;        /* UserReference */
    GArray *lanes;        /* of an instance: engine's streams of lanes 1 on */
    GArray *lane_context; /* handle of each lane's context */
    guint32 start, end;   /* engine's events */
    gboolean launched;
};

typedef struct {
    guint64 object; /* handle of a user object */
    guint count;
} UserReference;

Graph *graph_new(Call *call, gboolean instance);
void graph_free(Call *call, Graph *graph);
Graph *graph_get(Call *call, CUgraph handle);
Graph *graph_exec_get(Call *call, CUgraphExec handle);
/* An instance's node, by the one of its graph; NULL: none. */
GraphNode *graph_exec_node(const Graph *instance, CUgraphNode original);
Graph *graph_clone(Call *call, const Graph *graph, gboolean instance);
/* A node behind `before`; INVALID_VALUE: nodes that are not this graph's. */
CUresult graph_node_new(Call *call, Graph *graph, CUgraphNodeType type, const CUgraphNode *before, size_t n,
                        GraphNode **node);
void graph_node_free(Call *call, GraphNode *node);
GraphNode *graph_node_get(Call *call, CUgraphNode handle);
/* Nodes so ordered that each comes behind what it waits for; NULL: there is a circle. */
GPtrArray *graph_order(const Graph *graph);
gboolean graph_reaches(const GraphNode *from, const GraphNode *to); /* `to` waits for `from`, maybe through others */

/* node.c: what a node does, from what the program gives. */
CUresult node_set_kernel(Call *call, GraphNode *node, const CUDA_KERNEL_NODE_PARAMS *params);
CUresult node_set_launch(GraphNode *node, const Launch *launch); /* copies it */
CUresult node_set_copy(Call *call, GraphNode *node, const CUDA_MEMCPY3D *copy, Context *context);
CUresult node_set_fill(Call *call, GraphNode *node, const CUDA_MEMSET_NODE_PARAMS *fill, Context *context);
CUresult node_set_host(GraphNode *node, const CUDA_HOST_NODE_PARAMS *host);
CUresult node_set_event(Call *call, GraphNode *node, CUevent event);
void node_copy(Call *call, GraphNode *to, const GraphNode *from); /* all that it does */

/* user_object.c */
void user_object_retain(Call *call, guint64 handle, guint count);
void user_object_release(Call *call, guint64 handle, guint count);

/* run.c */
CUresult graph_run(Call *call, Graph *instance, Stream *stream);

/* capture.c: streams whose work becomes nodes. */
typedef struct Capture Capture;
extern const StreamRecorder capture_recorder;
/* TRUE: the stream captures, or its capture is spoilt; *result is the answer of the call. */
gboolean capture_graph(Call *call, const Stream *stream, const Graph *graph, CUresult *result);

#endif
