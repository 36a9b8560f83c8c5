#include "model/gpu/external_initiator.h"

#include <string.h>

typedef struct {
    Guest *guest;
    gboolean write;
    guint64 va;
    guint8 *data;
    guint32 bytes, issued, answered;
    FaultKind fault;
    GuestDone done;
    void *user;
} GuestAccess;

struct Guest {
    Fabric *fabric;
    Vas *vas;
    Gpu *gpu;
    GQueue waiting; /* GuestAccess not issued as a whole, in order of arrival */
    GpuRoomWaiter room;
    gboolean stalled; /* waits for room at a port */
    guint32 under_way;
};

static void guest_issue(Guest *guest);

static void guest_on_room(GpuRoomWaiter *waiter, SimTime now_ps)
{
    Guest *guest = EVENT_OWNER(waiter, Guest, room);
    (void)now_ps;
    guest->stalled = FALSE;
    guest_issue(guest);
}

Guest *guest_new(Fabric *fabric, Vas *vas, guint16 gpu)
{
    Guest *guest = g_new0(Guest, 1);
    g_assert(gpu < fabric->spec.system.gpus);
    g_assert(!fabric->parallel); /* SystemC components want one domain */
    guest->fabric = fabric;
    guest->vas = vas;
    guest->gpu = &fabric->gpu[gpu];
    guest->room.fire = guest_on_room;
    g_queue_init(&guest->waiting);
    return guest;
}

void guest_free(Guest *guest)
{
    g_assert(guest->under_way == 0);
    g_free(guest);
}

/* All of it issued and answered: tell who asked. */
static void guest_finish_if_over(GuestAccess *access)
{
    if (access->answered == access->bytes) {
        access->guest->under_way--;
        access->done(access->user, access->fault);
        g_free(access);
    }
}

static void guest_on_answer(Gpu *gpu, Txn *txn, const guint8 *bytes, SimTime now_ps)
{
    GuestAccess *access = txn->owner;
    (void)gpu;
    (void)now_ps;
    if (!access->write && bytes != NULL) {
        memcpy(access->data + txn->tag, bytes, txn->bytes);
    }
    if (txn->state != TXN_OK && access->fault == FAULT_NONE) {
        access->fault = FAULT_UNBOUND;
    }
    access->answered += txn->bytes;
    guest_finish_if_over(access);
}

/* What the access may not do at this address; FAULT_NONE: nothing. */
static FaultKind guest_check(const GuestAccess *access, const VasMapping *mapping)
{
    VasAccess need = access->write ? VAS_ACCESS_READWRITE : VAS_ACCESS_READ;

    if (mapping == NULL) {
        return FAULT_UNMAPPED;
    }
    if ((mapping->access[access->guest->gpu->id] & need) != need) {
        return FAULT_ACCESS;
    }
    if (mapping->object != NULL && !access->write) {
        return FAULT_PLAIN_ON_MULTICAST;
    }
    if (mapping->object != NULL && mapping->object->mcid == MC_MCID_NONE) {
        return FAULT_TEAM_INCOMPLETE;
    }
    return FAULT_NONE;
}

/* One packet of the access; FALSE: its port has no room, or the access met a fault. */
static gboolean guest_send(GuestAccess *access)
{
    Guest *guest = access->guest;
    guint64 va = access->va + access->issued;
    VasMapping *mapping = vas_find(guest->vas, va);

    FaultKind kind = guest_check(access, mapping);
    if (kind != FAULT_NONE) {
        FabricFault fault = {.kind = kind, .gpu = guest->gpu->id, .who = "guest", .va = va,
                             .time_ps = sim_now_ps(guest->fabric->sim)};
        fabric_fault(guest->fabric, &fault);
        access->fault = kind;
        access->bytes = access->issued; /* the rest is given up */
        return FALSE;
    }
    guint64 offset = mapping->offset + (va - mapping->va);
    guint64 left = MIN(access->bytes - access->issued, mapping->va + mapping->bytes - va);
    guint64 bytes = MIN(left, LINE_BYTES - offset % LINE_BYTES);
    GpuRequest request = {.kind = !access->write            ? PACKET_READ
                                  : mapping->object != NULL ? PACKET_MC_WRITE
                                                            : PACKET_WRITE,
                          .region = mapping->region, .object = mapping->object, .offset = offset,
                          .bytes = (guint16)bytes, .word_mask = GPU_ALL_WORDS,
                          .done = guest_on_answer, .owner = access, .tag = access->issued};
    if (access->write && guest->fabric->keep_bytes) {
        request.data = access->data + access->issued;
    }
    guint32 link = gpu_link_of(guest->gpu, &request);
    if (!gpu_has_room(guest->gpu, link)) {
        guest->stalled = TRUE;
        gpu_wait_room(guest->gpu, link, &guest->room);
        return FALSE;
    }
    access->issued += (guint32)bytes;
    gpu_request(guest->gpu, &request, link);
    return TRUE;
}

static void guest_issue(Guest *guest)
{
    GuestAccess *access;

    while (!guest->stalled && (access = g_queue_peek_head(&guest->waiting)) != NULL) {
        while (access->issued < access->bytes && guest_send(access)) {
        }
        if (guest->stalled) {
            return;
        }
        g_queue_pop_head(&guest->waiting);
        guest_finish_if_over(access);
    }
}

void guest_access(Guest *guest, gboolean write, guint64 va, guint8 *data, guint32 bytes,
                  GuestDone done, void *user)
{
    GuestAccess *access = g_new0(GuestAccess, 1);

    g_assert(bytes > 0);
    *access = (GuestAccess){.guest = guest, .write = write, .va = va, .data = data, .bytes = bytes,
                            .done = done, .user = user};
    guest->under_way++;
    g_queue_push_tail(&guest->waiting, access);
    guest_issue(guest);
}
