#!/bin/sh
# Proves, for every verb and every option that names an output, that the file is written, valid and not empty, or that
# the option is refused by name with the reason: the table is in views.py. First that its checkers can say no.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"
command -v gnuplot >/dev/null || { echo "skipped: gnuplot, which 'fanout plot' needs, is not installed"; exit 77; }

cat >two.csv <<CSV
test,variant,gpus,ctas,threads,bytes,value,unit
load_latency,remote,0>1,1,1,16384,855.57,ns
atomic_latency,remote,0>1,1,1,8,900,ns
CSV
cat >kernel.ptx <<PTX
.version 8.0
.target sm_90
.address_size 64
.visible .entry nothing() { ret; }
PTX
printf '[sweep]\nrun = coll all_reduce\n[fixed]\nsystem = teach-4gpu\nalgo = nvls\n[grid]\nbytes = 4K, 8K\n' >spec.ini
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls -b 8K --record one.trace --format json >a.json
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls -b 4K --format json >b.json
"$FANOUT" sweep spec.ini -o swept.db >out

python3 "$TOP_SRCDIR/tests/cli/views.py" || complain "see above"
finish
