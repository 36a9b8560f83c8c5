/* Whole kernels against an H100: the rows of h100/kernels.csv, by what %globaltimer says inside the kernels. A sample
 * in `make check`; FANOUT_KERNEL_ROWS=all runs all of them, FANOUT_KERNEL_ROWS=NAME those whose name begins so. */
#include <math.h>

#include "tests/device/kernel/kernel_world.h"
#include "device/launch_time.h"

#define GPUS 2
#define LAUNCHES 3u /* of a row, one after the other; the last one counts */
#define BUFFER_BYTES (256u << 20)
#define SMALL_BYTES (1u << 20)
#define TIMES_BYTES (4u << 20)
/* What a fence of the system takes on the host of these rows: 3,090 clk; it depends on the host, not on the chip.
 * Source: h100/memory.csv, fence.acq_rel.sys, and its README. */
#define HOST_FENCE_PS (1560000u - 581000u) /* beyond sm.fence_ps */

typedef enum { BUFFER_A, BUFFER_B, BUFFER_C, BUFFER_F, BUFFER_T, BUFFERS } Buffer;

typedef struct {
    char *name, *kernel;
    guint32 gpus, grid[2], block, shared, registers;
    guint64 bytes;
    double measured_ns;
} Row;

typedef struct {
    ParamSet *set;
    FabricSpec spec;
    Sim *sim;
    Fabric *fabric;
    Vas *vas;
    PtxModule *module;
    PtxImage *image;
    MemRegion *region[GPUS][BUFFERS];
    guint64 va[GPUS][BUFFERS];
    const Row *row;
    guint32 launched[GPUS];
    const char *failed;
} Bench;

/* used: bytes that the launches before have touched, which counts for what the L2 holds */
static void map_buffer(Bench *bench, guint g, Buffer b, guint64 bytes, guint64 used)
{
    bench->region[g][b] = memory_region_new(bench->fabric->memory, (guint16)g, bytes, NULL);
    bench->va[g][b] = vas_choose(bench->vas, bytes, 1u << 21);
    memory_keep_l2(bench->fabric->memory, bench->region[g][b], bench->spec.gpu.l2_bytes);
    l2_lines_bring(bench->region[g][b]->l2, 0, used);
    VasMapping *mapping = vas_map(bench->vas, bench->va[g][b], bytes, bench->region[g][b], NULL, 0);
    for (guint16 p = 0; p < GPUS; p++)
        vas_set_access(mapping, p, VAS_ACCESS_READWRITE);
}

static void fill(Bench *bench, guint g, Buffer b, guint64 bytes)
{
    guint32 *words = (guint32 *)(void *)bench->region[g][b]->host;
    for (guint32 i = 0; i < MIN(bytes, 64u << 20) / 4; i++) {
        guint32 x = i * 2654435761u;
        x ^= x >> 15;
        words[i] = (x & 0x007fffffu) | 0x3f000000u;
    }
}

static Bench *bench_open(const Row *row, const char *text)
{
    const SimSpec sim = {.seed = 1};
    GError *error = NULL;
    Bench *bench = g_new0(Bench, 1);
    bench->set = param_set_new();
    device_params(bench->set, &bench->spec);
    assert_true(preset_load(bench->set, "dgx-h100", NULL));
    bench->spec.system.host_fence_ps = HOST_FENCE_PS;
    bench->spec.sm.fence_gpu_wide = FALSE;
    bench->sim = sim_new(&sim, NULL);
    bench->fabric = fabric_new(bench->sim, &bench->spec, TRUE, NULL);
    bench->vas = vas_new(bench->fabric->memory, (guint32)bench->fabric->spec.system.gpus);
    bench->row = row;
    for (guint g = 0; g < GPUS; g++) {
        for (guint b = 0; b < BUFFERS; b++)
            map_buffer(bench, g, (Buffer)b,
                       b < BUFFER_F    ? BUFFER_BYTES
                       : b == BUFFER_F ? SMALL_BYTES
                                       : TIMES_BYTES,
                       b < BUFFER_F ? row->bytes : SMALL_BYTES);
        fill(bench, g, BUFFER_A, row->bytes);
        if (row->kernel[0] != 'l') /* the slots of ll, ll128 begin empty */
            fill(bench, g, BUFFER_B, row->bytes);
    }
    bench->module = ptx_module_read("kernels.ptx", text, strlen(text), &error);
    if (!bench->module)
        fail_msg("%s", error->message);
    bench->image = ptx_image_new(bench->module, 0, 0);
    return bench;
}

static void bench_close(Bench *bench)
{
    ptx_image_free(bench->image);
    ptx_module_free(bench->module);
    vas_free(bench->vas);
    fabric_free(bench->fabric);
    sim_free(bench->sim);
    param_set_free(bench->set);
    g_free(bench);
}

/* The number behind a word of a row's name. */
static guint64 number_after(const char *name, const char *word)
{
    const char *at = strstr(name, word);
    return at ? g_ascii_strtoull(at + strlen(word), NULL, 10) : 0;
}

