#!/bin/sh
# Proves, for every verb, that a file that cannot be written is refused before anything is simulated, that a result is
# never lost, and that rows of several runs can be told apart. What files have in them: test_cli_views.sh.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"
. "$TOP_SRCDIR/tests/cli/inputs.sh"

# The command line of each verb, quick to run, without the options under test.
line() {
    case $1 in
    systems) echo "systems teach-4gpu" ;;
    coll) echo "coll all_reduce -s teach-4gpu -a nvls -b 4K" ;;
    bench) echo "bench multicast_latency -s teach-4gpu" ;;
    walk) echo "walk multimem.st -s teach-4gpu" ;;
    validate) echo "validate two.csv" ;;
    replay) echo "replay one.trace -s teach-4gpu" ;;
    ptx) echo "ptx kernel.ptx" ;;
    sweep) echo "sweep spec.ini -o swept.db" ;;
    plot) echo "plot swept.db -o plot.svg" ;;
    compare) echo "compare a.json b.json" ;;
    exec) echo "exec -s teach-4gpu" ;;
    esac
}
run() { # LINE OPTION...: of exec the program comes last
    case $1 in
    exec*) command=$1; shift; "$FANOUT" $command "$@" -- "examples/multicast_store" ;;
    *) command=$1; shift; "$FANOUT" $command "$@" ;;
    esac
}
valid() { # KIND FILE; test_cli_views.sh looks closely
    case $1 in
    html) head -c 15 "$2" | grep -q '<!DOCTYPE html>' && grep -q '</html>' "$2" ;;
    vcd) grep -q '^\$var ' "$2" ;;
    esac
}
# Whether a verb has a view. What it has not it refuses with the reason behind a colon.
has() {
    case $1.$2 in
    *.html | coll.vcd | exec.vcd | walk.vcd | bench.vcd | replay.vcd) return 0 ;;
    *) return 1 ;;
    esac
}
verbs="systems coll bench walk validate replay ptx exec sweep compare"
! command -v gnuplot >/dev/null || verbs="$verbs plot"
for verb in $verbs; do
    command=$(line $verb)
    # Refused before anything is simulated: nothing is printed, and a program does not start.
    : >read_only
    for bad in no/such/dir/x /tmp '' "one.trace/x" -; do
        status=0
        run "$command" --html "$bad" >out 2>err || status=$?
        [ "$status" = 1 ] && [ ! -s out ] && grep -q -e '--html' err && [ "$(wc -l <err)" = 1 ] ||
            complain "$verb --html '$bad': exit $status: $(cat out err)"
    done
    # What turns out while writing: exit 1 and a line that says so, but what was printed is whole.
    if [ -w /dev/full ]; then
        for view in html vcd; do
            has $verb $view || continue
            status=0
            run "$command" --$view /dev/full >out 2>err || status=$?
            [ "$status" = 1 ] && grep -q '/dev/full' err || complain "$verb --$view /dev/full: exit $status: $(cat err)"
            [ -c /dev/full ] || complain "$verb replaced the device"
            [ -s out ] || complain "$verb --$view /dev/full: the result is lost"
        done
        rm -f view.html
        status=0
        # shellcheck disable=SC2086
        run "$command" --html view.html >/dev/full 2>err || status=$?
        [ $verb = exec ] || [ "$status" = 1 ] || complain "$verb >/dev/full: exit $status"
        valid html view.html || complain "$verb >/dev/full: the page is lost, too"
    fi
done
refuses "is the file of --html" exec -s teach-4gpu --html same --perfetto same -- "examples/multicast_store"
for out in no/such/dir/x.trace /tmp; do
    refuses "'$out' cannot be written" convert one.trace $out
    refuses "report: '$out' cannot be written" exec -s teach-4gpu --report $out -- "examples/multicast_store"
