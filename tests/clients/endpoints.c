/* Copies between memory and logical endpoints: every rank writes a block to every other, and one to all; what arrived
 * is compared, word by word, and read back through the neighbour's endpoint. */
#include "tests/clients/endpoint_ranks.h"

#define BLOCK 64u /* words */

static uint32_t word_to(int from, int to, unsigned i) { return 0x1000000u + (uint32_t)(from * 100 + to) * 100 + i; }
static uint32_t word_to_all(int from, unsigned i) { return 0x2000000u + (uint32_t)from * 100 + i; }

static CUfabricCpyOperand at_pointer(const void *at)
{
    CUfabricCpyOperand operand;

    memset(&operand, 0, sizeof operand);
    operand.type = CU_FABRIC_COPY_OPERAND_TYPE_POINTER;
    operand.op.ptr.ptr = (CUdeviceptr)(uintptr_t)at;
    return operand;
}

static CUfabricCpyOperand at_endpoint(CUlogicalEndpointId id, size_t offset)
{
    CUfabricCpyOperand operand;

    memset(&operand, 0, sizeof operand);
    operand.type = CU_FABRIC_COPY_OPERAND_TYPE_LOGICAL_ENDPOINT;
    operand.op.le.id = id;
    operand.op.le.offset = offset;
    return operand;
}

/* A block to every rank, and one to all, in one batch. */
static void put(const Ranks *me, int r, CUstream stream)
{
    uint32_t(*words)[BLOCK] = malloc((size_t)(me->ranks + 1) * sizeof *words);
    CUDA_FABRIC_COPY_BATCH_OP *list = calloc((size_t)me->ranks + 1, sizeof *list);

    for (int to = 0; to <= me->ranks; to++) {
        for (unsigned i = 0; i < BLOCK; i++)
            words[to][i] = to < me->ranks ? word_to(r, to, i) : word_to_all(r, i);
        list[to].src = at_pointer(words[to]);
        list[to].dst = at_endpoint(me->id + (unsigned)to, (size_t)r * sizeof *words);
        list[to].size = sizeof *words;
    }
    use_rank(me, r);
    CHECK(cuFabricCpyBatchAsync((size_t)me->ranks + 1, list, 0, stream));
    CHECK(cuStreamSynchronize(stream));
    free(list);
    free(words);
}

static void look(const Ranks *me, int r, CUstream stream)
{
    const int next = (r + 1) % me->ranks;
    uint32_t want[BLOCK];
    CUdeviceptr back;

    use_rank(me, r);
    for (int from = 0; from < me->ranks; from++) {
        for (unsigned i = 0; i < BLOCK; i++)
            want[i] = word_to(from, r, i);
        compare(me, me->own[r] + (size_t)from * sizeof want, want, BLOCK);
        for (unsigned i = 0; i < BLOCK; i++)
            want[i] = word_to_all(from, i);
        compare(me, me->shared[r] + (size_t)from * sizeof want, want, BLOCK);
    }
    for (unsigned i = 0; i < BLOCK; i++)
        want[i] = word_to(r, next, i);
    CHECK(cuMemAlloc(&back, sizeof want));
    CUDA_FABRIC_COPY_BATCH_OP get = {.src = at_endpoint(me->id + (unsigned)next, (size_t)r * sizeof want),
                                     .dst = at_pointer((const void *)back),
                                     .size = sizeof want};
    CHECK(cuFabricCpyBatchAsync(1, &get, 0, stream));
    CHECK(cuStreamSynchronize(stream));
    compare(me, back, want, BLOCK);
    CHECK(cuMemFree(back));
}

static void work(const Ranks *me)
{
    CUstream stream[RANKS_MAX];

    for (int r = me->first; r < me->last; r++) {
        use_rank(me, r);
        CHECK(cuStreamCreate(&stream[r], CU_STREAM_NON_BLOCKING));
        put(me, r, stream[r]);
    }
    meet(me);
    for (int r = me->first; r < me->last; r++)
        look(me, r, stream[r]);
}

int main(int argc, char **argv) { return run_program(argc, argv, work); }
