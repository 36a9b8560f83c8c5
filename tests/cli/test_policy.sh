#!/bin/sh
# Policies from a shared object that is built out of tree: found by name, obeyed, the same under both engines and on
# several cores; a library that is none, or of another version, is refused in one line.
set -eu
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

# As installed: the public header alone.
mkdir -p include/fanout
cp "$TOP_SRCDIR/model/shared/policy.h" include/fanout/
${CC:-cc} -std=c99 -Wall -Wextra -Werror -shared -fPIC -Iinclude "$TOP_SRCDIR/examples/policy.c" -o policy.so

run() { "$FANOUT" coll all_reduce -s "$system" -a nvls,oneshot -b 256K --format csv "$@" | cut -d , -f 1-16; }
two="--set system.gpus=8 --set topology.kind=two_level --set topology.leaf_gpus=4 --set topology.spines=2
     --set topology.trunks=1"
system=dgx-h100
run >usual
for policy in arbiter=shortest replication=farthest hash=folded reduction=halves arbiter=weighted; do
    levels= system=dgx-h100
    [ $policy != reduction=halves ] || levels=$two system=teach-4gpu
    run $levels --set policy.library=policy.so --set policy.$policy >fast
    run $levels --set policy.library=policy.so --set policy.$policy --engine reference >reference
    cmp -s fast reference || complain "$policy: engines differ: $(diff fast reference)"
    run $levels --set policy.library=policy.so --set policy.$policy --cores 2 >cores 2>err || : # some are for one core
    [ -s err ] || cmp -s fast cores || complain "$policy: two cores differ"
    [ "$(grep -c ',true$' fast)" = 2 ] || complain "$policy: not verified: $(cat fast)"
    cmp -s fast usual || echo "$policy: $(sed -n 2p fast | cut -d , -f 10-13)" >>differ
done
# An arbiter, an order of rounds and a hash are seen in times; where sums meet need not be.
for policy in arbiter=shortest replication=farthest hash=folded; do
    grep -q $policy differ || complain "$policy changes nothing"
done

refuses "arbiter: 'shortes' is unknown; did you mean 'shortest'" coll all_reduce --set policy.library=./policy.so \
    --set policy.arbiter=shortes
refuses "arbiter: 'shortest' is unknown; known are round_robin" coll all_reduce --set policy.arbiter=shortest
refuses "library: ./gone.so: cannot open" coll all_reduce --set policy.library=gone.so
echo 'int nothing;' >none.c
${CC:-cc} -shared -fPIC none.c -o none.so
refuses "library: it does not define fo_policies" coll all_reduce --set policy.library=none.so
sed 's/FO_POLICY_VERSION, /99, /' "$TOP_SRCDIR/examples/policy.c" >other.c
${CC:-cc} -shared -fPIC -Iinclude other.c -o other.so
refuses "library: 'other.so' was built for version 99 of fanout/policy.h, and this fanout has version 1" \
    coll all_reduce --set policy.library=other.so
echo text >text.so
refuses "library: ./text.so: " coll all_reduce --set policy.library=text.so
finish
