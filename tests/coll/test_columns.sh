#!/bin/sh
# The columns of `fanout coll` follow from its time as nccl-tests says: the elements of a size, size over time, and the
# factor of each operation by the number of ranks. What links carried is at least what the algorithm must move, by hand.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "FAILED: $*"; cat "$dir/out"; exit 1; }

# columns OP RANKS DTYPE BYTES_OF_ONE FACTOR: that of nccl-tests' PERFORMANCE.md
columns() {
    timeout 60 "$FANOUT" coll "$1" -s teach-4gpu -n "$2" -b 48K -e 48K -d "$3" -a ring,nvls,pull --no-compare --format csv \
        >"$dir/out" 2>"$dir/err" ||
        timeout 60 "$FANOUT" coll "$1" -s teach-4gpu -n "$2" -b 48K -e 48K -d "$3" --no-compare --format csv >"$dir/out"
    awk -F, -v op="$1" -v n="$2" -v one="$4" -v factor="$5" '
        function near(a, b, d) { return a - b <= d && b - a <= d }
        function wrong(what) { print op, n, what ": " $0; bad = 1 }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        {
            rows++; time = $at["time_us"]; alg = $at["algbw_GBps"]
            if ($at["op"] != op || $at["gpus"] != n || $at["bytes"] != 49152) wrong("what ran")
            if ($at["count"] != 49152 / one) wrong("elements")
            if (!near(alg, 49.152 / time, 0.006 + 49.152 / time * 0.006 / time)) wrong("algbw")
            if (!near($at["busbw_GBps"], alg * factor, 0.006 + 0.006 * factor)) wrong("busbw")
            if ($at["kernel_us"] >= time || time - $at["kernel_us"] > 2.01 || time - $at["kernel_us"] < 1.59) wrong("kernel") # launch_ps, and exit_drain_ps to exit_ps
            if ($at["verified"] != "true" || $at["fidelity"] != "packet" || $at["seed"] != 1) wrong("the rest")
            if ($at["redop"] != (op ~ /reduce/ ? "add" : "none")) wrong("redop")
        }
        END { if (rows == 0) { print op ": no row"; bad = 1 } exit bad }' "$dir/out" >"$dir/said" || fail "$(cat "$dir/said")"
}
columns all_reduce 4 float 4 1.5  # 2 (n - 1) / n
columns all_reduce 2 half 2 1
columns all_gather 4 float 4 0.75 # (n - 1) / n
columns reduce_scatter 3 float 4 0.666667
columns all_to_all 4 float 4 0.75
columns broadcast 4 float 4 1
columns sendrecv 4 float 4 1

# An all-gather by the switches: each rank stores its 16 KiB at the multicast address, 128 packets of nine flits, and
# answers all 512 that reach it with a flit: 1,664 up. Down come 512 packets and 128 answers: 4,736. Of a ns, by two links.
# Flags of the barriers are the rest: at most an eighth.
timeout 60 "$FANOUT" coll all_gather -s teach-4gpu -b 64K -e 64K -a nvls --no-compare --format csv >"$dir/out"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { up = 100 * 1664 / 2 / ($at["time_us"] * 1000); down = 100 * 4736 / 2 / ($at["time_us"] * 1000)
      exit !($at["up_pct"] > up && $at["up_pct"] < up * 1.125 && $at["down_pct"] > down && $at["down_pct"] < down * 1.125) }' \
    "$dir/out" || fail "what links carried"
# What links and switches did is told link by link, in all, and as the row's share: a flit takes a ns, so that a link that
# carried 928 of them in 8,730 ns was busy for 10.63 %; a row's shares are the means. Every request
# has four replicas; up go the request and four answers, and down the replicas and an answer.
"$FANOUT" coll all_gather -s teach-4gpu -b 64K -e 64K -a nvls --no-compare --format json | tr -d '\n' |
    sed -e 's/  */ /g' -e 's/{/\n{/g' >"$dir/out"
