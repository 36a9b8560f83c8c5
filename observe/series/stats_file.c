/* See stats_file.h. */
#include "observe/series/stats_file.h"

#include <errno.h>
#include <stdio.h>

struct StatsFile {
    FILE *file;
    char *path;
    gboolean lines; /* of JSON */
};

gboolean stats_file_check(const char *path, GError **error)
{
    if (g_str_has_suffix(path, ".csv") || g_str_has_suffix(path, ".jsonl"))
        return TRUE;
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                "'%s' ends neither in .csv nor in .jsonl (JSON lines), which says what is written", path);
    return FALSE;
}

static void stats_file_fail(const StatsFile *file, int code, GError **error)
{
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(code), "'%s' cannot be written: %s", file->path,
                g_strerror(code));
}

StatsFile *stats_file_open(const char *path, GError **error)
{
    StatsFile *file = g_new0(StatsFile, 1);
    file->path = g_strdup(path);
    file->lines = g_str_has_suffix(path, ".jsonl");
    file->file = fopen(path, "we");
    if (file->file && !file->lines)
        fputs("run,from_ns,to_ns,where,statistic,kind,value,unit\n", file->file);
    if (file->file)
        return file;
    stats_file_fail(file, errno, error);
    g_free(file->path);
    g_free(file);
    return NULL;
}

gboolean stats_file_close(StatsFile *file, GError **error)
{
    if (!file)
        return TRUE;
    gboolean bad = ferror(file->file) != 0;
    errno = bad ? EIO : 0;
    bad |= fclose(file->file) != 0;
    if (bad)
        stats_file_fail(file, errno ? errno : EIO, error);
    g_free(file->path);
    g_free(file);
    return !bad;
}

static const char *stats_kind(StatType type)
{
    return type == STAT_LEVEL_T ? "level" : type == STAT_PEAK_T ? "peak" : "sum";
}

/* Whole nanoseconds and three decimals are picoseconds. */
#define NS_FORMAT "%" G_GUINT64_FORMAT ".%03u"
#define NS_OF(ps) (ps) / PS_PER_NS, (guint)((ps) % PS_PER_NS)

void stats_file_add(StatsFile *file, const StatsLine *line)
{
    /* series.c sees to it that names of runs have no quotes and commas in them; all others are the registry's */
    if (file->lines)
        fprintf(file->file,
                "{\"run\":\"%s\",\"from_ns\":" NS_FORMAT ",\"to_ns\":" NS_FORMAT ",\"where\":\"%s\","
                "\"statistic\":\"%s\",\"kind\":\"%s\",\"value\":%" G_GUINT64_FORMAT ",\"unit\":\"%s\"}\n",
                line->run, NS_OF(line->from_ps), NS_OF(line->to_ps), line->where, line->statistic,
                stats_kind(line->type), line->value, line->unit);
    else
        fprintf(file->file, "%s," NS_FORMAT "," NS_FORMAT ",%s,%s,%s,%" G_GUINT64_FORMAT ",%s\n", line->run,
                NS_OF(line->from_ps), NS_OF(line->to_ps), line->where, line->statistic, stats_kind(line->type),
                line->value, line->unit);
}
