/* Which version of PTX each target came with, by the release notes of the PTX ISA. */
#include "ptx/read/parse.h"

guint ptx_target_since(guint sm)
{
    static const struct {
        guint sm, version;
    } since[] = {{50, 40}, {52, 41},  {53, 42},  {60, 50},  {61, 50},  {62, 50},  {70, 60},
                 {72, 61}, {75, 63},  {80, 70},  {86, 71},  {87, 74},  {88, 90},  {89, 78},
                 {90, 78}, {100, 86}, {101, 86}, {103, 88}, {110, 90}, {120, 87}, {121, 88}};
    for (guint i = 0; i < G_N_ELEMENTS(since); i++)
        if (since[i].sm == sm)
            return since[i].version;
    return 0;
}
