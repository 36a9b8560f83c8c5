/* See about.h. A verb's row here is tested: there is one for each verb, and its examples run. */
#include "cli/reference/about.h"

#include <string.h>

static const AboutExample systems[] = {
    {"systems", "which there are"},
    {"systems dgx-h100", "every parameter of one, as an INI file"},
    {"systems dgx-h100 --diff dgx-h200", "in what two systems differ"},
    {"systems dgx-h100 --topo", "which GPUs are linked how"},
    {NULL, NULL},
};

static const AboutExample coll[] = {
    {"coll all_reduce -s dgx-h100 -a nvls,twoshot -b 256K -e 1M -f 4",
     "sums made in the switches beside sums made in the GPUs"},
    {"coll all_reduce -s teach-4gpu -a nvls,ring -b 64K --html curve.html", "the same as a page with pictures"},
    {"coll all_gather -s teach-4gpu -a best -b 256K --format json", "whatever is fastest, for another program to read"},
    {NULL, NULL},
};

static const AboutExample table[] = {
    {"table -s teach-4gpu --ops all_reduce --gpus 2,4 --sizes 4K,64K", "what calls of NCCL cost, and how sure that is"},
    {"table -s teach-4gpu --ops all_gather --gpus 4 --sizes 4K,8K,...,32K --format csv",
     "as planners of serving systems read it"},
    {NULL, NULL},
};

static const AboutExample advise[] = {
    {"advise all_reduce -s teach-4gpu -b 4K -e 64K", "what to run at which size"},
    {"advise all_gather -s teach-4gpu -b 16K --unicast --format json",
     "without multicast, for another program to read"},
    {NULL, NULL},
};

static const AboutExample bench[] = {
    {"bench", "which tests there are, with their variants"},
    {"bench load_latency -s dgx-h100 --variant remote", "how long a load from another GPU takes"},
    {"bench multicast_bw -s teach-4gpu -b 64K,256K", "bandwidth of a multicast store by size"},
    {NULL, NULL},
};

static const AboutExample walk[] = {
    {"walk multimem.st -s teach-4gpu", "a store that the switch copies to every GPU"},
    {"walk multimem.ld_reduce -s teach-4gpu --html sum.html", "a sum made in the switch, as an animation"},
    {"walk load -s teach-4gpu --background 0.8", "what it waits for on busy links"},
    {"walk multimem.st -s teach-4gpu --vcd store.vcd --perfetto store.perfetto", "waveforms and a timeline of it"},
    {NULL, NULL},
};

static const AboutExample validate[] = {
    {"validate two.csv", "how far the simulator is off two measured rows"},
    {"validate two.csv --format csv", "the same, one line a row"},
    {"validate one.csv --errors off.csv", "and a file from which fanout table takes its uncertainties"},
    {NULL, NULL},
};

static const AboutExample exec[] = {
    {"exec -s teach-4gpu -- examples/multicast_store", "what a program does on four GPUs"},
    {"exec -s teach-4gpu --report report.json -- examples/multicast_allreduce",
     "with a report for another program to read"},
    {"exec -s teach-4gpu --perfetto run.perfetto -- examples/multicast_store", "with a timeline of its streams"},
    {NULL, NULL},
};

static const AboutExample fabric[] = {
    {"fabric status", "the machines that run, and how their fabrics are"},
    {"fabric status --format json", "the same, for another program to read"},
    {NULL, NULL},
};

static const AboutExample replay[] = {
    {"replay one.trace -s teach-4gpu", "how long what was recorded takes on this system"},
    {"replay one.trace -s teach-4gpu -a nvls,ring", "which algorithm is best for it"},
    {NULL, NULL},
};

static const AboutExample convert[] = {
    {"convert one.trace one.goal", "into GOAL, for another simulator"},
    {"convert one.trace -", "as text that people can read"},
    {NULL, NULL},
};

static const AboutExample sweep[] = {
    {"sweep spec.ini", "every point of a question, into spec.db"},
    {"sweep spec.ini --csv points.csv", "with a table beside the database"},
    {NULL, NULL},
};

static const AboutExample plot[] = {
    {"plot swept.db -o bandwidth.svg", "bandwidth by what was varied"},
    {"plot swept.db -y time_us -x bytes -o time.png", "time by size"},
    {NULL, NULL},
};

static const AboutExample compare[] = {
    {"compare a.json b.json", "what changed, and by how much"},
    {"compare a.json b.json --above 1 --top 10", "the ten largest changes of more than 1 %"},
    {NULL, NULL},
};

static const AboutExample ptx[] = {
    {"ptx kernel.ptx", "what is in a file, and what of it runs"},
    {NULL, NULL},
};

static const AboutExample doctor[] = {
    {"doctor", "what is there, and what to install for the rest"},
    {"doctor --format json", "the same, for another program to read"},
    {NULL, NULL},
};

