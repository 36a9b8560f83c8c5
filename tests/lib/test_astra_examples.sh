#!/bin/sh
# Proves that ASTRA-sim itself runs on the port: its example of 8 GPUs and an all-reduce of 64 (of files that `fanout
# convert` wrote) end for every rank after the messages and the bytes that a ring has; what is no system ends with words;
# and with astra-sim/nvls.patch a collective of the fabric takes what `fanout coll` says, within 2 %.
# ASTRA_SIM names ASTRA-sim's sources, ASTRA_SIM_FANOUT the front end that was built of them as docs/astra-sim.md says.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"
[ -d "${ASTRA_SIM:-}/examples" ] || { echo "ASTRA_SIM names no sources of ASTRA-sim (github.com/astra-sim/astra-sim)"; exit 77; }
[ -x "${ASTRA_SIM_FANOUT:-}" ] || { echo "ASTRA_SIM_FANOUT names no AstraSim_Fanout; docs/astra-sim.md builds it"; exit 77; }
examples=$ASTRA_SIM/examples

# simulate WORKLOAD SYSTEM.json: what it prints goes to `out`; us and what has ended from its last line.
simulate() {
    "$ASTRA_SIM_FANOUT" --workload-configuration="$1" --system-configuration="$2" \
        --remote-memory-configuration="$examples/remote_memory/analytical/no_memory_expansion.json" \
        --network-configuration=network.conf >out 2>&1 || complain "$1 on $2: exit $?: $(tail -n 3 out)"
    us=$(sed -n 's/^fanout: .* ranks: \([0-9.]*\) us.*/\1/p' out)
    ended=$(sed -n 's/^fanout: .* us, \([0-9]*\) sends.*/\1/p' out)
}
bytes() { # of all messages, by the report
    python3 -c 'import json; print(sum(row["bytes"] for row in json.load(open("report.json"))["operations"]
                                       if row["op"] == "read"))'
}

# The system layer cuts 1 MiB into 4 chunks; each goes round as 2 (n - 1) messages of 1/n of it from each of n ranks:
# 448 sends and as many receives of 8, 32,256 of 64.
validated=$examples/system/native_collectives/HGX-H100-validated.json
printf 'system = dgx-h100\nreport = report.json\n' >network.conf
simulate "$examples/workload/microbenchmarks/all_reduce/8npus_1MB/all_reduce" "$validated"
[ "$(grep -c 'finished, ' out)" = 8 ] || complain "8 GPUs: not all ranks have ended: $(tail -n 3 out)"
[ "$ended" = 896 ] && [ "$(bytes)" = $((14 << 20)) ] || complain "8 GPUs: $ended have ended, $(bytes) bytes"
ring_us=$us

printf 'fanout-trace 1\nworld 8\nrank *\n1 all_reduce bytes=1048576 dtype=f32\n' >8.trace
sed 's/world 8/world 64/' 8.trace >64.trace
for n in 8 64; do
    "$FANOUT" convert $n.trace $n.et 2>/dev/null || complain "convert: exit $?"
done
simulate "$PWD/8" "$validated"
[ "$us" = "$ring_us" ] || complain "the example takes $ring_us us, and the same of fanout convert $us"
printf 'system = gb200-nvl72\ngpus = 64\nreport = report.json\n' >network.conf
simulate "$PWD/64" "$validated"
[ "$(grep -c 'finished, ' out)" = 64 ] || complain "64 GPUs: not all ranks have ended: $(tail -n 3 out)"
[ "$ended" = 64512 ] && [ "$(bytes)" = $((126 << 20)) ] || complain "64 GPUs: $ended have ended, $(bytes) bytes"

printf 'system = dgx-h10\n' >network.conf
"$ASTRA_SIM_FANOUT" --workload-configuration="$PWD/8" --system-configuration="$validated" \
    --remote-memory-configuration="$examples/remote_memory/analytical/no_memory_expansion.json" \
    --network-configuration=network.conf >out 2>&1 && complain "a system that does not exist is no error"
grep -q "no system 'dgx-h10'" out || complain "no system: $(tail -n 2 out)"

# agrees OP ALGO NAME [OUT IN]: a collective of 1 MiB in all, which the fabric does by ALGO, called NAME by the system layer.
agrees() {
    printf 'fanout-trace 1\nworld 8\nrank *\n1 %s bytes=%s dtype=f32%s\n' "$1" "${5:-1048576}" \
        "${4:+ out=$4}" >"$1.trace"
    "$FANOUT" convert "$1.trace" "$1.et" 2>/dev/null || complain "convert $1: exit $?"
    sed "s/\"preferred-dataset-splits\": 4/\"preferred-dataset-splits\": 1/; s/\"ring\"/\"$3\"/" "$validated" >system.json
    simulate "$PWD/$1" system.json
    "$FANOUT" coll "$1" -s dgx-h100 -a "$2" -b 1M --data off --no-compare --format csv | awk -F, -v us="$us" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "time_us") t = i; next }
        { off = us / $t - 1; if (off > 0.02 || off < -0.02) { print us " us for " $t; exit 1 } }' ||
        complain "$1 by $3 is more than 2 % off"
}

if grep -q sim_collective "$ASTRA_SIM/astra-sim/common/AstraNetworkAPI.hh"; then
    printf 'system = dgx-h100\n' >network.conf
    agrees all_reduce nvls nvls
    agrees all_reduce ring fabric-ring
    agrees all_reduce tree fabric-tree
    agrees reduce_scatter ring fabric-ring
    agrees all_to_all p2p fabric-p2p
    agrees all_gather ring fabric-ring 1048576 131072
else
    echo "ASTRA_SIM has no astra-sim/nvls.patch: collectives of the fabric were not tried"
fi
finish
