#!/bin/sh
# The columns of the reports of systems, ptx, validate and walk, worked out by hand for small inputs.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"
. "$TOP_SRCDIR/tests/cli/columns.sh"

# Four GPUs with a link of 16 GB/s to each of two switches, whose tables have 8 entries; a DGX H100 has 4 + 5 + 5 + 4 links
# of 23.55, and the A100's switches no multicast.
says '^teach-4gpu,4,2,2,16.00,32.0,8,"teach: 4 small GPUs, 2 small switches"$' systems --format csv
says '^dgx-h100,8,4,18,23.55,423.9,128,' systems --format csv
says '^dgx-a100,8,6,12,23.55,282.6,0,' systems --format csv
lines systems
row '"name": "teach-4gpu", "gpus": 4, "switches": 2, "links": 2, "link_GBps": 16.00, "gpu_GBps": 32.0, "multicast_ids": 8,'

# One of its rows, as it is and as it was set; rows say where their values come from.
lines systems teach-4gpu
row '"report": "systems"' '"system": "teach-4gpu", "title": "teach: 4 small GPUs, 2 small switches"'
row '"section": "gpu", "key": "ack_timer_ps", "value": "50000", "unit": "ps",' '"text": "' \
    '"origin": "assumed: a round number for teaching" }'
row '"section": "gpu", "key": "hbm_MBps", "value": "500000", "unit": "MB/s",'
lines systems teach-4gpu --set gpu.ack_timer_ps=60000
row '"section": "gpu", "key": "ack_timer_ps", "value": "60000", "unit": "ps",' '"origin": "--set" }'
value text '"key": "ack_timer_ps"' >text
awk '/^ *.gpu/ { next } 1' text | grep -q 'acknowledge' || complain "ack_timer_ps: $(cat text)"

# Two variables in global memory, the second on a multiple of 8: 4 + 4 + 100 B; 24 B of constants. A kernel's local memory
# is whole units of 16 B, and 64 * 3 threads are what .maxntid allows.
cat >k.ptx <<'PTX'
.version 8.3
.target sm_90
.address_size 64
.global .align 4 .b32 counter;
.global .align 8 .b8 area[100];
.const .align 4 .b32 table[6];
.func (.param .b32 r) twice(.param .b32 x)
{
    .reg .b32 %a;
    ld.param.b32 %a, [x];
    add.s32 %a, %a, %a;
    st.param.b32 [r], %a;
    ret;
}
.visible .entry whole(.param .u64 p, .param .u32 n) .maxntid 64, 3, 1
{
    .reg .b32 %a, %b;
    .reg .b64 %q;
    .shared .align 4 .b8 tile[512];
    .local .align 4 .b8 own[24];
    ld.param.u64 %q, [p];
    ld.param.u32 %a, [n];
    add.s32 %b, %a, 1;
    st.global.u32 [%q], %b;
    ret;
}
.visible .entry bad()
{
    tcgen05.wait::ld.sync.aligned;
    ret;
}
PTX
lines ptx k.ptx
row '"ptx_version": "8.3"' '"target": "sm_90"' '"functions": 3,' '"functions_that_run": 2,' '"global_bytes": 108,' \
    '"const_bytes": 24,'
row '"name": "twice"' '"kind": "func"' '"parameters": "b32"' '"registers": 16,' '"shared_bytes": 0,' \
    '"local_bytes": 0,' '"threads_max": null' '"instructions": 4,' '"unsupported": null'
row '"name": "whole"' '"kind": "entry"' '"parameters": "u64, u32"' '"shared_bytes": 512,' '"local_bytes": 32,' \
    '"threads_max": 192,' '"instructions": 5,' '"unsupported": null'
row '"name": "bad"' '"kind": "entry"' '"parameters": ""' '"unsupported": "k.ptx:29:5: '
row '"family": "ld.param"' '"instructions": 3,' '"functions": 2 }'
row '"family": "st.global"' '"instructions": 1,' '"functions": 1 }'

# A read of 4 B from another GPU takes 808 ns: 800, and flits, 1 + 1 there and 3 + 3 back (tests/model/test_request_times.c).
# So it is 1 % over 800, 100 % over 404, 20 % under 1,010 and 50 % under 1,616. Of 1, 20, 50, 100 the median is 35; nine
# tenths of the way from the first to the fourth is seven tenths from the third to the fourth, 85; the mean is 31 / 4.
cat >ref.csv <<'CSV'
# source: numbers that were chosen for a test
test,variant,gpus,ctas,threads,bytes,value,unit
load_latency,remote,0>1,1,1,262144,800,ns
load_latency,remote,0>1,1,1,262144,404,ns
load_latency,remote,0>1,1,1,262144,1010,ns
load_latency,remote,0>1,1,1,262144,1616,ns
CSV
lines validate -s teach-4gpu ref.csv
row '"line": 3,' '"file": "ref.csv"' '"group": "latency"' '"name": "load_latency remote 0>1 1x1 262144"' \
    '"measured": 800.000' '"simulated": 808.000' '"unit": "ns"' '"error_pct": 1.00,' '"extrapolated": false' \
    '"check_pct": null' '"skipped": null' '"system": "teach-4gpu"'
