/* Fuzz target of all trace readers: whatever the bytes, a reader gives a trace or an error, and
 * never crashes, hangs or leaks; and a trace that it gives can be matched, selected from and
 * written.
 *
 * With libFuzzer, the first byte choosing the reader, from the build tree after make:
 *
 *     clang -DFUZZ_LIBFUZZER -fsanitize=fuzzer -D_GNU_SOURCE -I$SRC -I$SRC/api/include -I. \
 *         $SRC/tests/traces/fuzz_trace.c -Wl,-u,sc_main .libs/libfanout_core.a -lstdc++ -lm -lpthread \
 *         $(pkg-config --cflags --libs glib-2.0 gio-2.0 zlib yajl libprotobuf-c json-glib-1.0 systemc)
 *
 * Alone (make check, make fuzz): files named as arguments, else tests/fuzz.h's mutations of the built-in
 * seeds. */
#include "tests/test.h"

#include <stdlib.h>

#include "tests/fuzz.h"
#include "tests/traces/fuzz_seeds.h"
#include "traces/format/reader.h"
#include "traces/format/write.h"
#include "traces/record/match.h"
#include "traces/record/select.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize bytes);

static void drive(const char *format, const guint8 *data, gsize bytes, gboolean lenient)
{
    TraceReadSpec spec = {.format = format, .lenient = lenient};
    GError *error = NULL;
    Trace *trace = trace_read_input(input_open_memory("fuzz.0.x", data, bytes), &spec, &error);
    if (!trace && error && strstr(error->message, "--world")) {
        spec.world = 4; /* as the message asks for */
        g_clear_error(&error);
        trace = trace_read_input(input_open_memory("fuzz.0.x", data, bytes), &spec, &error);
    }
    if ((!trace) != (error != NULL))
        g_error("%s: %s: %.*s", format, error ? error->message : "neither trace nor error", (int)bytes, data);
    if (!trace) {
        g_assert(error->message[0] != 0 && g_utf8_validate(error->message, -1, NULL));
        g_error_free(error);
        return;
    }
    if (trace->world <= 64 && trace->records->len < 4096) {
        char *text = write_text_string(trace);
        g_free(text);
        TraceSelection selection = {.limit = 3};
        Match *match = trace_select(trace, &selection, NULL) ? match_new(trace, lenient, &error) : NULL;
        match_free(match);
        g_clear_error(&error);
    }
    trace_free(trace);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize bytes)
{
    guint formats = 0;
    while (trace_formats()[formats])
        formats++;
    if (bytes > 0)
        drive(trace_formats()[data[0] % formats]->name, data + 1, bytes - 1, data[0] >= 128);
    return 0;
}

#ifndef FUZZ_LIBFUZZER

static void one(const FuzzSeed *seed, const guint8 *data, gsize bytes, guint64 turn)
{
    drive(seed->name, data, bytes, turn % 2);
}

int main(int argc, char **argv)
{
    seeds_begin();
    for (int i = 1; i < argc; i++) {
        char *data;
        gsize bytes;
        if (g_file_get_contents(argv[i], &data, &bytes, NULL)) {
            LLVMFuzzerTestOneInput((guint8 *)data, bytes);
            g_free(data);
        }
    }
    for (gsize s = 0; s < G_N_ELEMENTS(seeds) && argc == 1; s++) {
        gsize whole = seeds[s].bytes > 0 ? seeds[s].bytes : strlen(seeds[s].text);
        gboolean silent = g_str_has_prefix(seeds[s].name, "chakra") ||
                          g_str_has_prefix(seeds[s].text, "MICRO"); /* which say no ranks */
        TraceReadSpec spec = {.format = seeds[s].name, .world = silent ? 4 : 0};
        GError *error = NULL;
        Trace *trace = trace_read_input(input_open_memory("seed", seeds[s].text, whole), &spec, &error);
        if (!trace)
            g_error("the seed of %s is no trace: %s", seeds[s].name, error->message);
        trace_free(trace);
    }
    return argc > 1 ? 0 : fuzz_run(seeds, G_N_ELEMENTS(seeds), one);
}

#endif
