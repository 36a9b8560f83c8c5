#!/bin/sh
# Everything that may not depend on where it runs: outputs.sh FOLDER writes what $FANOUT says, of each verb and in each
# form, into files there. CORES (1): what coll gets as --cores.
set -eu
mkdir -p "$1"
cd "$1"
cores=${CORES:-1}
cat >t.trace <<'TRACE'
fanout-trace 1
world 4
rank *
1 compute 3us
2 all_reduce bytes=262144 dtype=bf16 after=1
3 all_to_all bytes=65536 dtype=f32 after=2
TRACE
"$FANOUT" systems gb200-nvl72 >systems
"$FANOUT" coll all_reduce -s dgx-h100 -a nvls,ring -b 64K -e 256K -f 2 --cores "$cores" --format json --html coll.html >coll.json
# The page names the command that made it, which is another one for other cores.
sed -i "s/--cores $cores/--cores N/g" coll.html
"$FANOUT" coll all_reduce -s gb200-nvl72 -n 8 -a tree -b 64K -d half --set link.error_ppb=2000000 --seed 9 \
    --cores "$cores" >coll.text
"$FANOUT" coll reduce_scatter -s hgx-b200 -a nvls -b 128K --data off --cores "$cores" --format csv >coll.csv
"$FANOUT" coll all_gather -s dgx-h100 -a ring -b 256M --fidelity flow --data off --format csv >flow.csv
"$FANOUT" walk multimem.ld_reduce -s teach-4gpu --format json >walk.json
"$FANOUT" bench multicast_latency -s teach-4gpu --format csv >bench.csv
"$FANOUT" replay t.trace -s teach-4gpu --format json --html replay.html --perfetto replay.perfetto >replay.json
"$FANOUT" convert t.trace again.trace 2>note
"$FANOUT" convert t.trace t.et 2>>note
# A program of the driver API; ranks in threads of their own take turns as the host lets them, one does not.
"$FANOUT" exec -s teach-4gpu --format json --report exec.json -- "$PROGRAM" >exec.out
