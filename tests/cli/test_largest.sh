#!/bin/sh
# Proves that the largest system, 1,152 GPUs behind two levels of switches, sums and verifies an all-reduce, with as many
# replicas at each level as by hand, that one GPU more is refused, that NCCL's own buffers serve more ranks than a CTA
# has threads that could poll for them, and that no command needs to say how many threads a CTA has.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

cat >largest.ini <<END
[system]
inherits = $TOP_SRCDIR/examples/systems/gb200-nvl576.ini
gpus = 1152
[topology]
spines = 18
trunks = 2
END
run="coll all_reduce -s largest.ini -a nvls --ctas 1 --threads 64"
# 144 lines are read by ld_reduce and stored by st, and two barriers have a red of each GPU: 2592 requests, each of which
# a spine gives to 32 leaves, and these to 1152 GPUs.
# shellcheck disable=SC2086
says "all_reduce *18432 .* yes  packet" $run -b 18432 --data full
grep -q "^  leaves *576 *82944 *2985984 " out || complain "not 2985984 replicas at the leaves: $(grep leaves out)"
grep -q "^  spines *324 *2592 *82944 " out || complain "not 82944 replicas at the spines: $(grep spines out)"
says "nvls_buffered .* 300 .* yes  packet" coll all_reduce -s largest.ini -a nvls_buffered -n 300 --ctas 1 -b 64K --data full
says "all_reduce *18432 .* 1152 " coll all_reduce -s largest.ini -a nvls --ctas 1 -b 18K --data off
# shellcheck disable=SC2086
refuses "1153.*1152" $run -b 18K --set system.gpus=1153
finish
