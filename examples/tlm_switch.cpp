/* A switch of your own as a SystemC module with TLM-2.0 sockets, loosely timed, in the place of the built-in ones.
 *
 *     g++ -shared -fPIC -I$(pkg-config --variable=includedir fanout) tlm_switch.cpp -o tlm_switch.so -lsystemc
 *     fanout coll all_reduce -s dgx-h100 -a nvls -b 64K --set switch.component=./tlm_switch.so
 *
 * First comes an adapter, which makes of fanout/component.h's functions one socket in each direction and is to be
 * copied as it is; then the switch, which is an example to be changed: it sends what is for one GPU on, replicates
 * requests of teams, and counts and sums the answers. Both know Fanout by that header alone.
 *
 * A payload is a write of one FoPacket to an address, the port's number. In: the packet takes room in the buffer of its
 * port until b_transport returns, one packet of a port and channel after the other. Out: b_transport returns when the
 * packet is in the port's queue, or, if the payload's streaming width is its length (else it is 0), when it goes on the
 * wire: a module that waits for that holds the buffer until then, as the built-in switch does. */
#include <fanout/component.h>

#include <systemc>

#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <deque>
#include <map>
#include <vector>

using sc_core::sc_time;

/* ---- the adapter */

class Ports : public sc_core::sc_module
{
  public:
    tlm_utils::simple_initiator_socket<Ports, 64> in; /* what comes in from the links, to the module */
    tlm_utils::simple_target_socket<Ports, 64> out;   /* what the module sends */
    const FoSwitch *sw = nullptr;                     /* of the simulation that runs */

    Ports(sc_core::sc_module_name name, unsigned ports) : sc_module(name), in("in"), out("out"), lane(2 * ports)
    {
        out.register_b_transport(this, &Ports::send);
        for (unsigned n = 0; n < lane.size(); n++)
            lane[n].process = sc_core::sc_spawn([this, n] { carry(n); }, sc_core::sc_gen_unique_name("lane"));
    }
    unsigned ports() const { return (unsigned)lane.size() / 2; }
    /* Waits until the fabric is done with this instant. FALSE: the run is over. */
    bool enter() const
    {
        for (;;) {
            switch (sw ? sw->enter(sw) : FO_ENTRY_CLOSED) {
            case FO_ENTRY_OPEN: return true;
            case FO_ENTRY_CLOSED: return false;
            case FO_ENTRY_LATER: sc_core::wait(sc_core::SC_ZERO_TIME);
            }
        }
    }
    void accept(const FoSwitch *from, unsigned port, const FoPacket *packet)
    {
        if (sw != from) /* another simulation runs from now on */
            begin_anew();
        sw = from;
        Lane &to = lane[2 * port + fo_channel(packet)];
        to.waiting.push_back(*packet);
        to.more.notify(sc_time::from_value(sw->delay_ps(sw)));
    }
    void departed(void *token) { static_cast<Departure *>(token)->gone.notify(sc_time::from_value(sw->delay_ps(sw))); }
    void end()
    {
        sw = nullptr;
        for (Lane &each : lane)
            each.waiting.clear();
    }

  private:
    struct Lane { /* of a port and channel */
        std::deque<FoPacket> waiting;
        sc_core::sc_event more;
        sc_core::sc_process_handle process;
        bool busy = false; /* the module has a packet of it */
    };
    struct Departure {
        sc_core::sc_event gone;
    };
    std::vector<Lane> lane;
    std::vector<Departure *> all, free;

    void begin_anew();
    void carry(unsigned n);
    void send(tlm::tlm_generic_payload &payload, sc_time &delay);
};

/* A simulation may have ended with packets in the module (it got stuck, or was not worth its end, as with -a best):
 * processes that still wait for what became of them leave the module, and begin anew. */
void Ports::begin_anew()
{
    end();
    for (Lane &each : lane)
        if (each.busy) {
            each.busy = false;
            each.process.reset();
        }
    for (Departure *each : all)
        each->gone.cancel();
    free = all;
}

