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
