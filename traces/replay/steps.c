#include "traces/replay/steps.h"

static gboolean step_before(const Step *a, const Step *b)
{
    return a->at_ps != b->at_ps ? a->at_ps < b->at_ps : a->order < b->order;
}

void steps_push(Steps *steps, Step step)
{
    step.order = ++steps->scheduled;
    g_array_append_val(steps->heap, step);
    Step *heap = (Step *)(void *)steps->heap->data;
    for (guint i = steps->heap->len - 1; i > 0 && step_before(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2) {
        Step other = heap[i];
        heap[i] = heap[(i - 1) / 2];
        heap[(i - 1) / 2] = other;
    }
}

Step steps_pop(Steps *steps)
{
    Step *heap = (Step *)(void *)steps->heap->data;
    Step top = heap[0];
    guint n = steps->heap->len - 1;
    heap[0] = heap[n];
    g_array_set_size(steps->heap, n);
    for (guint i = 0;;) {
        guint least = i;
        for (guint child = 2 * i + 1; child <= 2 * i + 2 && child < n; child++)
            least = step_before(&heap[child], &heap[least]) ? child : least;
        if (least == i)
            return top;
        Step other = heap[i];
        heap[i] = heap[least];
        heap[least] = other;
        i = least;
    }
}
