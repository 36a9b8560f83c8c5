/* ASTRA-sim with libfanout as its network. Its options are those of the analytical front end;
 * --network-configuration names a file as FanoutNetworkApi.hh describes it. */
#include "FanoutNetworkApi.hh"
#include "astra-sim/common/Logging.hh"
#include "astra-sim/system/Sys.hh"
#include "common/CmdLineParser.hh"
#include <cstdio>
#include <fstream>
#include <memory>
#include <remote_memory_backend/analytical/AnalyticalRemoteMemory.hh>

using namespace AstraSim;

int main(int argc, char* argv[]) {
    auto options = AstraSimAnalytical::CmdLineParser(argv[0]);
    options.parse(argc, argv);
    LoggerFactory::init(options.get<std::string>("logging-configuration"), options.get<std::string>("logging-folder"));

    auto configuration = FanoutBackend::read_configuration(options.get<std::string>("network-configuration"));
    FoSim* sim = FanoutBackend::open(configuration);
    const auto ranks = static_cast<int>(configuration.gpus);

    std::vector<std::unique_ptr<FanoutBackend::NetworkApi>> networks;
    const auto memory =
        std::make_unique<Analytical::AnalyticalRemoteMemory>(options.get<std::string>("remote-memory-configuration"));
    std::vector<Sys*> systems;
    for (int rank = 0; rank < ranks; rank++) {
        networks.push_back(std::make_unique<FanoutBackend::NetworkApi>(sim, rank));
        systems.push_back(new Sys(rank, options.get<std::string>("workload-configuration"),
                                  options.get<std::string>("comm-group-configuration"),
                                  options.get<std::string>("system-configuration"), memory.get(), networks[rank].get(),
                                  {ranks}, {options.get<int>("num-queues-per-dim")},
                                  options.get<double>("injection-scale"), options.get<double>("comm-scale"),
                                  options.get<bool>("rendezvous-protocol")));
    }
    for (auto* const system : systems) {
        system->workload->fire();
    }
    FanoutBackend::check(sim, fo_sim_run(sim, FO_SIM_FOREVER));

    FoSimStatistics now = {};
    FanoutBackend::check(sim, fo_sim_statistics(sim, &now, sizeof now));
    std::printf("fanout: %s, %d ranks: %.3f us, %llu sends, receives and collectives, %llu packets over links, "
                "busiest link up %.1f %%\n",
                configuration.system.c_str(), ranks, static_cast<double>(now.now_ps) / 1e6,
                static_cast<unsigned long long>(now.done), static_cast<unsigned long long>(now.crossings),
                now.up_max_pct);
    if (!configuration.report.empty()) {
        std::ofstream(configuration.report) << fo_sim_report(sim);
    }
    for (auto* const system : systems) {
        delete system;
    }
    fo_sim_close(sim);
    LoggerFactory::shutdown();
    return 0;
}
