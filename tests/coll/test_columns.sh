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
# Of several runs the mean: two take as long as one, one after the other, but for what the first one warms.
time_us() { "$FANOUT" coll all_reduce -s teach-4gpu -b 64K -e 64K -a nvls --no-compare --format csv "$@" | awk -F, 'NR == 2 { print $10 }'; }
one=$(time_us) two=$(time_us --iters 2) four=$(time_us --iters 4)
awk -v a="$one" -v b="$two" -v c="$four" 'BEGIN { exit !(b > a * 0.9 && b < a * 1.1 && c > a * 0.9 && c < a * 1.1) }' ||
    fail "one run takes $one us, two on average $two, four $four"
echo "columns follow from time and size"
