/* Statistics: const tables of rows over plain counters in the units' own structs.
 *
 *     static const StatRow link_stats[] = { STAT_COUNTER(Link, flits, "flits", "sent"), STAT_END };
 *     stat_add(registry, "gpu0.link3.up", link_stats, link);
 *
 * The hot path is `link->flits += n`; text, JSON, CSV and the docs walk the registry. */
#ifndef SIM_STAT_H
#define SIM_STAT_H

#include <glib.h>

/* A latency histogram: 16 buckets for each power of two, so that a percentile is within 1/32 of the
 * value; exact count, sum, minimum and maximum. No allocation. */
#define HIST_SUB 16
#define HIST_SUB_SHIFT 4
#define HIST_BUCKETS (HIST_SUB * 45)
typedef struct {
    guint64 count, sum, min, max;
    guint32 bucket[HIST_BUCKETS];
} Hist;

void hist_init(Hist *hist);
static inline void hist_add(Hist *hist, guint64 value); /* memory set to zero is a histogram too */
void hist_merge(Hist *into, const Hist *from);
guint64 hist_percentile(const Hist *hist, guint per_mille); /* 500 is the median; 0 when empty */

typedef enum { STAT_COUNTER_T, STAT_PEAK_T, STAT_HIST_T, STAT_LEVEL_T } StatType; /* a level goes up and down */
typedef struct {
    const char *name;
    StatType type;
    gsize offset; /* guint64, or Hist */
    const char *unit;
    const char *text;
    guint64 (*read)(const void *unit); /* a counter or level that no member has: what it is now; NULL: `offset` */
} StatRow;

#define STAT_COUNTER(T, f, unit, text)                                                                                 \
    {                                                                                                                  \
#f, STAT_COUNTER_T, G_STRUCT_OFFSET(T, f) + 0 * sizeof(&((T *)0)->f == (guint64 *)0), unit, text, NULL         \
    }
#define STAT_PEAK(T, f, unit, text)                                                                                    \
    {                                                                                                                  \
#f, STAT_PEAK_T, G_STRUCT_OFFSET(T, f) + 0 * sizeof(&((T *)0)->f == (guint64 *)0), unit, text, NULL            \
    }
#define STAT_HIST(T, f, unit, text)                                                                                    \
    {                                                                                                                  \
#f, STAT_HIST_T, G_STRUCT_OFFSET(T, f) + 0 * sizeof(&((T *)0)->f == (Hist *)0), unit, text, NULL               \
    }
#define STAT_SUM(name, read, unit, text)                                                                               \
    {                                                                                                                  \
        name, STAT_COUNTER_T, 0, unit, text, read                                                                      \
    }
#define STAT_LEVEL(name, read, unit, text)                                                                             \
    {                                                                                                                  \
        name, STAT_LEVEL_T, 0, unit, text, read                                                                        \
    }
#define STAT_END                                                                                                       \
    {                                                                                                                  \
        NULL, 0, 0, NULL, NULL, NULL                                                                                   \
    }

typedef struct StatRegistry StatRegistry;
StatRegistry *stat_registry_new(void);
void stat_registry_free(StatRegistry *registry);
void stat_add(StatRegistry *registry, const char *path, const StatRow *rows, void *unit);
typedef void (*StatVisit)(const char *path, const StatRow *row, const void *value, void *user);
/* In order of addition. value: a guint64, or a Hist, for the call only. */
void stat_visit(const StatRegistry *registry, StatVisit visit, void *user);

/* The rows themselves, but histograms, of what was added from the `first` on; what is returned is the next one's. */
typedef void (*StatList)(const char *path, const StatRow *row, const void *unit, void *user);
guint stat_list(const StatRegistry *registry, guint first, StatList list, void *user);
static inline guint64 stat_read(const StatRow *row, const void *unit)
{
    return row->read ? row->read(unit) : *(const guint64 *)((const char *)unit + row->offset);
}

struct Sim;
/* Every counter and peak that a member has as a signal of the waveform that `sim` writes, named by its path; before the
 * first run. Without a waveform it does nothing. */
void stat_trace(const StatRegistry *registry, struct Sim *sim);

static inline guint hist_bucket_of(guint64 value)
{
    if (value < HIST_SUB)
        return (guint)value;
    guint shift = 63 - HIST_SUB_SHIFT - (guint)__builtin_clzll(value);
    guint index = (shift + 1) * HIST_SUB + (guint)(value >> shift) - HIST_SUB;
    return MIN(index, HIST_BUCKETS - 1);
}

static inline void hist_add(Hist *hist, guint64 value)
{
    if (G_UNLIKELY(hist->count == 0))
        hist->min = value;
    hist->count++;
    hist->sum += value;
    hist->min = MIN(hist->min, value);
    hist->max = MAX(hist->max, value);
    hist->bucket[hist_bucket_of(value)]++;
}

#endif
