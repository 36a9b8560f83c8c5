/* A small file of each format, for the fuzz targets: call seeds_begin() first. */
#ifndef TESTS_TRACES_FUZZ_SEEDS_H
#define TESTS_TRACES_FUZZ_SEEDS_H

#include <sqlite3.h>

#include "tests/fuzz.h"

static FuzzSeed seeds[] = {
    {"text",
     "fanout-trace 1\nworld 4\ngroup g 0-1\nrank 0\n1 compute 5us stream=1 name=\"a\"\n2 "
     "all_reduce group=g bytes=64 "
     "dtype=f32 reduction=sum gap=1us after=1\n3 send to=1 tag=2 bytes=8\nrank 1\n1 recv from=0 "
     "tag=2 bytes=8\n",
     0},
    {"kineto",
     "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 0, \"world_size\": 2, \"pg_config\": "
     "[{\"pg_name\": \"0\", "
     "\"ranks\": [0, 1]}]}, \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
     "\"gemm\", \"ts\": 1.5, \"dur\": 2, "
     "\"args\": {\"stream\": 7}}, {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
     "\"ncclDevKernel_AllReduce_Sum_f32\", \"ts\": 4, "
     "\"dur\": 3, \"args\": {\"stream\": 40, \"Collective name\": \"allreduce\", \"In msg "
     "nelems\": 8, \"dtype\": \"Float\", "
     "\"Group size\": 2, \"Process Group Name\": \"0\", \"Process Group Ranks\": \"[0, 1]\"}}]}",
     0},
    {"chakra",
     "\x07\x0a\x05"
     "0.0.4"
     "\x35\x08\x01\x12\x01n\x18\x07\x52\x0e\x0a\x09is_cpu_op\xd8\x01\x00"
     "\x52\x0d\x0a\x09"
     "comm_typeH\x00\x52\x0d\x0a\x09"
     "comm_sizeH\x40\x0a\x08\x02\x12\x01m\x18\x04\x2a\x01\x01",
     73},
    {"chakra-json",
     "{\"workload_graph\": [{\"Id\": 1, \"Name\": \"a\", \"NodeType\": 7, \"is_cpu_op\": false, "
     "\"data_deps\": [2], "
     "\"comm_type\": 0, \"comm_size\": 64}, {\"Id\": 2, \"Name\": \"b\", \"NodeType\": 4, "
     "\"runtime\": 3}]}",
     0},
    {"pytorch-et",
     "{\"schema\": \"1.0.1\", \"nodes\": [{\"id\": 7, \"name\": \"record_param_comms\", "
     "\"inputs\": {\"values\": [[[4,5,0,64,4,"
     "\"cuda:1\"]], 33, [\"0\", \"pg\"], 1, \"allreduce\", [], [], 0, 1, 2]}, \"attrs\": "
     "[{\"name\": \"dtype\", \"value\": "
     "\"Float\"}, {\"name\": \"in_msg_nelems\", \"value\": 64}]}]}",
     0},
    {"nccl-log",
     "h:1:2 [0] NCCL INFO ncclCommInitRank comm 0xa rank 0 nranks 2 cudaDev 0 commId 0xc - Init "
     "COMPLETE\n"
     "h:1:2 [0] NCCL INFO AllReduce: opCount 1f sendbuff 0x7f recvbuff (nil) count 64 datatype 7 "
     "op 0 root 0 comm 0xa "
     "[nranks=2] stream 0x5\nh:1:2 [0] NCCL INFO Send: opCount 20 sendbuff 0x7f recvbuff (nil) "
     "count 64 datatype 7 op 0 "
     "root 1 comm 0xa stream 0x5\n",
     0},
    {"mscclpp",
     "{\"name\": \"p\", \"collective\": \"allreduce\", \"protocol\": \"LL\", \"gpus\": [{\"id\": "
     "0, \"input_chunks\": 1, "
     "\"output_chunks\": 1, \"scratch_chunks\": 1, \"threadblocks\": [{\"id\": 0, \"ops\": "
     "[{\"name\": \"signal\", \"channel_ids\": "
     "[0], \"channel_type\": \"memory\"}, {\"name\": \"glres\", \"src_buff\": "
     "[{\"switch_channel_id\": 0, \"index\": 0, \"size\": 1}"
     "], \"dst_buff\": [{\"switch_channel_id\": 0, \"index\": 0, \"size\": 1}]}], \"channels\": "
     "[{\"channel_type\": \"memory\", "
     "\"channel_ids\": [0]}, {\"channel_type\": \"switch\", \"channel_ids\": [0]}]}], "
     "\"channels\": [{\"channel_type\": \"memory\", "
     "\"connected_to\": [1]}, {\"channel_type\": \"switch\", \"buffer_type\": \"i\", "
     "\"rank_groups\": [{\"ranks\": [0, 1]}]}]}, "
     "{\"id\": 1, \"threadblocks\": []}]}",
     0},
    {"mscclpp",
     "{\"name\": \"p\", \"collective\": \"x\", \"protocol\": \"LL\", \"gpus\": [{\"id\": 0, "
     "\"input_chunks\": 4, \"output_chunks\": 4, \"scratch_chunks\": 4, \"threadblocks\": [{\"id\": 0, "
     "\"ops\": [{\"name\": \"ppkt\", \"src_buff\": [{\"type\": \"i\", \"index\": 0, \"size\": 2}], "
     "\"dst_buff\": [{\"buffer_id\": 0, \"index\": 0, \"size\": 2}], \"channel_type\": \"memory\", "
     "\"tbg_info\": {\"tb_id\": 0, \"tbg_size\": 2}}], \"channels\": [{\"channel_type\": \"memory\", "
     "\"channel_ids\": [0]}], \"remote_buffer_refs\": [{\"access_channel_type\": \"memory\", "
     "\"remote_buffer_ids\": [0]}]}], \"channels\": [{\"channel_type\": \"memory\", \"connected_to\": "
     "[1]}], \"remote_buffers\": [{\"rank\": 1, \"type\": \"s\"}]}, {\"id\": 1, \"threadblocks\": []}]}",
     0},
    {"flight-recorder",
     "{\"version\": \"2.10\", \"pg_config\": {\"0\": {\"name\": \"0\", \"desc\": \"default_pg\", \"ranks\": "
     "\"[0, 1]\"}}, "
     "\"entries\": [{\"record_id\": 0, \"process_group\": [\"0\", \"default_pg\"], \"collective_seq_id\": 1, "
     "\"profiling_name\": \"nccl:all_reduce\", \"time_created_ns\": 17, \"duration_ms\": 0.5, "
     "\"input_sizes\": [[3, 4]], "
     "\"input_dtypes\": [\"Float\"], \"output_sizes\": [[3, 4]], \"output_dtypes\": [\"Float\"], \"state\": "
     "\"started\"}, "
     "{\"record_id\": 1, \"process_group\": [\"0\", \"default_pg\"], \"profiling_name\": \"nccl:send 0->1\", "
     "\"input_sizes\": [[8]], \"input_dtypes\": [\"Half\"], \"state\": \"completed\"}]}",
     0},
    {"flight-recorder",
     "\x80\x02}q\x00(X\x09\x00\x00\x00pg_configq\x01}q\x02X\x01\x00\x00\x00"
     "0q\x03}q\x04X\x05\x00\x00\x00ranksq\x05"
     "X\x06\x00\x00\x00[0, 1]q\x06ssX\x07\x00\x00\x00"
     "entriesq\x07]q\x08}q\x09(X\x0e\x00\x00\x00profiling_nameq\x0a"
     "X\x0f\x00\x00\x00nccl:all_reduceq\x0bX\x11\x00\x00\x00"
     "collective_seq_idq\x0cK\x01"
     "X\x0b\x00\x00\x00input_sizesq\x0d"
     "]q\x0e]q\x0f(K\x03K\x04"
     "eaX\x0d\x00\x00\x00process_groupq\x10h\x03"
     "X\x0a\x00\x00\x00"
     "default_pgq\x11\x86q\x12uau.",
     230},
    {"nccl-inspector",
     "{\"header\": {\"id\": \"0xa\", \"rank\": 0, \"n_ranks\": 2}, \"metadata\": {\"hostname\": \"n\", \"pid\": 7}, "
     "\"coll_perf\": {\"coll\": \"AllReduce\", \"coll_sn\": 1, \"coll_msg_size_bytes\": 64, "
     "\"coll_exec_time_us\": 1.5}}\n"
     "{\"p2p_perf\": {\"p2p\": \"Send\", \"p2p_peer\": 1, \"p2p_msg_size_bytes\": 8}}\n",
     0},
    {"nccl-inspector",
     "[\n{\"name\": \"AllGather\", \"cat\": \"COLL\", \"ph\": \"b\", \"pid\": 7, \"args\": {\"SeqNum\": 1, "
     "\"CommHash\": 12, \"Rank\": 1, \"Count\": 64, \"Datatype\": \"ncclFloat32\"}},\n",
     0},
    {"goal",
     "num_ranks 4\nrank 0 {\na: calc 10 cpu 1\nb: send 8b to 1 tag 3\nb requires a\n}\nrank 1 "
     "{\nrecv 8b from 0 tag 3\n}\n",
     0},
    {"simai", "MICRO\r\n1\r\na\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLREDUCE\t4096\t1\r\n", 0},
    {"simai",
     "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 "
     "all_gpus: 4\n1\n"
     "a -1 100 ALLGATHER 64 30 NONE 0 7 ALLREDUCE 16 1\n",
     0},
    {"goal-binary",
     "\177\020\000\000\000\000\000\000\002\000\000\000\001\001\046\000\000\000\000\000\000\000\257\000\000\000\000"
     "\000\000\000\257\000\000\000\000\000\000\000\342\000\000\000\000\000\000\000\003\000\000\000\001\000\000\000"
     "\000\000\000\000\000\000\000\000\003\000\000\000\000\144\000\000\000\000\000\000\000\000\000\000\000\000\000"
     "\001\000\000\000\000\000\000\000\000\000\000\000\001\000\000\000\001\000\000\000\001\001\000\000\000\010\000"
     "\000\000\000\000\000\000\007\000\000\000\000\000\000\000\000\000\001\000\000\000\001\000\000\000\001\000\000"
     "\000\001\000\000\000\003\000\000\000\000\005\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
     "\000\002\000\000\000\000\000\000\000\002\000\000\000\001\000\000\000\002\000\000\000\001\000\000\000\001\000"
     "\000\000\000\000\000\000\000\000\000\000\002\000\000\000\000\010\000\000\000\000\000\000\000\007\000\000\000"
     "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000",
     234},
    {"nsight-sqlite", NULL, 0},
};

