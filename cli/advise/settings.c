/* What NCCL's tuner, vLLM and SGLang can be told, each choice simulated at each size.
 *
 * NCCL: the file of its example tuner plugin (plugins/tuner/example of its sources): a line for each range of sizes,
 * with one of its algorithms, a protocol and a number of channels. What else `fanout advise` compares, NCCL cannot be
 * told. vLLM: its tables of largest sizes (device_communicators/all_reduce_utils.py), for its own kernels and for
 * PyTorch's symmetric memory. SGLang: the thresholds of its configs/custom_all_reduce_v2.py, for CUDA graphs.
 * A threshold is the largest size up to which a choice is no slower than those that would come behind it, from the
 * threshold before it on; 0: it never is. Between the last such size and the next one, sizes are halved until the two
 * are within an eighth. */
#include "cli/advise/settings.h"

#include <stdio.h>

#define KIB 1024ull
#define MIB (1024ull * KIB)
#define CHOICES_MAX 8
#define PLUGIN_BYTES_MAX G_GUINT64_CONSTANT(4294967295) /* the plugin's own examples end there */
#define HOST_GPUS 8u                                    /* a system of more has several hosts */
#define VLLM_BYTES_MAX (8 * MIB)                        /* its communicator's buffer, whatever the table says */
#define SGLANG_BYTES_MAX (16 * MIB)

typedef enum { SETTINGS_NCCL = 1, SETTINGS_VLLM, SETTINGS_SGLANG } Settings; /* options_settings, from 1 on */

typedef struct {
    const char *word; /* in the file */
    CollAlgo algo;
    CollProto proto;
    CollKernel kernel;
    guint16 ctas, threads, copies; /* 0: the algorithm's own */
    guint64 bytes_max;             /* it is not to be had for more; 0: it is */
} Choice;

typedef struct {
    const AdviseRun *with;
    const AdvisePlan *plan;
    Settings settings;
    Choice choice[CHOICES_MAX];
    guint choices;
} Menu;

static void menu_add(Menu *menu, Choice choice) { menu->choice[menu->choices++] = choice; }

static void menu_nccl(Menu *menu)
{
    static const CollProto protos[] = {COLL_SIMPLE, COLL_LL, COLL_LL128};
    const gboolean registered = menu->plan->spec.library == COLL_NCCL_REGISTERED;
    for (guint i = 0; i < G_N_ELEMENTS(protos); i++)
        menu_add(menu, (Choice){.word = "ring", .algo = COLL_RING, .proto = protos[i]});
    if (menu->plan->spec.op != COLL_ALL_REDUCE)
        return;
    for (guint i = 0; i < G_N_ELEMENTS(protos); i++)
        menu_add(menu, (Choice){.word = "tree", .algo = COLL_TREE, .proto = protos[i]});
    if (!menu->plan->spec.unicast)
        menu_add(menu, (Choice){.word = "nvls", .algo = registered ? COLL_NVLS : COLL_NVLS_BUFFERED});
}

/* The kernels that `fanout coll --program` knows them by (coll/library.c), whatever the size. */
static void menu_vllm(Menu *menu, gboolean hopper)
{
    const guint32 n = menu->plan->gpus;
    menu_add(menu, (Choice){.word = "CUSTOM_ALL_REDUCE_MAX_SIZES",
                            .algo = COLL_TWOSHOT,
                            .kernel = COLL_KERNEL_VLLM,
                            .ctas = 36,
                            .threads = 512,
                            .bytes_max = VLLM_BYTES_MAX});
    if (!menu->plan->spec.unicast && (n > 4 || (n == 4 && hopper)))
        menu_add(menu, (Choice){.word = "SYMM_MEM_ALL_REDUCE_MAX_SIZES",
                                .algo = COLL_NVLS,
                                .kernel = COLL_KERNEL_TORCH,
                                .ctas = 8,
                                .threads = 1024,
                                .copies = 2});
    else if (!hopper)
        menu_add(menu, (Choice){.word = "SYMM_MEM_ALL_REDUCE_MAX_SIZES",
                                .algo = COLL_TWOSHOT,
                                .ctas = 24,
                                .threads = 1024,
                                .copies = 2});
}

