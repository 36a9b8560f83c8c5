/* Values of a pickle as JSON text. */
#include <string.h>

#include "traces/format/flight/pickle_value.h"
#include "traces/format/json.h"

#define PICKLE_DEPTH_MAX 48
#define PICKLE_TEXT_MAX ((gsize)1 << 27)

const char *pickle_write(GString *to, const PickleValue *value, guint depth)
{
    if (depth > PICKLE_DEPTH_MAX)
        return "values inside of values, over 48 deep";
    if (value->kind == VALUE_ATOM) {
        g_string_append(to, value->text);
    } else if (value->kind != VALUE_LIST && value->kind != VALUE_DICT) {
        json_append_quoted(to, value->text ? value->text : "");
    } else {
        gboolean dict = value->kind == VALUE_DICT;
        const char *wrong = NULL;
        g_string_append_c(to, dict ? '{' : '[');
        for (guint i = 0; i < value->items->len && !wrong; i++) {
            const PickleValue *item = value->items->pdata[i];
            g_string_append(to, i == 0 ? "" : dict && i % 2 == 1 ? ":" : ",");
            const PickleValue *key = dict && i % 2 == 1 ? value->items->pdata[i - 1] : NULL;
            if (dict && i % 2 == 0)
                json_append_quoted(to, item->text ? item->text : "");
            else if (key && key->text && strcmp(key->text, "frames") == 0)
                g_string_append(to, "null"); /* stacks, shared by calls, would be most of the text */
            else
                wrong = pickle_write(to, item, depth + 1);
        }
        g_string_append_c(to, dict ? '}' : ']');
        if (wrong)
            return wrong;
    }
    return to->len > PICKLE_TEXT_MAX ? "over 128 MiB of text" : NULL;
}