row '"line": 4,' '"error_pct": 100.00,'
row '"line": 5,' '"error_pct": -20.00,'
row '"line": 6,' '"error_pct": -50.00,'
for name in ref.csv latency overall; do
    row "\"name\": \"$name\"" '"rows": 4,' '"skipped": 0,' '"median_abs_pct": 35.00,' '"p90_abs_pct": 85.00,' \
        '"max_abs_pct": 100.00,' '"mean_pct": 7.75 }'
done
row '"name": "latency, loaded latency, messages, barriers"' '"rows": 4,' '"skipped": 0,' '"median_abs_pct": 35.00,' \
    '"median_target_pct": 5,' '"p90_abs_pct": 85.00,' '"p90_target_pct": 12,' '"met": false'

# A write of 128 B: 50 ns to the port, then 9 flits, a flight and a switch of 100 each, and once more to the other GPU's
# L2 at 368; there it waits 50 ns for others to acknowledge, and is back 50 + 2 * 201 ns later.
lines walk store -s teach-4gpu
row '"op": "store"' '"verified": true' '"system": "teach-4gpu"' '"seed": 1,' '"fidelity": "packet"'
row '"time_ns": 50.0,' '"depth": 0,' '"unit": "gpu0.link1.up"' '"file": "model/link/link.c"' '"waits_for": ""' \
    '"wait_ns": 0.0 }'
row '"time_ns": 368.0,' '"unit": "gpu1.link1.up"' '"waits_for": "more to acknowledge"' '"wait_ns": 50.0 }' \
    '"text": "waits 50.0 ns for other writes that it could acknowledge'
row '"time_ns": 518.0,' '"unit": "gpu1.link1.up"'
row '"time_ns": 870.0,' '"unit": "gpu0"'
row '"report": "walk"' '"title": "teach: 4 small GPUs, 2 small switches"'
# What waits stand in the table under a load are those of the steps: how often, all together, and the longest.
lines walk multimem.st -s teach-4gpu --background 0.9
awk '/"time_ns"/ && /"waits_for": "[a-z]/ {
         match($0, /"waits_for": "[^"]*"/); what = substr($0, RSTART, RLENGTH)
         match($0, /"wait_ns": [0-9.]*/); ns = substr($0, RSTART + 11, RLENGTH - 11) + 0
         times[what]++; sum[what] += ns; if (ns > max[what]) max[what] = ns
     }
     /"times"/ {
         match($0, /"waits_for": "[^"]*"/); what = substr($0, RSTART, RLENGTH); rows++
         if (times[what]) waited++
         right = sprintf("\"times\": %d, \"total_ns\": %.1f, \"max_ns\": %.1f ", times[what], sum[what], max[what])
         if (!index($0, right)) { print $0 ": should have " right; bad = 1 }
     }
     END { exit bad || rows != 5 || !waited }' out >said || complain "waits: $(cat said)"

# A replay's head, and where its time went: each write of a ring crosses two links up and down for 100 ns each, three
# pipelines and a switch for 300 and an L2 for 100. Shares are of the mean of a write; parts of time are all of it.
cat >one.trace <<'END'
fanout-trace 1
world 4
rank *
1 all_reduce bytes=8192 dtype=f32 reduction=sum
2 all_reduce bytes=8192 dtype=f32 reduction=sum after=1
END
lines replay one.trace -s teach-4gpu -a ring --seed 5 --where --no-compare
row '"report": "replay"' '"seed": 5, "fidelity": "packet", "system": "teach-4gpu", "title": "teach: 4 small GPUs, 2 small' \
    '"simulated": 1, "remembered": 1,' # the second is the first once more
row '"job": "one.trace", "format": "text", "ranks": 4,'
total=$(value total_us '"report": "replay"')
mean=$(awk '/"where_requests"/ { on = 1; next } on && match($0, /"mean_ns": [0-9.]*/) { s += substr($0, RSTART + 11, RLENGTH - 11) }
            END { printf "%.3f", s }' out)
for part in "flight 400" "pipelines 300" "memory 100"; do
    what=${part% *} ns=${part##* }
    row '"run": "replay",' "\"what\": \"$what\", \"time_us\": "
    requests=$(value requests '"run": "replay", "op": "write"' "\"what\": \"$what\"")
    row '"run": "replay", "op": "write"' "\"what\": \"$what\", \"mean_ns\": $ns.000," "\"total_ps\": $((ns * 1000 * requests))," \
        "$(awk "BEGIN { printf \"\\\"share_pct\\\": %.2f,\", 100 * $ns / $mean }")"
done
sed 's/"where_requests".*//' out | awk -v total="$total" '
    /"run": "replay", "what"/ { match($0, /"time_us": [0-9.]*/); us = substr($0, RSTART + 11, RLENGTH - 11); sum += us
                                match($0, /"share_pct": [0-9.]*/); pct = substr($0, RSTART + 13, RLENGTH - 13); n++
                                d = pct - 100 * us / total; if (d > 0.02 || d < -0.02) { print "share_pct: " $0; bad = 1 } }
    END { d = sum - total; if (d > 0.0051 || d < -0.0051 || n < 5) { print sum, "us of", total, n; bad = 1 } exit bad }' >said ||
    complain "where: $(cat said)"

finish