static void menu_sglang(Menu *menu, gboolean hopper, guint32 sms)
{
    menu_add(menu, (Choice){.word = "one_shot_push_threshold",
                            .algo = COLL_LAMPORT,
                            .kernel = COLL_KERNEL_SGLANG,
                            .ctas = (guint16)sms,
                            .threads = 512,
                            .bytes_max = SGLANG_BYTES_MAX});
    menu_add(menu, (Choice){.word = "two_shot_pull_threshold",
                            .algo = COLL_TWOSHOT,
                            .kernel = COLL_KERNEL_SGLANG,
                            .ctas = menu->plan->gpus > 4 && !hopper ? 96 : 64,
                            .threads = 512,
                            .copies = 2,
                            .bytes_max = SGLANG_BYTES_MAX});
}

/* ---- one choice at one size. *time_ps: G_MAXUINT64: it is not to be had there */

static ExitCode menu_time(const Menu *menu, guint i, guint64 bytes, CollResult *result, guint64 *time_ps,
                          GError **error)
{
    const Choice *choice = &menu->choice[i];
    const guint32 n = menu->plan->gpus;
    CollSpec spec = menu->plan->spec;
    *time_ps = G_MAXUINT64;
    if (choice->bytes_max && bytes > choice->bytes_max)
        return EXIT_DONE;
    spec.bytes = bytes;
    spec.algo = choice->algo;
    spec.proto = choice->proto;
    spec.kernel = choice->kernel;
    spec.ctas = choice->ctas;
    spec.threads = choice->threads;
    spec.copies = choice->copies;
    if (choice->kernel == COLL_KERNEL_VLLM && (n == 2 || bytes < (n <= 4 ? 512 : 256) * KIB))
        spec.algo = COLL_ONESHOT; /* as its launcher chooses */
    if (choice->algo == COLL_AUTO) {
        spec.library = COLL_NCCL;
        spec.unicast = menu->plan->spec.unicast;
    }
    GError *why = NULL;
    const ExitCode code = advise_simulate(menu->with, &spec, result, &why);
    if (code == EXIT_DONE)
        *time_ps = result->time_ps;
    else if (g_error_matches(why, COLL_ERROR, COLL_ERROR_SPEC)) { /* no LL128 there, no such algorithm for its ranks */
        g_error_free(why);
        return EXIT_DONE;
    }
    if (why)
        g_propagate_error(error, why);
    return code;
}

/* ---- NCCL: the fastest of all at each size */

static ExitCode settings_nccl(const Menu *menu, GString *file, GError **error)
{
    static const char *const words[] = {[COLL_ALL_REDUCE] = "allreduce",
                                        [COLL_ALL_GATHER] = "allgather",
                                        [COLL_REDUCE_SCATTER] = "reducescatter",
                                        [COLL_BROADCAST] = "broadcast",
                                        [COLL_REDUCE] = "reduce"};
    const AdvisePlan *plan = menu->plan;
    const gboolean hosts = menu->with->system->spec.system.gpus > HOST_GPUS;
    g_string_append(file, "# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,"
                          "numPipeOps,regBuff\n");
    for (guint i = 0; i < plan->sizes; i++) {
        CollResult best = {.time_ps = G_MAXUINT64}, one;
        const char *word = NULL;
        guint64 time_ps;
        for (guint c = 0; c < menu->choices; c++) {
            const ExitCode code = menu_time(menu, c, plan->size[i], &one, &time_ps, error);
            if (code != EXIT_DONE)
                return code;
            if (time_ps < best.time_ps) {
                best = one;
                word = menu->choice[c].word;
            }
        }
        if (!word) {
            g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                        "%s of %u GPUs: nothing that NCCL can be told runs there; another -n is right",
                        coll_op_name(plan->spec.op), plan->gpus);
            return EXIT_USER;
        }
        g_string_append_printf(file, "%s,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%s,%s,%u,%d,%u,-1,%d\n",
                               words[plan->spec.op], i == 0 ? 0 : plan->size[i],
                               i + 1 < plan->sizes ? plan->size[i + 1] - 1 : MAX(PLUGIN_BYTES_MAX, plan->size[i]), word,
                               coll_proto_name(best.proto), best.ctas, hosts ? -1 : 1, plan->gpus,
                               plan->spec.library == COLL_NCCL_REGISTERED);
    }
    return EXIT_DONE;
}

/* ---- thresholds: each choice against those behind it, NCCL the last of them */

static ExitCode settings_is_best(const Menu *menu, guint choice, guint64 bytes, gboolean *best, GError **error)
{
    guint64 own_ps, other_ps;
    CollResult result;
    ExitCode code = menu_time(menu, choice, bytes, &result, &own_ps, error);
    *best = own_ps != G_MAXUINT64;
    for (guint c = choice + 1; c < menu->choices && code == EXIT_DONE && *best; c++) {
        code = menu_time(menu, c, bytes, &result, &other_ps, error);
        *best = own_ps <= other_ps;
    }
    return code;
}

