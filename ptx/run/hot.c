/* The vector handlers for the instruction set that the compiler was told to use, and the choice among the clones. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3,fp-contract=off")
#endif
#define HOT(name) base_##name
#include "ptx/run/hot_lanes.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HAVE_V3 1
PtxHandler v3_find(const PtxIns *ins);
const PtxHot *v3_functions(void);

static gboolean has_v3(void)
{
    return g_strcmp0(g_getenv("FANOUT_PTX_LANES"), "base") && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}
#endif

PtxHandler ptx_hot_find(const PtxIns *ins)
{
    const char *level = g_getenv("FANOUT_PTX_LANES"); /* base or plain, to compare them in tests */
    if (!g_strcmp0(level, "plain"))
        return NULL;
#ifdef HAVE_V3
    if (has_v3())
        return v3_find(ins);
#endif
    return base_find(ins);
}

const PtxHot *ptx_hot_functions(void)
{
#ifdef HAVE_V3
    if (has_v3())
        return v3_functions();
#endif
    return base_functions();
}
