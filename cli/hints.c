/* See hints.h. The words of other programs are those of nccl-tests, mpirun, torchrun and common commands. */
#include "cli/hints.h"

#include <stdio.h>
#include <string.h>

#include "coll/coll.h"

typedef struct {
    const char *verb; /* NULL: of every verb */
    const char *option, *right;
} Hint;

static const Hint hints[] = {
    {"coll", "-g", "GPUs are -n N"},
    {"coll", "-t", "each rank is a GPU of its own: -n N"},
    {"coll", "--nthreads", "each rank is a GPU of its own: -n N"},
    {"coll", "--ngpus", "GPUs are -n N, or --gpus N"},
    {"coll", "--nranks", "ranks are GPUs: -n N, or --gpus N"},
    {"coll", "--ranks", "ranks are GPUs: -n N, or --gpus N"},
    {"coll", "--np", "ranks are GPUs: -n N, or --gpus N"},
    {"coll", "-np", "ranks are GPUs: -n N, or --gpus N"},
    {"coll", "-i", "sizes go by a factor: -f F"},
    {"coll", "--stepbytes", "sizes go by a factor: -f F"},
    {"coll", "--size", "sizes are -b FIRST and -e LAST"},
    {"coll", "--count", "sizes are bytes: -b FIRST and -e LAST; 1024 elements of float are -b 4K"},
    {"coll", "--elements", "sizes are bytes: -b FIRST and -e LAST; 1024 elements of float are -b 4K"},
    {"coll", "-m", "one call is timed at a time; --iters N takes the mean of N"},
    {"coll", "-c", "results are always compared; --data off leaves them out"},
    {"coll", "--check", "results are always compared; --data off leaves them out"},
    {"coll", "-r", "the root is --root R"},
    {"coll", "-z", "calls never block here; leave it out"},
    {"coll", "--blocking", "calls never block here; leave it out"},
    {"coll", "-G", "calls are timed one by one; of CUDA graphs, fanout table --timing graph"},
    {"coll", "-R", "whose buffers are registered is --program nccl-registered, or nccl-sym"},
    {"coll", "--nodes", "a system is one NVLink domain, over all of its hosts: -s gb200-nvl72 -n N has up to 72 GPUs"},
    {"coll", "--in-place", "collectives are timed out of place, as nccl-tests' first columns"},
    {"coll", "-k", "the number of runs is --iters N"},
    {"coll", "--iterations", "the number of runs is --iters N"},
    {"coll", "--repeat", "the number of runs is --iters N"},
    {"coll", "--algorithm", "algorithms are -a ALGO,..., or --algo"},
    {"coll", "--protocol", "the protocol is -p P, or --proto"},
    {"coll", "--dtype", "the element type is -d DTYPE, or --datatype"},
    {"coll", "--redop", "the operation is -o OP, or --op"},
    {"exec", "-n", "fanout exec starts one command; ranks are its launcher's: fanout exec -- mpirun -np N PROGRAM"},
    {"exec", "-np", "fanout exec starts one command; ranks are its launcher's: fanout exec -- mpirun -np N PROGRAM"},
    {"exec", "--nproc",
     "fanout exec starts one command; ranks are its launcher's: fanout exec -- mpirun -np N PROGRAM"},
    {"exec", "--nproc-per-node", "that is torchrun's: fanout exec -- torchrun --nproc-per-node N SCRIPT"},
    {"exec", "--nproc_per_node", "that is torchrun's: fanout exec -- torchrun --nproc-per-node N SCRIPT"},
    {"exec", "--gpus", "the number of GPUs is the system's: -s SYSTEM, or --set system.gpus=N"},
    {"coll", "--list", "fanout coll --help has the operations and their algorithms, fanout systems the systems"},
    {"coll", "-l", "fanout coll --help has the operations and their algorithms, fanout systems the systems"},
    {"bench", "--list", "the tests are listed by fanout bench, or -l"},
    {"bench", "--list-tests", "the tests are listed by fanout bench, or -l"},
    {"bench", "--sms", "CTAs are --ctas N"},
    {"table", "-b", "sizes are --sizes SIZE,..., as 1K,2K,...,1M"},
    {"table", "-e", "sizes are --sizes SIZE,..., as 1K,2K,...,1M"},
    {"plot", "-b", "lines are told apart by --by COLUMN"},
    {"plot", "--xaxis", "the axes are -x COLUMN and -y COLUMN"},
    {"plot", "--yaxis", "the axes are -x COLUMN and -y COLUMN"},
    {"sweep", "--resume", "the same command goes on by itself: points that its database has are not run again"},
    {"sweep", "--continue", "the same command goes on by itself: points that its database has are not run again"},
    {"sweep", "--grid", "what is swept stands in an INI file: [grid] switch.multicast_tags = 4..64 x2"},
    {"sweep", "--param", "what is swept stands in an INI file: [grid] switch.multicast_tags = 4..64 x2"},
    {"systems", "--show", "one is shown by fanout systems NAME"},
    {"systems", "--list", "all are listed by fanout systems"},
    {"advise", "--size", "sizes are -b FIRST and -e LAST"},
    {"walk", "--from", "GPU 0 asks GPU 1, which stands for any two; of one's own program fanout exec follows each"},
    {"walk", "--src", "GPU 0 asks GPU 1, which stands for any two; of one's own program fanout exec follows each"},
    {"walk", "--bytes", "one warp's operation is followed; fanout coll and fanout bench move more"},
    {"walk", "-b", "one warp's operation is followed; fanout coll and fanout bench move more"},
    {"replay", "--trace", "a trace stands without an option: fanout replay FILE"},
    {"replay", "--file", "a trace stands without an option: fanout replay FILE"},
    {"replay", "--input", "a trace stands without an option: fanout replay FILE"},
    {"replay", "-i", "a trace stands without an option: fanout replay FILE"},
    {"replay", "-f", "a trace stands without an option: fanout replay FILE"},
    {"validate", "--file", "a file stands without an option: fanout validate FILE.csv"},
    {"sweep", "--spec", "a specification stands without an option: fanout sweep SPEC.ini"},
    {"plot", "--db", "a database stands without an option: fanout plot DB"},
    {"coll", "--op-name", "the collective stands without an option: fanout coll all_reduce"},
    {"coll", "--collective", "the collective stands without an option: fanout coll all_reduce"},
    {"coll", "--no-check", "results are compared while their bytes fit; --data off leaves that out"},
    {"coll", "--nocheck", "results are compared while their bytes fit; --data off leaves that out"},
    {"coll", "--verify", "results are always compared; --data off leaves them out"},
    {NULL, "--version", "fanout --version says which fanout this is"},
    {NULL, "-?", "--help lists the options"},
    {NULL, "--json", "JSON is --format json"},
    {NULL, "--csv", "CSV is --format csv"},
    {NULL, "--output", "a page is --html FILE; text, and JSON or CSV by --format, go to standard output"},
    {NULL, "-v", "what a run does is told by --log SPEC, as --log link:debug"},
    {NULL, "--verbose", "what a run does is told by --log SPEC, as --log link:debug"},
    {NULL, "--debug", "what a run does is told by --log SPEC, as --log link:debug"},
    {NULL, "--quiet", "progress is quiet with FANOUT_QUIET=1 in the environment, and stands on standard error alone"},
    {NULL, "-q", "progress is quiet with FANOUT_QUIET=1 in the environment, and stands on standard error alone"},
    {NULL, "--progress", "progress is told on standard error by itself; a page of it is --monitor 127.0.0.1:0"},
    {NULL, "--png", "pictures are in the page of --html FILE; a sweep's are drawn by fanout plot"},
    {NULL, "--svg", "pictures are in the page of --html FILE; a sweep's are drawn by fanout plot"},
    {NULL, "--plot", "pictures are in the page of --html FILE; a sweep's are drawn by fanout plot"},
    {NULL, "--chart", "pictures are in the page of --html FILE; a sweep's are drawn by fanout plot"},
    {NULL, "--page", "a page is --html FILE"},
    {NULL, "--open", "a page is --html FILE, which a browser opens"},
    {NULL, "--timeline", "a timeline is --perfetto FILE"},
    {NULL, "--waveform", "waveforms are --vcd FILE"},
    {NULL, "--time-limit", "there is no limit of time; Ctrl-C ends a run and keeps what is done"},
    {NULL, "--timeout", "there is no limit of time; Ctrl-C ends a run and keeps what is done"},
    {NULL, "--preset", "the system is -s SYSTEM"},
    {NULL, "--topology", "the system is -s SYSTEM"},
    {NULL, "--machine", "the system is -s SYSTEM"},
    {NULL, "-j", "cores are --cores N"},
    {NULL, "--threads", "cores of this machine are --cores N"},
    {NULL, "--trace", "a timeline is --perfetto FILE"},
    {NULL, "--param", "parameters are --set SECTION.KEY=VALUE"},
};