/* Beyond `from`, the threshold of the choice before it. */
static ExitCode settings_threshold(const Menu *menu, guint choice, guint64 from, guint64 *bytes, GError **error)
{
    const AdvisePlan *plan = menu->plan;
    guint64 low = from, high = 0;
    gboolean best;
    for (guint i = 0; i < plan->sizes && !high; i++) {
        if (plan->size[i] <= from)
            continue;
        const ExitCode code = settings_is_best(menu, choice, plan->size[i], &best, error);
        if (code != EXIT_DONE)
            return code;
        *(best ? &low : &high) = plan->size[i];
    }
    while (low && high && high * 8 > low * 9) {
        const guint64 unit = 16 * plan->gpus, middle = (low + high) / 2 / unit * unit;
        if (middle <= low || middle >= high)
            break;
        const ExitCode code = settings_is_best(menu, choice, middle, &best, error);
        if (code != EXIT_DONE)
            return code;
        *(best ? &low : &high) = middle;
    }
    *bytes = low;
    return EXIT_DONE;
}

static ExitCode settings_thresholds(const Menu *menu, GString *file, GError **error)
{
    const guint arch = (guint)menu->with->system->spec.sm.arch;
    const gboolean table = menu->settings == SETTINGS_VLLM;
    guint64 bytes = 0;
    g_string_append(file, table ? "{" : "{\"graph\": {");
    for (guint i = 0; i + 1 < menu->choices; i++) {
        const ExitCode code = settings_threshold(menu, i, bytes, &bytes, error);
        if (code != EXIT_DONE)
            return code;
        g_string_append_printf(file, "%s\"%s\": ", i ? ", " : "", menu->choice[i].word);
        if (table)
            g_string_append_printf(file, "{\"%u.%u\": {\"%u\": %" G_GUINT64_FORMAT "}}", arch / 10, arch % 10,
                                   menu->plan->gpus, bytes);
        else
            g_string_append_printf(file, "%" G_GUINT64_FORMAT, bytes);
    }
    if (table)
        g_string_append(file, "}\n");
    else
        g_string_append_printf(file, "}, \"arch\": \"%u.%u\", \"world_size\": %u}\n", arch / 10, arch % 10,
                               menu->plan->gpus);
    return EXIT_DONE;
}

/* ---- */

static gboolean settings_check(const Menu *menu, GError **error)
{
    const CollOp op = menu->plan->spec.op;
    const gboolean nccl = menu->settings == SETTINGS_NCCL;
    const gboolean known = nccl ? op == COLL_ALL_REDUCE || op == COLL_ALL_GATHER || op == COLL_REDUCE_SCATTER ||
                                      op == COLL_BROADCAST || op == COLL_REDUCE
                                : op == COLL_ALL_REDUCE;
    if (!known)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--format %s: it knows nothing of %s; %s is right",
                    options_settings[menu->settings - 1], coll_op_name(op),
                    nccl ? "all_reduce, all_gather, reduce_scatter, broadcast or reduce" : "all_reduce");
    else if (!nccl && menu->plan->gpus > HOST_GPUS)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--format %s: its own kernels are for the %u GPUs of a host, and -n is %u",
                    options_settings[menu->settings - 1], HOST_GPUS, menu->plan->gpus);
    else
        return TRUE;
    return FALSE;
}

ExitCode advise_settings(const AdviseRun *with, const AdvisePlan *plan, GError **error)
{
    Menu menu = {.with = with, .plan = plan, .settings = (Settings)with->options->settings};
    const gboolean hopper = with->system->spec.sm.arch < 100;
    if (!settings_check(&menu, error))
        return EXIT_USER;
    if (menu.settings == SETTINGS_NCCL)
        menu_nccl(&menu);
    else if (menu.settings == SETTINGS_VLLM)
        menu_vllm(&menu, hopper);
    else
        menu_sglang(&menu, hopper, (guint32)with->system->spec.sm.count);
    if (menu.settings != SETTINGS_NCCL)
        menu_add(&menu, (Choice){.word = "nccl", .algo = COLL_AUTO});
    GString *file = g_string_new(NULL);
    const ExitCode code = menu.settings == SETTINGS_NCCL ? settings_nccl(&menu, file, error)
                                                         : settings_thresholds(&menu, file, error);
    if (code == EXIT_DONE)
        fputs(file->str, stdout);
    g_string_free(file, TRUE);
    return code;
}
