/* See coll_auto.h. */
#include "cli/coll/auto.h"

#include <string.h>

#include "sim/param/size.h"

typedef struct {
    CollLibrary library;
    CollAlgo algo;
    CollProto proto;
    guint64 first, last; /* bytes */
    char *why;
} AutoSpan;

struct CollAuto {
    GArray *span;
};

static void span_clear(gpointer span) { g_free(((AutoSpan *)span)->why); }

CollAuto *coll_auto_new(void)
{
    CollAuto *taken = g_new0(CollAuto, 1);
    taken->span = g_array_new(FALSE, TRUE, sizeof(AutoSpan));
    g_array_set_clear_func(taken->span, span_clear);
    return taken;
}

void coll_auto_free(CollAuto *taken)
{
    g_array_free(taken->span, TRUE);
    g_free(taken);
}

void coll_auto_add(CollAuto *taken, const CollGroup *group, const CollSpec *spec, const CollResult *result)
{
    if (spec->algo != COLL_AUTO)
        return;
    char *why = coll_library_why(group, spec);
    AutoSpan *last = taken->span->len ? &g_array_index(taken->span, AutoSpan, taken->span->len - 1) : NULL;
    if (last && last->algo == result->algo && last->proto == result->proto && strcmp(last->why, why) == 0) {
        last->last = spec->bytes;
        g_free(why);
        return;
    }
    AutoSpan span = {spec->library, result->algo, result->proto, spec->bytes, spec->bytes, why};
    g_array_append_val(taken->span, span);
}

void coll_auto_notes(const CollAuto *taken, Report *report)
{
    for (guint i = 0; i < taken->span->len; i++) {
        const AutoSpan *span = &g_array_index(taken->span, AutoSpan, i);
        g_autofree char *first = size_format(span->first), *last = size_format(span->last);
        report_add_note(report, "auto (--program %s) at %s%s%s: %s %s, %s", coll_library_names[span->library], first,
                        span->last > span->first ? " to " : "", span->last > span->first ? last : "",
                        coll_algo_name(span->algo), coll_proto_name(span->proto), span->why);
    }
}
