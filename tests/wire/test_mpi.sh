#!/bin/sh
# Proves that ranks of Open MPI which wait for one another let simulated time pass, with as many processors as ranks too:
# rank 0 sleeps for 100 us of it while rank 1 waits in a barrier, which Open MPI does by looking again and again.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
libs=$(dirname "$FANOUT")/.libs
[ -f "$libs/libcuda.so.1" ] || { echo "no $libs/libcuda.so.1"; exit 77; }
. "$TOP_SRCDIR/tests/plain.sh"
command -v mpicc >/dev/null && command -v mpirun >/dev/null || { echo "no Open MPI; 'apt-get install libopenmpi-dev' brings it"; exit 77; }
mpirun --version 2>/dev/null | grep -q 'Open MPI' || { echo "mpirun is not Open MPI's; 'apt-get install libopenmpi-dev' brings it"; exit 77; }
cat >"$dir/ranks.c" <<'C'
#include <fanout/cuda.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (cuInit(0) != CUDA_SUCCESS)
        return 1;
    for (int i = 0; i < 3; i++) {
        if (rank == i % 2)
            usleep(100);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    printf("rank %d\n", rank);
    MPI_Finalize();
    return 0;
}
C
mpicc -std=gnu11 -I"$TOP_SRCDIR/api/include" "$dir/ranks.c" -o "$dir/ranks" "$libs/libcuda.so.1" -Wl,-rpath-link,"$libs"
root=
[ "$(id -u)" != 0 ] || root=--allow-run-as-root
# no bound on processors: a slot for each rank, so that Open MPI does not yield by itself
timeout 60 "$FANOUT" exec -s teach-4gpu --report "$dir/report.json" -- mpirun $root --host localhost:2 -np 2 "$dir/ranks" \
    >"$dir/out" 2>&1 || { cat "$dir/out"; echo "the ranks ended with $?"; exit 1; }
[ "$(grep -c '^rank [01]$' "$dir/out")" = 2 ] || { cat "$dir/out"; exit 1; }
if grep -q 'time has stood still' "$dir/out"; then
    cat "$dir/out"
    exit 1
fi
echo passed
