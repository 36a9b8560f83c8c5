/* The vector handlers for the instruction set that the compiler was told to use, and the choice among the clones. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3,fp-contract=off")
#endif
#define HOT(name) base_##name
#include "api/ptx/hot_lanes.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HAVE_V3 1
PtxHandler v3_find(const PtxIns *ins);
#endif

PtxHandler ptx_hot_find(const PtxIns *ins)
{
    const char *level = g_getenv("FANOUT_PTX_LANES"); /* base or plain, to compare them in tests */
    if (!g_strcmp0(level, "plain"))
        return NULL;
#ifdef HAVE_V3
    if (g_strcmp0(level, "base") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2"))
        return v3_find(ins);
#endif
    return base_find(ins);
}
