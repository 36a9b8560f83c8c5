#!/bin/sh
# The front end answers what a real driver answered: the probe that recorded driver.csv is compiled and
# run on the simulated H200, and every row but host timing is compared. Where the real driver crashed, ours
# answers INVALID_VALUE. Needs a CUDA toolkit's header or, failing that, our own under its name.
set -eu
shared=${FANOUT_SHARED:-../shared}
probe=$shared/reference/h200/vmmprobe.c
[ -f "$probe" ] || { echo "no $probe to compare with; FANOUT_SHARED=FOLDER names the reference files"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
libs=$(dirname "$FANOUT")/.libs
[ -f "$libs/libcuda.so.1" ] || { echo "no $libs/libcuda.so.1"; exit 77; }

build() { # build NAME FLAGS...
    name=$1; shift
    ${CC:-cc} -O1 -w "$@" "$probe" -o "$dir/$name" "$libs/libcuda.so.1" -Wl,-rpath-link,"$libs"
}
# driver.csv as "kind,case<tab>answers", less the rows that depend on the host.
rows() {
    grep -v '^kind,\|^host_us,\|^info,devices,' "$1" |
        sed -e 's/,-1,the driver crashed$/,1,CUDA_ERROR_INVALID_VALUE/'
}
compare() {
    CUDA_VISIBLE_DEVICES=0,1 FANOUT_LOG=cuda:error "$FANOUT" exec -s dgx-h200 \
        --set cuda.driver_version=13000 --report "$dir/report.json" -- "$dir/$1" >"$dir/$1.csv"
    rows "$shared/reference/h200/driver.csv" >"$dir/expected"
    rows "$dir/$1.csv" >"$dir/got"
    # every expected row must be there; rows of the probe that the file does not have are not judged
    LC_ALL=C sort "$dir/expected" >"$dir/expected.sorted"
    LC_ALL=C sort "$dir/got" >"$dir/got.sorted"
    if ! LC_ALL=C comm -23 "$dir/expected.sorted" "$dir/got.sorted" >"$dir/missing" || [ -s "$dir/missing" ]; then
        echo "$1: rows of driver.csv that were not answered:"
        cat "$dir/missing"
        exit 1
    fi
    echo "$1: $(wc -l <"$dir/expected") rows are the real driver's"
}

mkdir "$dir/own"
printf '#include <fanout/cuda.h>\n' >"$dir/own/cuda.h"
build probe_own -I"$dir/own" -I"$TOP_SRCDIR/api/include" -DFANOUT_CUDA_VERSION=13000
compare probe_own
for toolkit in "${CUDA_HOME:-/usr/local/cuda}" /opt/cuda; do
    if [ -f "$toolkit/include/cuda.h" ]; then
        build probe_toolkit -I"$toolkit/include"
        compare probe_toolkit
        exit 0
    fi
done
echo "no CUDA toolkit here: compared with our own header only"
