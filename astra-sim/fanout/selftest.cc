/* The port alone, against ASTRA-sim's header and without its system layer: a ring all-reduce of messages as the system
 * layer sends them, an event, a collective in the switch, and a receive that nothing was sent for.
 *   selftest CONFIGURATION BYTES */
#include "FanoutNetworkApi.hh"
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

using namespace AstraSim;

struct Ring {
    std::vector<std::unique_ptr<FanoutBackend::NetworkApi>> networks;
    std::vector<int> step;
    uint64_t part = 0;
    int left = 0;
};
struct Rank {
    Ring* ring;
    int number;
};

static void on_arrival(void* argument);

static void next_step(Rank* rank) {
    Ring& ring = *rank->ring;
    const int n = static_cast<int>(ring.networks.size()), r = rank->number;
    auto& network = *ring.networks[r];
    network.sim_recv(nullptr, ring.part, 0, (r + n - 1) % n, ring.step[r], nullptr, on_arrival, rank);
    network.sim_send(nullptr, ring.part, 0, (r + 1) % n, ring.step[r], nullptr, nullptr, nullptr);
}

static void on_arrival(void* argument) {
    Rank* const rank = static_cast<Rank*>(argument);
    Ring& ring = *rank->ring;
    if (++ring.step[rank->number] < 2 * (static_cast<int>(ring.networks.size()) - 1)) {
        next_step(rank);
    } else {
        ring.left--;
    }
}

static void count(void* argument) {
    ++*static_cast<int*>(argument);
}

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "selftest CONFIGURATION BYTES\n");
        return 1;
    }
    auto configuration = FanoutBackend::read_configuration(argv[1]);
    FoSim* sim = FanoutBackend::open(configuration);
    const int n = static_cast<int>(configuration.gpus);
    Ring ring;
    std::vector<Rank> ranks;
    std::vector<int> all;
    ring.part = std::strtoull(argv[2], nullptr, 10) / n;
    ring.left = n;
    ring.step.assign(n, 0);
    for (int r = 0; r < n; r++) {
        ring.networks.push_back(std::make_unique<FanoutBackend::NetworkApi>(sim, r));
        ranks.push_back({&ring, r});
        all.push_back(r);
    }
    for (auto& rank : ranks) {
        next_step(&rank);
    }
    FanoutBackend::check(sim, fo_sim_run(sim, FO_SIM_FOREVER));
    const uint64_t ring_ps = fo_sim_now_ps(sim);
    std::printf("ring_us %.3f left %d\n", static_cast<double>(ring_ps) / 1e6, ring.left);

    int ended = 0, fired = 0;
    for (auto& network : ring.networks) {
        network->sim_collective("all_reduce", "nvls", ring.part * n, all, 99, count, &ended);
    }
    FanoutBackend::check(sim, fo_sim_run(sim, FO_SIM_FOREVER));
    std::printf("nvls_us %.3f ended %d\n", static_cast<double>(fo_sim_now_ps(sim) - ring_ps) / 1e6, ended);

    timespec_t later;
    later.time_res = NS;
    later.time_val = 1500;
    const auto before_ns = ring.networks[0]->sim_get_time().time_val;
    ring.networks[0]->sim_schedule(later, count, &fired);
    FanoutBackend::check(sim, fo_sim_run(sim, FO_SIM_FOREVER));
    std::printf("event_ns %.0f fired %d\n",
                static_cast<double>(ring.networks[0]->sim_get_time().time_val - before_ns), fired);

    std::fflush(stdout);
    ring.networks[0]->sim_recv(nullptr, 8, 0, 1, 1, nullptr, count, &fired);
    FanoutBackend::check(sim, fo_sim_run(sim, FO_SIM_FOREVER)); /* which ends the program: nothing was sent */
    return 0;
}
