/* The `fanout` command: finds the verb, runs it, turns its error into one line and an exit code. */
#include "config.h"

#include <fcntl.h>
#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/hints.h"
#include "cli/interrupt.h"
#include "cli/reference/reference.h"
#include "cli/verb/verb.h"
#include "sim/param/nearest.h"

static const Verb *const verbs[] = {
#define VERB(name) &verb_##name,
#include "cli/verb/verbs.h"
#undef VERB
    NULL,
};

static void main_print_help(void)
{
    printf("Usage: fanout VERB [OPTION...]\n\n"
           "Simulates GPUs, NVLink and NVSwitch with multicast and reduction inside the switch.\n\n"
           "Verbs:\n");
    for (const Verb *const *verb = verbs; *verb; verb++)
        printf("  %-10s %s\n", (*verb)->name, (*verb)->text);
    printf("\n'fanout VERB --help' lists a verb's options; 'fanout --version' says which fanout "
           "this is.\n"
           "Exit codes: 0 done, 1 wrong input, 2 the simulated fabric got stuck or a result is "
           "wrong, 130 interrupted.\n");
}

static const Verb *main_find_verb(const char *name)
{
    for (const Verb *const *verb = verbs; *verb; verb++)
        if (strcmp((*verb)->name, name) == 0)
            return *verb;
    return NULL;
}

static gboolean main_is_verb(const char *word) { return main_find_verb(word) != NULL; }

static ExitCode main_refuse_verb(int argc, char **argv)
{
    const char *name = argv[1];
    g_autofree char *behind = name[0] == '-' ? hints_verb_first(argc, argv, main_is_verb) : NULL;
    if (behind) {
        fprintf(stderr, "fanout: options stand behind the verb: %s\n", behind);
        return EXIT_USER;
    }
    GPtrArray *names = g_ptr_array_new();
    for (const Verb *const *verb = verbs; *verb; verb++)
        g_ptr_array_add(names, (gpointer)(*verb)->name);
    g_ptr_array_add(names, NULL);
    const char *const words[] = {"--help", "--version", "help", NULL}, *word = nearest_name(name, words);
    char *hint = word ? g_strdup_printf("; did you mean '%s'?", word)
                      : nearest_hint(name, (const char *const *)names->pdata);
    fprintf(stderr, "fanout: unknown verb '%s'%s\n", name, hint);
    g_free(hint);
    g_ptr_array_free(names, TRUE);
    return EXIT_USER;
}

/* What a large system keeps waiting is some MiB, all over the heap: large pages save a tenth of the time. The kernel
 * backs by them what is touched, if it has some; nothing depends on it. */
