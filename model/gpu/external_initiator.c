#include "model/gpu/external_initiator.h"

#include <string.h>

typedef struct {
    ExternalInitiator *initiator;
    gboolean write;
    guint64 va;
    guint8 *data;
    guint32 bytes, issued, answered;
    FaultKind fault;
    ExternalInitiatorDone done;
    void *user;
} InitiatorAccess;

struct ExternalInitiator {
    Fabric *fabric;
    Vas *vas;
    Gpu *gpu;
    GQueue waiting; /* InitiatorAccess not issued as a whole, in order of arrival */
    GpuRoomWaiter room;
    gboolean stalled; /* waits for room at a port */
    guint32 under_way;
};

static void external_initiator_issue(ExternalInitiator *initiator);

static void external_initiator_on_room(GpuRoomWaiter *waiter, SimTime now_ps)
{
    ExternalInitiator *initiator = EVENT_OWNER(waiter, ExternalInitiator, room);
    (void)now_ps;
    initiator->stalled = FALSE;
    external_initiator_issue(initiator);
}

ExternalInitiator *external_initiator_new(Fabric *fabric, Vas *vas, guint16 gpu)
{
    ExternalInitiator *initiator = g_new0(ExternalInitiator, 1);
    g_assert(gpu < fabric->spec.system.gpus);
    g_assert(!fabric->parallel); /* SystemC components want one domain */
    initiator->fabric = fabric;
    initiator->vas = vas;
    initiator->gpu = &fabric->gpu[gpu];
    initiator->room.fire = external_initiator_on_room;
    g_queue_init(&initiator->waiting);
    return initiator;
}

void external_initiator_free(ExternalInitiator *initiator)
{
    g_assert(initiator->under_way == 0);
    g_free(initiator);
}

/* The whole access has been issued and answered: its owner is called. */
static void external_initiator_finish_if_over(InitiatorAccess *access)
{
    if (access->answered == access->bytes) {
        access->initiator->under_way--;
        access->done(access->user, access->fault);
        g_free(access);
    }
}

static void external_initiator_on_answer(Gpu *gpu, Txn *txn, const guint8 *bytes, SimTime now_ps)
{
    InitiatorAccess *access = txn->owner;
    (void)gpu;
    (void)now_ps;
    if (!access->write && bytes)
        memcpy(access->data + txn->tag, bytes, txn->bytes);
    if (txn->state != TXN_OK && access->fault == FAULT_NONE)
        access->fault = fault_kind_of((TxnFault)txn->state);
    access->answered += txn->bytes;
    external_initiator_finish_if_over(access);
}

/* What the access may not do at this address; FAULT_NONE: nothing. */
static FaultKind external_initiator_check(const InitiatorAccess *access, const VasMapping *mapping)
{
    VasAccess need = access->write ? VAS_ACCESS_READWRITE : VAS_ACCESS_READ;

    if (!mapping)
        return FAULT_UNMAPPED;
    if ((mapping->access[access->initiator->gpu->id] & need) != need)
        return FAULT_ACCESS;
    if (mapping->object && !access->write)
        return FAULT_PLAIN_ON_MULTICAST;
    if (mapping->object && mapping->object->mcid == MC_MCID_NONE)
        return FAULT_TEAM_INCOMPLETE;
    return FAULT_NONE;
}

/* One packet of the access; FALSE: its port has no room, or the access met a fault. */
static gboolean external_initiator_send(InitiatorAccess *access)
{
    ExternalInitiator *initiator = access->initiator;
    guint64 va = access->va + access->issued;
    VasMapping *mapping = vas_find(initiator->vas, va);

    FaultKind kind = external_initiator_check(access, mapping);
    if (kind != FAULT_NONE) {
        FabricFault fault = {.kind = kind,
                             .gpu = initiator->gpu->id,
                             .who = "external initiator",
                             .va = va,
                             .time_ps = sim_now_ps(initiator->fabric->sim)};
        fabric_fault(initiator->fabric, &fault);
        access->fault = kind;
        access->bytes = access->issued; /* the rest is given up */
        return FALSE;
    }
    guint64 offset = mapping->offset + (va - mapping->va);
    guint64 left = MIN(access->bytes - access->issued, mapping->va + mapping->bytes - va);
    guint64 bytes = MIN(left, LINE_BYTES - offset % LINE_BYTES);
    GpuRequest request = {.kind = !access->write    ? PACKET_READ
                                  : mapping->object ? PACKET_MC_WRITE
                                                    : PACKET_WRITE,
                          .region = mapping->region,
                          .object = mapping->object,
                          .offset = offset,
                          .bytes = (guint16)bytes,
                          .word_mask = GPU_ALL_WORDS,
                          .done = external_initiator_on_answer,
                          .owner = access,
                          .tag = access->issued};
    if (access->write && initiator->fabric->keep_bytes)
        request.data = access->data + access->issued;
    guint32 link = gpu_link_of(initiator->gpu, &request);
    if (!gpu_has_room(initiator->gpu, link)) {
        initiator->stalled = TRUE;
        gpu_wait_room(initiator->gpu, link, &initiator->room);
        return FALSE;
    }
    access->issued += (guint32)bytes;
    if (link != GPU_LINK_LOCAL)
        gpu_count_turn(initiator->gpu, &initiator->room, 1);
    gpu_request(initiator->gpu, &request, link);
    return TRUE;
}

static void external_initiator_issue(ExternalInitiator *initiator)
{
    InitiatorAccess *access;

    while (!initiator->stalled && (access = g_queue_peek_head(&initiator->waiting))) {
        while (access->issued < access->bytes && external_initiator_send(access)) {
        }
        if (initiator->stalled)
            return;
        g_queue_pop_head(&initiator->waiting);
        external_initiator_finish_if_over(access);
    }
}

void external_initiator_access(ExternalInitiator *initiator, gboolean write, guint64 va, guint8 *data, guint32 bytes,
                               ExternalInitiatorDone done, void *user)
{
    InitiatorAccess *access = g_new0(InitiatorAccess, 1);

    g_assert(bytes > 0);
    *access = (InitiatorAccess){
        .initiator = initiator, .write = write, .va = va, .data = data, .bytes = bytes, .done = done, .user = user};
    initiator->under_way++;
    g_queue_push_tail(&initiator->waiting, access);
    external_initiator_issue(initiator);
}
