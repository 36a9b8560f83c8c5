/* What keys of columns are called on the axes of pictures. A key is short, since it stands over a column and in
 * scripts; a picture is read by those who have not seen the table. */
#include <string.h>

#include "sim/report/words.h"

static const struct {
    const char *key, *words;
} known[] = {
    {"bytes", "size"},
    {"time_us", "time"},
    {"kernel_us", "time of the kernel"},
    {"algbw_GBps", "algorithm bandwidth"},
    {"busbw_GBps", "bus bandwidth"},
    {"up_pct", "links to the switches busy"},
    {"down_pct", "links from the switches busy"},
    {"gpus", "GPUs"},
    {"ctas", "CTAs of a rank"},
    {"to_us", "time"},
    {"from_ns", "latency"},
    {"count", "requests"},
    {"queued", "packets that wait for a wire"},
    {"reduction_KiB", "reduction buffer in use"},
    {"mean_ns", "mean time"},
    {"total_us", "time in all"},
    {"hop_ns", "time of a hop"},
    {"abs_error_pct", "error"},
};

/* Ends of keys that say the unit once more. */
static const char *const ends[] = {"_us", "_ns", "_ps", "_pct", "_GBps", "_MBps", "_bytes", "_GB", "_KiB"};

char *report_words(const char *key, const char *unit)
{
    for (guint i = 0; i < G_N_ELEMENTS(known); i++)
        if (g_str_equal(key, known[i].key))
            return g_strdup(known[i].words);
    const char *dot = strrchr(key, '.');
    char *words = g_strdup(dot && dot[1] ? dot + 1 : key);
    for (guint i = 0; unit && *unit && i < G_N_ELEMENTS(ends); i++)
        if (g_str_has_suffix(words, ends[i]) && strlen(words) > strlen(ends[i]))
            words[strlen(words) - strlen(ends[i])] = 0;
    return g_strdelimit(words, "_", ' ');
}

char *report_axis_title(const char *key, const char *unit)
{
    g_autofree char *words = report_words(key, unit);
    const char *of = unit && g_str_equal(unit, "B") ? "bytes" : unit;
    return of && *of && !g_str_equal(words, of) ? g_strdup_printf("%s (%s)", words, of) : g_strdup(words);
}
