/* Names of columns for pictures: see words.c. */
#ifndef SIM_REPORT_WORDS_H
#define SIM_REPORT_WORDS_H

#include <glib.h>

/* "bus bandwidth" of "busbw_GBps"; a key without words of its own is read as words, without its section and its unit:
 * "switch.multicast_tags" is "multicast tags". Caller frees. */
char *report_words(const char *key, const char *unit);
/* "bus bandwidth (GB/s)"; caller frees. */
char *report_axis_title(const char *key, const char *unit);

#endif
