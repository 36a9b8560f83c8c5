#!/bin/sh
# Logical endpoints on 2, 8 and 72 GPUs, in one process and in one process for each GPU, on several hosts, and once more:
# every word that every rank copied to every other, and to all, is where it belongs; the same run gives the same report.
set -eu
. "$TOP_SRCDIR/tests/api/endpoint_client.sh"
build endpoints
run() { # run NAME SYSTEM RANKS HOW [OPTION...]: words of each of RANKS: RANKS times two blocks of 64, and one
    name=$1 system=$2 n=$3 how=$4
    shift 4
    ranks endpoints "$name" "$n" "$how" $((n * (n * 128 + 64))) -s "$system" --set cuda.endpoints=on "$@"
    for text in '"logical_endpoints"' '"work": "memcpy to endpoint"'; do
        grep -q -- "$text" "$dir/$name.json" || { echo "$name: the report has no $text"; exit 1; }
    done
    [ "$(grep -c '"kind": "unicast"' "$dir/$name.json")" = "$n" ] || { echo "$name: not every endpoint is in the report"; exit 1; }
}
for how in one each; do
    run two-$how dgx-h100 2 $how
    run eight-$how dgx-h100 8 $how
done
run again dgx-h100 8 each
cmp "$dir/eight-each.json" "$dir/again.json" || { echo "a second run differs"; exit 1; }
run reference dgx-h100 8 each --engine reference
run rack-one gb200-nvl72 72 one
run trays gb200-nvl72 8 each --trays
[ -z "${FANOUT_RACK:-}" ] || run rack-each gb200-nvl72 72 each # about a minute and a half
