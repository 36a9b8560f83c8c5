#!/bin/sh
# What a run says of its kernels: a row of the report for each launch with its own figures, and where warps' time went;
# launches of one kernel on several GPUs at once are one row, with what links did meanwhile, in both engines; the
# launches by SM in the timeline; a warp's instructions with times and values, which change nothing; the same bytes
# on every run.
set -eu
. "$TOP_SRCDIR/tests/plain.sh"
libs=$(dirname "$FANOUT")/.libs
[ -f "$libs/libcuda.so.1" ] || { echo "no $libs/libcuda.so.1"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
${CC:-cc} -std=gnu11 -O1 -Wall -Wextra -Werror -I"$TOP_SRCDIR/api/include" "$TOP_SRCDIR/tests/api/cuda_kernels.c" \
    -o "$dir/kernels" "$libs/libcuda.so.1" -Wl,-rpath-link,"$libs"
for run in 1 2; do
    timeout 100 "$FANOUT" exec -s dgx-h100 --report "$dir/$run.json" --perfetto "$dir/time$run.json" -- "$dir/kernels"
done
cmp "$dir/1.json" "$dir/2.json" && cmp "$dir/time1.json" "$dir/time2.json" || { echo "two runs differ"; exit 1; }
timeout 100 "$FANOUT" exec -s dgx-h100 --report "$dir/report.txt" -- "$dir/kernels"
grep -q '^# Launches of kernels' "$dir/report.txt" || { echo "no launches in the text"; cat "$dir/report.txt"; exit 1; }

# One object of the report a line.
tr -d '\n' <"$dir/1.json" | sed -e 's/  */ /g' -e 's/{/\n{/g' >"$dir/rows"
count() { # count NUMBER TEXT...: so many rows have all of them
    want=$1
    shift
    cp "$dir/rows" "$dir/left"
    for text in "$@"; do
        grep -F -- "$text" "$dir/left" >"$dir/next" || :
        mv "$dir/next" "$dir/left"
    done
    have=$(wc -l <"$dir/left")
    [ "$have" = "$want" ] || { echo "$have rows instead of $want have: $*"; cat "$dir/rows"; exit 1; }
}
# 1,000 of 1,024 threads load and store 4 B each; 8 warps a CTA, 4 CTAs, the last warp with lanes that leave early.
count 3 '"kernel": "_Z5scalePfi"' '"grid": "4"' '"block": "256"' '"state": "done"' '"own_bytes": 8000' '"peer_bytes": 0' \
    '"multicast_stores": 0'
count 2 '"kernel": "_Z5scalePfi"' '"grid": "4"' '"gpu": 0'
count 1 '"launch": 3' '"kernel": "_Z5scalePfi"' '"gpu": 1'
count 3 '"launch": ' '"kernel": "_Z5scalePfi"' '"issue_pct"' '"memory_pct"' '"barrier_pct": 0.0' '"polls": 0'
# One after the other on one GPU: each is a group of its own, and those that moved the same are one row.
count 1 '"group": 1,' '"gpus": 1' '"times": 2' '"up_pct": 0.0'
count 1 '"group": 2,' '"gpus": 1' '"times": 1'
grep -q '"SM 3"' "$dir/time1.json" || { echo "no SM in the timeline"; exit 1; }
[ "$(grep -c '"_Z5scalePfi".*"ctas":"1"' "$dir/time1.json")" = 12 ] || { echo "not 12 slices of SMs"; exit 1; }

# At once on two GPUs, each in the other's memory: 4 B read and 4 B written a number. Links carry nothing else in this
# run: by what they did in all of it, those of two of eight GPUs were busy for as long as the groups say.
timeout 100 "$FANOUT" exec -s dgx-h100 --report "$dir/together.json" -- "$dir/kernels" together
tr -d '\n' <"$dir/together.json" | sed -e 's/  */ /g' -e 's/{/\n{/g' >"$dir/rows"
count 1 '"group": 1,' '"kernel": "_Z5scalePfi"' '"gpus": 2' '"grid": "4"' '"times": 2' '"peer_bytes": 16000'
count 1 '"group": 2,' '"kernel": "_Z5scalePfi"' '"gpus": 2' '"times": 1' '"peer_bytes": 8000'
count 2 '"group": ' '"memory_pct"'
awk -F '[:,]' '
    /"simulated_us"/ { for (i = 1; i < NF; i++) if ($i ~ /"simulated_us"/) whole = $(i + 1) }
    /"group":/ && /"up_pct"/ { for (i = 1; i < NF; i++) { if ($i ~ /"times"/) n = $(i + 1); if ($i ~ /"time_us"/) t = $(i + 1)
                               if ($i ~ /"up_pct"/) up = $(i + 1) } busy += n * t * up * 2; off += n * t * 0.05 * 2 }
    /"link": "gpu[01].link[0-9]*.up"/ { for (i = 1; i < NF; i++) if ($i ~ /"utilisation_pct"/) links += $(i + 1) * whole / 18 }
    END { d = links - busy; if (d < 0) d = -d; off += 36 * 0.005 * whole / 18
          if (busy <= 0 || d > off) { print "groups say " busy " us %, links " links " within " off; exit 1 } }' "$dir/rows"
timeout 100 "$FANOUT" exec -s dgx-h100 --engine reference --report "$dir/reference.json" -- "$dir/kernels" together
tr -d '\n' <"$dir/reference.json" | sed -e 's/  */ /g' -e 's/{/\n{/g' >"$dir/rows2"
grep '"group":' "$dir/rows" >"$dir/fast" && grep '"group":' "$dir/rows2" | cmp - "$dir/fast" ||
    { echo "the engines differ"; cat "$dir/rows2"; exit 1; }

# The last of the 1,000 numbers is in lane 7 of warp 7 of CTA 3: lanes behind it leave, the others go on.
timeout 100 "$FANOUT" exec -s dgx-h100 --report "$dir/3.json" --ptx-trace scale:3,0,0:7 -- "$dir/kernels" 2>"$dir/trace"
cmp "$dir/1.json" "$dir/3.json" || { echo "a trace changes the run"; exit 1; }
told() { # told NUMBER TEXT: so many lines of the trace have it
    [ "$(grep -cF -- "$2" "$dir/trace")" = "$1" ] || { echo "not $1 lines of the trace have: $2"; cat "$dir/trace"; exit 1; }
}
told 3 '_Z5scalePfi on gpu'
told 3 'CTA (3,0,0) on SM 3, warp 7'
told 3 'mad.lo.u32 %r4, %r1, %r2, %r3;  -> 0x3e0 + 0x1 a lane'
told 3 'setp.ge.u32 %p, %r4, %r5;  -> lanes ffffff00'
told 3 'lanes ffffff00  @%p bra $E;'
told 2 'line    17  lanes 000000ff  ld.global.f32 %f1, [%d3];  brings 1984 1986 1988 1990 1992 1994 1996 1998'
told 2 'fma.rn.f32 %f2, %f1, 0f3F000000, 0f3F800000;  -> 993 994 995 996 997 998 999 1000'
told 3 'gets'
awk '/ ns / { if ($1 + 0 < last && !/scale/) exit 1; last = $1 + 0 }' "$dir/trace" || { echo "times go back"; exit 1; }
code=0
"$FANOUT" exec --ptx-trace scale:0 -- "$dir/kernels" >"$dir/wrong" 2>&1 || code=$?
[ "$code" = 1 ] && grep -q 'write KERNEL:CTA:WARP' "$dir/wrong" || { echo "--ptx-trace scale:0: $code"; cat "$dir/wrong"; exit 1; }
timeout 100 "$FANOUT" exec --report "$dir/none.txt" --ptx-trace other:0:0 -- "$dir/kernels"
grep -q 'ptx-trace other:0:0: no launch' "$dir/none.txt" || { echo "nothing was traced, and nothing says so"; exit 1; }

# A kernel that never ends, and a signal to `fanout exec`: a program that has no handler ends by the signal, with a
# report that has the launch as it stands; one that sees to SIGINT itself goes on, its wait answered with an
# error.
child_of() { grep -ls "^PPid:[[:space:]]*$1\$" /proc/[0-9]*/status | cut -d / -f 3; } # of a process like timeout's
signalled() { # signalled SIGNAL MODE [deaf]: $code gets the exit code
    : >"$dir/said"
    timeout 60 "$FANOUT" exec -s dgx-h100 --report "$dir/$1.json" -- "$dir/kernels" "$2" ${3:-} >"$dir/said" 2>"$dir/errors" &
    pid=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        ! grep -q runs "$dir/said" || break
        sleep 0.5
    done
    sleep 0.5 # the wait has begun
    kill -s "$1" "$(child_of "$pid")"
    code=0
    wait "$pid" || code=$?
}
signalled TERM forever
[ "$code" = 130 ] || { echo "SIGTERM: exit code $code"; cat "$dir/errors"; exit 1; }
tr -d '\n' <"$dir/TERM.json" | sed -e 's/  */ /g' -e 's/{/\n{/g' >"$dir/rows"
count 1 '"kernel": "forever"' '"state": "killed"'
grep -q '"ended_by": "SIGTERM"' "$dir/TERM.json" || { echo "the report does not name SIGTERM"; exit 1; }
grep -q '"incomplete": true' "$dir/TERM.json" || { echo "the report is not marked incomplete"; exit 1; }
grep -q 'interrupted: kernel forever on gpu0: CTA (0,0,0) warp 0' "$dir/errors" || { cat "$dir/errors"; exit 1; }
# So does one that computes on the host meanwhile.
rm "$dir/TERM.json"
signalled TERM idle
[ "$code" = 130 ] && grep -q '"ended_by": "SIGTERM"' "$dir/TERM.json" || { echo "idle: $code"; cat "$dir/errors"; exit 1; }
# A program that looks at memory without a call, and sleeps between its looks: the sleeps are simulated time. (What calls
# nothing at all is tests/wire/test_quiet.sh.)
timeout 60 "$FANOUT" exec -s dgx-h100 --report "$dir/spin.json" -- "$dir/kernels" spin || { echo "spin: $?"; exit 1; }
# timeout signals the whole group, and exec hands on what it gets: a program that gets it twice has its report, too
timeout 4 "$FANOUT" exec -s dgx-h100 --report "$dir/group.json" -- "$dir/kernels" forever >"$dir/said" 2>&1 || true
grep -q '"ended_by": "SIGTERM"' "$dir/group.json" || { echo "a signal that came twice took the report"; exit 1; }
# who stops exec itself by SIGKILL stops the machine: the program is ended, and nothing is left behind
: >"$dir/said"
timeout 60 "$FANOUT" exec -s dgx-h100 --report "$dir/killed.json" -- "$dir/kernels" idle >"$dir/said" 2>&1 &
pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    ! grep -q runs "$dir/said" || break
    sleep 0.5
done
owner=$(child_of "$pid") program=$(child_of "$owner")
kill -s KILL "$owner"
wait "$pid" || true
for _ in 1 2 3 4 5 6 7 8 9 10; do
    kill -0 "$program" 2>/dev/null || break
    sleep 0.5
done
! kill -0 "$program" 2>/dev/null || { echo "exec was killed, and its program goes on"; exit 1; }
signalled INT forever deaf
[ "$code" = 3 ] && grep -q '^ended by 702$' "$dir/said" || { echo "SIGINT: exit code $code"; cat "$dir/said"; exit 1; }
tr -d '\n' <"$dir/INT.json" | sed -e 's/  */ /g' -e 's/{/\n{/g' >"$dir/rows"
count 1 '"kernel": "forever"' '"state": "fault"'