awk 'function value(key) { if (!match($0, "\"" key "\": \"?[^,\" }]*")) return ""; v = substr($0, RSTART, RLENGTH)
                           sub(/.*: "?/, "", v); return v }
     function near(a, b, d) { return a - b <= d && b - a <= d }
     function wrong(what) { print what ": " $0; bad = 1 }
     /"time_us"/ && /"busbw_GBps"/ { ns = value("time_us") * 1000; up_pct = value("up_pct"); down_pct = value("down_pct") }
     /"direction"/ { d = value("direction"); flits[d] = value("flits"); packets[d] = value("packets")
                     mean[d] = value("mean_pct"); least[d] = value("min_pct"); most[d] = value("max_pct"); low[d] = 100 }
     /"link": "/ { split(value("link"), part, "."); d = part[3]; links[d]++
                   if (part[1] !~ /^gpu[0-3]$/ || part[2] !~ /^link[01]$/) wrong("the name of a link")
                   sum[d] += value("flits"); n[d] += value("packets"); pct = 100 * value("flits") / ns
                   if (!near(value("utilisation_pct"), pct, 0.011)) wrong("utilisation_pct")
                   if (pct < low[d]) low[d] = pct
                   if (pct > high[d]) high[d] = pct }
     /"multicast_requests"/ { switches++; requests += value("multicast_requests"); replicas += value("replicas")
                              if (value("name") !~ /^switch[01]$/) wrong("the name of a switch") }
     /"op": "multimem/ { asked += value("count"); if (value("op") == "multimem.st" && value("bytes") != 65536) wrong("bytes")
                         if (value("target") !~ /^multicast/) wrong("target") }
     END { for (d in flits) {
               if (links[d] != 8 || sum[d] != flits[d] || n[d] != packets[d]) wrong("the sum of links " d)
               if (!near(mean[d], 100 * flits[d] / 8 / ns, 0.051)) wrong("mean_pct " d)
               if (!near(least[d], low[d], 0.051) || !near(most[d], high[d], 0.051)) wrong("min_pct, max_pct " d)
           }
           if (!near(up_pct, mean["up"], 0.001) || !near(down_pct, mean["down"], 0.001)) wrong("up_pct, down_pct")
           if (packets["up"] != 5 * requests || packets["down"] != 5 * requests) wrong("packets")
           if (switches != 2 || requests != asked || replicas != 4 * requests) wrong("switches")
           exit bad }' "$dir/out" >"$dir/said" || fail "$(cat "$dir/said")"
# Where time goes: four stores of 128 B at a multicast address, each four times 100 ns in flight, 300 in pipelines, 100 in
# a member's L2, and 20 flits of a ns, nine each way and two of answers; the fourth replica leaves with the second round,
# 5 ns later (walk multimem.st: 825 ns). What is sent to a GPU meanwhile waits for nine flits. Shares are of the mean.
"$FANOUT" coll all_gather -s teach-4gpu -b 512 -a nvls --no-compare --where --format json --set link.replay_ps=333000 \
    --seed 7 | tr -d '\n' | sed -e 's/  */ /g' -e 's/{/\n{/g' >"$dir/out"
row() { # row TEXT...: one row has them all
    cp "$dir/out" "$dir/left"
    for text in "$@"; do
        grep -F -e "$text" "$dir/left" >"$dir/next" || :
        mv "$dir/next" "$dir/left"
    done
    [ "$(wc -l <"$dir/left")" = 1 ] || fail "$(wc -l <"$dir/left") rows have: $*"
}
row '"report": "coll"' '"seed": 7, "fidelity": "auto", "set": "link.replay_ps=333000", "system": "teach-4gpu"' \
    '"title": "teach: 4 small GPUs, 2 small switches"'
row '"op": "all_gather", "bytes": 512, "count": 128, "type": "f32", "redop": "none", "algo": "nvls", "proto": "simple"' \
    '"gpus": 4, "ctas": 8,'
