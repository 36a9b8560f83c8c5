#!/bin/sh
# The columns of the reports of bench, advise, table, sweep, compare and doctor, worked out by hand or from the runs that
# they are about.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"
. "$TOP_SRCDIR/tests/cli/columns.sh"

# ---- bench: a read of 4 B from another GPU takes 808 ns: 400 of flight, 300 of pipelines, 100 of memory, and 8 flits.
# 256 KiB are 2,048 lines of 128 B, and the first 16 reads are not counted, so that 2,064 wait one for the other. Launch and
# exit take a us each.
lines bench load_latency -s teach-4gpu --variant remote --where
row '"report": "bench"' '"seed": 1, "fidelity": "packet"' '"system": "teach-4gpu", "title": "teach: 4 small GPUs, 2 small'
row '"test": "load_latency", "variant": "remote", "gpus": "0>1", "ctas": 1, "threads": 1, "bytes": 262144,' \
    '"value": 808.000, "unit": "ns", "extrapolated": false }'
for part in "serialization 8" "flight 400" "pipelines 300" "memory 100"; do
    what=${part% *} ns=${part##* }
    row "\"run\": \"load_latency remote 0>1 262144 B 1 x 1\", \"what\": \"$what\"," \
        "\"time_us\": $(awk "BEGIN { printf \"%.6f, \\\"share_pct\\\": %.2f\", 2.064 * $ns, 206.4 * $ns / (2 + 2.064 * 808) }") }"
    row '"run": "load_latency remote 0>1 262144 B 1 x 1", "op": "read",' "\"what\": \"$what\", \"mean_ns\": $ns.000," \
        "$(awk "BEGIN { printf \"\\\"share_pct\\\": %.2f\", $ns / 8.08 }")," "\"total_ps\": $((2064000 * ns)), \"requests\": 2064 }"
done
row '"what": "no request under way: launch, computing, exit", "time_us": 2.000000, "share_pct": 0.12 }'
# What a fault cost is told of one run, and of several it would be no one's: a link at half its rate from 900 us on.
lines bench load_latency -s teach-4gpu --variant remote --fault link_degraded=gpu0.link0@900us
row '"fault": "link_degraded gpu0.link0@900us", "from_us": 900.000, "until_us": null' '"lost": 0, "replays": 0, "waited_us": 1.9'
lines bench load_latency -s teach-4gpu --variant remote --fault link_degraded=gpu0.link0@900us -b 128K,256K
grep -q fault_timeline out && complain "a timeline of two runs"

# ---- advise: each time is what coll says of that choice, without its host; the loss is of one over the other.
lines advise all_reduce -s teach-4gpu -b 4K -e 16K -f 4 --seed 3
cp out advised
row '"report": "advise"' '"seed": 3, "fidelity": "auto", "system": "teach-4gpu", "title": "teach: 4 small GPUs, 2 small' \
    '"program": "nccl", "type": "f16"'
coll() { # coll BYTES ALGO PROTO CTAS: time_us busbw_GBps
    set -- "$@" --format csv
    case $3 in ll*) "$FANOUT" coll all_reduce -s teach-4gpu -d half -b "$1" -a "$2" -p "$3" --ctas "$4" --data off --no-compare "$5" "$6" ;;
    *) "$FANOUT" coll all_reduce -s teach-4gpu -d half -b "$1" -a "$2" --ctas "$4" --data off --no-compare "$5" "$6" ;;
    esac | awk -F, 'NR == 2 { print $10, $13 }'
}
for bytes in 4096 16384; do
    cp advised out
    of="\"bytes\": $bytes,"
    best=$(coll $bytes "$(value algo "$of")" "$(value proto "$of")" "$(value ctas "$of")")
    own=$(coll $bytes "$(value program_algo "$of")" "$(value program_proto "$of")" "$(value program_ctas "$of")")
    [ "$(value time_us "$of") $(value busbw_GBps "$of")" = "$best" ] || complain "$bytes: the best takes $best"
    [ "$(value program_us "$of")" = "${own% *}" ] || complain "$bytes: the program's own takes $own"
    near loss_pct "$(value loss_pct "$of")" "100 * (${own% *} / ${best% *} - 1)" 0.3
    row "$of" '"proto": "simple", "ctas": 1,' '"program_algo": "ring", "program_proto": "ll", "program_ctas": 1,'
    row "$of" '"corrected_loss_pct": null, "uncertainty_pct": null, "fidelity": "packet" }'
done
# One is better up to some size and the other from the next one on that was tried, a sixth further at most.
row '"below_algo": "sym_ll", "below_proto": "simple", "above_algo": "sym_mc", "above_proto": "simple",'
last=$(value last_below_bytes '"below_algo"') first=$(value first_above_bytes '"below_algo"')
time_us() { coll "$1" "$2" simple 1 | cut -d ' ' -f 1; }
awk "BEGIN { exit !($(time_us "$last" sym_ll) <= $(time_us "$last" sym_mc) && $(time_us "$first" sym_ll) >= $(time_us "$first" sym_mc) &&
                    $last < $first && $first < 1.2 * $last) }" || complain "sym_ll up to $last, sym_mc from $first"