/* The arguments of launch k on GPU g but for the last one, as the program that measured them has them. */
static guint arguments(const Bench *bench, guint g, guint32 k, guint64 *a)
{
    const Row *row = bench->row;
    const guint64 *own = bench->va[g], *peer = bench->va[1 - g];
    const char *kernel = row->kernel, *name = row->name;
    guint64 epoch = k;
#define TAKE(...)                                                                                                      \
    do {                                                                                                               \
        const guint64 v_[] = {__VA_ARGS__};                                                                            \
        memcpy(a, v_, sizeof v_);                                                                                      \
        return G_N_ELEMENTS(v_);                                                                                       \
    } while (0)
    if (!strcmp(kernel, "vadd") || !strcmp(kernel, "vadd4"))
        TAKE(own[BUFFER_C], own[BUFFER_A], own[BUFFER_B], row->bytes / (kernel[4] ? 16 : 4));
    if (!strcmp(kernel, "copy16"))
        TAKE(strstr(name, "push") ? peer[BUFFER_C] : own[BUFFER_C],
             strstr(name, "pull") ? peer[BUFFER_A] : own[BUFFER_A], row->bytes / 16);
    if (!strcmp(kernel, "read16"))
        TAKE(own[BUFFER_C], peer[BUFFER_A], row->bytes / 16);
    if (!strcmp(kernel, "write16"))
        TAKE(peer[BUFFER_C], row->bytes / 16, 7);
    if (!strcmp(kernel, "reduce"))
        TAKE(own[BUFFER_C], own[BUFFER_A], row->bytes / 4);
    if (!strcmp(kernel, "transpose"))
        TAKE(own[BUFFER_C], own[BUFFER_A], number_after(name, "transpose "), strstr(name, "padded") != NULL);
    if (!strcmp(kernel, "softmax"))
        TAKE(own[BUFFER_C], own[BUFFER_A], number_after(name, " x "));
    if (!strcmp(kernel, "histogram"))
        TAKE(own[BUFFER_C], own[BUFFER_A], row->bytes);
    if (!strcmp(kernel, "gemm16"))
        TAKE(own[BUFFER_C], own[BUFFER_A], own[BUFFER_B], number_after(name, "gemm16 "));
    if (!strcmp(kernel, "stencil"))
        TAKE(own[BUFFER_C], own[BUFFER_A], row->bytes / 4);
    if (!strcmp(kernel, "mandel"))
        TAKE(own[BUFFER_C], number_after(name, " x "), number_after(name, " x ") == 256 ? 100 : 1000);
    if (!strcmp(kernel, "spinlock"))
        TAKE(own[BUFFER_F], own[BUFFER_F] + 4096, 16);
    if (!strcmp(kernel, "pingpong")) {
        guint64 rounds = number_after(name, "pingpong ");
        TAKE(own[BUFFER_F], peer[BUFFER_F], rounds, g == 0, k * rounds);
    }
    if (!strcmp(kernel, "ll") || !strcmp(kernel, "ll128")) {
        guint64 slot = (guint64)(k & 1) * (4u << 20), lines = row->bytes / (kernel[2] ? 120 : 8);
        TAKE(peer[BUFFER_B] + slot, own[BUFFER_B] + slot, own[BUFFER_A], own[BUFFER_C], lines, 301 + epoch);
    }
    if (!strcmp(kernel, "oneshot"))
        TAKE(own[BUFFER_C], own[BUFFER_A], peer[BUFFER_A], row->bytes / 16, own[BUFFER_F], peer[BUFFER_F], epoch + 1);
    if (!strcmp(kernel, "twoshot"))
        TAKE(own[BUFFER_A], peer[BUFFER_A], row->bytes / 16, g, own[BUFFER_F], peer[BUFFER_F], 2 * epoch + 1);
    assert_string_equal(kernel, "remote_add");
    TAKE(peer[BUFFER_B], 8, strstr(name, "coalesced") ? 1 : strstr(name, "line") ? 32 : 0);
}

static void launch_next(Bench *bench, guint g);

static void on_done(const KernelLaunch *launch, void *user)
{
    Bench *bench = user;
    const PtxFault *fault = kernel_fault(launch);
    if (fault->kind != PTX_FAULT_NONE)
        fail_msg("%s: %s, line %u", bench->row->name, fault->text, fault->line);
    for (guint g = 0; g < bench->row->gpus; g++)
        if (kernel_gpu(launch) == g)
            launch_next(bench, g);
}

