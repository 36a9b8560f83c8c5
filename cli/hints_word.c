/* What may be meant by a word that is no option: see hints.h. */
#include <string.h>

#include "bench/bench.h"
#include "cli/hints.h"
#include "coll/coll.h"
#include "device/launch_time.h"
#include "model/presets/preset.h"
#include "sim/param/size.h"

typedef struct {
    const char *word, *right;
} Meant;

/* Of words in a verb's place. */
static const Meant verbs[] = {
    {"-v", "which fanout this is says fanout --version"},
    {"-V", "which fanout this is says fanout --version"},
    {"--list", "systems are listed by fanout systems, tests by fanout bench"},
    {"list", "systems are listed by fanout systems, tests by fanout bench"},
    {"run", "a collective is run by fanout coll all_reduce, a program by fanout exec"},
    {"sim", "a collective is run by fanout coll all_reduce, a program by fanout exec"},
    {"simulate", "a collective is run by fanout coll all_reduce, a program by fanout exec"},
    {"trace", "a trace is read by fanout replay FILE; a timeline is written by --perfetto FILE"},
    {"plan", "tables for planners are made by fanout table, an advice by fanout advise"},
    {"monitor", "a run is watched by an option of its verb: fanout coll all_reduce --monitor 127.0.0.1:0"},
    {"serve", "a run is watched by an option of its verb: fanout coll all_reduce --monitor 127.0.0.1:0"},
    {"watch", "a run is watched by an option of its verb: fanout coll all_reduce --monitor 127.0.0.1:0"},
    {"web", "a page of a run is --html FILE; pages that simulate in a browser are built by ./bootstrap web"},
    {"gui", "a page of a run is --html FILE; pages that simulate in a browser are built by ./bootstrap web"},
    {"html", "a page is an option of a verb: fanout coll all_reduce --html FILE"},
    {"version", "which fanout this is says fanout --version"},
    {"info", "what of this machine is usable says fanout doctor, what a system is fanout systems NAME"},
    {"check", "what of this machine is usable says fanout doctor"},
    {"show", "a system is shown by fanout systems NAME"},
    {"ls", "systems are listed by fanout systems, tests by fanout bench"},
    {"best", "the fastest is found by fanout coll all_reduce -a best, by size by fanout advise all_reduce"},
    {"optimize", "the fastest by size is found by fanout advise all_reduce, a system by fanout sweep"},
    {"explore", "designs are swept by fanout sweep SPEC.ini"},
    {"diff", "two reports are compared by fanout compare A.json B.json, two systems by fanout systems A --diff B"},
    {"profile", "where the time goes says fanout coll all_reduce --where; a program is run by fanout exec"},
};

static gboolean is_one_of(const char *word, const char *const *names) { return g_strv_contains(names, word); }

static gboolean is_bench(const char *word)
{
    for (const BenchTest *const *test = bench_tests; *test; test++)
        if (strcmp((*test)->name, word) == 0)
            return TRUE;
    return FALSE;
}

static gboolean is_system(const char *word)
{
    g_auto(GStrv) names = preset_names();
    return is_one_of(word, (const char *const *)names);
}

char *hints_not_a_verb(const char *word)
{
    g_autofree char *op = g_str_has_suffix(word, "_perf") ? g_strndup(word, strlen(word) - 5) : g_strdup(word);

    for (guint i = 0; i < G_N_ELEMENTS(verbs); i++)
        if (strcmp(verbs[i].word, word) == 0)
            return g_strdup(verbs[i].right);
    if (is_one_of(op, coll_op_names))
        return g_strdup_printf("a collective is run by fanout coll %s", op);
    if (is_one_of(word, coll_algo_names))
        return g_strdup_printf("an algorithm is an option: fanout coll all_reduce -a %s", word);
    if (is_bench(word))
        return g_strdup_printf("a test is run by fanout bench %s", word);
    if (is_system(word))
        return g_strdup_printf("a system is shown by fanout systems %s, and taken by -s %s", word, word);
    return NULL;
}

char *hints_op(const char *name)
{
    static const char *const before[] = {"torch.distributed.", "dist.", "nccl", "rccl", "MPI_I", "MPI_"};
    static const char *const behind[] = {"_into_tensor", "_tensor", "_single"};
    const char *from = name;
    gsize length = strlen(name);

    for (guint i = 0; i < G_N_ELEMENTS(before) && from == name; i++)
        if (g_ascii_strncasecmp(name, before[i], strlen(before[i])) == 0)
            from += strlen(before[i]);
    length -= (gsize)(from - name);
    for (guint i = 0; i < G_N_ELEMENTS(behind); i++)
        if (g_str_has_suffix(from, behind[i])) {
            length -= strlen(behind[i]);
            break;
        }
    if (length == 0 || length == strlen(name))
        return NULL;
    return g_ascii_strncasecmp(from, "bcast", length) == 0 ? g_strdup("broadcast") : g_strndup(from, length);
}

