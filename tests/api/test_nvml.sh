#!/bin/sh
# libnvidia-ml.so.1 describes the machine that the driver API runs on: GPUs, SMs, memory, links up and down, on systems of
# each generation; nvidia-ml-py reads it; and `fanout exec` hands NCCL the same links in a topology file.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
libs=$(dirname "$FANOUT")/.libs
[ -f "$libs/libnvidia-ml.so.1" ] || { echo "no $libs/libnvidia-ml.so.1"; exit 77; }
. "$TOP_SRCDIR/tests/plain.sh"
bad=0
mkdir "$dir/include"
printf '#include <fanout/cuda.h>\n' >"$dir/include/cuda.h"
${CC:-cc} -std=gnu11 -O1 -w -I"$dir/include" -I"$TOP_SRCDIR/api/include" -o "$dir/nvml" "$TOP_SRCDIR/tests/clients/nvml.c" \
    "$libs/libcuda.so.1" -ldl -Wl,-rpath-link,"$libs"
try() { # try SYSTEM LINKS DOWN SMS OPTIONS...
    system=$1 links=$2 down=$3 sms=$4
    shift 4
    if "$FANOUT" exec -s "$system" "$@" --report "$dir/report.json" -- "$dir/nvml" "$links" "$down" "$sms" >"$dir/log" 2>&1 &&
        grep -q '^ok$' "$dir/log"; then
        echo "$system $*: passed"
    else
        echo "$system $*: FAILED"
        cat "$dir/log"
        bad=1
    fi
}
# processes: of all of the job
${CC:-cc} -std=gnu11 -O1 -w -I"$dir/include" -I"$TOP_SRCDIR/api/include" -o "$dir/ranks" \
    "$TOP_SRCDIR/tests/clients/nvml_ranks.c" "$libs/libcuda.so.1" -ldl -Wl,-rpath-link,"$libs"
timeout 60 "$FANOUT" exec -s dgx-h100 --report "$dir/report.json" -- "$dir/ranks" >"$dir/log" 2>&1 || true
grep -q '^ok$' "$dir/log" || { echo "processes of others: FAILED"; cat "$dir/log"; bad=1; }
try dgx-h100 18 0 132
try dgx-h100 18 0 48 --set sm.count=48
try dgx-h200 18 0 132
try dgx-a100 12 0 108
try gb200-nvl72 18 0 148
try dgx-h100 18 2 132 --set fault.link_down=gpu1.link3,gpu1.link17 --set cuda.devices=2
try dgx-h100 18 0 132 --set cuda.driver_version=12040

# the topology file: as many links as the table says, the user's own file untouched, nothing left behind
# shellcheck disable=SC2016
"$FANOUT" exec -s dgx-h100 --set fault.link_down=gpu1.link3 -- sh -c 'cat "$NCCL_TOPO_FILE"' >"$dir/topo.xml"
total=$(sed -n 's/.*<nvlink .*count="\([0-9]*\)".*/\1/p' "$dir/topo.xml" | awk '{ n += $1 } END { print n }')
[ "$total" = 143 ] || { echo "the topology file has $total links, not 143"; bad=1; }
# shellcheck disable=SC2016
mine=$(NCCL_TOPO_FILE=/mine "$FANOUT" exec -- sh -c 'echo "$NCCL_TOPO_FILE"')
[ "$mine" = /mine ] || { echo "NCCL_TOPO_FILE of the user became $mine"; bad=1; }
"$FANOUT" systems dgx-h100 --topo --set fault.link_down=gpu1.link3 --format csv >"$dir/topo.csv"
grep -q '^GPU0,X,NV17,NV18,' "$dir/topo.csv" || { echo "systems --topo:"; cat "$dir/topo.csv"; bad=1; }

for python in ${FANOUT_PYTHON:-} python3 "$(dirname "$FANOUT")/clients-venv/bin/python"; do
    "$python" -c 'import pynvml' 2>/dev/null || continue
    "$FANOUT" exec -s dgx-h100 -- "$python" "$TOP_SRCDIR/tests/clients/py/nvml_topology.py" >"$dir/log" 2>&1 || bad=1
    grep -q '^ok$' "$dir/log" || { echo "nvidia-ml-py: FAILED"; cat "$dir/log"; bad=1; }
    echo "nvidia-ml-py: ran"
    exit $bad
done
echo "nvidia-ml-py: skipped, no Python here has pynvml"
exit $bad
