#include "FanoutNetworkApi.hh"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <tuple>

using namespace AstraSim;

namespace FanoutBackend {

/* ---- configuration */

static std::string trim(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

Configuration read_configuration(const std::string& path) {
    Configuration made;
    std::ifstream file(path);
    std::string line;
    auto die = [&](int number, const std::string& what) {
        std::fprintf(stderr, "%s:%d: %s\n", path.c_str(), number, what.c_str());
        std::exit(1);
    };
    if (!file) {
        die(0, "cannot be read");
    }
    for (int number = 1; std::getline(file, line); number++) {
        line = trim(line.substr(0, line.find('#')));
        if (line.empty()) {
            continue;
        }
        const auto equals = line.find('=');
        const std::string key = trim(line.substr(0, equals));
        const std::string value = equals == std::string::npos ? "" : trim(line.substr(equals + 1));
        if (value.empty()) {
            die(number, "'" + line + "' is no 'key = value'");
        } else if (key == "system") {
            made.system = value;
        } else if (key == "set") {
            made.sets.push_back(value);
        } else if (key == "report") {
            made.report = value;
        } else if (key == "gpus") {
            char* end = nullptr;
            const auto gpus = std::strtoul(value.c_str(), &end, 10);
            if (*end != '\0' || gpus < 1 || gpus > 65535) {
                die(number, "gpus: '" + value + "' is no number of GPUs");
            }
            made.gpus = static_cast<unsigned>(gpus);
        } else {
            die(number, "unknown key '" + key + "'; system, gpus, set and report are known");
        }
    }
    return made;
}

void check(FoSim* sim, FoSimError error) {
    if (error != FO_SIM_OK) {
        std::fprintf(stderr, "fanout: %s: %s\n", fo_sim_error_name(error), fo_sim_error_text(sim));
        std::exit(1);
    }
}

FoSim* open(Configuration& configuration) {
    std::vector<const char*> sets;
    for (const auto& set : configuration.sets) {
        sets.push_back(set.c_str());
    }
    sets.push_back(nullptr);
    FoSimSpec spec = {};
    spec.version = FO_SIM_VERSION;
    spec.system = configuration.system.c_str();
    spec.sets = sets.data();
    FoSim* sim = nullptr;
    check(sim, fo_sim_open(&sim, &spec) ? FO_SIM_ERROR_SYSTEM : FO_SIM_OK);
    if (configuration.gpus == 0) {
        configuration.gpus = fo_sim_gpus(sim);
    }
    if (configuration.gpus > fo_sim_gpus(sim)) {
        std::fprintf(stderr, "fanout: gpus: %s has %u, not %u\n", configuration.system.c_str(), fo_sim_gpus(sim),
                     configuration.gpus);
        std::exit(1);
    }
    return sim;
}

/* ---- messages and events */

struct Handler {
    void (*call)(void*);
    void* argument;
};

static void on_done(FoSim* sim, const FoSimDone* done, void* user) {
    const std::unique_ptr<Handler> handler(static_cast<Handler*>(user));
    if (done->error != FO_SIM_OK) {
        std::fprintf(stderr, "fanout: %s: %s\n", fo_sim_error_name(done->error), done->text ? done->text : "");
        std::exit(1);
    }
    (void)sim;
    if (handler->call) {
        handler->call(handler->argument);
    }
}

static void on_event(FoSim* sim, void* user) {
    const std::unique_ptr<Handler> handler(static_cast<Handler*>(user));
    (void)sim;
    handler->call(handler->argument);
}

/* What a rank sends to itself crosses no link. */
static bool is_own(FoSim* sim, int a, int b, void (*handler)(void*), void* argument) {
    if (a == b && handler) {
        check(sim, fo_sim_schedule(sim, fo_sim_now_ps(sim), on_event, new Handler{handler, argument}));
    }
    return a == b;
}

static FoSimMessage message(int from, int to, uint64_t count, int tag) {
    FoSimMessage made = {};
    made.from = static_cast<uint32_t>(from);
    made.to = static_cast<uint32_t>(to);
    made.bytes = count ? count : 1; /* an empty message is a flag */
    made.tag = static_cast<uint64_t>(tag);
    return made;
}

int NetworkApi::sim_send(void*, uint64_t count, int, int dst, int tag, sim_request*, void (*msg_handler)(void*),
                         void* fun_arg) {
    if (!is_own(sim, rank, dst, msg_handler, fun_arg)) {
        const FoSimMessage made = message(rank, dst, count, tag);
        check(sim, fo_sim_send(sim, fo_sim_now_ps(sim), &made, on_done, new Handler{msg_handler, fun_arg}));
    }
    return 0;
}

int NetworkApi::sim_recv(void*, uint64_t count, int, int src, int tag, sim_request*, void (*msg_handler)(void*),
                         void* fun_arg) {
    if (!is_own(sim, src, rank, msg_handler, fun_arg)) {
        const FoSimMessage made = message(src, rank, count, tag);
        check(sim, fo_sim_recv(sim, fo_sim_now_ps(sim), &made, on_done, new Handler{msg_handler, fun_arg}));
    }
    return 0;
}

void NetworkApi::sim_schedule(timespec_t delta, void (*fun_ptr)(void*), void* fun_arg) {
    const double ps = std::nearbyint(static_cast<double>(delta.time_val) * 1000); /* time_res is NS everywhere */
    check(sim, fo_sim_schedule(sim, fo_sim_now_ps(sim) + (ps > 0 ? static_cast<uint64_t>(ps) : 0), on_event,
                               new Handler{fun_ptr, fun_arg}));
}

timespec_t NetworkApi::sim_get_time() {
    timespec_t now;
    now.time_res = NS;
    now.time_val = static_cast<double>(fo_sim_now_ps(sim)) / 1000;
    return now;
}

/* ---- collectives in the switch */

struct Meeting {
    std::vector<Handler> handlers;
};

static void on_collective(FoSim* sim, const FoSimDone* done, void* user) {
    const std::unique_ptr<Meeting> meeting(static_cast<Meeting*>(user));
    if (done->error != FO_SIM_OK) {
        std::fprintf(stderr, "fanout: %s: %s\n", fo_sim_error_name(done->error), done->text ? done->text : "");
        std::exit(1);
    }
    for (const auto& handler : meeting->handlers) {
        check(sim, fo_sim_schedule(sim, fo_sim_now_ps(sim), on_event, new Handler(handler)));
    }
}

void NetworkApi::sim_collective(const char* op, const char* algo, uint64_t bytes, const std::vector<int>& ranks,
                                int tag, void (*handler)(void*), void* fun_arg) {
    static std::map<std::tuple<std::vector<int>, int>, std::unique_ptr<Meeting>> meetings;
    auto& meeting = meetings[{ranks, tag}];
    if (!meeting) {
        meeting = std::make_unique<Meeting>();
    }
    meeting->handlers.push_back({handler, fun_arg});
    if (meeting->handlers.size() < ranks.size()) {
        return;
    }
    const std::vector<uint32_t> numbers(ranks.begin(), ranks.end());
    FoSimCollective made = {};
    made.op = op;
    made.algo = algo;
    made.bytes = bytes;
    made.gpus = numbers.data();
    made.n = static_cast<uint32_t>(numbers.size());
    check(sim, fo_sim_coll(sim, fo_sim_now_ps(sim), &made, on_collective, meeting.release()));
    meetings.erase({ranks, tag});
}

} // namespace FanoutBackend
