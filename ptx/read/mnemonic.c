#include "ptx/read/mnemonic.h"

#include <stdlib.h>
#include <string.h>

const PtxTypeRow ptx_types[T_COUNT] = {
    [T_NONE] = {"", 0, TYPE_BITS, 0},
    [T_PRED] = {"pred", 0, TYPE_PREDICATE, 0},
    [T_B8] = {"b8", 2, TYPE_BITS, 1},
    [T_U8] = {"u8", 2, TYPE_UNSIGNED, 1},
    [T_S8] = {"s8", 2, TYPE_SIGNED, 1},
    [T_B16] = {"b16", 2, TYPE_BITS, 2},
    [T_U16] = {"u16", 2, TYPE_UNSIGNED, 2},
    [T_S16] = {"s16", 2, TYPE_SIGNED, 2},
    [T_B32] = {"b32", 4, TYPE_BITS, 4},
    [T_U32] = {"u32", 4, TYPE_UNSIGNED, 4},
    [T_S32] = {"s32", 4, TYPE_SIGNED, 4},
    [T_B64] = {"b64", 8, TYPE_BITS, 8},
    [T_U64] = {"u64", 8, TYPE_UNSIGNED, 8},
    [T_S64] = {"s64", 8, TYPE_SIGNED, 8},
    [T_B128] = {"b128", 16, TYPE_BITS, 16},
    [T_F16] = {"f16", 2, TYPE_FLOAT, 2},
    [T_BF16] = {"bf16", 2, TYPE_FLOAT, 2},
    [T_F16X2] = {"f16x2", 4, TYPE_FLOAT, 4},
    [T_BF16X2] = {"bf16x2", 4, TYPE_FLOAT, 4},
    [T_F32] = {"f32", 4, TYPE_FLOAT, 4},
    [T_F32X2] = {"f32x2", 8, TYPE_FLOAT, 8},
    [T_F64] = {"f64", 8, TYPE_FLOAT, 8},
    [T_TF32] = {"tf32", 4, TYPE_FLOAT, 4},
    [T_U16X2] = {"u16x2", 4, TYPE_UNSIGNED, 4},
    [T_S16X2] = {"s16x2", 4, TYPE_SIGNED, 4},
    [T_E4M3] = {"e4m3", 2, TYPE_FLOAT, 1},
    [T_E5M2] = {"e5m2", 2, TYPE_FLOAT, 1},
    [T_E4M3X2] = {"e4m3x2", 2, TYPE_FLOAT, 2},
    [T_E5M2X2] = {"e5m2x2", 2, TYPE_FLOAT, 2},
    [T_E4M3X4] = {"e4m3x4", 4, TYPE_FLOAT, 4},
    [T_E5M2X4] = {"e5m2x4", 4, TYPE_FLOAT, 4},
    [T_E2M3X2] = {"e2m3x2", 2, TYPE_FLOAT, 2},
    [T_E3M2X2] = {"e3m2x2", 2, TYPE_FLOAT, 2},
    [T_E2M1X2] = {"e2m1x2", 2, TYPE_FLOAT, 1},
    [T_UE8M0X2] = {"ue8m0x2", 2, TYPE_FLOAT, 2},
    [T_S4] = {"s4", 4, TYPE_SIGNED, 4}, /* these three in fragments of matrices alone */
    [T_U4] = {"u4", 4, TYPE_UNSIGNED, 4},
    [T_B1] = {"b1", 4, TYPE_BITS, 4},
};

static const char *const words[W_COUNT] = {[W_NONE] = "",
#define X(name, text) [W_##name] = text,
                                           PTX_WORDS(X)
#undef X
};

PtxType ptx_type_find(const char *text, gsize length)
{
    for (guint t = T_PRED; t < T_COUNT; t++)
        if (strlen(ptx_types[t].name) == length && !memcmp(ptx_types[t].name, text, length))
            return t;
    return T_NONE;
}

PtxWord ptx_word_find(const char *text, gsize length)
{
    for (guint w = 1; w < W_COUNT; w++)
        if (words[w][0] == text[0] && strlen(words[w]) == length && !memcmp(words[w], text, length))
            return w;
    return W_NONE;
}

const char *ptx_word_name(PtxWord word) { return words[word]; }

gboolean ptx_shape_find(const char *text, gsize length, guint16 shape[3])
{
    guint16 read[3] = {0};
    gsize at = 0;
    guint n = 0;
    for (; n < 3 && at < length && text[at] == "mnk"[n]; n++) {
        guint digits = 0;
        for (at++; at < length && g_ascii_isdigit(text[at]) && digits < 3; at++, digits++)
            read[n] = (guint16)(read[n] * 10 + (text[at] - '0'));
        if (!digits)
            return FALSE;
    }
    if (n < 2 || at != length)
        return FALSE;
    memcpy(shape, read, sizeof read);
    return TRUE;
}

/* Source: the release notes of the PTX ISA. */
guint ptx_target_since(guint sm)
{
    static const guint8 since[][2] = {{50, 40}, {52, 41},  {53, 42},  {60, 50},  {61, 50},  {62, 50},  {70, 60},
                                      {72, 61}, {75, 63},  {80, 70},  {86, 71},  {87, 74},  {88, 90},  {89, 78},
                                      {90, 78}, {100, 86}, {101, 86}, {103, 88}, {110, 90}, {120, 87}, {121, 88}};
    for (guint i = 0; i < G_N_ELEMENTS(since); i++)
        if (since[i][0] == sm)
            return since[i][1];
    return 0;
}
