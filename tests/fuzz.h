/* What fuzz targets share: inputs made of seeds by mutation, from random streams that repeat.
 *
 * Without a variable set each seed's parser has FUZZ_ITERATIONS inputs (300), the same in every run. With
 * FUZZ_SECONDS each has as many as fit into so much processor time; FUZZ_SEED (1) draws others. Files in the
 * folder FUZZ_CORPUS whose names begin with a seed's are further seeds of its parser. FUZZ_PARSERS="goal simai"
 * takes these parsers alone, so that each core can have some of them. Input K of a seed is
 * repeated by FUZZ_ONLY=K beside the same variables: a crash, and an input that takes over FUZZ_HANG seconds of the
 * processor, says which K it was. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "sim/rng.h"

#define FUZZ_HANG 20u

typedef struct {
    const char *name, *text;
    gsize bytes; /* 0: text is a string */
} FuzzSeed;

/* One input of the seed's parser; turn counts them. */
typedef void (*FuzzOne)(const FuzzSeed *seed, const guint8 *data, gsize bytes, guint64 turn);

static char fuzz_now[200]; /* for the signal handler */

static inline void fuzz_on_signal(int number)
{
    const char *what = number == SIGPROF ? "fuzz: hangs: " : "fuzz: crashes: ";
    if (write(2, what, strlen(what)) < 0 || write(2, fuzz_now, strlen(fuzz_now)) < 0)
        _exit(2);
    signal(number, SIG_DFL);
    raise(number == SIGPROF ? SIGABRT : number);
}

/* SIGPROF once this program has used so many seconds of the processor, however busy the machine is. 0: never. */
static inline void fuzz_watch(guint seconds)
{
    const struct itimerval timer = {.it_value.tv_sec = seconds};
    setitimer(ITIMER_PROF, &timer, NULL);
}

static inline guint64 fuzz_variable(const char *name, guint64 usual)
{
    const char *text = g_getenv(name);
    return text ? g_ascii_strtoull(text, NULL, 10) : usual;
}

static inline double fuzz_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec;
}

/* Words and numbers that parsers look for, to be strewn in. */
static inline const char *fuzz_token(Rng *rng)
{
    static const char *const tokens[] = {"-1",
                                         "0",
                                         "99999999999999999999",
                                         "1e309",
                                         "\"",
                                         "{",
                                         "}",
                                         "[",
                                         "]",
                                         ",",
                                         ":",
                                         "null",
                                         "\xff\xfe",
                                         "\n",
                                         "18446744073709551615",
                                         "9223372036854775807",
                                         "4294967296",
                                         "1048576",
                                         "...",
                                         "\\u0000",
                                         "rank",
                                         "3ms",
                                         "=",
                                         "%",
                                         "1T"};
    return tokens[rng_below(rng, G_N_ELEMENTS(tokens))];
}

static inline void fuzz_insert(GByteArray *data, guint at, const guint8 *bytes, gsize n)
{
    gsize tail = data->len - at;
    guint8 *rest = g_memdup2(data->data + at, tail);
    g_byte_array_set_size(data, at);
    g_byte_array_append(data, bytes, n);
    if (tail > 0)
        g_byte_array_append(data, rest, tail);
    g_free(rest);
}

/* One to four changes; a part of `other` may be spliced in. Caller frees. */
static inline guint8 *fuzz_mutate(Rng *rng, const guint8 *seed, gsize *bytes, const guint8 *other, gsize other_bytes)
{
    GByteArray *data = g_byte_array_new();
    g_byte_array_append(data, seed, *bytes);
    for (guint64 changes = 1 + rng_below(rng, 4); changes > 0 && data->len > 0; changes--) {
        guint at = rng_below(rng, data->len), n = 1 + rng_below(rng, 16);
        n = MIN(n, data->len - at);
        switch (rng_below(rng, 8)) {
        case 0: data->data[at] ^= 1u << rng_below(rng, 8); break;
        case 1: data->data[at] = rng_next(rng); break;
        case 2: g_byte_array_remove_range(data, at, n); break;
        case 3: g_byte_array_set_size(data, at); break;
        case 4: {
            guint8 *copy = g_memdup2(data->data + at, n);
            fuzz_insert(data, rng_below(rng, data->len + 1), copy, n);
            g_free(copy);
            break;
        }
        case 5:
            if (other_bytes > 0) {
                gsize from = rng_below(rng, other_bytes);
                fuzz_insert(data, at, other + from, MIN(other_bytes - from, 64));
            }
            break;
        default: {
            const char *token = fuzz_token(rng);
            fuzz_insert(data, at, (const guint8 *)token, strlen(token));
        }
        }
    }
    *bytes = data->len;
    return g_byte_array_free(data, FALSE);
}

