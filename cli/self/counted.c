/* Instructions of whole commands, as valgrind counts them: the same on every machine with one compiler, however busy
 * it is. A run of each is made a second time by itself, for how many packets crossed links. */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/self/cost.h"
#include "cli/self/counted.h"

#define MIB (1ull << 20)

/* Over packets that crossed a link: what `run` does, as a command and as a spec. */
static const struct {
    const char *what, *run;
    SpeedColl coll;
    double target;
} crossings[] = {
    {"1 MiB all_reduce by default (ring, LL): instructions a crossing",
     "coll all_reduce -s dgx-h100 -b 1M --fidelity packet",
     {.op = COLL_ALL_REDUCE, .algo = COLL_AUTO, .bytes = MIB, .keep_bytes = TRUE},
     2500},
    {"16 MiB all_to_all: instructions a crossing",
     "coll all_to_all -s dgx-h100 -b 16M --fidelity packet",
     {.op = COLL_ALL_TO_ALL, .algo = COLL_AUTO, .bytes = 16 * MIB, .keep_bytes = TRUE},
     2500},
    {"4 MiB NVLS without data: instructions a crossing",
     "coll all_reduce -s dgx-h100 -a nvls -b 4M --data off --fidelity packet",
     {.op = COLL_ALL_REDUCE, .algo = COLL_NVLS, .bytes = 4 * MIB},
     550},
};

/* Over the same command without the view. */
#define VIEWED "coll all_reduce -s dgx-h100 -b 256K --fidelity packet"
static const struct {
    const char *what, *option, *file;
} views[] = {
    {"256 KiB all_reduce with --html: instructions over those without", "--html", "page.html"},
    {"the same with --perfetto", "--perfetto", "timeline.json"},
    {"the same with --stats", "--stats", "statistics.csv"},
};
#define VIEWS_TARGET 1.5

/* Of this very command with those arguments, which a space divides; 0: there is no valgrind, or it failed. */
static double counted_instructions(const char *arguments)
{
    g_autofree char *line = g_strdup_printf("valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "
                                            "/proc/%d/exe %s",
                                            (int)getpid(), arguments);
    g_auto(GStrv) argv = g_strsplit(line, " ", -1);
    g_autofree char *said = NULL;
    int status = 0;
    if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &said,
                      &status, NULL) ||
        !g_spawn_check_wait_status(status, NULL))
        return 0;
    const char *refs = strstr(said, "refs:");
    double count = 0;
    for (const char *c = refs ? refs + strlen("refs:") : ""; *c && *c != '\n'; c++)
        if (g_ascii_isdigit(*c))
            count = 10 * count + (*c - '0');
    return count;
}

/* A figure that could not be counted has no row. */
static void counted_add(GArray *rows, const char *what, double count, double over, double target)
{
    const CountedRow row = {what, count / over, target};
    if (count > 0 && over > 0)
        g_array_append_val(rows, row);
}

static gboolean counted_crossings(const Options *options, GArray *rows, GError **error)
{
    for (gsize i = 0; i < G_N_ELEMENTS(crossings); i++) {
        SpeedColl coll = crossings[i].coll;
        SpeedCost cost;
        coll.system = "dgx-h100";
        if (!speed_cost_coll(options, &coll, &cost, error))
            return FALSE;
        counted_add(rows, crossings[i].what, counted_instructions(crossings[i].run), (double)cost.hops,
                    crossings[i].target);
    }
    return TRUE;
}

static gboolean counted_views(GArray *rows, GError **error)
{
    g_autofree char *folder = g_dir_make_tmp("fanout-bench-XXXXXX", error);
    if (!folder)
        return FALSE;
    const double plain = counted_instructions(VIEWED);
    for (gsize i = 0; i < G_N_ELEMENTS(views); i++) {
        g_autofree char *file = g_build_filename(folder, views[i].file, NULL);
        g_autofree char *run = g_strdup_printf("%s %s %s", VIEWED, views[i].option, file);
        counted_add(rows, views[i].what, counted_instructions(run), plain, VIEWS_TARGET);
        g_unlink(file);
    }
    g_rmdir(folder);
    return TRUE;
}

GArray *counted_rows(const Options *options, GError **error)
{
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(CountedRow));
    g_autofree char *valgrind = g_find_program_in_path("valgrind");
    if (!valgrind)
        return g_steal_pointer(&rows);
    if (!counted_crossings(options, rows, error) || !counted_views(rows, error))
        return NULL;
    return g_steal_pointer(&rows);
}
