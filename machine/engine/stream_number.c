/* The numbers that reports give streams: in the order in which the first work in each starts, since the host decides in
 * which order threads and processes make theirs. */
#include "machine/engine/internal.h"

void engine_stream_used(Engine *engine, guint32 number)
{
    if (number >= engine->shown->len)
        g_array_set_size(engine->shown, number + 1); /* with zeros */
    guint32 *shown = &g_array_index(engine->shown, guint32, number);
    if (*shown == 0)
        *shown = ++engine->n_shown;
}

guint32 engine_stream_shown(const Engine *engine, guint32 number)
{
    return number < engine->shown->len ? g_array_index(engine->shown, guint32, number) : 0;
}
