/* Rings: first-in first-out queues of fixed-size entries in one array that grows.
 *
 * RING_DEFINE(Name, prefix, Type) makes a struct type and its functions. A zeroed struct is an empty ring. The capacity
 * is a power of two; the array starts over at its head whenever the ring runs empty, and less of it is used when less
 * is needed, so that a queue that is mostly short stays in the same few cache lines. Entries are counted from the
 * front: 0 is the one that leaves next. */
#ifndef SIM_RING_H
#define SIM_RING_H

#include <glib.h>
#include <string.h>

#define RING_SHRINKS 64u

/* The next larger array, with `count` entries of `size` bytes from `head` on moved to its front. */
static inline void *ring_grow(void *at, guint32 *capacity, guint32 *head, guint32 count, gsize size)
{
    guint32 grown = MAX(16, 2 * *capacity), first = MIN(count, *capacity - *head);
    char *to = g_malloc_n(grown, size);
    if (count) {
        memcpy(to, (char *)at + *head * size, first * size);
        memcpy(to + first * size, at, (count - first) * size);
    }
    g_free(at);
    *capacity = grown;
    *head = 0;
    return to;
}

#define RING_DEFINE(Name, prefix, Type)                                                                                \
    typedef struct {                                                                                                   \
        Type *at;                                                                                                      \
        guint32 head, count, capacity;                                                                                 \
    } Name;                                                                                                            \
    static inline G_GNUC_UNUSED Type *prefix##_nth(const Name *ring, guint32 n)                                        \
    {                                                                                                                  \
        return &ring->at[(ring->head + n) & (ring->capacity - 1)];                                                     \
    }                                                                                                                  \
    static inline G_GNUC_UNUSED Type *prefix##_peek(const Name *ring) { return &ring->at[ring->head]; }                \
    static inline G_GNUC_UNUSED Type *prefix##_last(const Name *ring) { return prefix##_nth(ring, ring->count - 1); }  \
    /* Room behind the last one, which the caller fills. */                                                            \
    static inline G_GNUC_UNUSED Type *prefix##_push(Name *ring)                                                        \
    {                                                                                                                  \
        if (G_UNLIKELY(ring->count == ring->capacity))                                                                 \
            ring->at = ring_grow(ring->at, &ring->capacity, &ring->head, ring->count, sizeof(Type));                   \
        if (ring->count == 0)                                                                                          \
            ring->head = 0;                                                                                            \
        return prefix##_nth(ring, ring->count++);                                                                      \
    }                                                                                                                  \
    static inline G_GNUC_UNUSED void prefix##_drop(Name *ring)                                                         \
    {                                                                                                                  \
        ring->head = (ring->head + 1) & (ring->capacity - 1);                                                          \
        ring->count--;                                                                                                 \
        if (G_UNLIKELY(ring->head == 0) && ring->count < ring->capacity / 4 && ring->capacity > RING_SHRINKS)          \
            ring->capacity /= 2; /* all entries lie in the first quarter */                                            \
    }                                                                                                                  \
    static inline G_GNUC_UNUSED void prefix##_clear(Name *ring)                                                        \
    {                                                                                                                  \
        g_free(ring->at);                                                                                              \
        *ring = (Name){NULL, 0, 0, 0};                                                                                 \
    }

#endif
