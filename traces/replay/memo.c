#include "traces/replay/memo.h"

#include "traces/replay/episode.h"

static void memo_free(gpointer data)
{
    replay_usage_clear(&((Memo *)data)->usage);
    g_free(data);
}

ReplayMemo *replay_memo_new(void)
{
    ReplayMemo *memo = g_new(ReplayMemo, 1);
    memo->by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, memo_free);
    return memo;
}

void replay_memo_free(ReplayMemo *memo)
{
    if (memo != NULL) {
        g_hash_table_destroy(memo->by_key);
        g_free(memo);
    }
}
