/* The benches of the simulator's own speed, by name. */
#include <string.h>

#include "cli/self/speed.h"

const SpeedBench speed_benches[] = {
    {"engine", "the calendar alone, beside a binary heap and a bare wheel", TRUE},
    {"uniform", "uniform random unicast at 0.8 load, 8 and 72 endpoints on one switch level", TRUE},
    {"ring", "all_reduce of 16 MiB by ring, 8 GPUs", TRUE},
    {"nvls", "all_reduce of 16 MiB by NVLS, 8 GPUs", TRUE},
    {"growth", "uniform from 2 to 256 endpoints, NVLS all_reduce from 1 MiB to 1 GiB", FALSE},
    {"cores", "all_reduce of 16 MiB by NVLS on gb200-nvl72, on one core and on two (--cores)", FALSE},
    {"targets", "what the simulator is meant to reach, beside what it does: minutes", FALSE},
    {NULL, NULL, FALSE},
};

const SpeedBench *speed_find(const char *name)
{
    static const SpeedBench all = {"speed", "engine, uniform, ring and nvls", FALSE};
    for (const SpeedBench *bench = speed_benches; bench->name; bench++)
        if (strcmp(bench->name, name) == 0)
            return bench;
    return strcmp(name, all.name) == 0 ? &all : NULL;
}
