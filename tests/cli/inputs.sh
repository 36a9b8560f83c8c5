# The small inputs that examples of the manual pages and tests of all verbs name; sourced behind cli_test.sh, in its
# empty folder: two.csv, one.csv, kernel.ptx, one.trace, spec.ini, swept.db, a.json, b.json, and examples/.
cat >two.csv <<CSV
test,variant,gpus,ctas,threads,bytes,value,unit
load_latency,remote,0>1,1,1,16384,855.57,ns
atomic_latency,remote,0>1,1,1,8,900,ns
CSV
cat >one.csv <<CSV
id,group,preset,gpus,op,algo,proto,ctas,program,bytes,time_us,timing,derived,source_url
a,small,dgx-h100,2,all_reduce,auto,,,nccl,1024,5.3,eager,,nowhere
CSV
cat >kernel.ptx <<PTX
.version 8.0
.target sm_90
.address_size 64
.visible .entry nothing() { ret; }
PTX
printf '[sweep]\nrun = coll all_reduce\n[fixed]\nsystem = teach-4gpu\nalgo = nvls\n[grid]\nbytes = 4K, 8K\n' >spec.ini
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls -b 8K --record one.trace --format json >a.json ||
    complain "--record: exit $?"
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls -b 4K --format json >b.json
"$FANOUT" sweep spec.ini -o swept.db >out || complain "sweep: exit $?"
ln -s "$(dirname "$FANOUT")/examples" examples