static const About abouts[] = {
    {"systems", systems,
     "Prints the systems that can be simulated, one a line; with NAME, that system as an INI file: every "
     "parameter with its meaning, its bounds, its value and where the value comes from.\nThat text is itself a "
     "system: save it, change it and name it with -s. A system of one's own needs to say only what differs: "
     "'inherits = NAME' under [system]."},
    {"coll", coll,
     "Runs a collective at each size from -b to -e with each algorithm of -a, and prints a row for each in the "
     "columns of nccl-tests. Every row is a simulation of its own, with real sums that are verified unless the "
     "size is too large for that (then 'verified' is empty).\nWithout -a the algorithm is the one that "
     "NCCL would choose, or another --program, and a note says why. With several algorithms the fastest one that "
     "needs no multicast is looked for, too, and a note says how many times faster each of the others is."},
    {"table", table,
     "Simulates calls of a library by operation, number of GPUs and size, and writes their latencies; with --format "
     "csv in the columns of aiconfigurator's nccl_perf.txt (of frameworks' kernels: custom_allreduce_perf.txt), which "
     "planners of serving systems read. Each cell has an uncertainty, taken from the errors of the measured rows that "
     "are nearest to it; a cell without such rows has none.\nA run that was interrupted goes on with --resume."},
    {"advise", advise,
     "Simulates every algorithm and protocol that a collective has, at each size from -b to -e, and prints the fastest "
     "with the number of CTAs that it needs, what a program would have taken by itself, and how much longer that "
     "takes. Behind it stand the sizes at which the best changes, and how to come by each algorithm."},
    {"bench", bench,
     "Runs one of the micro-benchmarks that 'fanout bench' lists. Several sizes, CTA and thread counts may be "
     "given as lists: every combination is a row.\nThe last tests of the list measure the simulator itself: how "
     "many events and packets a second it does on this machine."},
    {"walk", walk,
     "Simulates one operation of one warp on an otherwise idle fabric and prints every step of its packets with "
     "the time, the place and the file that models it. With --background other traffic loads the links, and the "
     "steps say what the packet waits for.\nOP is store, load, atomic, multimem.st, multimem.red or "
     "multimem.ld_reduce."},
    {"validate", validate,
     "Simulates every row of tables of measurements and prints the error of each, and the median, the 90th "
     "percentile and the largest of the absolute errors of each file and group. Both schemas are described in "
     "validate/reference/README.md."},
    {"exec", exec,
     "Runs a program that was written against the CUDA driver API, unmodified, with Fanout's libcuda.so.1 in "
     "place of the driver's. Its device memory, its multicast objects and its kernels are simulated; a report "
     "at its end says what its accesses cost. The program's own exit code is passed on unless the simulation "
     "has worse to say; a program that an interruption ended makes 130.\nOptions of Fanout stand in front of the "
     "--, those of the program behind it."},
    {"fabric", fabric,
     "Looks at the machine of a job that runs under 'fanout exec', and changes it: 'stop' has the fabric manager "
     "answer no more ('stop absent': none runs; 'stop broken': its fabric is broken), 'start' mends that, and "
     "'restart' starts it anew, so that objects made before, and GPUs that were not reset since, are refused. "
     "'degrade FAULT PART' breaks a part as --fault FAULT=PART does at the start (link_degraded gpu0.link3:50), for "
     "good or --for a time; what loses packets (link_down, switch_down, gpu_silent) needs a job that was started with "
     "--set fault.live=true. 'gpu-reset GPU' ends all contexts of that GPU with CUDA_ERROR_DEVICE_UNAVAILABLE.\nThe "
     "machine is the one of the job that the command runs in, the only one that runs, or the one that --job names."},
    {"replay", replay,
     "Reads traces of what an application communicated and computed, and simulates that on another fabric or "
     "with other algorithms. The format is detected: PyTorch profiler and execution traces and its flight "
     "recorder, Chakra, NCCL's debug log and Inspector, Nsight Systems' SQLite export, mscclpp plans, GOAL, SimAI, and "
     "Fanout's own text.\nSeveral traces that do not belong together "
     "are several jobs that share the fabric."},
    {"convert", convert,
     "Rewrites a trace in another format: text, Chakra (one file for each rank) or GOAL. What was assumed, not "
     "understood or left out is said on standard error."},
    {"sweep", sweep,
     "Reads a question (SPEC.ini: what to run, with which lists, ranges, samples or thresholds of parameters), "
     "runs every point as a fanout command, on all cores or under mpirun on many machines, and leaves the "
     "results in an SQLite database. The same command goes on where an interrupted one stopped."},
    {"plot", plot,
     "Draws what a sweep left in its database, by gnuplot: lines, heat maps, Pareto fronts and box plots, as "
     "SVG, PNG or a page, and prints the numbers of the picture."},
    {"compare", compare,
     "Reads two JSON reports of any verb and prints in what they differ, the largest relative difference first. "
     "Rows are matched by what they are about, not by their place."},
    {"ptx", ptx,
     "Reads a PTX file, or a fatbinary with PTX in it, and says which kernels and functions it has, which "
     "instructions they use, and whether Fanout runs them; what it does not run is named with its line."},
    {"doctor", doctor,
     "Looks at this machine: whether a collective can be simulated and comes out right, which libraries, programs and "
     "Python packages are there, how many cores and how much memory, and for what is missing what it would serve and "
     "how to install it.\nIt ends with 0 unless the simulation of the collective fails: all else serves some verbs."},
    {NULL, NULL, NULL},
};

const About *about_find(const char *verb)
{
    for (const About *about = abouts; about->verb; about++)
        if (strcmp(about->verb, verb) == 0)
            return about;
    return NULL;
}