/* What has come in goes to the module, packet after packet; each gives its room back when the module has it no more. */
void Ports::carry(unsigned n)
{
    for (;;) {
        while (lane[n].waiting.empty())
            sc_core::wait(lane[n].more);
        FoPacket packet = lane[n].waiting.front();
        const unsigned flits = packet.flits;
        tlm::tlm_generic_payload payload;
        sc_time delay = sc_core::SC_ZERO_TIME;
        payload.set_command(tlm::TLM_WRITE_COMMAND);
        payload.set_address(n / 2);
        payload.set_data_ptr(reinterpret_cast<unsigned char *>(&packet));
        payload.set_data_length(sizeof packet);
        payload.set_streaming_width(sizeof packet);
        lane[n].waiting.pop_front();
        lane[n].busy = true;
        in->b_transport(payload, delay);
        sc_core::wait(delay);
        lane[n].busy = false;
        if (enter()) {
            sw->release(sw, n / 2, n % 2, flits);
            sw->leave();
        }
    }
}

void Ports::send(tlm::tlm_generic_payload &payload, sc_time &delay)
{
    const bool to_the_wire = payload.get_streaming_width() == payload.get_data_length();
    Departure *departure = nullptr;
    sc_core::wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    if (payload.get_address() >= ports() || !enter())
        return;
    if (to_the_wire && free.empty()) {
        all.push_back(new Departure);
        free.push_back(all.back());
    }
    if (to_the_wire) {
        departure = free.back();
        free.pop_back();
    }
    const FoPacket *packet = reinterpret_cast<FoPacket *>(payload.get_data_ptr());
    sw->send(sw, (unsigned)payload.get_address(), packet, 0, departure);
    sw->leave();
    if (departure) {
        sc_core::wait(departure->gone);
        free.push_back(departure);
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

/* ---- the switch */

struct Crossbar : sc_core::sc_module {
    tlm_utils::simple_target_socket<Crossbar, 64> in;
    tlm_utils::simple_initiator_socket<Crossbar, 64> out;
    const Ports &fabric;

    explicit Crossbar(sc_core::sc_module_name name, const Ports &ports)
        : sc_module(name), in("in"), out("out"), fabric(ports)
    {
        in.register_b_transport(this, &Crossbar::take);
    }

  private:
    /* A request of a team, until all members have answered. */
    struct Request {
        FoPacket packet;
        unsigned port, left;
        bool whole; /* all operands have come with data */
        std::vector<std::vector<uint8_t>> operand;
    };
    std::map<unsigned, Request> requests; /* by number */
    sc_core::sc_event closed;

    void take(tlm::tlm_generic_payload &payload, sc_time &delay)
    {
        const FoPacket &packet = *reinterpret_cast<FoPacket *>(payload.get_data_ptr());
        const unsigned port = (unsigned)payload.get_address();
        sc_core::wait(delay);
        delay = sc_core::SC_ZERO_TIME;
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        if (packet.kind == FO_PACKET_MC_ACK || packet.kind == FO_PACKET_MC_OPERAND)
            gather(packet);
        else if (packet.kind >= FO_PACKET_MC_WRITE && packet.kind <= FO_PACKET_MC_READ)
            replicate(port, packet);
        else
            pass(port, packet);
    }
    /* Sends a packet, and waits until it is on the wire or in the queue. */
    void forward(unsigned port, FoPacket packet, bool to_the_wire)
    {
        tlm::tlm_generic_payload payload;
        sc_time delay = sc_core::SC_ZERO_TIME;
        payload.set_command(tlm::TLM_WRITE_COMMAND);
        payload.set_address(port);
        payload.set_data_ptr(reinterpret_cast<unsigned char *>(&packet));
        payload.set_data_length(sizeof packet);
        payload.set_streaming_width(to_the_wire ? sizeof packet : 0);
        out->b_transport(payload, delay);
        sc_core::wait(delay);
    }
    void pass(unsigned port, const FoPacket &packet)
    {
        const unsigned gpu = fo_channel(&packet) ? packet.src : packet.dst;
        forward(fabric.sw->route(fabric.sw, port, gpu), packet, true);
    }
    /* One replica after the other joins its queue; the last one's way to the wire holds the buffer. */
    void replicate(unsigned port, const FoPacket &packet)
    {
        std::vector<unsigned> member(fabric.ports());
        const FoSwitch *sw = fabric.sw;
        unsigned number = 0;
        while (number == 0) {
            if (!fabric.enter())
                return;
            number = sw->open(sw, &packet);
            member.resize(sw->team(sw, port, &packet, member.data()));
            sw->leave();
            if (number == 0) {
                member.resize(fabric.ports());
                sc_core::wait(closed);
            }
        }
        FoPacket replica = packet;
        requests[number] = Request{packet, port, (unsigned)member.size(), true, {}};
        replica.number = number;
        for (size_t m = 0; m < member.size(); m++)
            forward(member[m], replica, m + 1 == member.size());
    }
    void gather(const FoPacket &answer)
    {
        Request &request = requests[answer.number];
        if (answer.bytes)
            request.operand.emplace_back(answer.data, answer.data + answer.bytes);
        request.whole = request.whole && answer.bytes != 0;
        if (--request.left == 0)
            finish(answer.number);
    }
    void finish(unsigned number)
    {
        const Request request = requests[number];
        const FoSwitch *sw = fabric.sw;
        const bool read = request.packet.kind == FO_PACKET_MC_READ;
        FoPacket answer = request.packet;
        std::vector<const uint8_t *> operand;
        for (const std::vector<uint8_t> &each : request.operand)
            operand.push_back(each.data());
        requests.erase(number);
        if (!fabric.enter())
            return;
        uint8_t sum[sizeof answer.data];
        const bool has_sum = read && request.whole;
        if (has_sum)
            sw->sum(sw, number, operand.data(), (unsigned)operand.size(), sum);
        sw->close(sw, number, has_sum ? sum : nullptr);
        sw->leave();
        closed.notify();
        answer.kind = read ? FO_PACKET_MC_RSP : FO_PACKET_MC_DONE;
        answer.flits = read ? answer.answer_flits : sw->done_flits;
        answer.dst = answer.src;
        forward(request.port, answer, false);
    }
};

/* ---- what Fanout finds */

/* A switch of one simulation. Several may have begun, of which one runs; modules live as long as the process. */
struct Session {
    Ports *ports;
    const FoSwitch *sw;
};

static void *begin(const FoSwitch *sw)
{
    static std::vector<Ports *> made; /* by switch */
    try {
        while (made.size() <= sw->id) {
            Ports *ports = new Ports(sc_core::sc_gen_unique_name("ports"), sw->ports);
            Crossbar *crossbar = new Crossbar(sc_core::sc_gen_unique_name("crossbar"), *ports);
            ports->in.bind(crossbar->in);
            crossbar->out.bind(ports->out);
            made.push_back(ports);
        }
    } catch (const std::exception &) {
        return nullptr; /* time has moved: no more modules can be made */
    }
    return made[sw->id]->ports() < sw->ports ? nullptr : new Session{made[sw->id], sw};
}

static void accept(void *self, unsigned port, const FoPacket *packet)
{
    const Session *session = static_cast<Session *>(self);
    session->ports->accept(session->sw, port, packet);
}

static void departed(void *self, void *token) { static_cast<Session *>(self)->ports->departed(token); }

static void end(void *self)
{
    Session *session = static_cast<Session *>(self);
    if (session->ports->sw == session->sw)
        session->ports->end();
    delete session;
}

const FoComponent fo_component = {FO_COMPONENT_VERSION, "crossbar", begin, accept, departed, end};
