/* What the micro-benchmarks share: one fabric with memory, launches and timed sections. Internal to
 * this folder. */
#ifndef BENCH_WORLD_H
#define BENCH_WORLD_H

#include "device/device.h"
#include "bench/bench.h"
#include "coll/coll.h"

/* One kernel's life as its stream sees it. */
typedef struct {
    SimTime begin_ps, end_ps;
    guint64 amount;
    char gpus[16];
    guint32 ctas;
} BenchFlow;

struct BenchWorld {
    const BenchTest *test;
    const BenchRequest *request;
    guint64 bytes; /* to simulate: the request's, or less */
    Sim *sim;
    Fabric *fabric;
    char *run;            /* its name */
    Recording *recording; /* NULL: none is wanted */
    Vas *vas;
    GPtrArray *regions;
    GPtrArray *objects;
    GPtrArray *flows; /* BenchFlow */
    GArray *rows;     /* BenchRow */
    guint32 running;
    guint64 marks[8]; /* times and results that programs leave, by use of the test */
};

/* test: of whose variants a refusal speaks. flows: bulk loops are flows, see device_flow_begin(). */
BenchWorld *bench_world_new(const BenchSetup *setup, const BenchTest *test, const BenchRequest *request, guint64 bytes,
                            gboolean flows, GError **error);
void bench_world_free(BenchWorld *world);

/* Memory of a GPU, mapped for all. `footprint`: bytes that the whole program keeps using there; the lines
 * are in L2 if that fits. */
FoAddress bench_memory(BenchWorld *world, guint32 gpu, guint64 bytes, guint64 footprint);
FoAddress bench_flags(BenchWorld *world, guint32 gpu, guint64 bytes); /* keeps its bytes */
/* One multicast object over GPUs 0..n-1 with memory of `bytes` each, and each GPU's own mapping. 0: no room. */
FoAddress bench_multicast(BenchWorld *world, guint32 n, guint64 bytes, guint64 footprint, gboolean flags,
                          FoAddress *own, GError **error);
/* The same over these GPUs. */
FoAddress bench_team(BenchWorld *world, const guint16 *member, guint32 n, guint64 bytes, guint64 footprint,
                     FoAddress *own, GError **error);

/* Starts a kernel; what it does is added to the rows by bench_add_flows when amount > 0. */
void bench_launch(BenchWorld *world, guint32 gpu, const char *gpus, FoProgram program, const void *args,
                  size_t args_bytes, guint32 ctas, guint32 threads, guint64 amount);
/* Runs until all launches are done. */
gboolean bench_go(BenchWorld *world, GError **error);
BenchRow *bench_add_row(BenchWorld *world, const char *gpus, guint64 amount, guint64 repeats, SimTime time_ps,
                        const char *unit);
void bench_add_flows(BenchWorld *world);

/* The loop as it stands, run by all warps of the CTA; spec->first and step are set by the caller. */
void bench_loop(FoCta *cta, const LoopSpec *spec);
LoopPart *bench_part(LoopSpec *spec, UopKind kind, guint32 reg, FoAddress base);

/* "0>1" -> 0, 1; FALSE with an error when it is none or the system has no such GPU. */
gboolean bench_parse_pair(BenchWorld *world, guint32 *from, guint32 *to, GError **error);
gboolean bench_parse_count(BenchWorld *world, guint32 *n, GError **error);
/* What an nccl_* test and variant ask of the collectives: operation, algorithm, protocol. */
/* How many calls back to back are simulated: the time between the first's end and the last's, for each call. */
guint32 bench_nccl_calls(guint64 bytes);
gboolean bench_nccl_parse(const char *test, const char *variant, CollSpec *coll, GError **error);
gboolean bench_refuse_variant(const BenchWorld *world, GError **error); /* always FALSE */

extern const BenchTest bench_load_latency, bench_dram_latency, bench_atomic_latency, bench_pingpong, bench_message,
    bench_stream, bench_by_size, bench_sparse, bench_footprint, bench_contention, bench_loaded, bench_loaded_bg,
    bench_mixed_single, bench_mixed_ring, bench_copy_kernel, bench_atomics, bench_hot_lines, bench_barrier,
    bench_oneshot, bench_twoshot, bench_push, bench_copy_engine, bench_multicast_bw, bench_multicast_latency,
    bench_multicast_barrier, bench_nccl_all_reduce, bench_nccl_all_gather, bench_nccl_reduce_scatter,
    bench_nccl_broadcast, bench_nccl_sendrecv, bench_nccl_alltoall, bench_shared_loads, bench_exchange;

#endif