static void main_large_pages(void)
{
#ifdef M_TOP_PAD /* a C library that can be told so */
    enum { LARGE_PAGE = 2 << 20, HEAP = 256 << 20, FIRST = 256 << 10 };
    guintptr before = (guintptr)sbrk(0);
    mallopt(M_MMAP_THRESHOLD, 2 * FIRST);
    mallopt(M_TOP_PAD, HEAP);
    mallopt(M_TRIM_THRESHOLD, 2 * HEAP);
    void *volatile more = malloc(FIRST); /* than there is: the heap grows by HEAP */
    free(more);
    guintptr first = (before + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE, end = (guintptr)sbrk(0);
    if (end > first + LARGE_PAGE)
        madvise((void *)first, end - first, MADV_HUGEPAGE);
#endif
}

/* Of descriptors 0 to 2 that are closed: files opened later must not get their numbers, or what is printed would land
 * in them. What takes their place is open the wrong way round, so that reading and writing fail as before. */
static void main_fill_descriptors(void)
{
    static const int wrong_way[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", wrong_way[fd]) != fd)
            _exit(EXIT_USER); /* no /dev/null, and nowhere to say so */
}

/* What ends the run though no input is wrong and no code: the host is out of memory, of address space or of threads,
 * which the libraries take for fatal. One line and an exit code instead of a signal. */
static void main_on_fatal(const char *domain, GLogLevelFlags level, const char *message, gpointer user)
{
    if (!(level & G_LOG_LEVEL_ERROR)) {
        g_log_default_handler(domain, level, message, user);
        return;
    }
    fflush(stdout);
    fprintf(stderr,
            "fanout: the host has no more memory (%s): lower the number of GPUs, the size or --max-memory, or "
            "raise its limits (ulimit -v, -u)\n",
            message);
    _exit(EXIT_USER);
}

/* Asks every verb for its tables. */
static ExitCode main_print_reference(void)
{
    printf("{\"schema\": \"fanout-reference/1\", \"version\": \"%s\", \"verbs\": [\n", PACKAGE_VERSION);
    for (const Verb *const *verb = verbs; *verb; verb++) {
        char *ask[] = {(char *)(*verb)->name, (char *)"--list-reference", NULL};
        printf("%s", verb == verbs ? "" : ",\n");
        verb_run(*verb, 2, ask);
    }
    GError *error = NULL;
    g_autofree char *model = reference_model(&error);
    if (!model) {
        fprintf(stderr, "fanout: %s\n", error->message);
        g_error_free(error);
        return EXIT_USER;
    }
    printf("],\n%s\n", strchr(model, '{') + 1); /* its members, and the end of the object */
    return verb_flush(EXIT_DONE);
}

/* words: those behind "fanout", the last of which is to be completed. */
static ExitCode main_complete(int n, char **words)
{
    const Verb *verb = n > 1 ? main_find_verb(words[0]) : NULL;
    if (verb) {
        g_auto(GStrv) behind = g_new0(char *, n);
        for (int i = 1; i < n; i++)
            behind[i - 1] = g_strdup(words[i]);
        g_autofree char *all = g_strjoinv(REFERENCE_BETWEEN, behind);
        g_autofree char *line = g_strconcat(REFERENCE_COMPLETE, all, NULL);
        char *ask[] = {(char *)verb->name, line, NULL};
        return verb_run(verb, 2, ask);
    }
    if (n == 1 || (n == 2 && strcmp(words[0], "help") == 0))
        for (const Verb *const *one = verbs; *one; one++)
            reference_offer(words[n - 1], (*one)->name, (*one)->text);
    if (n == 1) {
        reference_offer(words[0], "--help", "lists the verbs");
        reference_offer(words[0], "--version", "says which fanout this is");
    }
    return verb_flush(EXIT_DONE);
}

/* What no person types: see cli/reference/reference.h. */
static gboolean main_is_for_tools(int argc, char **argv, ExitCode *code)
{
    if (strcmp(argv[1], "--list-reference") == 0) {
        *code = main_print_reference();
    } else if (strcmp(argv[1], "--manual") == 0) {
        reference_manual_all(verbs);
        *code = verb_flush(EXIT_DONE);
    } else if (strcmp(argv[1], "--complete") == 0 && argc > 2) {
        *code = main_complete(argc - 2, argv + 2);
    } else {
        return FALSE;
    }
    return TRUE;
}

int main(int argc, char **argv)
{
    main_fill_descriptors();
    g_log_set_default_handler(main_on_fatal, NULL);
    main_large_pages();
    interrupt_catch();
    /* Numbers are written and read with a point everywhere; only file names follow the locale. */
    setlocale(LC_CTYPE, "");
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        if (argc > 2 && main_find_verb(argv[2])) {
            char *ask[] = {argv[2], (char *)"--help", NULL};
            return verb_run(main_find_verb(argv[2]), 2, ask);
        }
        main_print_help();
        return verb_flush(argc < 2 ? EXIT_USER : EXIT_DONE);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("fanout %s\n", PACKAGE_VERSION);
        return verb_flush(EXIT_DONE);
    }
    ExitCode code;
    if (main_is_for_tools(argc, argv, &code))
        return code;
    const Verb *verb = main_find_verb(argv[1]);
    return verb ? verb_run(verb, argc - 1, argv + 1) : main_refuse_verb(argc, argv);
}
