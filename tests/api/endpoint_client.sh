# What tests of programs on logical endpoints share, to be sourced: `build PROGRAM` makes $dir/PROGRAM of
# tests/clients/PROGRAM.c.
. "$TOP_SRCDIR/tests/api/client.sh"
build() { build_client "$TOP_SRCDIR/tests/clients/$1.c" "$1" -lpthread; }
# ranks PROGRAM REPORT RANKS HOW WORDS OPTION...: so many words are compared, none is wrong, nothing is stuck.
ranks() {
    program=$1 report=$dir/$2.json ranks=$3 how=$4 words=$5
    shift 5
    timeout 580 "$FANOUT" exec --set cuda.imex_channel=true --set cuda.driver_version=13050 "$@" --report "$report" -- \
        "$dir/$program" "$ranks" "$how" >"$dir/out" 2>&1 || { cat "$dir/out"; echo "$report: failed"; exit 1; }
    cat "$dir/out"
    grep -qx "$ranks ranks: $words words compared, 0 wrong" "$dir/out" || { echo "$report: not $words words"; exit 1; }
    for text in '"stuck": false' '"diagnostics_count": 0'; do
        grep -q -- "$text" "$report" || { echo "$report: it has no $text"; exit 1; }
    done
}
