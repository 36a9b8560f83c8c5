/* Operations on boxes of a tensor in a logical endpoint: what they move, count and add up, on 2, 8 and 72 GPUs, by both
 * engines, and what is refused. Expected words are worked out from the box: the tensor has rows of 10 words, 64 bytes
 * apart, and 5 of them; a box has 8 words in each of 3 rows. */
#include "tests/device/kernel/fabric_kernels.h"

#include "ptx/tensor_map.h"

#define PLACE 4096u    /* of the tensor in each GPU's memory */
#define COUNTER 65536u /* counts the bytes that boxes bring */
#define WORDS 24u      /* of a box */
#define UNSIGNED_32 2u /* of CUtensorMapDataType */

typedef FabricTensorArgs Args;

static PtxModule *read_kernels(void)
{
    GError *error = NULL;
    char *text = fabric_tensor_text();
    PtxModule *module = ptx_module_read("tensor.ptx", text, strlen(text), &error);
    free(text);
    if (!module)
        fail_msg("%s", error->message);
    return module;
}

typedef struct {
    FabricWorld *w;
    PtxModule *module;
    PtxImage *image;
} Tensors;

static Tensors open_world(const char *preset, guint gpus, gboolean reference)
{
    const SimSpec sim = {.seed = 1, .engine = reference ? SIM_ENGINE_REFERENCE : SIM_ENGINE_FAST};
    Tensors t = {.w = fabric_world_new(preset, gpus, sim, NULL), .module = read_kernels()};
    t.image = ptx_image_new(t.module, 0, 0);
    return t;
}

static void close_world(Tensors *t)
{
    ptx_image_free(t->image);
    ptx_module_free(t->module);
    fabric_world_free(t->w);
}

static Args args_of(guint32 endpoint, guint32 x, guint32 y)
{
    const PtxTensorMap map = {
        .type = UNSIGNED_32, .rank = 2, .dim = {10, 5}, .stride = {64}, .box = {8, 3}, .element = {1, 1}};
    Args args = {.endpoint = endpoint, .offset = PLACE, .counter = COUNTER, .bytes = 4 * WORDS, .x = x, .y = y};
    ptx_tensor_map_pack(&map, args.map);
    return args;
}

static void start(const Tensors *t, guint gpu, const char *name, Args *args, Ended *ended)
{
    GError *error = NULL;
    const KernelSpec spec = {.image = t->image,
                             .entry = ptx_module_entry(t->module, name),
                             .grid = {1, 1, 1},
                             .block = {32, 1, 1},
                             .param = args};
    args->own = t->w->va[gpu];
    args->rank = gpu;
    args->tx = strcmp(name, "get") ? args->bytes / 16 : args->bytes;
    assert_non_null(spec.entry);
    if (!kernel_launch(t->w->fabric, (guint16)gpu, t->w->vas, &spec, 0, note_kernel, ended, &error))
        fail_msg("%s", error->message);
}

/* Every GPU at once, each to its neighbour, or all to `endpoint`. */
static void run_all(const Tensors *t, const char *name, Args args)
{
    Ended ended[72] = {0};
    for (guint g = 0; g < t->w->n; g++) {
        Args own = args;
        own.endpoint = args.endpoint ? args.endpoint : FABRIC_UNICAST + (g + 1) % t->w->n;
        start(t, g, name, &own, &ended[g]);
    }
    assert_int_equal(sim_run(t->w->sim, SIMTIME_NEVER), SIM_IDLE);
    for (guint g = 0; g < t->w->n; g++) {
        if (!ended[g].done || ended[g].fault != PTX_FAULT_NONE)
            fail_msg("%s on GPU %u: %s", name, g, ended[g].text);
        assert_int_equal(*fabric_words(t->w, g, FABRIC_REPORT), 0);
        g_free(ended[g].text);
    }
}

static void clear(const Tensors *t)
{
    for (guint g = 0; g < t->w->n; g++)
        memset(t->w->region[g]->host, 0, 128u << 10);
}

/* Word x of row y, rows so many bytes apart. */
static guint32 at(const Tensors *t, guint g, guint x, guint y, guint pitch)
{
    return fabric_words(t->w, g, PLACE)[(y * pitch) / 4 + x];
}

