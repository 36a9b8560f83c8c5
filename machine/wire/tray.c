/* See tray.h. */
#include "machine/wire/tray.h"

#include <stdlib.h>

#include "machine/wire/client.h"

guint32 wire_tray(guint32 *gpus)
{
    const char *text = getenv(TRAYS_ENV);
    long n = text ? strtol(text, NULL, 10) : 0;
    gint32 rank = wire_rank();

    *gpus = n > 0 && n <= 65536 ? (guint32)n : 0;
    return *gpus > 0 && rank > 0 ? (guint32)rank / *gpus : 0;
}
