/* JSON of reports and scenes, by YAJL's generator. */
#ifndef SIM_REPORT_JSON_H
#define SIM_REPORT_JSON_H

#include <glib.h>
#include <yajl/yajl_gen.h>

/* text: valid UTF-8, as all texts of a report are. */
void report_json_string(yajl_gen gen, const char *text);
/* Appends what was written and frees the generator. */
void report_json_end(yajl_gen gen, GString *out);

#endif