static guint before(const Tensors *t, guint g) { return (g + t->w->n - 1) % t->w->n; }

/* A put at (4, 3): rows 3 and 4 alone are the tensor's; words 4 to 11 of each are written, those behind the row's end
 * with the 16 bytes in which its last words lie. */
static void check_put(const Tensors *t)
{
    clear(t);
    run_all(t, "put", args_of(0, 4, 3));
    for (guint g = 0; g < t->w->n; g++)
        for (guint y = 0; y < 7; y++)
            for (guint x = 0; x < 16; x++)
                assert_int_equal(at(t, g, x, y, 64), x >= 4 && x < 12 && (y == 3 || y == 4)
                                                         ? 1000 * before(t, g) + 8 * (y - 3) + x - 4
                                                         : 0);
}

/* Dimensions 6 and 2, rows 128 bytes apart (8 units of 16) in place of the map's. */
static void check_sized(const Tensors *t)
{
    Args args = args_of(0, 0, 0);
    args.dim[0] = 6;
    args.dim[1] = 2 | 0x300; /* the low 8 bits count */
    args.low = 8;
    clear(t);
    run_all(t, "put_sized", args);
    for (guint g = 0; g < t->w->n; g++)
        for (guint y = 0; y < 4; y++)
            for (guint x = 0; x < 32; x++)
                assert_int_equal(at(t, g, x, y, 128), x < 8 && y < 2 ? 1000 * before(t, g) + 8 * y + x : 0);
}

/* Three rows of 32 bytes are counted where they are written. */
static void check_counted(const Tensors *t)
{
    clear(t);
    run_all(t, "put_counted", args_of(0, 0, 0));
    for (guint g = 0; g < t->w->n; g++) {
        assert_int_equal(fabric_words(t->w, g, COUNTER)[0], 96);
        assert_int_equal(at(t, g, 7, 2, 64), 1000 * before(t, g) + 23);
        assert_int_equal(at(t, g, 8, 2, 64), 0);
    }
}

/* All add to all: each word is the sum of 1000 * rank + its number in the box. */
static void check_add(const Tensors *t)
{
    const guint n = t->w->n;
    clear(t);
    run_all(t, "add_all", args_of(FABRIC_ALL, 0, 1));
    for (guint g = 0; g < n; g++)
        for (guint y = 0; y < 5; y++)
            for (guint x = 0; x < 10; x++)
                assert_int_equal(at(t, g, x, y, 64),
                                 x < 8 && y >= 1 && y < 4 ? 1000 * (n * (n - 1) / 2) + n * (8 * (y - 1) + x) : 0);
}

/* What a get finds at (x, y): zeros outside the tensor, whatever memory has there. */
static void check_get_at(const Tensors *t, int x, int y)
{
    clear(t);
    for (guint g = 0; g < t->w->n; g++)
        for (guint i = 0; i < 16 * 8; i++)
            fabric_words(t->w, g, PLACE)[i] = 1000000 * (g + 1) + i;
    run_all(t, "get", args_of(0, (guint32)x, (guint32)y));
    for (guint g = 0; g < t->w->n; g++)
        for (int i = 0; i < (int)WORDS; i++) {
            int column = x + i % 8, row = y + i / 8;
            gboolean inside = column >= 0 && column < 10 && row >= 0 && row < 5;
            assert_int_equal(fabric_words(t->w, g, FABRIC_FOUND)[i],
                             inside ? 1000000 * ((g + 1) % t->w->n + 1) + (guint)(row * 16 + column) : 0);
        }
}

static void check_everything(const char *preset, guint gpus, gboolean reference)
{
    Tensors t = open_world(preset, gpus, reference);
    check_put(&t);
    check_sized(&t);
    check_counted(&t);
    check_add(&t);
    check_get_at(&t, 0, 0);
    check_get_at(&t, 4, 3);
    check_get_at(&t, -4, -1);
    check_get_at(&t, 0, 7); /* nothing of it is inside: it completes without a packet */
    close_world(&t);
}

