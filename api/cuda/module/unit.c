/* Texts that are to be linked, as they are taken out of images. */
#include "api/cuda/module/program.h"

#include <string.h>

static void unit_free(gpointer data)
{
    Unit *unit = data;
    g_free(unit->name);
    g_free(unit->text);
    g_free(unit);
}

GPtrArray *units_new(void) { return g_ptr_array_new_with_free_func(unit_free); }

void units_take(GPtrArray *units, const char *name, char *text, gsize bytes, guint registers_max)
{
    Unit *unit = g_new(Unit, 1);
    *unit = (Unit){g_strdup(name), text, bytes, registers_max};
    g_ptr_array_add(units, unit);
}

void units_add(GPtrArray *units, const char *name, const char *text, gsize bytes, guint registers_max)
{
    char *copy = g_malloc(bytes + 1);
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    units_take(units, name, copy, bytes, registers_max);
}

void unit_fail(Call *call, JitOptions *jit, const char *text)
{
    jit_error(jit, "%s", text);
    cuda_diagnose(call, 0, call->device, 0, "%s", text);
}
