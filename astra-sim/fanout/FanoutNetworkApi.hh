/* ASTRA-sim's network interface over libfanout: every message of its system layer becomes packets on the simulated
 * NVLink fabric, and its clock is the simulator's. One simulator serves all ranks; rank r is GPU r. */
#ifndef FANOUT_NETWORK_API_HH
#define FANOUT_NETWORK_API_HH

#include "astra-sim/common/AstraNetworkAPI.hh"
#include <fanout/sim.h>
#include <string>
#include <vector>

namespace FanoutBackend {

/* A network configuration: lines `key = value`; `#` begins a comment. system: a preset or an INI file (dgx-h100);
 * gpus: how many of its GPUs are ranks (all); set: section.key=value, may be repeated; report: a file for the JSON
 * report. */
struct Configuration {
    std::string system = "dgx-h100";
    unsigned gpus = 0;
    std::vector<std::string> sets;
    std::string report;
};
/* Ends the program with the file, the line and what would be right, where it is wrong. */
Configuration read_configuration(const std::string& path);

/* Opens the simulator; ends the program with libfanout's words where there is no such system. */
FoSim* open(Configuration& configuration);

class NetworkApi : public AstraSim::AstraNetworkAPI {
  public:
    NetworkApi(FoSim* sim, int rank) : AstraNetworkAPI(rank), sim(sim) {}

    int sim_send(void* buffer, uint64_t count, int type, int dst, int tag, AstraSim::sim_request* request,
                 void (*msg_handler)(void* fun_arg), void* fun_arg) override;
    int sim_recv(void* buffer, uint64_t count, int type, int src, int tag, AstraSim::sim_request* request,
                 void (*msg_handler)(void* fun_arg), void* fun_arg) override;
    void sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void* fun_arg), void* fun_arg) override;
    AstraSim::timespec_t sim_get_time() override;

    /* Of nvls.patch: a collective of these ranks, as fanout coll has it ("all_reduce", "nvls"). The last rank that
     * comes starts it, and the handlers of all are called at its end. Without the patch nothing calls it. */
    virtual void sim_collective(const char* op, const char* algo, uint64_t bytes, const std::vector<int>& ranks,
                                int tag, void (*handler)(void* fun_arg), void* fun_arg);

  private:
    FoSim* sim;
};

/* Calls what libfanout says, and ends the program with its words where that is an error. */
void check(FoSim* sim, FoSimError error);

} // namespace FanoutBackend

#endif
