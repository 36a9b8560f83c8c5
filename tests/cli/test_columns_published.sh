#!/bin/sh
# The columns of validate's report that are about published rows, by hand: halves, targets, what is skipped and why, and
# what is left when errors of neighbours are taken out.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"
. "$TOP_SRCDIR/tests/cli/columns.sh"

# Two measurements of one cell, which judge (a, g), one of the other half, and one of more GPUs than there are. Whatever
# the simulated time is, errors follow from it.
cat >rows.csv <<'CSV'
id,group,preset,gpus,op,algo,proto,ctas,program,bytes,time_us,timing,derived,source_url,note
a,small,dgx-h100,2,all_reduce,auto,,,nccl,1024,5.3,eager,,nowhere,first
b,small,dgx-h100,2,all_reduce,auto,,,nccl,1024,8,eager,,nowhere,
g,small,dgx-h100,2,all_reduce,auto,,,nccl,1024,4.1,eager,,nowhere,
h,small,dgx-h100,16,all_reduce,auto,,,nccl,1024,4.1,eager,,nowhere,
CSV
lines validate rows.csv
us=$(value simulated '"name": "a dgx-h100 2 all_reduce auto nccl/eager 1024"')
of_a=$(awk "BEGIN { printf \"%.2f\", 100 * ($us / 5.3 - 1) }") of_b=$(awk "BEGIN { printf \"%.2f\", 100 * ($us / 8 - 1) }")
of_g=$(awk "BEGIN { printf \"%.2f\", 100 * ($us / 4.1 - 1) }")
row '"line": 2, "group": "small", "name": "a dgx-h100' '"measured": 5.300,' "\"error_pct\": $of_a," '"skipped": null' \
    '"extrapolated": false, "check_pct": null,' '"system": "dgx-h100", "more": "note=first", "half": "judge" }'
row '"line": 3' '"name": "b dgx-h100' '"unit": "us", ' "\"error_pct\": $of_b," '"half": "calibrate" }'
row '"line": 4' '"name": "g dgx-h100' "\"error_pct\": $of_g," '"half": "judge" }'
row '"line": 5' '"name": "h dgx-h100 16' '"simulated": null' '"error_pct": null' '"skipped": "' '"half": "judge" }'
value skipped '"line": 5' | grep -q '16' || complain "skipped: $(value skipped '"line": 5')"
half() { awk -v text="$2" -v half="\"half\": \"$1\"" 'index($0, "\"name\": \"" text) && index($0, half)' out >one; cp one out; }
cp out all
half judge "eager rows below 4 MiB"
row '"name": "eager rows below 4 MiB", "half": "judge", "rows": 3, "skipped": 1,' '"median_target_pct": 5,' '"p90_target_pct": 15,' \
    '"max_target_pct": null' '"met": false, "near_rows": 2,'
near median_abs_pct "$(value median_abs_pct '"half"')" "($of_a + $of_g) / 2" 0.011
near p90_abs_pct "$(value p90_abs_pct '"half"')" "$of_a + 0.9 * ($of_g - $of_a)" 0.011
near max_abs_pct "$(value max_abs_pct '"half"')" "$of_g" 0.0051
near mean_pct "$(value mean_pct '"half"')" "($of_a + $of_g) / 2" 0.011
# Of two values the median is half way and the 90th percentile nine tenths. Neighbours correct one simulated time, so that
# the two errors that are left are to one another as the measurements are.
median=$(value near_median_pct '"half"') p90=$(value near_p90_pct '"half"')
near "what is left" "(100 + $median + 1.25 * ($p90 - $median)) / (100 + $median - 1.25 * ($p90 - $median))" "5.3 / 4.1" 0.0004
near "what is left" "$median" "($of_a + $of_g) / 2" 25 # rows near it were simulated too slow, but less
cp all out
# The three rows that judge, of NCCL and no known version; with versions each has a line of its own, the older one first.
row '"name": "not known", "rows": 3, "skipped": 1,'
near "median_abs_pct by version" "$(value median_abs_pct '"not known"')" "($of_a + $of_g) / 2" 0.011
near "p90_abs_pct by version" "$(value p90_abs_pct '"not known"')" "$of_a + 0.9 * ($of_g - $of_a)" 0.011
near "max_abs_pct by version" "$(value max_abs_pct '"not known"')" "$of_g" 0.0051
near "mean_pct by version" "$(value mean_pct '"not known"')" "($of_a + $of_g) / 2" 0.011
half calibrate "eager rows below 4 MiB"
row '"rows": 1, "skipped": 0, "median_abs_pct": '"$of_b" '"max_abs_pct": '"$of_b" '"mean_pct": '"$of_b"