done
refuses "record: 'no/such/dir/x.trace' cannot be written" coll all_reduce -s teach-4gpu -b 4K --record no/such/dir/x.trace
refuses "/tmp: the name should end in .trace" coll all_reduce -s teach-4gpu -b 4K --record /tmp
status=0
"$FANOUT" convert one.trace /dev/full >out 2>err || status=$?
[ "$status" = 1 ] && [ -c /dev/full ] || complain "convert to a full device: exit $status: $(cat err)"

# A waveform is of one simulation; what GTKWave has saved beside it stays.
refuses '--vcd: 2 rows are 2 simulations' coll all_reduce -s teach-4gpu -a nvls,ring -b 4K --vcd two.vcd
refuses '--vcd: best tries several algorithms' coll all_reduce -s teach-4gpu -a best -b 4K --vcd two.vcd
refuses '--vcd: this row is simulated as flows' coll all_reduce -s teach-4gpu -a nvls -b 1G --vcd two.vcd
refuses '--vcd: 2 runs are 2 simulations' bench multicast_latency -s teach-4gpu --ctas 1,2 --vcd two.vcd
refuses '--vcd: flows have no queues' bench multicast_bw -s teach-4gpu --fidelity flow --vcd two.vcd
refuses '--vcd: so large a run is extrapolated' bench stream_bw -s teach-4gpu -b 1G --crossings 10 --vcd two.vcd
refuses "--vcd: engine measures Fanout's own speed" bench engine --vcd two.vcd
refuses "--perfetto: engine measures Fanout's own speed" bench engine --perfetto two.vcd
refuses '--vcd: flows have no queues' replay one.trace -s teach-4gpu --fidelity flow --vcd two.vcd
printf 'num_ranks 1\nrank 0 {\nl1: calc 1000\n}\n' >quiet.goal
"$FANOUT" replay quiet.goal -s teach-4gpu --vcd two.vcd >out 2>err && complain "replay: nothing is communicated: exit 0"
grep -q -e '--vcd: nothing is communicated' err || complain "replay: nothing is communicated, and it says: $(cat err)"
[ ! -e two.vcd ] || complain "refused, but a waveform was written"
echo '[*] GTKWave Analyzer' >kept.gtkw
"$FANOUT" walk store -s teach-4gpu --vcd kept.vcd >out && [ "$(cat kept.gtkw)" = '[*] GTKWave Analyzer' ] ||
    complain "a save file of GTKWave's was lost"
[ ! -e /dev/full.gtkw ] || complain "a save file beside a device"
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls -b 64K --fault link_down=gpu0.link1@5us-9us --vcd state.vcd >out ||
    complain "a fault that ends at a time, with a waveform: exit $?"
for signal in request_queue_packets answer_credits_flits state reduction_tags_free reduction_free_bytes; do
    grep -q "\.$signal\[" state.gtkw || complain "coll --vcd: no $signal changes"
done

# Of a replay the waveform is of the first stretch of communication, as is said; the results are those of a run without.
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls -b 4K -e 8K --record twice.trace >out
"$FANOUT" replay twice.trace -s teach-4gpu >without
"$FANOUT" replay twice.trace -s teach-4gpu --vcd first.vcd >with 2>err || complain "replay --vcd: exit $?: $(cat err)"
cmp -s without with || complain "replay: another result with --vcd"
grep -q 'shows the first of 2 stretches of communication, from 0.000 us' err || complain "replay --vcd says: $(cat err)"
"$FANOUT" bench multicast_latency -s teach-4gpu >without
"$FANOUT" bench multicast_latency -s teach-4gpu --vcd lat.vcd >with 2>err && cmp -s without with && [ ! -s err ] ||
    complain "bench: another result with --vcd: $(cat err)"

