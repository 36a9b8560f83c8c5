#!/bin/sh
# fanout sweep: what a spec gives, what is refused and how, and that nothing is lost or run twice however it ends.
# SWEEP_POINTS: how many points the sweep that is killed has (40; `make check-sweep` takes 1,000), SWEEP_KILLS: how often.
set -eu
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

# Everything in a database as text, in an order of its own; without sqlite3 the command's own export.
dump() {
    if command -v sqlite3 >/dev/null; then sqlite3 "$1" .dump; else "$FANOUT" sweep "${2:-spec.ini}" -o "$1" --format csv; fi
}
spec() { printf '%b' "$1" >"${2:-spec.ini}"; }
is() { [ "$2" = "$3" ] || complain "$1: '$2' is not '$3'"; }

# ---- wrong specs: file, line and key, and what would be right
head='[sweep]\nrun = coll all_reduce\n[grid]\n'
wrong() {
    spec "$1"
    refuses "$2" sweep spec.ini
    [ ! -e spec.db ] || complain "a database of: $1"
}
wrong "${head}link.fligt_ps = 1" "spec.ini:4: .grid. link.fligt_ps: .*did you mean 'flight_ps'"
wrong "${head}algoo = nvls" "spec.ini:4: .grid. algoo: .*did you mean 'algo'"
wrong "${head}algo = nvl" "spec.ini:4: .grid. algo: .*did you mean 'nvls'"
wrong "${head}bytes = 1M.." "spec.ini:4: .grid. bytes: the range '1M..' has no end"
wrong "${head}bytes = 1..20000 +1" "20000 values, more than the 10000 points that --max-points allows"
wrong "${head}bytes = 1..1000 +1\nctas = 1..1000 +1" "spec.ini: 1000000 points are more than the 10000"
wrong "${head}link.flight_ps = 1..5000000000 x10" "out of bounds"
wrong "${head}system = dgx-h10" "spec.ini:4: system: .*did you mean dgx-h100"
wrong "${head}op = all_gather" "spec.ini:4: .grid. op: 'op' has its values in line 2"
wrong "[grit]\na = 1" "spec.ini:2: unknown group .grit.; did you mean 'grid'"
wrong "[sweep]\nrun = col" "spec.ini:2: .sweep. run: .*did you mean 'coll'"
wrong "[sweep]\nrun = replay none.goal" "there is no file 'none.goal'"
wrong "${head}[latin]\nbytes = 1..5" "lacks 'points'"
wrong "${head}[threshold]\nkey = link.flight_ps\nvalues = 2, 1\nmetric = x\nkeep = 95 %" "spec.ini:6: .*values ascend"
wrong "${head}[threshold]\nkey = link.flight_ps\nvalues = 1, 2\nmetric = x\nkeep = 120 %" "up to 100 %"

# ---- a grid, in a spec's own order, every input a column
spec "${head}algo = nvls, ring\nbytes = 16K..64K x2\n[fixed]\nsystem = teach-4gpu\n"
"$FANOUT" sweep spec.ini --csv all.csv --format csv >out
cmp -s out all.csv || complain "--csv is not --format csv"
is "columns" "$(sed 1q out | cut -d , -f 1-10)" "id,status,error,op,algo,bytes,system,seed,count,type"
is "rows" "$(sed 1d out | cut -d , -f 1,5,6 | tr '\n' ' ')" \
    "1,nvls,16384 2,nvls,32768 3,nvls,65536 4,ring,16384 5,ring,32768 6,ring,65536 "
"$FANOUT" coll all_reduce -s teach-4gpu -a ring -b 32K --format csv >one
is "a point and the command that it names" "$(sed -n 6p out | cut -d , -f 6,9-19)" "$(sed 1d one | cut -d , -f 2-5,7-14)"

# ---- points that one process runs after each other give what the command of each gives alone; one fails in between
figures() { sed -n "s/^ *\"$1\": \([0-9.]*\),\{0,1\}\$/\1/p"; }
alone() {
    rm -f "${1%.ini}.db"
    "$FANOUT" sweep "$1" --jobs 1 --format json >out
    is "points of $1" "$(sqlite3 "${1%.ini}.db" "SELECT count(*) FROM points WHERE status = 'done'")" "$2"
    sqlite3 "${1%.ini}.db" "SELECT command FROM points ORDER BY id" | while read -r _ words; do
        eval "\"\$FANOUT\" $words --format json" 2>/dev/null | figures "$3" | sed 1q
    done >each
    is "points of $1, each alone" "$(tr '\n' ' ' <each)" "$(figures "$3" <out | tr '\n' ' ')"
}
if command -v sqlite3 >/dev/null; then
    spec "${head}system = teach-4gpu, dgx-h100\ngpus = 4, 9, 3\nalgo = nvls, ring, best\nbytes = 3K, 48K\n" many.ini
    alone many.ini 24 time_us
    spec "[sweep]\nrun = bench load_latency\n[grid]\nsystem = teach-4gpu, dgx-h100\nlink.flight_ps = 100ns, 200ns\n" \
        bench.ini
    alone bench.ini 4 value
fi

# ---- a failing point is a row with its error, and is tried again only when asked
spec "${head}gpus = 3..5 +1\nsystem = teach-4gpu\nalgo=ring\nbytes=16K" fail.ini
"$FANOUT" sweep fail.ini --format csv >out
is "failing" "$(grep -c ',failed,"\{0,1\}5 GPUs cannot take part' out)" 1
says '"not_done": 1' sweep fail.ini --retry --format json

