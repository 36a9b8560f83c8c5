/* The bench of cores: an all-reduce on one and on two by turns, wall time, since it is about two cores. */
#include "cli/self/speed.h"

#include <stdatomic.h>

#include "cli/self/cost.h"
#include "cli/system.h"

#define CORES_BYTES (16u << 20)

static const Column row_columns[] = {
    COLUMN_U64(bytes, "size", "B", "of the all-reduce"),
    COLUMN_U64(crossings, "crossings", "", "of links by packets"),
    COLUMN_FIXED(one_s, "one", "s", 2, "wall time on one core"),
    COLUMN_FIXED(two_s, "two", "s", 2, "wall time on two"),
    COLUMN_FIXED(one_cpu_s, "one", "CPU s", 2, "CPU time on one core"),
    COLUMN_FIXED(two_cpu_s, "two", "CPU s", 2, "CPU time on two, of both"),
    COLUMN_FIXED(ratio, "ratio", "", 2, "wall time on one core over that on two, a pair of runs each"),
    COLUMN_FIXED(target, "target", "", 2, "of the ratio, with two free cores"),
    COLUMN_BOOL(met, "met", "the target"),
    COLUMN_BOOL(same, "same", "times and crossings on two cores are those on one"),
    COLUMN_FIXED(handoff_ns, "handoff", "ns", 0, "until one core sees what the other has written"),
    COLUMN_END,
};

gboolean speed_cores_pair(const Options *options, const char *system, SpeedCost cost[2], GError **error)
{
    SpeedColl what = {.system = system, .op = COLL_ALL_REDUCE, .algo = COLL_NVLS, .bytes = CORES_BYTES};
    for (guint k = 0; k < 2; k++) {
        what.cores = k + 1;
        if (!speed_cost_coll(options, &what, &cost[k], error))
            return FALSE;
    }
    return TRUE;
}

/* ---- a cache line that goes to and fro between two threads */

#define HANDOFFS 64u /* between looks at the clock */
#define HANDOFF_S 0.01
typedef struct {
    _Atomic guint32 turn __attribute__((aligned(128)));
    _Atomic gboolean quit __attribute__((aligned(128)));
} Handoff;

static gpointer cores_answer(gpointer user)
{
    Handoff *handoff = user;
    for (guint32 turn = 1; !atomic_load_explicit(&handoff->quit, memory_order_relaxed);)
        if (atomic_load_explicit(&handoff->turn, memory_order_acquire) == turn) {
            atomic_store_explicit(&handoff->turn, turn + 1, memory_order_release);
            turn += 2;
        }
    return NULL;
}

/* How far the two cores are from each other: those that share a cache some 30 to 60 ns, others 200. */
static double cores_handoff_ns(void)
{
    Handoff handoff = {0};
    GThread *other = g_thread_new("fanout-handoff", cores_answer, &handoff);
    double least_s = HANDOFF_S, start_s = speed_wall_s(), from_s = start_s;
    for (guint32 turn = 1; from_s < start_s + HANDOFF_S;) {
        for (guint32 n = 0; n < HANDOFFS; n++, turn += 2) {
            atomic_store_explicit(&handoff.turn, turn, memory_order_release);
            while (atomic_load_explicit(&handoff.turn, memory_order_acquire) != turn + 1)
                ;
        }
        double now_s = speed_wall_s();
        least_s = MIN(least_s, (now_s - from_s) / (2 * HANDOFFS));
        from_s = now_s;
    }
    atomic_store(&handoff.quit, TRUE);
    g_thread_join(other);
    return least_s * 1e9;
}

static gboolean cores_row(const Options *options, guint runs, Table *table, GError **error)
{
    enum { ONE, TWO, KINDS };
    double wall_s[KINDS][RUNS_MAX], cpu_s[KINDS][RUNS_MAX], ratio[RUNS_MAX], handoff_ns[RUNS_MAX];
    gboolean same = TRUE;
    SpeedCost cost[KINDS];
    for (guint r = 0; r < runs; r++) {
        if (!speed_cores_pair(options, options->system ? NULL : "gb200-nvl72", cost, error))
            return FALSE;
        for (guint k = 0; k < KINDS; k++) {
            wall_s[k][r] = cost[k].wall_s;
            cpu_s[k][r] = cost[k].cpu_s;
        }
        ratio[r] = cost[ONE].wall_s / cost[TWO].wall_s;
        handoff_ns[r] = cores_handoff_ns(); /* they may be other ones by now */
        same = same && cost[ONE].hops == cost[TWO].hops && cost[ONE].time_ps == cost[TWO].time_ps;
    }
    table_u64(table, CORES_BYTES);
    table_u64(table, cost[ONE].hops);
    table_fixed(table, speed_median(wall_s[ONE], runs));
    table_fixed(table, speed_median(wall_s[TWO], runs));
    table_fixed(table, speed_median(cpu_s[ONE], runs));
    table_fixed(table, speed_median(cpu_s[TWO], runs));
    table_fixed(table, speed_median(ratio, runs));
    table_fixed(table, SPEED_CORES_TARGET);
    table_bool(table, speed_median(ratio, runs) >= SPEED_CORES_TARGET);
    table_bool(table, same);
    table_fixed(table, speed_median(handoff_ns, runs));
    return TRUE;
}

ExitCode speed_cores(const Options *options, guint runs, GError **error)
{
    System system;
    if (!system_load(&system, options->system ? NULL : "gb200-nvl72", options, error))
        return EXIT_USER;
    Report *report = report_new("bench", "one core and two");
    options_describe(options, report);
    system_describe(&system, report);
    report_add_u64(report, "runs", runs, "");
    Table *table = report_add_table(report, "rows", "", row_columns, 0);
    report_add_note(report,
                    "medians; other programs on this machine count: two free cores reach between CPU one over "
                    "CPU two and twice that; cores without a common cache (handoff of about 200 ns) a tenth less");
    ExitCode code = EXIT_USER;
    if (cores_row(options, runs, table, error))
        code = options_write(options, report, error);
    report_free(report);
    system_clear(&system);
    return code;
}
