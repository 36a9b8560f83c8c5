/* Log: one const table of categories, a level each, set by "link:debug,cuda:info" (--log or
 * FANOUT_LOG). Lines go to stderr as "fanout: 12.345 ns: link: text"; below the level costs one
 * compare. */
#ifndef SIM_LOG_H
#define SIM_LOG_H

#include <glib.h>

#include "sim/engine/simtime.h"

typedef enum { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_SPEW } LogLevel;
typedef enum {
    LOG_SIM,
    LOG_GPU,
    LOG_LINK,
    LOG_SWITCH,
    LOG_MC,
    LOG_CUDA,
    LOG_COLL,
    LOG_TRACE,
    LOG_CLI,
    LOG_CATEGORIES
} LogCategory;

typedef struct Log Log; /* one for each Sim or front end: no global */
Log *log_new(void);
void log_free(Log *log);
/* "link:debug,cuda:info", "all:warn" or just "debug"; a new Log warns everywhere. The error
 * names the unknown category or level; nothing changes then. */
gboolean log_parse(Log *log, const char *spec, GError **error);
gboolean log_on(const Log *log, LogCategory category, LogLevel level);
void log_line(Log *log, LogCategory category, LogLevel level, SimTime now_ps, const char *format, ...)
    G_GNUC_PRINTF(5, 6);

#define LOG_PARSE_ERROR (log_error_quark())
GQuark log_error_quark(void);

#endif
