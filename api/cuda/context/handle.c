/* See handle.h. Layout of a handle: bit 46 set, generation in bits 28..45, slot in bits 4..27.
 */
#include "api/cuda/context/handle.h"

#define SLOT_SHIFT 4
#define SLOT_BITS 24
#define GENERATION_SHIFT (SLOT_SHIFT + SLOT_BITS)
#define GENERATION_MASK ((1u << 18) - 1)
#define HANDLE_MARK (1ull << 46)

typedef struct {
    void *object;
    HandleKind kind;
    guint32 generation;
    guint32 refs;
    guint32 pins;
} Slot;

struct HandleTable {
    GArray *slots; /* Slot */
    GQueue *free;  /* slot numbers, oldest first: generations last longest that way */
};

HandleTable *handle_table_new(void)
{
    HandleTable *table = g_new0(HandleTable, 1);
    table->slots = g_array_new(FALSE, TRUE, sizeof(Slot));
    table->free = g_queue_new();
    return table;
}

guint64 handle_new(HandleTable *table, HandleKind kind, void *object)
{
    guint n = GPOINTER_TO_UINT(g_queue_pop_head(table->free));

    if (n == 0) {
        n = table->slots->len + 1;
        g_assert(n < 1u << SLOT_BITS);
        g_array_set_size(table->slots, n);
    }
    Slot *slot = &g_array_index(table->slots, Slot, n - 1);
    slot->object = object;
    slot->kind = kind;
    slot->generation = (slot->generation + 1) & GENERATION_MASK;
    slot->refs = 1;
    slot->pins = 0;
    return HANDLE_MARK | (guint64)slot->generation << GENERATION_SHIFT | (guint64)n << SLOT_SHIFT;
}

/* The slot that a number names, or NULL when no handle ever looked like it. */
static Slot *slot_of(HandleTable *table, guint64 handle, HandleState *state)
{
    guint64 n = handle >> SLOT_SHIFT & ((1u << SLOT_BITS) - 1);
    guint32 generation = (guint32)(handle >> GENERATION_SHIFT) & GENERATION_MASK;

    *state = HANDLE_FORGED;
    if ((handle & ~(HANDLE_MARK | (HANDLE_MARK - 1))) || !(handle & HANDLE_MARK) || (handle & 15) || n == 0 ||
        n > table->slots->len)
        return NULL;
    Slot *slot = &g_array_index(table->slots, Slot, n - 1);
    if (generation > slot->generation)
        return NULL;
    *state = generation == slot->generation && slot->kind != HANDLE_NONE ? HANDLE_LIVE : HANDLE_STALE;
    return *state == HANDLE_LIVE ? slot : NULL;
}

static Slot *slot_used(HandleTable *table, guint64 handle)
{
    HandleState state;
    Slot *slot = slot_of(table, handle, &state);

    g_assert(slot != NULL);
    return slot;
}

void *handle_get(HandleTable *table, HandleKind kind, guint64 handle, HandleState *state)
{
    HandleState unused;
    Slot *slot = slot_of(table, handle, state ? state : &unused);

    if (!slot)
        return NULL;
    if (slot->refs == 0 || slot->kind != kind) {
        if (state)
            *state = slot->refs == 0 ? HANDLE_STALE : HANDLE_FORGED;
        return NULL;
    }
    return slot->object;
}

void *handle_get_released(HandleTable *table, HandleKind kind, guint64 handle)
{
    HandleState state;
    Slot *slot = slot_of(table, handle, &state);

    return slot && slot->kind == kind && slot->refs == 0 && slot->pins > 0 ? slot->object : NULL;
}

HandleKind handle_kind(HandleTable *table, guint64 handle)
{
    HandleState state;
    Slot *slot = slot_of(table, handle, &state);

    return slot && slot->refs > 0 ? slot->kind : HANDLE_NONE;
}

void *handle_object_pinned(HandleTable *table, guint64 handle) { return slot_used(table, handle)->object; }

void handle_ref(HandleTable *table, guint64 handle) { slot_used(table, handle)->refs++; }
void handle_pin(HandleTable *table, guint64 handle) { slot_used(table, handle)->pins++; }

static gboolean slot_end(HandleTable *table, Slot *slot)
{
    if (slot->refs > 0 || slot->pins > 0)
        return FALSE;
    slot->kind = HANDLE_NONE;
    slot->object = NULL;
    g_queue_push_tail(table->free, GUINT_TO_POINTER(slot - (Slot *)(void *)table->slots->data + 1));
    return TRUE;
}

gboolean handle_unref(HandleTable *table, guint64 handle)
{
    Slot *slot = slot_used(table, handle);

    g_assert(slot->refs > 0);
    slot->refs--;
    return slot_end(table, slot);
}

gboolean handle_unpin(HandleTable *table, guint64 handle)
{
    Slot *slot = slot_used(table, handle);

    g_assert(slot->pins > 0);
    slot->pins--;
    return slot_end(table, slot);
}

guint32 handle_refs(HandleTable *table, guint64 handle)
{
    HandleState state;
    Slot *slot = slot_of(table, handle, &state);

    return slot ? slot->refs : 0;
}

void handle_visit(HandleTable *table, HandleKind kind, void (*visit)(guint64 handle, void *object, void *user),
                  void *user)
{
    for (guint i = 0; i < table->slots->len; i++) {
        Slot *slot = &g_array_index(table->slots, Slot, i);
        if (slot->kind == kind)
            visit(HANDLE_MARK | (guint64)slot->generation << GENERATION_SHIFT | (guint64)(i + 1) << SLOT_SHIFT,
                  slot->object, user);
    }
}

typedef struct {
    gboolean (*belongs)(const void *object, const void *owner);
    const void *owner;
    GArray *found;
} Collect;

static void collect(guint64 handle, void *object, void *user)
{
    const Collect *collect = user;

    if (collect->belongs(object, collect->owner))
        g_array_append_val(collect->found, handle);
}

GArray *handle_collect(HandleTable *table, HandleKind kind, gboolean (*belongs)(const void *object, const void *owner),
                       const void *owner)
{
    Collect all = {belongs, owner, g_array_new(FALSE, FALSE, sizeof(guint64))};

    handle_visit(table, kind, collect, &all);
    return all.found;
}
