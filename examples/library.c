/* libfanout in forty lines: a message from GPU to GPU, an all-reduce in the switch, and a report.
 *
 *     cc library.c $(pkg-config --cflags --libs libfanout) -o library && ./library */
#include <fanout/sim.h>
#include <stdio.h>

static void on_end(FoSim *sim, const FoSimDone *done, void *user)
{
    (void)sim;
    printf("%-10s %8llu bytes, %10.3f us to %10.3f us  %s\n", (const char *)user, (unsigned long long)done->bytes,
           (double)done->begin_ps / 1e6, (double)done->end_ps / 1e6, done->error ? done->text : "");
}

static int failed(FoSim *sim, FoSimError error)
{
    if (error)
        fprintf(stderr, "%s: %s\n", fo_sim_error_name(error), fo_sim_error_text(sim));
    return error != FO_SIM_OK;
}

int main(int argc, char **argv)
{
    const FoSimSpec spec = {.version = FO_SIM_VERSION, .system = argc > 1 ? argv[1] : "dgx-h100"};
    const FoSimMessage message = {.from = 0, .to = 1, .bytes = 1 << 20, .tag = 7};
    const FoSimCollective reduce = {.op = "all_reduce", .algo = "nvls", .bytes = 1 << 20};
    FoSimStatistics now;
    FoSim *sim;
    int bad = failed(sim, fo_sim_open(&sim, &spec)) || failed(sim, fo_sim_recv(sim, 0, &message, on_end, "received")) ||
              failed(sim, fo_sim_send(sim, 2000000, &message, on_end, "sent")) || /* at 2 us */
              failed(sim, fo_sim_coll(sim, 50000000, &reduce, on_end, "all_reduce")) ||
              failed(sim, fo_sim_run(sim, FO_SIM_FOREVER)) || failed(sim, fo_sim_statistics(sim, &now, sizeof now));
    if (!bad)
        printf("%llu packets crossed links until %.3f us\n", (unsigned long long)now.crossings,
               (double)now.now_ps / 1e6);
    fo_sim_close(sim);
    return bad;
}
