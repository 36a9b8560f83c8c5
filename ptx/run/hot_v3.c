/* The vector handlers for x86-64-v3 (AVX2, FMA): the same source, the same bits. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3,fp-contract=off")
#pragma GCC target("arch=x86-64-v3")
#define HOT(name) v3_##name
#include "ptx/run/hot_lanes.h"
#else
typedef int ptx_hot_v3_is_empty; /* ISO C wants something in a file */
#endif
