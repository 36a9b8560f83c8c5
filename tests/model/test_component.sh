#!/bin/sh
# Proves that a SystemC module with TLM-2.0 sockets, built out of tree against the public header alone, can take the
# switches' place: under random traffic of every kind it loses nothing, every byte is right and every credit comes home
# (test_conservation, the same as for the built-in switch); collectives verify; what is for one GPU takes the very same
# time; and what it cannot be combined with, or is none, is refused in one line.
set -eu
[ "${SANITIZE:-no}" = no ] || { echo "skipped: sanitizers lose track of SystemC's stacks"; exit 77; }
. "$TOP_SRCDIR/tests/cli/cli_test.sh"
conservation=$(dirname "$FANOUT")/tests/model/test_conservation
[ -x "$conservation" ] || { echo "skipped: $conservation is not built"; exit 77; }

mkdir -p include/fanout
cp "$TOP_SRCDIR/model/switch/component.h" include/fanout/
${CXX:-g++} -Wall -Wextra -shared -fPIC -Iinclude "$TOP_SRCDIR/examples/tlm_switch.cpp" -o tlm_switch.so -lsystemc ||
    complain "examples/tlm_switch.cpp does not build"

FANOUT_COMPONENT=$work/tlm_switch.so "$conservation" >out 2>&1 || complain "conservation: $(tail -n 20 out)"

run() { "$FANOUT" coll all_reduce -s teach-4gpu -b 4K -e 16K -f 4 --format csv "$@" | cut -d , -f 1-16; }
run -a nvls,oneshot,ring --set switch.component=tlm_switch.so >own
[ "$(grep -c ',true$' own)" = 6 ] || complain "not verified: $(cat own)"
run -a ring >usual
run -a ring --set switch.component=tlm_switch.so >own
cmp -s own usual || complain "a ring takes another time: $(diff own usual)"

# A search leaves candidates that cannot win where they are, with packets in the modules: those after it still end.
"$FANOUT" coll all_reduce -s teach-4gpu -a best -b 64K --set switch.component=tlm_switch.so >out 2>err ||
    complain "best: exit $?: $(cat err)"
grep -q '^  all_reduce .* sym_mc .* yes ' out && ! grep -q 'left out' out || complain "best: $(cat out)"
# A switch that forgets an operand: what it sums is left out of the search with a word, and so is what never ends.
broken() { # SED-EXPRESSION PATTERN
    sed "$1" "$TOP_SRCDIR/examples/tlm_switch.cpp" >broken.cpp
    cmp -s broken.cpp "$TOP_SRCDIR/examples/tlm_switch.cpp" && complain "$1 changes nothing"
    ${CXX:-g++} -shared -fPIC -Iinclude broken.cpp -o broken.so -lsystemc || complain "$1 does not build"
    status=0
    "$FANOUT" coll all_reduce -s teach-4gpu -a best -b 64K --set switch.component=broken.so >out 2>&1 || status=$?
    grep -q "$2" out || complain "$1: $(cat out)"
}
broken 's/(unsigned)operand.size(), sum)/(unsigned)operand.size() - 1, sum)/' \
    '^# best, 64K, left out: nvls simple gives a wrong result: rank 0, element 1 of the result: got 10, right is 16$'
[ "$status" = 0 ] && grep -q '^  all_reduce .* sym_lsa .* yes ' out || complain "a forgotten operand: exit $status: $(cat out)"
grep -q 'by sym_lsa simple, the fastest that ends well (the others: see below), takes' out ||
    complain "it is not said that others do not: $(cat out)"
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls,ring -b 64K --set switch.component=broken.so >out && complain "nvls is wrong"
grep -q '^# > wrong results: nvls simple; the notes below say what is wrong$' out || complain "a wrong row: $(cat out)"
broken '/^    void take(/{n;s/{/{ if (fabric.ports()) return;/;}' \
    "best: none of 16 candidates ends well, .* a switch of one's own; of the first: all_reduce with sym_mc got stuck;"
[ "$status" = 2 ] || complain "no candidate ends: exit $status"

refuses 'needs \[switch\] merge_entries = 0' coll all_reduce --set switch.component=tlm_switch.so \
    --set switch.merge_entries=8
refuses 'needs \[topology\] kind = rails' coll all_reduce --set switch.component=tlm_switch.so \
    --set topology.kind=two_level --set topology.leaf_gpus=4 --set topology.spines=2 --set topology.trunks=1
refuses 'components run on one core' coll all_reduce --set switch.component=tlm_switch.so --cores 2
refuses 'component: ./gone.so: cannot open' coll all_reduce --set switch.component=gone.so
echo '#include <fanout/component.h>
const FoComponent fo_component = {99, "other", 0, 0, 0, 0};' >other.c
${CC:-cc} -shared -fPIC -Iinclude other.c -o other.so
refuses "built for version 99 of fanout/component.h, and this fanout has version 1" coll all_reduce \
    --set switch.component=other.so
finish
