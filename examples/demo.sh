#!/bin/sh
# The first result: demo.sh FANOUT. All-reduce over 8 GPUs of a DGX H100, the sums made in the switches
# (nvls) and by what is fastest without multicast, and the way of one multicast store.
set -eu
fanout=$1

echo '$ fanout coll all_reduce -s dgx-h100 -a nvls,unicast -b 1M -e 16M -f 4'
"$fanout" coll all_reduce -s dgx-h100 -a nvls,unicast -b 1M -e 16M -f 4
echo
echo '$ fanout walk multimem.st -s dgx-h100 -n 4'
"$fanout" walk multimem.st -s dgx-h100 -n 4