/* An export of Nsight Systems: two processes, their communicator and a call of each; kernels too. Small pages, so that
 * changes of bytes meet what is read. */
#define NSIGHT_COMM(pid, rank)                                                                                         \
    "INSERT INTO NVTX_EVENTS VALUES (10, 15, 59, 'ncclCommInitRank', NULL, " pid " << 24 | 7, "                        \
    "'{\"Communicator ID\": 99, \"No. of ranks\": 2, \"Rank\": " rank ", \"CUDA device\": " rank "}');"                \
    "INSERT INTO NVTX_EVENTS VALUES (20, 25, 59, NULL, 1, " pid " << 24 | 7, "                                         \
    "'{\"Communicator ID\": 99, \"Message size [bytes]\": 4096, \"Reduction operation\": \"Sum\"}');"
static const char nsight_export[] =
    "PRAGMA page_size = 512; CREATE TABLE StringIds (id INTEGER, value TEXT);"
    "INSERT INTO StringIds VALUES (1, 'ncclAllReduce'), (2, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL');"
    "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, globalTid "
    "INTEGER, "
    "jsonText TEXT);" NSIGHT_COMM("4711", "0")
        NSIGHT_COMM("4712", "1") "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId "
                                 "INTEGER, shortName INTEGER);"
                                 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 2);";

/* Makes what is not written above. Its memory stays. */
static inline void seeds_begin(void)
{
    sqlite3 *db;
    sqlite3_int64 bytes = 0;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK || sqlite3_exec(db, nsight_export, NULL, NULL, NULL) != SQLITE_OK)
        g_error("no database: %s", sqlite3_errmsg(db));
    FuzzSeed *seed = seeds;
    while (strcmp(seed->name, "nsight-sqlite") != 0)
        seed++;
    seed->text = (const char *)sqlite3_serialize(db, "main", &bytes, 0);
    seed->bytes = (gsize)bytes;
    sqlite3_close(db);
}

#endif
