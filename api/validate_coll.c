/* Rows that name a collective. */
#include "api/validate.h"

gboolean validate_collective(const ValidateSetup *setup, const FabricSpec *spec, ValidateRow *row,
                             GError **error)
{
    (void)setup;
    (void)spec;
    g_set_error(error, VALIDATE_ERROR, VALIDATE_ERROR_RUN, "collectives are not built yet: %s", row->name);
    return FALSE;
}