/* A dash as word processors and slides make of a hyphen. */
static gboolean is_dash(const char *word)
{
    const gunichar first = g_utf8_get_char_validated(word, -1);
    return first == 0x2212 || (first >= 0x2010 && first <= 0x2015);
}

char *hints_parameter(const char *text)
{
    g_autofree char *key = g_strndup(text, strcspn(text, "="));
    ParamSet *params = param_set_new();
    FabricSpec spec;
    GString *found = g_string_new(NULL);
    guint n = 0;

    memset(&spec, 0, sizeof spec);
    device_params(params, &spec);
    GArray *rows = param_dump(params);
    for (guint i = 0; i < rows->len && strlen(key) > 2; i++) {
        const ParamDumpRow *row = &g_array_index(rows, ParamDumpRow, i);
        if (strstr(row->row->name, key) && n++ < 3)
            g_string_append_printf(found, "%s%s.%s", found->len ? ", " : "", row->section, row->row->name);
    }
    param_dump_free(rows);
    param_set_free(params);
    char *names = g_string_free(found, FALSE);
    if (n > 0)
        return names;
    g_free(names);
    return NULL;
}

/* Of an argument of coll. */
static char *argument_of_coll(const char *word)
{
    CollAlgo algo;
    CollProto proto;
    guint64 number;

    if (is_one_of(word, coll_op_names))
        return g_strdup_printf("a run has one collective; this one is run by fanout coll %s", word);
    if (coll_algo_parse(word, &algo))
        return g_strdup_printf("an algorithm is -a %s", word);
    if (coll_proto_parse(word, &proto))
        return g_strdup_printf("a protocol is -p %s", word);
    if (g_ascii_string_to_unsigned(word, 10, 1, G_MAXUINT64, &number, NULL))
        return g_strdup_printf("GPUs are -n %s, bytes -b %s", word, word);
    if (size_parse("", word, &number, NULL))
        return g_strdup_printf("a size is -b %s", word);
    return NULL;
}

char *hints_argument(const char *verb, const char *word)
{
    if (is_dash(word))
        return g_strdup("it begins with a dash that is no hyphen, as text processors make them; type it as '-'");
    if (strcmp(word, "help") == 0)
        return g_strdup_printf("the options are listed by fanout %s --help", verb);
    if (strcmp(verb, "systems") == 0 && is_system(word))
        return g_strdup("two systems are compared by fanout systems A --diff B; fanout systems NAME shows one");
    if (strcmp(verb, "systems") == 0)
        return g_strdup("fanout systems lists all of them, fanout systems NAME shows one");
    if (is_system(word))
        return g_strdup_printf("a system is -s %s", word);
    if (strcmp(verb, "walk") == 0 && g_ascii_isdigit(word[strcspn(word, "0123456789")]))
        return hints_option(verb, "--from");
    return strcmp(verb, "coll") == 0 ? argument_of_coll(word) : NULL;
}

char *hints_glued(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *word = argv[i];
        if (word[0] != '-' || !g_ascii_isalpha(word[1]) || !(word[2] == '=' || g_ascii_isdigit(word[2])))
            continue;
        const char *value = word + 2 + (word[2] == '=');
        return *value ? g_strdup_printf("-%c %s", word[1], value) : NULL;
    }
    return NULL;
}

/* "1000000" of "1,000,000", to be freed; NULL: commas do not stand before groups of three digits. */
static char *without_commas(const char *text)
{
    GString *digits = g_string_new(NULL);
    gsize first = strspn(text, "0123456789"), at = first;

    g_string_append_len(digits, text, (gssize)first);
    for (; text[at] == ',' && strspn(text + at + 1, "0123456789") == 3; at += 4)
        g_string_append_len(digits, text + at + 1, 3);
    const gboolean good = first > 0 && first <= 3 && at > first && !text[at];
    return g_string_free(digits, !good);
}

char *hints_size_range(const char *text)
{
    const gsize digits = strspn(text, "0123456789");
    g_autofree char *whole = without_commas(text);

    if (whole)
        return g_strdup_printf("digits stand together: %s", whole);
    if (digits > 0 && (strstr(text, "..") || (strpbrk(text, "-:,") && g_ascii_isdigit(strpbrk(text, "-:,")[1]))))
        return g_strdup("sizes go from -b FIRST to -e LAST by a factor, -f F");
    return NULL;
}