# GTKWave's own reader takes the waveform: all its instants come back, and every signal that the save file names is one.
if command -v vcd2fst >/dev/null && command -v fst2vcd >/dev/null; then
    vcd2fst state.vcd state.fst && fst2vcd state.fst >back.vcd || complain "GTKWave's vcd2fst or fst2vcd refuses state.vcd"
    [ "$(grep -c '^#' state.vcd)" = "$(grep -c '^#' back.vcd)" ] || complain "GTKWave reads other instants from state.vcd"
    awk '$1 == "$scope" { path[++depth] = $3 } $1 == "$upscope" { depth-- }
         $1 == "$var" { name = ""; for (i = 1; i <= depth; i++) name = name path[i] "."
                        print name $5 ($6 == "$end" ? "" : $6) }' back.vcd | sort >signals
    grep '^SystemC' state.gtkw | sort -u >named
    [ -s named ] && [ -z "$(comm -13 signals named)" ] || complain "state.gtkw names what is no signal: $(comm -13 signals named)"
else
    echo "GTKWave: skipped, vcd2fst and fst2vcd are not here"
fi

# exec: a report that is lost is no success, and nothing to report is said.
for report in '--report /dev/full' '--report -'; do
    status=0
    # shellcheck disable=SC2086
    "$FANOUT" exec -s teach-4gpu $report -- "examples/multicast_store" >/dev/full 2>err || status=$?
    [ "$status" = 1 ] && grep -q 'report is lost' err || complain "exec $report >/dev/full: exit $status: $(cat err)"
done
refuses 'there is nothing to write' exec --report r.json -- true
"$FANOUT" exec -- true || complain "exec -- true: exit $?"

# Rows of several runs, put together, say which run they are of: another parameter, by --set or --config, another seed,
# another system, and options that have no column.
printf '[link]\nflight_ps = 150000\n' >c.ini
for verb in coll bench walk replay exec; do
    for run in '' '--set link.flight_ps=150000' '--config c.ini' '--seed 7'; do
        if [ $verb = exec ]; then
            # shellcheck disable=SC2086
            run "$(line exec) $run" --report row.csv >out 2>err || complain "exec $run: $(cat err)"
        else
            # shellcheck disable=SC2046,SC2086
            "$FANOUT" $(line $verb) $run --format csv >row.csv || complain "$verb $run: exit $?"
        fi
        head -n 1 row.csv | grep -q ',system,settings,seed$' || complain "$verb: csv does not tell its run"
        sed -n 2p row.csv | tail -n 1 | grep -o ',teach-4gpu,.*$'
    done >told
    [ "$(sort -u told | wc -l)" -ge 3 ] && [ "$(sed -n 1p told)" = ',teach-4gpu,,1' ] &&
        grep -q '7$' told && grep -q 'link.flight_ps=150000,1' told || complain "$verb: runs look alike: $(cat told)"
done
"$FANOUT" validate two.csv --format csv --set link.flight_ps=150000 >row.csv
sed -n 2p row.csv | grep -q ',dgx-h200,,calibrate,link.flight_ps=150000,1$' || complain "validate: $(cat row.csv)"
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls -b 4K --threads 128 --iters 2 --format csv | sed -n 2p |
    grep -q ',teach-4gpu,--threads 128 --iters 2,1$' || complain "coll --threads has no place in csv"

# The loader parts its lists at spaces and colons: a library's folder that has one is told, and a link to it serves.
libs=$(dirname "$FANOUT")/.libs
for name in 'with space' 'with:colon'; do
    ln -s "$libs" "$work/$name"
    FANOUT_LIBDIR="$work/$name" refuses "'.*/$name' has a space, a colon" exec -- true
done
ln -s "$work/with space" "$work/plain"
FANOUT_LIBDIR=$work/plain "$FANOUT" exec -- true >out 2>err || complain "a link to such a folder: $(cat err)"

# What others write to the same file stands before and behind a report on standard output or standard error, none over it.
for report in "" "--report -"; do
    # shellcheck disable=SC2086
    { echo before; "$FANOUT" exec $report -s teach-4gpu -- "examples/multicast_store"; echo behind; } >out 2>&1
    [ "$(head -n 1 out)" = before ] && [ "$(tail -n 1 out)" = behind ] && grep -q '^# fanout .* exec' out ||
        complain "exec $report into a file that others write to: $(head -n 3 out)"
done

finish