static void launch_next(Bench *bench, guint g)
{
    const Row *row = bench->row;
    guint64 args[12];
    guint8 param[256] = {0};
    GError *error = NULL;
    if (bench->launched[g] == LAUNCHES)
        return;
    guint32 k = bench->launched[g]++;
    PtxFunction *entry = ptx_module_entry(bench->module, row->kernel);
    assert_non_null(entry);
    guint n = arguments(bench, g, k, args);
    args[n++] = bench->va[g][BUFFER_T] + (guint64)16 * row->grid[0] * row->grid[1] * k;
    assert_int_equal(n, entry->params->len);
    for (guint i = 0; i < n; i++) {
        const PtxParam *p = &g_array_index(entry->params, PtxParam, i);
        memcpy(param + p->offset, &args[i], p->bytes);
    }
    const KernelSpec spec = {.image = bench->image,
                             .entry = entry,
                             .grid = {row->grid[0], row->grid[1], 1},
                             .block = {row->block, 1, 1},
                             .dynamic_shared = row->shared,
                             .param = param};
    if (!kernel_launch(bench->fabric, (guint16)g, bench->vas, &spec, 0, on_done, bench, &error))
        fail_msg("%s: %s", row->name, error->message);
}

/* From the first start to the last end of launch k's CTAs on GPU 0, as they stored them. */
static double timed_ns(const Bench *bench, guint32 k)
{
    guint32 ctas = bench->row->grid[0] * bench->row->grid[1];
    const guint64 *times = (const guint64 *)(const void *)bench->region[0][BUFFER_T]->host + (gsize)2 * ctas * k;
    guint64 first = G_MAXUINT64, last = 0;
    for (guint32 i = 0; i < ctas; i++) {
        first = MIN(first, times[2 * i]);
        last = MAX(last, times[2 * i + 1]);
    }
    return (double)(last - first);
}

static double simulate(const Row *row, const char *text)
{
    Bench *bench = bench_open(row, text);
    for (guint g = row->gpus; g-- > 0;)
        launch_next(bench, g);
    assert_int_equal(sim_run(bench->sim, SIMTIME_NEVER), SIM_IDLE);
    for (guint g = 0; g < row->gpus; g++)
        assert_int_equal(bench->launched[g], LAUNCHES);
    double ns = timed_ns(bench, LAUNCHES - 1);
    bench_close(bench);
    return ns;
}

static gboolean row_read(const char *line, Row *row)
{
    g_auto(GStrv) cells = g_strsplit(line, ",", -1);
    if (g_strv_length(cells) < 14)
        return FALSE;
    guint32 number[10];
    for (guint c = 2; c < 10; c++)
        number[c] = (guint32)g_ascii_strtoull(cells[c], NULL, 10);
    *row = (Row){.name = g_strdup(cells[0]),
                 .kernel = g_strdup(cells[1]),
                 .gpus = number[2],
                 .grid = {number[3], number[4]},
                 .block = number[5],
                 .shared = number[6],
                 .registers = number[8],
                 .bytes = number[9],
                 .measured_ns = g_ascii_strtod(cells[12], NULL)};
    return TRUE;
}

static gint by_value(gconstpointer a, gconstpointer b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Proves that whole kernels take about the time that they take on an H100: docs/kernels.md says how near. */
static void test_rows(void **state)
{
    (void)state;
    const char *shared = g_getenv("FANOUT_SHARED"), *wanted = g_getenv("FANOUT_KERNEL_ROWS");
    g_autofree char *csv_path = g_strdup_printf("%s/reference/h100/kernels.csv", shared ? shared : "");
    g_autofree char *ptx_path = g_strdup_printf("%s/reference/h100/kernels.ptx", shared ? shared : "");
    g_autofree char *csv = NULL, *text = NULL;
    if (!g_file_get_contents(csv_path, &csv, NULL, NULL) || !g_file_get_contents(ptx_path, &text, NULL, NULL)) {
        print_message("no %s; FANOUT_SHARED=FOLDER names the reference files\n", csv_path);
        g_clear_pointer(&csv_path, g_free); /* skip() returns to where nothing frees them */
        g_clear_pointer(&ptx_path, g_free);
        skip();
    }
    g_auto(GStrv) lines = g_strsplit(csv, "\n", -1);
    g_autoptr(GArray) errors = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 1; lines[i]; i++) {
        Row row;
        if (!row_read(lines[i], &row))
            continue;
        gboolean small = row.bytes <= 1u << 20 && row.measured_ns < 20000;
        gboolean take = !wanted ? small : !strcmp(wanted, "all") || g_str_has_prefix(row.name, wanted);
        if (take) {
            double ns = simulate(&row, text), off = 100 * (ns / row.measured_ns - 1), size = fabs(off);
            print_message("%-34s measured %10.0f ns, simulated %10.0f ns, %+7.1f %%\n", row.name, row.measured_ns, ns,
                          off);
            g_array_append_val(errors, size);
        }
        g_free(row.name);
        g_free(row.kernel);
    }
    assert_true(errors->len > 0);
    g_array_sort(errors, by_value);
    double median = g_array_index(errors, double, errors->len / 2);
    double p90 = g_array_index(errors, double, errors->len * 9 / 10);
    print_message("%u rows: median error %.1f %%, p90 %.1f %%\n", errors->len, median, p90);
    if (wanted && strcmp(wanted, "all")) /* a few, to look at */
        return;
    assert_true(median < 12);
    assert_true(g_array_index(errors, double, errors->len - 1) < 60);
    assert_true(p90 < 32); /* the sample has more of the short rows of two GPUs, which are worse: all have 23 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
