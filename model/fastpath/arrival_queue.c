#include "model/fastpath/arrival_queue.h"

void arrival_queue_clear(ArrivalQueue *queue)
{
    g_free(queue->heap);
    *queue = (ArrivalQueue){NULL, 0, 0};
}

static inline gboolean arrival_is_before(const Arrival *a, const Arrival *b)
{
    return a->at_ps < b->at_ps || (a->at_ps == b->at_ps && a->order < b->order);
}

void arrival_queue_push(ArrivalQueue *queue, Arrival arrival)
{
    if (queue->count == queue->capacity) {
        queue->capacity = MAX(16, 2 * queue->capacity);
        queue->heap = g_renew(Arrival, queue->heap, queue->capacity);
    }
    guint32 at = queue->count++;
    for (guint32 up; at > 0 && arrival_is_before(&arrival, &queue->heap[up = (at - 1) / 2]); at = up)
        queue->heap[at] = queue->heap[up];
    queue->heap[at] = arrival;
}

void arrival_queue_drop(ArrivalQueue *queue)
{
    Arrival last = queue->heap[--queue->count];
    guint32 at = 0;
    for (guint32 child; (child = 2 * at + 1) < queue->count; at = child) {
        if (child + 1 < queue->count && arrival_is_before(&queue->heap[child + 1], &queue->heap[child]))
            child++;
        if (!arrival_is_before(&queue->heap[child], &last))
            break;
        queue->heap[at] = queue->heap[child];
    }
    queue->heap[at] = last;
}
