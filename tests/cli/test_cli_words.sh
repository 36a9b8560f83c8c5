#!/bin/sh
# Proves that the command line takes no word that means nothing: empty words, zeros, sizes that no GPU holds and mistyped
# names are refused with one line that says what would be right, and defaults suit every system.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

# The largest size that fits is said, and is right: it runs, with the bandwidth of a smaller one, and one element more
# is refused.
largest() { # OP, ARG...
    op=$1
    shift
    refuses 'largest size that fits is' coll "$op" -b 100T "$@"
    size=$(sed 's/.*that fits is //' err)
    "$FANOUT" coll "$op" -b "$size" --format csv "$@" >out 2>err || complain "coll $op -b $size: $(cat err)"
    "$FANOUT" coll "$op" -b 1536M --fidelity flow --format csv "$@" >small 2>err || complain "coll $op: $(cat err)"
    big=$(sed -n 2p out | cut -d , -f 13)
    awk -v a="$big" -v b="$(sed -n 2p small | cut -d , -f 13)" 'BEGIN { exit !(a > 0.97 * b && a < 1.05 * b) }' ||
        complain "coll $op $size: $big GB/s, far from what 1.5 GiB get"
    refuses 'largest size that fits is' coll "$op" -b $(($(sed -n 2p out | cut -d , -f 2) + 96)) "$@"
}
largest all_reduce -a nvls
largest all_gather -n 6 -a nvls
largest reduce_scatter -s teach-4gpu -a pull
refuses 'largest size that fits is' coll all_reduce -b 1M -e 100T -f 1048576
refuses 'less than 1 TiB' bench stream_bw --bytes 100T

# Words that are empty, and numbers that mean nothing.
for option in -a -b -e -f -d -o -p -s --set --config --seed --fidelity --format --cores --data --max-memory; do
    refuses "fanout coll: .*[a-zA-Z]" coll all_reduce "$option" ''
done
refuses "'' is unknown" coll all_reduce -a nvls,,ring
for option in --ctas --threads --iters --crossings -n; do
    refuses "$option: .*1 or more\|at least 1" coll all_reduce "$option" 0
    refuses "$option: .*1 or more\|at least 1" coll all_reduce "$option" -1
done
refuses '1 or more' walk store -n 0
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls -b 8K --record one.trace >out || complain "--record: exit $?"
refuses "1 or more" replay one.trace --limit 0
refuses "1 or more" replay one.trace --world 0
refuses "1 or more" convert one.trace - --world 0
refuses "-a: '' should be" replay one.trace -a ''
for test in stream_bw sparse_bw footprint_bw contention mixed_single copy_kernel atomics barrier multicast_bw \
    multicast_barrier allreduce_oneshot_pull; do
    refuses '0 CTAs' bench $test --ctas 0
    refuses '0 threads' bench $test --threads 0
done
refuses '0 threads' bench message_rtt --threads 0
refuses '0 bytes' bench multicast_bw --bytes 0
refuses 'moves nothing' bench multicast_bw --bytes 1
refuses 'moves nothing' bench footprint_bw --threads 1 --ctas 1
refuses '8192 CTAs are right' bench barrier --ctas 8193
refuses '1 to 8192 are right' bench multicast_barrier --ctas 8193
refuses 'a thread for each' bench barrier -n 4 --threads 3
says loaded_latency_ns bench loaded_latency_ns --ctas 0

# Mistyped names come with a guess.
refuses "did you mean 'all_reduce'?" coll allreduce
refuses "did you mean 'reduce_scatter'?" coll reducescatter
refuses "did you mean 'nvls'?" coll all_reduce -a nvsl
refuses "did you mean 'float'?" coll all_reduce -d floot
refuses "did you mean 'simple'?" coll all_reduce -p simpel
refuses "did you mean --bytes?" coll all_reduce --bites 4K
refuses "did you mean --bytes?" bench multicast_bw --bites 4K
refuses "did you mean 'multicast_bw'?" bench multicastbw
refuses "did you mean 'speed'?" bench sped
says '^  all_reduce *4096 ' coll all_reduce -s teach-4gpu -a nvls --bytes 4K

# The list has every test; each runs by default on a system of four GPUs, and names a GPU that answers nothing.
says '^speed,' bench --format csv
"$FANOUT" bench --format csv | sed 1d | cut -d , -f 1 >tests
for test in $(grep -v -x -E 'speed|engine|uniform|ring|nvls|growth|cores|targets' tests); do
    size=$(case $test in
        *latency* | *barrier | *_rtt | hot_lines | footprint_bw) ;;
        nccl_*) echo '--bytes 64K' ;;
        *) echo '--bytes 256K' ;;
    esac)
    # shellcheck disable=SC2086
    says "$test" bench $test -s teach-4gpu $size
done
for test in 'multicast_bw --variant one_to_all --bytes 16K' 'multicast_bw --variant red --bytes 16K' \
    'multicast_bw --bytes 16K' 'stream_bw --bytes 16K' 'multicast_latency' 'nccl_all_reduce --bytes 16K'; do
    status=0
    # shellcheck disable=SC2086
    "$FANOUT" bench $test -s teach-4gpu --set fault.gpu_silent=gpu1 >out 2>err || status=$?
    [ "$status" = 2 ] || complain "bench $test with a silent GPU: exit $status: $(cat out err)"
    grep -q gpu1 err || complain "bench $test: the silent GPU is not named in: $(cat err)"
    [ ! -s out ] || complain "bench $test: a number for a GPU that answered nothing: $(cat out)"
done

# Messages and documents name parameters that exist.
"$FANOUT" systems dgx-h100 --format csv | sed 1d | cut -d , -f 1,2 | tr , . | sort -u >known
sections=$(cut -d . -f 1 known | sort -u | tr '\n' '|' | sed 's/|$//')
(cd "$TOP_SRCDIR" && cat README.md CONTRIBUTING.md docs/*.md && cat cli/*.c cli/*/*.c coll/*.c bench/*.c validate/*.c |
    grep -v '#include') | grep -o -E "(^|[^a-zA-Z_./])($sections)\.[a-z_A-Z]+=" |
    grep -o -E "($sections)\.[a-zA-Z_]+" | sort -u >named
[ -s named ] || complain "nothing names a parameter"
while read -r key; do
    grep -q -x "$key" known || complain "a parameter is named that does not exist: $key"
done <named

finish
