/* Fuzz target of the door that the command uses: one to four files of mutated bytes, of names that say a rank or say
 * nothing, plain, compressed or as pipes, named one by one, joined by commas, by their folder or by one of them, are
 * identified, put together to jobs, read, matched and written; whatever they hold, that ends, and in a trace or an
 * error that can be printed. What fuzz_trace.c gives to one reader starts behind it.
 *
 * Alone (make check, make fuzz): tests/fuzz.h's mutations of the seeds. */
#include "tests/test.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "tests/fuzz.h"
#include "tests/traces/fuzz_seeds.h"
#include "traces/format/reader.h"
#include "traces/format/write.h"
#include "traces/record/match.h"

#define FILES_MAX 4u

typedef struct {
    char *folder;
    char *path[FILES_MAX];
    int pipe[FILES_MAX]; /* its end to read; -1: a file */
    guint n;
} Door;

/* Names as profilers, launchers and people give them. */
static char *draw_name(Rng *rng, guint i)
{
    static const char *const patterns[] = {"rank%u.json",
                                           "nccl_trace_rank_%u",
                                           "x.%u.et",
                                           "run_eg_%u.json",
                                           "host%u_1074.17.pt.trace.json",
                                           "nccl.%u.log",
                                           "a b,%u",
                                           "%u",
                                           "trace.json.gz%u",
                                           "worker%u_step_12.1",
                                           "x%u.sqlite"};
    return g_strdup_printf(patterns[rng_below(rng, G_N_ELEMENTS(patterns))], i + (guint)rng_below(rng, 3) * 7);
}

static void write_file(const char *path, const char *mode, const guint8 *data, gsize bytes, gsize cut)
{
    gzFile file = gzopen(path, mode);
    if (file) {
        gzwrite(file, data, (unsigned)bytes);
        gzclose(file);
        if (cut > 0 && truncate(path, (off_t)cut) != 0)
            g_error("%s cannot be cut", path);
    }
}

/* A pipe that holds the bytes and is closed behind them; -1: they do not fit into one. */
static int open_pipe(const guint8 *data, gsize bytes)
{
    int ends[2];
    if (bytes > 60000 || pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    gboolean all = write(ends[1], data, bytes) == (gssize)bytes;
    close(ends[1]);
    if (!all)
        close(ends[0]);
    return all ? ends[0] : -1;
}

static void add_file(Door *door, Rng *rng, const char *pattern, const guint8 *data, gsize bytes)
{
    guint i = door->n++;
    guint64 how = rng_below(rng, 8);
    door->pipe[i] = how == 0 ? open_pipe(data, bytes) : -1;
    if (door->pipe[i] >= 0) {
        door->path[i] = g_strdup_printf("/proc/self/fd/%d", door->pipe[i]);
        return;
    }
    char *name = pattern ? g_strdup_printf("%s%u", pattern, i) : draw_name(rng, i);
    door->path[i] = g_build_filename(door->folder, name, NULL);
    g_free(name);
    gboolean compressed = how < 3, cut = how == 1;
    write_file(door->path[i], compressed ? "wb1" : "wbT", data, bytes, cut ? 1 + rng_below(rng, bytes + 20) : 0);
}

static void close_door(Door *door)
{
    for (guint i = 0; i < door->n; i++) {
        if (door->pipe[i] >= 0)
            close(door->pipe[i]);
        else
            g_unlink(door->path[i]);
        g_free(door->path[i]);
    }
    g_rmdir(door->folder);
}

static void drive(const Door *door, Rng *rng)
{
    TraceReadSpec spec = {.lenient = rng_below(rng, 2) == 0, .world = rng_below(rng, 3) == 0 ? 4 : 0};
    char *joined = g_strjoinv(",", (char **)door->path); /* ends with NULL: FILES_MAX + 1 places */
    const char *folder[] = {door->folder}, *one[] = {door->path[0]}, *list[] = {joined};
    const char *const *all = (const char *const *)door->path;
    guint64 how = rng_below(rng, 4);
    GError *error = NULL;
    GPtrArray *jobs = how == 0   ? trace_read_jobs(folder, 1, &spec, &error)
                      : how == 1 ? trace_read_jobs(one, 1, &spec, &error)
                      : how == 2 ? trace_read_jobs(list, 1, &spec, &error)
                                 : trace_read_jobs(all, door->n, &spec, &error);
    g_assert((!jobs) == (error != NULL));
    g_assert(!error || (error->message[0] != 0 && g_utf8_validate(error->message, -1, NULL)));
    g_clear_error(&error);
    for (guint j = 0; jobs && j < jobs->len; j++) {
        Trace *trace = jobs->pdata[j];
        if (trace->world <= 64 && trace->records->len < 4096) {
            Match *match = match_new(trace, spec.lenient, NULL);
            g_free(write_text_string(trace));
            match_free(match);
        }
    }
    if (jobs)
        g_ptr_array_free(jobs, TRUE);
    g_free(joined);
}

static void one(const FuzzSeed *seed, const guint8 *data, gsize bytes, guint64 turn)
{
    static const char *const whole[] = {NULL, "rank", "x.trace_rank_"};
    Door door = {.n = 0};
    Rng rng;
    rng_init(&rng, rng_hash(turn), "fuzz/door");
    door.folder = g_dir_make_tmp("fanout-fuzz-XXXXXX", NULL);
    if (!door.folder)
        g_error("no temporary folder");
    const char *pattern = whole[rng_below(&rng, G_N_ELEMENTS(whole))];
    gsize seed_bytes = seed->bytes > 0 ? seed->bytes : strlen(seed->text);
    for (guint64 n = 1 + rng_below(&rng, FILES_MAX - 1); n > 0; n--) { /* one fewer than places: they end with NULL */
        gboolean plain = door.n > 0 && rng_below(&rng, 2) == 0;        /* beside a broken one a whole one */
        add_file(&door, &rng, pattern, plain ? (const guint8 *)seed->text : data, plain ? seed_bytes : bytes);
    }
    drive(&door, &rng);
    close_door(&door);
    g_free(door.folder);
}

int main(void)
{
    seeds_begin();
    return fuzz_run(seeds, G_N_ELEMENTS(seeds), one);
}
