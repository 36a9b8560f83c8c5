/* Operations on boxes of a tensor in a logical endpoint, on endpoints that the driver made: put, put with other
 * dimensions and strides, counted put, addition to all, get. The tensor map is one of cuTensorMapEncodeTiled: rows of
 * 10 words, 64 bytes apart, and 5 of them; a box has 8 words in each of 3 rows. All ranks do the same operation at
 * once, and each compares its memory. Shared memory begins as 1000 * rank + i (fabric_operations.h). */
#include "tests/clients/endpoint_ranks.h"
#include "tests/device/kernel/fabric_operations.h"

#define PLACE 4096u /* bytes of each operation; the k-th begins at k of them */
#define PLACE_WORDS (PLACE / 4)
#define ROW 16u /* words from one row to the next */
#define BOX 24u /* words */
#define COUNTER (64u << 10)

typedef enum { PUT, PUT_SIZED, PUT_COUNTED, ADD_ALL, GET, KINDS } Kind;
static const char *const kernels[KINDS] = {"put", "put_sized", "put_counted", "add_all", "get"};
static const uint32_t x_of[KINDS] = {4, 0, 0, 0, 4}, y_of[KINDS] = {3, 0, 0, 1, 3}; /* where the box begins */

static uint32_t begins(int rank, unsigned i) { return (uint32_t)rank * 1000 + i; }
static uint32_t other(int rank, unsigned i) { return (uint32_t)(rank + 1) * 1000000 + i; } /* what is fetched */

/* What must be in a rank's memory at that place. A put at (4, 3) has two rows inside, and of each the 16 bytes in which
 * its last words lie. With dimensions of 6 and 2, rows 128 bytes apart, 8 words of 2 rows. The rest lies inside. */
static uint32_t wanted(const Ranks *me, Kind kind, int r, unsigned i)
{
    const int from = (r + me->ranks - 1) % me->ranks;
    const unsigned n = (unsigned)me->ranks, x = i % ROW, y = i / ROW;

    switch (kind) {
    case PUT: return x >= 4 && x < 12 && (y == 3 || y == 4) ? begins(from, 8 * (y - 3) + x - 4) : 0;
    case PUT_SIZED: return i % 32 < 8 && i / 32 < 2 ? begins(from, 8 * (i / 32) + i % 32) : 0;
    case PUT_COUNTED: return x < 8 && y < 3 ? begins(from, 8 * y + x) : 0;
    case ADD_ALL: return x < 8 && y >= 1 && y < 4 ? 500 * n * (n - 1) + n * (8 * (y - 1) + x) : 0;
    default: return other(r, i);
    }
}

/* What a get at (4, 3) finds: of rows 3 and 4 words 4 to 9, and zeros beyond. */
static uint32_t found_word(const Ranks *me, int r, unsigned i)
{
    const unsigned x = 4 + i % 8, y = 3 + i / 8;

    return x < 10 && y < 5 ? other((r + 1) % me->ranks, y * ROW + x) : 0;
}

static void make_map(CUtensorMap *map, CUdeviceptr at)
{
    const cuuint64_t dim[2] = {10, 5}, stride[1] = {64};
    const cuuint32_t box[2] = {8, 3}, step[2] = {1, 1};

    CHECK(cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, (void *)at, dim, stride, box, step,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                 CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}

static void launch(const Ranks *me, int r, Kind kind, CUmodule module, CUdeviceptr found)
{
    FabricTensorArgs args = {.offset = kind * PLACE,
                             .counter = COUNTER,
                             .own = found,
                             .endpoint = kind == ADD_ALL ? team_of(me) : me->id + (unsigned)((r + 1) % me->ranks),
                             .bytes = 4 * BOX,
                             .rank = (uint32_t)r,
                             .tx = kind == GET ? 4 * BOX : BOX / 4,
                             .x = x_of[kind],
                             .y = y_of[kind],
                             .low = 8, /* 128 bytes in units of 16 */
                             .dim = {6, 2}};
    void *arguments[] = {&args};
    CUtensorMap map;
    CUfunction kernel;

    use_rank(me, r);
    make_map(&map, found);
    memcpy(args.map, &map, sizeof map);
    CHECK(cuModuleGetFunction(&kernel, module, kernels[kind]));
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, arguments, 0));
}

static void look(const Ranks *me, int r, Kind kind, CUdeviceptr found)
{
    const uint32_t counter = kind >= PUT_COUNTED ? 4 * BOX : 0, report = 0;
    uint32_t want[PLACE_WORDS];

    use_rank(me, r);
    for (unsigned i = 0; i < PLACE_WORDS; i++)
        want[i] = wanted(me, kind, r, i);
    compare(me, (kind == ADD_ALL ? me->shared[r] : me->own[r]) + kind * PLACE, want, PLACE_WORDS);
    for (unsigned i = 0; i < BOX; i++)
        want[i] = kind == GET ? found_word(me, r, i) : begins(r, i);
    compare(me, found + FABRIC_FOUND, want, BOX);
    compare(me, me->own[r] + COUNTER, &counter, 1);
    compare(me, found + FABRIC_REPORT, &report, 1);
}

static void load(const Ranks *me, int r, const char *text, CUmodule *module, CUdeviceptr *found)
{
    uint32_t words[PLACE_WORDS];

    use_rank(me, r);
    for (unsigned i = 0; i < PLACE_WORDS; i++)
        words[i] = other(r, i);
    CHECK(cuMemcpyHtoD(me->own[r] + GET * PLACE, words, sizeof words));
    CHECK(cuMemAlloc(found, MIB));
    CHECK(cuModuleLoadData(module, text));
}

static void work(const Ranks *me)
{
    CUmodule module[RANKS_MAX];
    CUdeviceptr found[RANKS_MAX];
    char *text = fabric_tensor_text();

    for (int r = me->first; r < me->last; r++)
        load(me, r, text, &module[r], &found[r]);
    meet(me); /* nobody acts before all have their memory ready */
    for (Kind kind = PUT; kind < KINDS; kind++) {
        for (int r = me->first; r < me->last; r++)
            launch(me, r, kind, module[r], found[r]);
        for (int r = me->first; r < me->last; r++) {
            use_rank(me, r);
            CHECK(cuCtxSynchronize());
        }
        meet(me);
        for (int r = me->first; r < me->last; r++)
            look(me, r, kind, found[r]);
        meet(me);
    }
    free(text);
}

int main(int argc, char **argv) { return run_program(argc, argv, work); }