sed -e '1s/$/,nccl/' -e '2s/$/,2.28/' -e '4s/$/,2.27.5/' -e '3d' -e '5d' rows.csv >versions.csv
lines validate versions.csv
[ "$(grep -o '"name": "2[0-9.]*", "rows": 1, "skipped": 0' out | cut -d '"' -f 4 | xargs)" = "2.27.5 2.28.0" ] ||
    complain "NCCL's versions: $(grep '"name": "2' out)"

# Of Blackwell's large rows the worst has a target, too; met is all three.
for measured in 20 18; do
    { echo id,group,preset,gpus,op,algo,proto,ctas,program,bytes,time_us,timing,derived,source_url
      echo "a,large,hgx-b200,2,all_gather,auto,,,nccl,4194304,$measured,graph,,nowhere"; } >large.csv
    lines validate large.csv
    row '"name": "Blackwell, 2 to 8 GPUs of a host, 4 MiB and more"' '"median_target_pct": 5' '"p90_target_pct": 12' \
        '"max_target_pct": 20' "\"met\": $([ $measured = 18 ] && echo true || echo false)," '"near_rows": 1'
done
# A large row is told from three smaller ones, the largest of which checks it.
sed 's/4194304/268435456/' large.csv >larger.csv
lines validate larger.csv --crossings 100000
row '"name": "a hgx-b200 2 all_gather auto nccl/graph 268435456"' '"extrapolated": true'
awk "BEGIN { c = $(value check_pct '"extrapolated": true'); exit !(c > -5 && c < 5) }" || complain "check_pct"
# Of NCCL's parts, which 16 CTAs send in chunks of 512 KiB, these are one chunk, a quarter more and a half more, whatever
# might be simulated: 8, 10 and 12 MiB, and the row lies on the line through the first and the last. With an L2 that holds
# none of them they run as the row does.
parts() {
    head -n 1 large.csv
    for mib in "$@"; do echo "a,s,dgx-h100,2,sendrecv,auto,,,nccl,$((mib << 20)),1000,graph,,nowhere"; done
}
parts 8 10 12 >parts.csv
parts 256 >whole.csv
"$FANOUT" validate parts.csv --set gpu.l2_bytes=1048576 --format csv | sed -n 's/^parts.csv,/,/p' | cut -d , -f 6 | xargs >us
read -r first second last <us
lines validate whole.csv --set gpu.l2_bytes=1048576 --crossings 4000000
near "256 MiB" "$(value simulated '"extrapolated": true')" "$last + ($last - $first) / 4 * 244" 0.2
near check_pct "$(value check_pct '"extrapolated": true')" \
    "100 * sqrt(($first + ($last - $first) / 2 - $second) ^ 2) / $second" 0.011

# Who sends to all is NCCL by its own protocol of parts, and by direct stores where buffers are symmetric: `auto` is that.
{
    head -n 1 large.csv
    for kind in auto,,,nccl p2p,,,nccl auto,,,nccl-sym direct,,,nccl-sym; do
        echo "a,s,dgx-h100,2,all_to_all,$kind,65536,10,graph,,nowhere"
    done
} >to_all.csv
"$FANOUT" validate to_all.csv --format csv | awk -F, 'NR > 1 && $1 == "to_all.csv" { us[++n] = $6 }
    END { exit !(n == 4 && us[1] == us[2] && us[3] == us[4] && us[1] != us[3] && us[3] > 0) }' || complain "to all: auto is another one"
finish