/* Proves that boxes of a tensor are put, got, counted and added up as worked out, on two GPUs of a DGX. */
static void test_two(void **state)
{
    (void)state;
    check_everything("dgx-h100", 2, FALSE);
}
/* Proves the same of all eight. */
static void test_eight(void **state)
{
    (void)state;
    check_everything("dgx-h100", 8, FALSE);
}
/* Proves the same of the 72 GPUs of the next rack. */
static void test_rack(void **state)
{
    (void)state;
    check_everything("vr200-nvl72", 72, FALSE);
}
/* Proves the same by the reference engine. */
static void test_reference(void **state)
{
    (void)state;
    check_everything("dgx-h100", 8, TRUE);
}

static void expect_fault(const Tensors *t, const char *name, Args args, const char *text)
{
    Ended ended = {0};
    start(t, 0, name, &args, &ended);
    sim_run(t->w->sim, SIMTIME_NEVER);
    assert_true(ended.done);
    if (ended.fault == PTX_FAULT_NONE || !strstr(ended.text, text))
        fail_msg("%s: \"%s\", which lacks \"%s\"", name, ended.text ? ended.text : "no fault", text);
    g_free(ended.text);
}

/* Proves that what PTX calls undefined ends the kernel with a text that names the operation, the endpoint, the rule. */
static void test_refused(void **state)
{
    Tensors t = open_world("dgx-h100", 2, FALSE);
    Args args = args_of(FABRIC_UNICAST + 1, 0, 0);
    (void)state;
    args.bytes = 48;
    expect_fault(&t, "put", args,
                 "fabric.try_put.async.tensor to endpoint 0x101: its size is that of the map's box, 96");
    args = args_of(FABRIC_UNICAST + 1, 0, 0);
    args.offset += 8;
    expect_fault(&t, "get", args, "fabric.try_get.async.tensor to endpoint 0x101: its offset is aligned to 16");
    args = args_of(FABRIC_UNICAST + 1, 4, 0);
    args.dim[0] = args.dim[1] = 2;
    args.low = 4;
    expect_fault(&t, "put_sized", args, "all coordinates are 0");
    args = args_of(FABRIC_UNICAST + 1, 0, 0);
    args.dim[1] = 2;
    expect_fault(&t, "put_sized", args, "a dimension in place of the map's is not 0");
    args = args_of(FABRIC_UNICAST + 1, 0, 0);
    args.counter = PLACE + 256; /* of the fifth row, which the box does not have: fine; of the first it is not */
    args.offset = PLACE + 256;
    expect_fault(&t, "put_counted", args, "its counter lies outside the data");
    args = args_of(FABRIC_UNICAST + 1, 1, 0);
    expect_fault(&t, "put", args, "the first coordinate of a copy by a tensor map is a multiple of 16 bytes");
    memset(args.map, 0, sizeof args.map);
    expect_fault(&t, "put", args, "these 128 bytes are no tensor map");
    close_world(&t);
}

/* Proves that a box beyond its endpoint, or at one that is not there, is a report at the mbarrier and moves nothing. */
static void test_reported(void **state)
{
    static const struct {
        guint64 offset;
        guint32 endpoint, report;
    } cases[] = {{FABRIC_BYTES - 64, FABRIC_UNICAST + 1, 0x102}, {PLACE, 0x300, 0x101}, {PLACE, FABRIC_ALL, 0x108}};
    Tensors t = open_world("dgx-h100", 2, FALSE);
    (void)state;
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        Args args = args_of(cases[c].endpoint, 0, 0);
        Ended ended = {0};
        args.offset = cases[c].offset;
        start(&t, 0, "put", &args, &ended);
        assert_int_equal(sim_run(t.w->sim, SIMTIME_NEVER), SIM_IDLE);
        assert_int_equal(ended.fault, PTX_FAULT_NONE);
        assert_int_equal(*fabric_words(t.w, 0, FABRIC_REPORT), cases[c].report);
        assert_int_equal(fabric_words(t.w, 1, PLACE)[0], 0);
        g_free(ended.text);
    }
    close_world(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two),     cmocka_unit_test(test_eight),
                                       cmocka_unit_test(test_rack),    cmocka_unit_test(test_reference),
                                       cmocka_unit_test(test_refused), cmocka_unit_test(test_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
