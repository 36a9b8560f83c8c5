/* A device of your own in the fabric: a DMA engine written as a SystemC component.
 *
 *     make examples/tlm_dma && examples/tlm_dma
 *
 * The engine knows nothing of Fanout: it is an ordinary TLM-2.0 initiator that reads blocks from one
 * address and writes them to another. A TLM port takes its accesses to an external initiator beside GPU 0's SMs, whose
 * packets then share GPU 0's links and the switches with everything else. It copies from the memory of GPU 1
 * to a multicast object of all eight GPUs: each block is read once and lands eight times.
 *
 * Written against the engine's and the model's own headers, so it builds inside the tree only. */
#include <systemc>

#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>

extern "C" {
#include "model/gpu/external_initiator.h"
#include "model/presets/preset.h"
}

#include <cstdio>
#include <cstring>
#include <vector>

#include "sim/engine/tlm_port.h"

static const guint64 source_va = 0x10000000, target_va = 0x20000000;
static const guint32 total_bytes = 1 << 20, block_bytes = 4096;

/* Four channels, each with one block under way: reads it, writes it, takes the next. */
struct Dma : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<Dma, 64> socket;
    guint32 next = 0, failed = 0;

    SC_HAS_PROCESS(Dma);
    explicit Dma(sc_core::sc_module_name name) : sc_module(name), socket("socket")
    {
        SC_THREAD(channel0);
        SC_THREAD(channel1);
        SC_THREAD(channel2);
        SC_THREAD(channel3);
    }
    void channel0() { channel(); }
    void channel1() { channel(); }
    void channel2() { channel(); }
    void channel3() { channel(); }

    void access(tlm::tlm_command command, guint64 address, std::vector<unsigned char> &block)
    {
        tlm::tlm_generic_payload payload;
        sc_core::sc_time delay;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(block.data());
        payload.set_data_length(block.size());
        payload.set_streaming_width(block.size());
        socket->b_transport(payload, delay);
        failed += payload.is_response_error();
    }
    void channel()
    {
        std::vector<unsigned char> block(block_bytes);
        while (next < total_bytes) {
            guint32 at = next;
            next += block_bytes;
            access(tlm::TLM_READ_COMMAND, source_va + at, block);
            access(tlm::TLM_WRITE_COMMAND, target_va + at, block);
        }
    }
};

/* From the port to the initiator and back. */
static void over(void *user, FaultKind fault)
{
    TlmAccess *access = static_cast<TlmAccess *>(user);
    access->done(access, fault == FAULT_NONE);
}

static void serve(void *user, TlmAccess *access)
{
    external_initiator_access(static_cast<ExternalInitiator *>(user), access->kind == TLM_ACCESS_WRITE, access->address,
                              access->data, access->bytes, over, access);
}

int main()
{
    GError *error = nullptr;
    TlmPort *port = tlm_port_new("port", &error); /* components first: SystemC wants them early */
    Dma dma("dma");
    dma.socket.bind(tlm_port_target_socket(port));

    FabricSpec spec = {};
    ParamSet *params = param_set_new();
    fabric_params(params, &spec);
    SimSpec sim_spec = {};
    Sim *sim = sim_new(&sim_spec, &error);
    if (!preset_load(params, "dgx-h100", &error)) {
        fprintf(stderr, "%s\n", error->message);
        return 1;
    }
    Fabric *fabric = fabric_new(sim, &spec, TRUE, &error);
    Vas *vas = vas_new(fabric->memory);

    MemRegion *source = memory_region_new(fabric->memory, 1, total_bytes, &error);
    vas_set_access(vas_map(vas, source_va, total_bytes, source, nullptr, 0), 0, VAS_ACCESS_READ);
    memset(source->host, 0x5a, total_bytes);
    McObject *object = fabric_mc_object(fabric, 8, total_bytes);
    MemRegion *copy[8];
    for (guint16 gpu = 0; gpu < 8; gpu++)
        mcobject_add_member(object, gpu);
    fabric_mc_attach(fabric, object);
    for (guint16 gpu = 0; gpu < 8; gpu++) {
        copy[gpu] = memory_region_new(fabric->memory, gpu, total_bytes, &error);
        mcobject_bind(object, gpu, 0, copy[gpu], 0, total_bytes);
    }
    vas_set_access(vas_map(vas, target_va, total_bytes, nullptr, object, 0), 0, VAS_ACCESS_READWRITE);

    ExternalInitiator *initiator = external_initiator_new(fabric, vas, 0);
    tlm_port_attach(port, sim, serve, initiator);
    SimStatus status = sim_run(sim, SIMTIME_NEVER);
    int wrong = status != SIM_IDLE || dma.failed > 0;
    for (MemRegion *region : copy)
        wrong += memcmp(region->host, source->host, total_bytes) != 0;
    guint64 now_ns = sim_now_ps(sim) / PS_PER_NS;
    printf("%u KiB read from GPU 1 and written to 8 GPUs in %" G_GUINT64_FORMAT
           " ns by 4 channels of %u B: %" G_GUINT64_FORMAT " MB/s, %s\n",
           total_bytes / 1024, now_ns, block_bytes, (guint64)total_bytes * 1000 / now_ns, wrong ? "WRONG" : "verified");

    tlm_port_attach(port, nullptr, nullptr, nullptr);
    external_initiator_free(initiator);
    vas_unmap(vas, source_va, total_bytes);
    vas_unmap(vas, target_va, total_bytes);
    vas_free(vas);
    fabric_mc_detach(fabric, object);
    mcobject_free(object);
    fabric_free(fabric); /* and the memory with it */
    sim_free(sim);
    param_set_free(params);
    return wrong ? 2 : 0;
}
