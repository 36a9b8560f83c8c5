/* What may be meant by a value that an option cannot take: see hints.h. */
#include <string.h>

#include "cli/hints.h"

typedef struct {
    const char *option, *value, *right;
} Value;

/* Words of a neighbouring option, and of other programs. */
static const Value values[] = {
    {"-a", "all", "all are tried by -a best"},
    {"-a", "any", "all are tried by -a best"},
    {"-a", "fastest", "the fastest is found by -a best"},
    {"-a", "optimal", "the fastest is found by -a best"},
    {"-a", "default", "what the program itself takes is -a auto"},
    {"-a", "nccl", "what NCCL takes is -a auto, which is there without -a; of others --program"},
    {"-a", "vllm", "what a program takes is -a auto --program vllm"},
    {"-a", "sglang", "what a program takes is -a auto --program sglang"},
    {"-a", "trtllm", "what a program takes is -a auto --program trtllm"},
    {"-a", "multicast", "those by multicast are nvls, nvls_oneshot and others; the fastest of all is best"},
    {"-a", "simple", "a protocol is -p simple"},
    {"-a", "ll", "a protocol is -p ll"},
    {"-a", "ll128", "a protocol is -p ll128"},
    {"--engine", "packet", "what is simulated is --fidelity packet; an engine is how"},
    {"--engine", "flow", "what is simulated is --fidelity flow; an engine is how"},
    {"--engine", "auto", "what is simulated is --fidelity auto; an engine is how"},
    {"--engine", "systemc", "SystemC's own calendar is --calendar systemc"},
    {"--engine", "slow", "an event for every step is --engine reference"},
    {"--fidelity", "fast", "an engine is --engine fast; rates instead of packets are --fidelity flow"},
    {"--fidelity", "reference", "an engine is --engine reference; every packet is --fidelity packet"},
    {"--fidelity", "low", "rates instead of packets are --fidelity flow"},
    {"--fidelity", "high", "every packet is --fidelity packet"},
    {"--fidelity", "full", "every packet is --fidelity packet"},
    {"--fidelity", "exact", "every packet is --fidelity packet"},
    {"--fidelity", "cycle", "every packet is --fidelity packet"},
    {"--data", "on", "every byte is kept by --data full"},
    {"--data", "yes", "every byte is kept by --data full"},
    {"--data", "none", "no byte is kept by --data off"},
    {"--data", "no", "no byte is kept by --data off"},
    {"--format", "table", "a table for people is --format text"},
    {"--format", "txt", "a table for people is --format text"},
    {"--format", "png", "pictures are in the page of --html FILE; a sweep's are drawn by fanout plot"},
    {"--format", "svg", "pictures are in the page of --html FILE; a sweep's are drawn by fanout plot"},
    {"--format", "jsonl", "a whole report is --format json; statistics in time are --stats FILE.jsonl"},
};

const char *hints_value(const char *option, const char *value)
{
    for (guint i = 0; i < G_N_ELEMENTS(values); i++)
        if (strcmp(values[i].option, option) == 0 && g_ascii_strcasecmp(values[i].value, value) == 0)
            return values[i].right;
    return strchr(value, ',') ? "give one of them: a run has one" : NULL;
}

/* "8" of "gpu8", "8gpus" or "x8"; NULL: there is more than one number in it, or none. */
static char *value_number(const char *value)
{
    const char *from = value + strcspn(value, "0123456789");
    const gsize digits = strspn(from, "0123456789");
    const char *rest = from + digits;

    return digits > 0 && rest[strcspn(rest, "0123456789")] == '\0' ? g_strndup(from, digits) : NULL;
}

char *hints_number(const char *verb, const char *option, const char *value)
{
    const gboolean gpus = strcmp(option, "-n") == 0 || strcmp(option, "--gpus") == 0;
    g_autofree char *one = value_number(value);

    if (gpus && (g_ascii_strcasecmp(value, "all") == 0 || g_ascii_strcasecmp(value, "max") == 0))
        return g_strdup_printf("without %s all GPUs of the system take part", option);
    if (one && !strpbrk(value, ".-"))
        return g_strdup_printf("a whole number stands alone: %s %s", option, one);
    if (g_ascii_isdigit(*value) && strpbrk(value, ",-:") && gpus)
        return g_strdup_printf("fanout %s takes one number of GPUs; of several, fanout table --gpus 2,4,8", verb);
    if (g_ascii_isdigit(*value) && strpbrk(value, ",-:"))
        return g_strdup("one number is right; several are swept by fanout sweep");
    return g_strdup_printf("a whole number is right, as %s 8", option);
}

char *hints_set(const char *text)
{
    g_autofree char *meant = strchr(text, '.') ? NULL : hints_parameter(text);

    if (meant)
        return g_strdup_printf("a key of this name: %s", meant);
    if (g_str_has_suffix(text, ".ini"))
        return g_strdup_printf("a file of parameters is --config %s, a system of one's own -s %s", text, text);
    if (strchr(text, '.') && strcspn(text, "=: ") == strlen(text))
        return g_strdup_printf("key and value are one word: --set %s=VALUE", text);
    return NULL;
}

char *hints_config(const char *text)
{
    const char *dot = strchr(text, '.'), *equals = strchr(text, '=');

    if (!dot || !equals || equals < dot || g_file_test(text, G_FILE_TEST_EXISTS))
        return NULL;
    return g_strdup_printf("--config: there is no file '%s'; one parameter is --set %s", text, text);
}
