/* Faults of programs, and operations as their requesters saw them. */
#include "model/shared/fabric.h"

static const char *const fault_texts[FAULT_KINDS] = {
    "no fault",
    "no memory is mapped at this address",
    "this GPU has no access right to this address (cuMemSetAccess)",
    "a plain access to a multicast address is undefined behaviour (PTX ISA, multimem)",
    "a multimem operation on a unicast address is undefined behaviour (PTX ISA, multimem)",
    "the multicast object's team is not complete (cuMulticastAddDevice)",
    "a team member has no memory bound there (cuMulticastBindMem)",
    "a team member did not answer in time (CRUMBSTORE_MCTO_ERR or CRUMBSTORE_RTO_ERR)",
    "a request or its answer was lost on a link or at a GPU that is down (ATO_ERR)",
    "a switch has no entry for the team any more (INVALID_MCRID_ERR)",
    "the address is no multiple of the access's width",
    "this form of multimem is not legal",
    "the kernel ended itself (trap)",
    "an assertion of the kernel failed",
    "an instruction's operands are not allowed",
    "the kernel did not end in time (cuda.watchdog_ms)",
    "the kernel cannot go on",
    "the GPU was reset (fanout fabric gpu-reset)",
};
const char *fault_kind_text(FaultKind kind) { return fault_texts[kind]; }

FaultKind fault_kind_of(TxnFault state)
{
    static const FaultKind kinds[TXN_FAULTS] = {FAULT_NONE, FAULT_UNBOUND, FAULT_TIMEOUT, FAULT_LOST, FAULT_NO_ENTRY};
    return kinds[state];
}

void fabric_fault(Fabric *fabric, const FabricFault *fault)
{
    FabricFault kept = *fault;
    kept.time_ps = sim_now_ps(fabric->sim);
    if (fabric->n_faults++ < FABRIC_FAULTS_KEPT)
        g_array_append_val(fabric->faults, kept);
    if (fabric->on_fault)
        fabric->on_fault(&kept, fabric->on_fault_user);
}

OpStats *fabric_count_first(OpTable *table, guint32 kind, SimTime start_ps)
{
    OpStats *stats = table->kind[kind] = g_new0(OpStats, 1);
    stats->first_ps = start_ps;
    return stats;
}

void fabric_account_fault(Fabric *fabric, guint16 gpu, const Txn *txn)
{
    FabricFault fault = {.kind = fault_kind_of((TxnFault)txn->state), .gpu = gpu, .va = txn->offset};
    if (txn->kind >= PACKET_MC_WRITE)
        fault.object = txn->object->id;
    fabric_fault(fabric, &fault);
}