# ---- a threshold: the smallest value keeps, the one below it does not
spec "${head}system = teach-4gpu\nbytes = 64K\nalgo = nvls\n[threshold]\nkey = switch.multicast_tags\n" t.ini
printf 'values = 1..64 +1\nmetric = busbw_GBps\nkeep = 95 %%\n' >>t.ini
"$FANOUT" sweep t.ini --format json >out
smallest=$(sed -n '/"thresholds"/,$p' out | sed -n 's/.*"switch.multicast_tags": \([0-9]*\).*/\1/p')
bw() { "$FANOUT" coll all_reduce -s teach-4gpu -b 64K -a nvls --set switch.multicast_tags=$1 --format csv | sed 1d | cut -d , -f 13; }
awk -v most="$(bw 64)" -v at="$(bw "$smallest")" -v below="$(bw $((smallest - 1)))" \
    'BEGIN { exit !(at >= 0.95 * most && below < 0.95 * most) }' || complain "threshold $smallest is not the smallest"
points=$(sed -n 's/^ "points": \([0-9]*\).*/\1/p' out)
[ "$points" -le 8 ] || complain "$points points for a bisection of 64 values"
spec "${head}[threshold]\nkey = switch.multicast_tags\nvalues = 1, 2\nmetric = busbw\nkeep = 95 %" m.ini
refuses "m.ini:7: .threshold. metric: 'busbw' is no output" sweep m.ini

# ---- databases that are not this sweep's stay as they are
cp spec.db before.db
spec "${head}algo = nvls\nsystem = teach-4gpu" other.ini
refuses "holds another sweep, that of 'spec.ini'" sweep other.ini -o spec.db
cmp -s spec.db before.db || complain "a refused database has changed"
echo text >text.db
refuses "'text.db' is no database" sweep other.ini -o text.db
is "a refused file" "$(cat text.db)" text
refuses "'gone/x.db' cannot be written" sweep other.ini -o gone/x.db
if command -v sqlite3 >/dev/null; then
    sqlite3 before.db "UPDATE sweep SET value = '0.0.1' WHERE key = 'version'"
    refuses "made by fanout 0.0.1, and this is fanout" sweep spec.ini -o before.db
    sqlite3 strange.db "CREATE TABLE t (a)"
    refuses "not one of fanout sweep" sweep spec.ini -o strange.db
fi
mkdir closed && chmod a-w closed
as=
[ "$(id -u)" != 0 ] || as="setpriv --reuid 65534 --clear-groups"
if [ -z "$as" ] || { chmod a+rx "$work" && $as "$FANOUT" --version >/dev/null 2>&1; }; then
    $as "$FANOUT" sweep other.ini -o closed/x.db >out 2>err && complain "a read-only folder was written"
    grep -q "'closed/x.db' cannot be written: Permission denied" err || complain "read-only folder: $(cat err)"
fi

# ---- a disk that is full: one line, and the same command goes on when there is room
spec "${head}system = teach-4gpu\nbytes = 1K..40K +1K\nalgo = oneshot" full.ini
"$FANOUT" sweep full.ini -o whole.db >/dev/null
if (ulimit -f 100 && "$FANOUT" sweep full.ini -o full.db) >out 2>err; then complain "a full disk was not noticed"; fi
is "lines of a full disk" "$(wc -l <err)" 1
"$FANOUT" sweep full.ini -o full.db >/dev/null
is "after a full disk" "$(dump full.db full.ini | cksum)" "$(dump whole.db full.ini | cksum)"

# ---- killed again and again: the database is that of an undisturbed run, and nothing ran twice
points=${SWEEP_POINTS:-40} kills=${SWEEP_KILLS:-20}
spec "${head}system = teach-4gpu\nseed = 1..$points +1\nalgo = ring\nbytes = 64K" kill.ini
began=$(date +%s)
"$FANOUT" sweep kill.ini -o calm.db >/dev/null
took=$(($(date +%s) - began + 1))
for round in $(seq "$kills"); do
    "$FANOUT" sweep kill.ini -o killed.db >/dev/null 2>&1 &
    pid=$!
    sleep "$(awk -v seed="$round" -v took=$took -v kills="$kills" 'BEGIN { srand(seed); print 1.6 * rand() * took / kills }')"
    kill -9 $pid 2>/dev/null || :
    wait $pid 2>/dev/null || :
done
"$FANOUT" sweep kill.ini -o killed.db >/dev/null
is "after $kills kills" "$(dump killed.db kill.ini | cksum)" "$(dump calm.db kill.ini | cksum)"
[ ! -e killed.db-wal ] || complain "a log is left beside a complete database"
cp killed.db again.db
"$FANOUT" sweep kill.ini -o again.db >/dev/null
is "a complete sweep, again" "$(dump again.db kill.ini | cksum)" "$(dump killed.db kill.ini | cksum)"

# ---- two at a time: the second is refused, the first goes on; one that is interrupted says so
rm -f two.db
"$FANOUT" sweep kill.ini -o two.db --jobs 1 >/dev/null 2>err1 &
pid=$!
for _ in $(seq 100); do [ -s two.db ] && break; sleep 0.02; done
sleep 0.1
if kill -0 $pid 2>/dev/null; then
    "$FANOUT" sweep kill.ini -o two.db >/dev/null 2>err && status=0 || status=$?
    [ $status = 0 ] || grep -q "being written by another" err || complain "two at a time: $(cat err)"
    kill -INT $pid 2>/dev/null || :
    wait $pid && status=0 || status=$?
    case $status in 0) ;; 130) grep -q "interrupted: [0-9]* points are in 'two.db'" err1 || complain "$(cat err1)" ;;
    *) complain "interrupted: exit $status: $(cat err1)" ;; esac
fi
finish
