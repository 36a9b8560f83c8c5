/* A launcher as mpirun is one: it starts a rank, and when it is told to end it tells the rank, waits a second and
 * kills it. The rank has called the driver and runs for ever without a call then, so that simulated time stands
 * still. */
#include <fanout/cuda.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t told;
static void on_signal(int number)
{
    (void)number;
    told = 1;
}

int main(int argc, char **argv)
{
    int signal_number = argc > 1 && !strcmp(argv[1], "HUP") ? SIGHUP : SIGTERM;
    struct sigaction action = {.sa_handler = on_signal};
    volatile unsigned long turns = 0;
    sigaction(signal_number, &action, NULL);
    pid_t rank = fork();

    if (rank == 0) {
        signal(signal_number, SIG_IGN);
        if (cuInit(0) != CUDA_SUCCESS)
            exit(1);
        printf("runs\n");
        fflush(stdout);
        for (;;)
            turns = turns + 1;
    }
    while (!told)
        pause();
    kill(rank, signal_number);
    sleep(1);
    kill(rank, SIGKILL);
    waitpid(rank, NULL, 0);
    return 3;
}
