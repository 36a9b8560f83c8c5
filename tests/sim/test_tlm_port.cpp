/* A SystemC component plugged into a Sim: its times, its order against our events, its errors. */
#define SC_INCLUDE_DYNAMIC_PROCESSES
#include <systemc>

#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

extern "C" {
#include "tests/test.h"
}

#include "sim/engine/sim.h"
#include "sim/engine/tlm_port.h"

using namespace sc_core;

/* AddressSanitizer loses track of stacks when SystemC has switched them and then throws. */
#ifdef __SANITIZE_ADDRESS__
#define SKIP_WHERE_EXCEPTIONS_CONFUSE skip();
#else
#define SKIP_WHERE_EXCEPTIONS_CONFUSE
#endif

static GString *trail;

#define MEMORY_BYTES 256
#define FABRIC_PS 500

/* What stands behind the port: a memory that answers 500 ps after an access began. */
struct Memory {
    Event answer;
    Sim *sim;
    TlmAccess *access;
    guint8 bytes[MEMORY_BYTES];
};

static void memory_answer(Event *event, SimTime now_ps)
{
    Memory *memory = EVENT_OWNER(event, Memory, answer);
    TlmAccess *access = memory->access;
    gboolean fine = access->address + access->bytes <= MEMORY_BYTES;

    g_string_append_printf(trail, "answer@%" G_GUINT64_FORMAT " ", now_ps);
    if (fine && access->kind == TLM_ACCESS_WRITE)
        memcpy(memory->bytes + access->address, access->data, access->bytes);
    else if (fine)
        memcpy(access->data, memory->bytes + access->address, access->bytes);
    access->done(access, fine);
}

static void memory_serve(void *user, TlmAccess *access)
{
    Memory *memory = (Memory *)user;
    g_string_append_printf(trail, "serve@%" G_GUINT64_FORMAT " ", sim_now_ps(memory->sim));
    memory->access = access;
    event_init(&memory->answer, memory_answer);
    sim_after(memory->sim, &memory->answer, FABRIC_PS, EVENT_PRIORITY_FABRIC);
}

/* The user's component: writes, reads back, and serves accesses itself after 30 ps. */
struct Component : sc_module {
    tlm_utils::simple_initiator_socket<Component, 64> initiator;
    tlm_utils::simple_target_socket<Component, 64> target;
    sc_event start;
    guint64 address = 0;
    bool broken = false;
    guint64 value = 0;
    tlm::tlm_response_status status[2];
    sc_time began;

    SC_HAS_PROCESS(Component);
    explicit Component(sc_module_name name) : sc_module(name), initiator("initiator"), target("target")
    {
        target.register_b_transport(this, &Component::serve);
        SC_THREAD(run);
    }
    tlm::tlm_response_status access(tlm::tlm_command command, guint64 *data, sc_time delay)
    {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char *>(data));
        payload.set_data_length(8);
        payload.set_streaming_width(8);
        initiator->b_transport(payload, delay);
        g_string_append_printf(trail, "component@%" G_GUINT64_FORMAT " ", (guint64)(sc_time_stamp() - began).value());
        return payload.get_response_status();
    }
    void run()
    {
        for (;;) {
            wait(start);
            began = sc_time_stamp();
            if (broken)
                SC_REPORT_ERROR("component", "it broke");
            guint64 out = 0x1122334455667788;
            wait(1000, SC_PS);
            status[0] = access(tlm::TLM_WRITE_COMMAND, &out, sc_time(200, SC_PS));
            status[1] = access(tlm::TLM_READ_COMMAND, &value, SC_ZERO_TIME);
        }
    }
    void serve(tlm::tlm_generic_payload &payload, sc_time &delay)
    {
        g_string_append_printf(trail, "component serves@%" G_GUINT64_FORMAT " ",
                               (guint64)(sc_time_stamp() - began).value());
        wait(10, SC_PS);
        memset(payload.get_data_ptr(), 0x5a, payload.get_data_length());
        delay += sc_time(20, SC_PS);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};

static TlmPort *port;
static Component *component;

struct Ticker {
    Event event;
    Sim *sim;
    SimTime step_ps;
    int left;
};

static void tick(Event *event, SimTime now_ps)
{
    Ticker *ticker = EVENT_OWNER(event, Ticker, event);
    g_string_append_printf(trail, "tick@%" G_GUINT64_FORMAT " ", now_ps);
    if (--ticker->left > 0)
        sim_after(ticker->sim, event, ticker->step_ps, EVENT_PRIORITY_LAST);
}

/* One run of the component among ticks of ours; the caller frees the trail. */
static Sim *begin(SimCalendar calendar, Memory *memory, Ticker *ticker)
{
    SimSpec spec = {};
    spec.calendar = calendar;
    Sim *sim = sim_new(&spec, nullptr);
    trail = g_string_new(nullptr);
    memory->sim = sim;
    ticker->sim = sim;
    event_init(&ticker->event, tick);
    sim_at(sim, &ticker->event, ticker->step_ps, EVENT_PRIORITY_LAST);
    tlm_port_attach(port, sim, memory_serve, memory);
    component->start.notify(SC_ZERO_TIME);
    return sim;
}

static void end(Sim *sim)
{
    tlm_port_attach(port, nullptr, nullptr, nullptr);
    sim_free(sim);
    g_string_free(trail, TRUE);
}

/* Proves that a component's accesses begin and end at the right times among our events, ours first
 * at equal times, and that its bytes arrive, alike on both calendars. */