# What measured rows let expect of both times is what `fanout table` takes out of those cells; both are unsure.
lines advise all_reduce -s dgx-h200 -n 8 -b 4K
row '"bytes": 4096, "algo": "sym_llmc"' '"program_algo": "ring", "program_proto": "ll"'
best=$(value time_us '"algo": "sym_llmc"') own=$(value program_us '"algo": "sym_llmc"') loss=$(value corrected_loss_pct '"algo"')
unsure=$(value uncertainty_pct '"algo": "sym_llmc"')
table() { "$FANOUT" table -s dgx-h200 --ops all_reduce --gpus 8 --sizes 4K --program "$1" --format csv | sed -n '2s/,/ /gp'; }
# latency and model_latency are the ninth and twelfth, uncertainty_pct the thirteenth
set -- $(table nccl) && factor=$9 && shift 11 && factor="$factor / $1" own_pct=$2
set -- $(table nccl-sym) && factor="$factor / $9" && shift 11 && factor="$factor * $1" best_pct=$2
near corrected_loss_pct "$loss" "100 * ($own / $best * $factor - 1)" 0.4
near uncertainty_pct "$unsure" "sqrt($own_pct ^ 2 + $best_pct ^ 2)" 0.11

# ---- table: one row was simulated 12 % slow. Errors spread by 0.165 around none, and a measurement by 0.036 beside its
# own repetition: 0.165^2 / (0.165^2 + 0.036^2) = 0.9546 of it is taken out of the same cell, and e^(-1) of that with twice
# the GPUs. What is left spreads by what was not known, and by a measurement's own; nine of ten are within 1.645 of that.
{
    echo id,preset,gpus,op,program,nccl,timing,bytes,measured_us,simulated_us
    echo r,dgx-h100,2,all_reduce,nccl,2.29.7,eager,4096,100,112
} >errors.csv
lines table -s dgx-h100 --ops all_reduce --gpus 2,4,8 --sizes 4K --errors errors.csv
row '"report": "table"' '"seed": 1, "fidelity": "auto", "system": "dgx-h100", "title": "DGX H100: 8 x H100, 4 x NVSwitch 3"' \
    '"program": "nccl", "timing": "eager"'
for cell in 2:1 4:exp\(-1\); do
    of="\"num_gpus\": ${cell%:*}," alike=${cell#*:}
    row "$of" '"framework": "fanout"' '"device": "dgx-h100", "op_name": "all_reduce", "kernel_source": "NCCL", "nccl_dtype": "half"' \
        '"message_size": 2048, ' '"backend": "NCCL", "bytes": 4096' '"near_rows": 1, "algo": "ring", "proto": "ll", "ctas": 1, "fidelity": "packet"'
    near latency "$(value latency "$of")" "$(value model_latency "$of") * exp(-log(1.12) * $alike * 0.9546)" 0.0000015
    near uncertainty_pct "$(value uncertainty_pct "$of")" \
        "100 * (exp(1.645 * sqrt(0.165 ^ 2 * (1 - 0.9546 * ($alike) ^ 2) + 0.036 ^ 2)) - 1)" 0.051
done
row "\"version\": \"$("$FANOUT" --version | sed 's/[^0-9]*\([0-9.]*\).*/\1/;q')\", \"device\"" '"num_gpus": 2,'

# ---- sweep: each point is what coll says of it.
printf '[sweep]\nrun = coll all_reduce\n[fixed]\nsystem = teach-4gpu\nalgo = nvls\n[grid]\nbytes = 4K, 8K\n' >spec.ini
lines sweep spec.ini
row '"report": "sweep"' '"database": "spec.db", "spec": "spec.ini", "points": 2, "not_done": 0,'
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls -b 4K -e 8K -f 2 --no-compare --format csv | sed 1d |
    while IFS=, read -r op bytes count type redop algo proto gpus ctas time kernel alg bus up down verified fidelity _; do
        [ "$verified" = true ] && echo "\"status\": \"done\", \"error\": null, \"op\": \"$op\", \"system\": \"teach-4gpu\"," \
            "\"algo\": \"$algo\", \"bytes\": $bytes, \"seed\": 1, \"count\": $count, \"type\": \"$type\", \"redop\": \"$redop\"," \
            "\"proto\": \"$proto\", \"gpus\": $gpus, \"ctas\": $ctas, \"time_us\": $time, \"kernel_us\": $kernel," \
            "\"algbw_GBps\": $alg, \"busbw_GBps\": $bus, \"up_pct\": $up, \"down_pct\": $down, \"verified\": 1," \
            "\"fidelity\": \"$fidelity\" }"
    done >points
[ "$(wc -l <points)" = 2 ] || complain "coll: $(cat points)"
id=0
while read -r point; do
    id=$((id + 1))
    row "\"id\": $id, $point"
done <points

# ---- compare: of the schema, the kind, the system and four values of a row two differ.
for name in a b; do
    printf '{"schema": "fanout/1", "report": "coll", "system": "x", "rows": [{"op": "o", "algo": "%s", "bytes": 1, "time_us": %s}]}' \
        $name "$([ $name = a ] && echo 10 || echo 12)" >$name.json
done
lines compare a.json b.json
row '"report": "compare"' '"a": "a.json", "b": "b.json", "compared": 7, "equal": 5,'
row '"where": "rows", "key": "time_us", "a": "10", "b": "12", "change": 2, "change_pct": 20.00 }'
finish
