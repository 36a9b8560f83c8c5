/* See typed.h. */
#include "cli/self/typed.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/self/speed.h"

#define TYPED_TARGET (1 / 3.0)
#define TYPED_SHORT_MHOLDS 30 /* with less, several runs */

/* run: words that a space divides, in a folder with what typed_write_inputs() leaves there; TRACES and SYSTEMS stand
 * for folders. before_Mholds: user and system time at commit 9d1d89e, by turns with this build, in millions of holds of
 * the heap beside it, 15.3 million a second (docs/performance.md has the seconds; of best, at least). */
static const struct {
    const char *what, *run;
    double before_Mholds;
} typed[] = {
    {"replay of a PyTorch profile of two ranks", "replay TRACES/kineto/ddp_resnet_2ranks.json.gz", 473},
    {"replay of PyTorch's execution trace", "replay TRACES/pytorch-et/ddp_resnet_2gpu.json.gz", 498},
    {"replay of SimAI's sample in flows, gb200-nvl72",
     "replay -s gb200-nvl72 --fidelity flow TRACES/simai/microAllReduce.txt", 551},
    {"all_reduce by best, 8 B to 256 MiB", "coll all_reduce -a best -b 8 -e 256M -f 4", 1408},
    {"all_reduce of 4 MiB by NVLS, gb200-nvl72", "coll all_reduce -s gb200-nvl72 -a nvls -b 4M", 83},
    {"all_reduce of 1 MiB (ring, LL)", "coll all_reduce -b 1M", 16.7},
    {"all_to_all of 16 MiB", "coll all_to_all -b 16M", 56},
    {"all_reduce of 256 KiB with --html", "coll all_reduce -b 256K --html page.html", 7},
    {"replay of ten steps of two overlapping collectives", "replay steps.trace", 191},
    {"all_reduce of 1 MiB on 576 GPUs, 16 CTAs",
     "coll all_reduce -s SYSTEMS/gb200-nvl576.ini -a nvls -b 1M --ctas 16 --data off --fidelity packet", 318},
    {"sweep of 200 small points", "sweep points.ini -j 1 -o points.db", 81},
};

static const char typed_points[] = "[sweep]\nrun = coll all_reduce\n[fixed]\nsystem = dgx-h100\nfidelity = packet\n"
                                   "algo = nvls\nbytes = 4K\n[grid]\nswitch.multicast_tags = 1..200 +1\n";

/* Ten steps of 128 KiB, in each of which the second collective begins while the first is under way. */
static char *typed_steps(void)
{
    GString *text = g_string_new("fanout-trace 1\nworld 8\nrank *\n0 compute 1us\n");
    for (guint s = 0; s < 10; s++)
        g_string_append_printf(text,
                               "%u all_reduce bytes=131072 dtype=f32 stream=1 after=%u\n"
                               "%u compute 1us after=%u\n"
                               "%u all_gather bytes=131072 out=1048576 dtype=f32 stream=2 after=%u\n"
                               "%u compute 30us after=%u,%u\n",
                               4 * s + 1, 4 * s, 4 * s + 2, 4 * s, 4 * s + 3, 4 * s + 2, 4 * s + 4, 4 * s + 1,
                               4 * s + 3);
    return g_string_free(text, FALSE);
}

static gboolean typed_write_inputs(const char *folder, GError **error)
{
    g_autofree char *steps = g_build_filename(folder, "steps.trace", NULL), *text = typed_steps();
    g_autofree char *points = g_build_filename(folder, "points.ini", NULL);
    return g_file_set_contents(steps, text, -1, error) && g_file_set_contents(points, typed_points, -1, error);
}

static void typed_remove(const char *folder)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_unlink(path);
    }
    if (dir)
        g_dir_close(dir);
    g_rmdir(folder);
}

static double typed_children_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* The command's words; NULL: a file that it reads is not at hand. */
static char **typed_words(const char *run)
{
    const char *shared = g_getenv("FANOUT_SHARED");
    g_autofree char *here = g_get_current_dir();
    g_autoptr(GString) line = g_string_new(run);
    g_autofree char *traces = g_build_filename(shared ? shared : "", "traces", NULL);
    g_autofree char *systems = g_build_filename(here, "examples", "systems", NULL);
    g_autofree char *self = g_strdup_printf("/proc/%d/exe ", (int)getpid());
    const gboolean is_file = g_string_replace(line, "TRACES", traces, 0) +
                             g_string_replace(line, "SYSTEMS", systems, 0);
    g_string_prepend(line, self);
    g_auto(GStrv) words = g_strsplit(line->str, " ", -1);
    for (char **word = words + 1; is_file && *word; word++)
        if (**word == '/' && !g_file_test(*word, G_FILE_TEST_EXISTS))
            return NULL;
    return g_steal_pointer(&words);
}

/* One run, in a folder of its own. */
static gboolean typed_run(char **words, double *seconds, GError **error)
{
    g_autofree char *folder = g_dir_make_tmp("fanout-bench-XXXXXX", error);
    int status = 0;
    if (!folder)
        return FALSE;
    const double before_s = typed_children_s();
    const gboolean good = typed_write_inputs(folder, error) &&
                          g_spawn_sync(folder, words, NULL, G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL,
                                       NULL, NULL, NULL, NULL, &status, error) &&
                          g_spawn_check_wait_status(status, error);
    *seconds = typed_children_s() - before_s;
    typed_remove(folder);
    return good;
}

GArray *typed_rows(guint runs, double (*heap_per_s)(void), GError **error)
{
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(TypedRow));
    for (gsize i = 0; i < G_N_ELEMENTS(typed); i++) {
        g_auto(GStrv) words = typed_words(typed[i].run);
        double Mholds[RUNS_MAX], seconds;
        const guint n = typed[i].before_Mholds < TYPED_SHORT_MHOLDS ? runs : 1;
        for (guint r = 0; words && r < n; r++) {
            const double per_s = heap_per_s();
            if (!typed_run(words, &seconds, error)) {
                g_prefix_error(error, "%s: ", typed[i].what);
                return NULL;
            }
            Mholds[r] = seconds * per_s / 1e6;
        }
        const TypedRow row = {typed[i].what, words ? speed_median(Mholds, n) / typed[i].before_Mholds : 0,
                              TYPED_TARGET};
        if (words)
            g_array_append_val(rows, row);
    }
    return g_steal_pointer(&rows);
}