waited=$(sed -n 's/.*"multimem.st", "what": "queueing", .*"total_ps": \([0-9]*\), "requests": 4 .*/\1/p' "$dir/out")
for part in "serialization 20000" "flight 400000" "pipelines 300000" "crossbar rounds 5000" "memory 100000" \
    "queueing $((waited / 4))"; do
    ps=${part##* } what=${part% *}
    row '"run": "all_gather 512 nvls", "op": "multimem.st"' "\"what\": \"$what\"," \
        "\"mean_ns\": $((ps / 1000)).$(printf %03d $((ps % 1000)))," \
        "\"share_pct\": $(awk "BEGIN { printf \"%.2f\", 100 * $ps / (825000 + $waited / 4) }")," \
        "\"total_ps\": $((4 * ps)), \"requests\": 4 }"
done
row '"target": "multicast 2"' '"op": "multimem.st"' '"count": 4, "bytes": 512, "latency_min_ns": 825.0' \
    '"latency_p50_ns": 834.0, "latency_p99_ns": 834.0, "latency_max_ns": 834.0, "GBps": 0.61 ' # 512 B in 834 ns
# Of its own memory a rank reads 128 B, in 200 ns and 0.128; all four do, and none begins 3 ns after another.
row '"target": "own memory"' '"op": "read"' '"count": 4, "bytes": 512, "latency_min_ns": 200.1, "latency_p50_ns": 200.1' \
    '"latency_p99_ns": 200.1, "latency_max_ns": 200.1, "GBps": 2.53 '
awk 'function value(key) { match($0, "\"" key "\": [^,}]*"); v = substr($0, RSTART, RLENGTH); sub(/.*: /, "", v); return v }
     /"busbw_GBps"/ { total = value("time_us") }
     /"run": .*"time_us"/ { sum += value("time_us"); d = value("share_pct") - 100 * value("time_us") / total; n++
                            by = 0.0051 + 0.01 * value("share_pct") / total; if (d > by || -d > by) bad = 1 }
     END { d = sum - total; exit bad || n != 7 || d > 0.0051 || -d > 0.0051 }' "$dir/out" || fail "where: parts do not add up"
row '"section": "link", "key": "replay_ps", "value": "333000", "unit": "ps", "text": "' '"origin": "--set" }'
row '"section": "switch", "key": "multicast_tags", "value": "128", "unit": "",' '"text": "outstanding multicast writes of' \
    '"origin": "assumed: a round number for teaching" }'
# With one tag a port's next request waits while it has one under way. Of both barriers' flags two of each GPU cross
# switch 1, at once: the second waits. The stores, two there, meet a free one.
"$FANOUT" coll all_gather -s teach-4gpu -b 512 -a nvls --no-compare --set switch.multicast_tags=1 --format json | tr -d '\n' |
    sed -e 's/  */ /g' -e 's/{/\n{/g' >"$dir/out"
row '"name": "switch1"' '"multicast_requests": 18, "replicas": 72, "tag_stalls": 8, "buffer_stalls": 0, "round_stalls": 0'
# Endpoints reach 72 ranks: as many as a rack has.
timeout 60 "$FANOUT" coll all_gather -s gb200-nvl72 -a endpoint -b 1152 --no-compare --format csv >"$dir/out" 2>&1 &&
    grep -q '^all_gather,1152,288,f32,none,endpoint,simple,72,.*,true,packet,' "$dir/out" || fail "endpoints of 72 ranks"
# Of several runs the mean: two take as long as one, one after the other, but for what the first one warms.
time_us() { "$FANOUT" coll all_reduce -s teach-4gpu -b 64K -e 64K -a nvls --no-compare --format csv "$@" | awk -F, 'NR == 2 { print $10 }'; }
one=$(time_us) two=$(time_us --iters 2) four=$(time_us --iters 4)
awk -v a="$one" -v b="$two" -v c="$four" 'BEGIN { exit !(b > a * 0.9 && b < a * 1.1 && c > a * 0.9 && c < a * 1.1) }' ||
    fail "one run takes $one us, two on average $two, four $four"
echo "columns follow from time and size"
