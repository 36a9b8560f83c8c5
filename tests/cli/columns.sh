# What tests of a report's columns share; sourced in a folder of their own, behind something that defines complain().

# objects: what comes in as JSON, an object a line, is in `out`
objects() { tr -d '\n' | sed -e 's/  */ /g' -e 's/{/\n{/g' >out; }
# lines ARG...: the report as JSON, an object a line, is in `out`.
lines() { "$FANOUT" "$@" --format json 2>err | objects || complain "fanout $*"; }
# row TEXT...: one line of it has them all
row() {
    cp out left
    for text in "$@"; do
        grep -F -e "$text" left >next || :
        mv next left
    done
    [ "$(wc -l <left)" = 1 ] || complain "$(wc -l <left) rows have: $*"
}
# value KEY TEXT...: what stands there in the one row with such a key that has all of them
value() {
    key=$1
    shift
    row "\"$key\": " "$@"
    sed -n "s/.*\"$key\": \"*\([^,\"}]*[^,\"} ]\).*/\1/p" left
}
# near WHAT A EXPRESSION BY: A is that near to what the expression says
near() { awk "BEGIN { d = $2 - ($3); exit !(d <= $4 && -d <= $4) }" || complain "$1: $2, not $3"; }
