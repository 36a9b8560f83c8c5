/* A set of links of one GPU: those that are up. */
#ifndef MODEL_SHARED_LINK_SET_H
#define MODEL_SHARED_LINK_SET_H

#include "model/memory/address_hash.h"

typedef struct {
    guint64 word[HASH_LINKS_MAX / 64];
} LinkSet;

static inline gboolean link_set_has(LinkSet set, guint32 link) { return set.word[link / 64] >> link % 64 & 1; }
static inline void link_set_add(LinkSet *set, guint32 link) { set->word[link / 64] |= (guint64)1 << link % 64; }
static inline void link_set_remove(LinkSet *set, guint32 link) { set->word[link / 64] &= ~((guint64)1 << link % 64); }
static inline LinkSet link_set_both(LinkSet a, LinkSet b)
{
    return (LinkSet){{a.word[0] & b.word[0], a.word[1] & b.word[1]}};
}
static inline guint32 link_set_count(LinkSet set)
{
    return (guint32)(__builtin_popcountll(set.word[0]) + __builtin_popcountll(set.word[1]));
}
/* The member with so many lower ones below it; there is one. */
static inline guint32 link_set_nth(LinkSet set, guint32 n)
{
    guint32 w = n >= (guint32)__builtin_popcountll(set.word[0]);
    n -= w ? (guint32)__builtin_popcountll(set.word[0]) : 0;
    guint64 word = set.word[w];
    for (; n > 0; n--)
        word &= word - 1;
    return w * 64 + (guint32)__builtin_ctzll(word);
}

#endif