static void test_component_initiates(void **)
{
    for (int calendar = 0; calendar < 2; calendar++) {
        Memory memory = {};
        Ticker ticker = {{}, nullptr, 300, 8};
        component->address = 16;
        component->value = 0;
        Sim *sim = begin((SimCalendar)calendar, &memory, &ticker);
        assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
        assert_string_equal(trail->str, "tick@300 tick@600 tick@900 tick@1200 serve@1200 tick@1500 "
                                        "answer@1700 component@1700 serve@1700 tick@1800 tick@2100 "
                                        "answer@2200 component@2200 tick@2400 ");
        assert_int_equal(component->status[0], tlm::TLM_OK_RESPONSE);
        assert_int_equal(component->value, 0x1122334455667788);
        assert_int_equal(memory.bytes[16], 0x88);
        end(sim);
    }
}

/* Proves that a run may end between a component's deeds and go on, at the same times. */
static void test_limits(void **)
{
    for (int calendar = 0; calendar < 2; calendar++) {
        Memory memory = {};
        Ticker ticker = {{}, nullptr, 1000, 1};
        Sim *sim = begin((SimCalendar)calendar, &memory, &ticker);
        assert_int_equal(sim_run(sim, 100), SIM_LIMIT);
        assert_int_equal(sim_run(sim, 1100), SIM_LIMIT);
        assert_int_equal(sim_now_ps(sim), 1100);
        assert_int_equal(sim_run(sim, 1200), SIM_LIMIT);
        assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
        assert_string_equal(trail->str, "tick@1000 serve@1200 answer@1700 component@1700 "
                                        "serve@1700 answer@2200 component@2200 ");
        end(sim);
    }
}

/* Proves that what the fabric refuses, and what comes while no Sim runs, ends in a TLM error
 * response. */
static void test_refusals(void **)
{
    Memory memory = {};
    Ticker ticker = {{}, nullptr, 300, 1};
    component->address = MEMORY_BYTES;
    Sim *sim = begin(SIM_CALENDAR_WHEEL, &memory, &ticker);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(component->status[0], tlm::TLM_ADDRESS_ERROR_RESPONSE);
    assert_int_equal(component->status[1], tlm::TLM_ADDRESS_ERROR_RESPONSE);
    end(sim);

    sim = begin(SIM_CALENDAR_WHEEL, &memory, &ticker);
    tlm_port_attach(port, nullptr, nullptr, nullptr);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(component->status[0], tlm::TLM_GENERIC_ERROR_RESPONSE);
    end(sim);
    component->address = 16;
}

struct Asker {
    Event event;
    Event poll;
    TlmAccess access;
    guint8 data[8];
};

static void asked(TlmAccess *access, gboolean fine)
{
    Sim *sim = (Sim *)access->user;
    g_string_append_printf(trail, "%s %02x@%" G_GUINT64_FORMAT " ", fine ? "got" : "refused", access->data[7],
                           sim_now_ps(sim));
}

static void ask(Event *event, SimTime)
{
    Asker *asker = EVENT_OWNER(event, Asker, event);
    tlm_port_access(port, &asker->access);
}

/* Proves that accesses to the component begin at our time though the engine ran ahead, overlap,
 * and end after the component's own waits and delays. */
static void test_component_serves(void **)
{
    for (int calendar = 0; calendar < 2; calendar++) {
        Memory memory = {};
        Ticker ticker = {{}, nullptr, 100, 4};
        Asker askers[2] = {};
        Sim *sim = begin((SimCalendar)calendar, &memory, &ticker);
        for (int i = 0; i < 2; i++) {
            askers[i].access = TlmAccess{TLM_ACCESS_READ, 0, askers[i].data, 8, asked, sim};
            event_init(&askers[i].event, ask);
            sim_at(sim, &askers[i].event, (SimTime)(190 + 5 * i), EVENT_PRIORITY_FABRIC);
        }
        assert_int_equal(sim_run(sim, 900), SIM_LIMIT);
        assert_string_equal(trail->str, "tick@100 component serves@190 component serves@195 tick@200 "
                                        "got 5a@220 got 5a@225 tick@300 tick@400 ");
        assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
        end(sim);
    }
}

/* Proves that ports cannot be made once time has moved, and that the error says so. */
static void test_too_late(void **)
{
    SKIP_WHERE_EXCEPTIONS_CONFUSE
    GError *error = nullptr;
    assert_null(tlm_port_new("late", &error));
    assert_non_null(strstr(error->message, "TLM port 'late'"));
    g_error_free(error);
}

/* Proves that an error which a component raises ends the run as stuck, with its words; the last
 * test, as SystemC is unusable afterwards. */
static void test_component_breaks(void **)
{
    SKIP_WHERE_EXCEPTIONS_CONFUSE
    Memory memory = {};
    Ticker ticker = {{}, nullptr, 300, 3};
    component->broken = true;
    Sim *sim = begin(SIM_CALENDAR_WHEEL, &memory, &ticker);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_STUCK);
    char **lines = sim_waiters(sim);
    assert_non_null(lines[0]);
    assert_non_null(strstr(lines[0], "it broke"));
    g_strfreev(lines);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_STUCK);
    end(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_component_initiates),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_component_serves),
        cmocka_unit_test(test_too_late),
        cmocka_unit_test(test_component_breaks),
    };
    port = tlm_port_new("port", nullptr);
    component = new Component("component");
    component->initiator.bind(tlm_port_target_socket(port));
    component->target.bind(tlm_port_initiator_socket(port));

    /* The component's thread starts with SystemC; only then it hears its start event. */
    SimSpec spec = {};
    Sim *sim = sim_new(&spec, nullptr);
    sim_run(sim, 0);
    sim_free(sim);
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