static inline gint fuzz_compare(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The seed itself and the files of the corpus that begin with its name: GBytes. */
static inline GPtrArray *fuzz_corpus(const FuzzSeed *seed)
{
    GPtrArray *corpus = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    gsize whole = seed->bytes > 0 ? seed->bytes : strlen(seed->text);
    g_ptr_array_add(corpus, g_bytes_new(seed->text, whole));
    const char *folder = g_getenv("FUZZ_CORPUS");
    GDir *dir = folder ? g_dir_open(folder, 0, NULL) : NULL;
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        if (g_str_has_prefix(name, seed->name))
            g_ptr_array_add(names, g_build_filename(folder, name, NULL));
    g_ptr_array_sort(names, fuzz_compare);
    for (guint i = 0; i < names->len; i++) {
        char *text;
        gsize n;
        if (g_file_get_contents(names->pdata[i], &text, &n, NULL))
            g_ptr_array_add(corpus, g_bytes_new_take(text, n));
    }
    g_ptr_array_free(names, TRUE);
    if (dir)
        g_dir_close(dir);
    return corpus;
}

static inline void fuzz_seed_run(const FuzzSeed *seed, FuzzOne one)
{
    guint64 iterations = fuzz_variable("FUZZ_ITERATIONS", 300);
    guint64 limit = fuzz_variable("FUZZ_SECONDS", 0), number = fuzz_variable("FUZZ_SEED", 1);
    guint64 only = fuzz_variable("FUZZ_ONLY", G_MAXUINT64), k = 0;
    double begin = fuzz_seconds();
    GPtrArray *corpus = fuzz_corpus(seed);
    for (; only != G_MAXUINT64 ? k <= only : limit > 0 ? fuzz_seconds() - begin < (double)limit : k < iterations; k++) {
        Rng rng;
        rng_init(&rng, rng_hash(number * 1000003 + k), seed->name);
        GBytes *from = corpus->pdata[rng_below(&rng, corpus->len)];
        GBytes *other = corpus->pdata[rng_below(&rng, corpus->len)];
        if (only != G_MAXUINT64 && k < only)
            continue;
        gsize bytes, other_bytes;
        const guint8 *text = g_bytes_get_data(from, &bytes);
        const guint8 *splice = g_bytes_get_data(other, &other_bytes);
        g_snprintf(fuzz_now, sizeof fuzz_now,
                   "%s, FUZZ_SEED=%" G_GUINT64_FORMAT " FUZZ_ONLY=%" G_GUINT64_FORMAT " repeats it\n", seed->name,
                   number, k);
        guint8 *data = fuzz_mutate(&rng, text, &bytes, splice, other_bytes);
        fuzz_watch(FUZZ_HANG);
        one(seed, data, bytes, k);
        fuzz_watch(0);
        g_free(data);
    }
    if (limit > 0) {
        printf("%s: %" G_GUINT64_FORMAT " inputs of %u seeds\n", seed->name, k, corpus->len);
        fflush(stdout);
    }
    g_ptr_array_free(corpus, TRUE);
}

static inline int fuzz_run(const FuzzSeed *seeds, guint n, FuzzOne one)
{
    static const int signals[] = {SIGPROF, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGTRAP};
    for (guint i = 0; i < G_N_ELEMENTS(signals); i++)
        signal(signals[i], fuzz_on_signal);
    char **parsers = g_strsplit(g_getenv("FUZZ_PARSERS") ? g_getenv("FUZZ_PARSERS") : "", " ", -1);
    for (guint i = 0; i < n; i++)
        if (!parsers[0] || g_strv_contains((const char *const *)parsers, seeds[i].name))
            fuzz_seed_run(&seeds[i], one);
    g_strfreev(parsers);
    return 0;
}

#endif
