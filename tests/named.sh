# What tests that each of some things has a test share, to be sourced: `named_check THINGS LIST WHAT` compares the file
# THINGS with LIST, of lines "THING TEST" in the same order, and wants each test to be there and to name the last part of
# its thing; it ends the script.
named_check() {
    bad=0
    grep -v '^#' "$2" >"$1.list"
    awk '{ print $1 }' "$1.list" | diff "$1" - >"$1.diff" ||
        { echo "$3 without a test (<), and tests of what is not there (>), in their order:"; cat "$1.diff"; bad=1; }
    while read -r thing test; do
        [ -f "$TOP_SRCDIR/tests/$test" ] || { echo "$thing: there is no tests/$test"; bad=1; continue; }
        grep -q -w -e "${thing##*.}" "$TOP_SRCDIR/tests/$test" || { echo "$thing: tests/$test does not name it"; bad=1; }
    done <"$1.list"
    [ "$bad" = 0 ] && echo "$(wc -l <"$1") $3 have a test each"
    exit "$bad"
}