char *hints_option(const char *verb, const char *option)
{
    const char *equals = strchr(option, '=');
    const gsize length = equals ? (gsize)(equals - option) : strlen(option);

    for (guint i = 0; i < G_N_ELEMENTS(hints); i++)
        if ((!hints[i].verb || strcmp(hints[i].verb, verb) == 0) && strlen(hints[i].option) == length &&
            strncmp(hints[i].option, option, length) == 0)
            return g_strdup(hints[i].right);
    const char *name = option + strspn(option, "-");
    return strcmp(verb, "coll") == 0 && g_strv_contains(coll_algo_names, name)
               ? g_strdup_printf("an algorithm is -a %s", name)
               : NULL;
}

/* "1MB", behind a minus or an equals sign, too. */
static const char *size_with_b(const char *word)
{
    const char *from = strrchr(word, '=') ? strrchr(word, '=') + 1 : word;
    const gsize digits = strspn(from, "0123456789");

    return digits > 0 && from[digits] && strchr("KMGkmg", from[digits]) &&
                   g_ascii_strcasecmp(from + digits + 1, "B") == 0
               ? from
               : NULL;
}

void hints_iterations(guint gpus)
{
    guint n = gpus;
    while (n > 10 && n % 10 == 0)
        n /= 10;
    if (n == 5 || n == 10 || (n == 2 && gpus > 2)) /* 5, 10, 20, 50, 100 ... */
        fprintf(stderr, "fanout coll: -n %u is the number of GPUs; of iterations: --iters %u\n", gpus, gpus);
}

void hints_sizes(const char *verb, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *size = size_with_b(argv[i]);
        if (!size)
            continue;
        const char unit = g_ascii_toupper(size[strspn(size, "0123456789")]);
        fprintf(stderr, "fanout %s: %s is taken for %.*s %ciB: K, M and G are powers of 1024\n", verb, size,
                (int)strspn(size, "0123456789"), size, unit);
        return;
    }
}

char *hints_verb_first(int argc, char **argv, gboolean (*is_verb)(const char *word))
{
    int at = 1;

    while (at < argc && !is_verb(argv[at]))
        at++;
    if (at == argc)
        return NULL;
    GString *text = g_string_new("fanout ");
    g_string_append(text, argv[at]);
    for (int i = 1; i < argc; i++)
        if (i != at)
            g_string_append_printf(text, " %s", argv[i]);
    return g_string_free(text, FALSE);
}
