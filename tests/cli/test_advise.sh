#!/bin/sh
# Proves that what `fanout advise` calls the best is as fast as what fanout coll says of it and no slower than the
# program's own choice, that each crossover lies between two sizes at which the one and the other is faster, and that
# formats agree.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

case="advise all_reduce -s dgx-h100 -n 4 -b 4K -e 1M -f 16"
# shellcheck disable=SC2086
"$FANOUT" $case --format csv >one.csv 2>err || complain "$case: exit $?: $(cat err)"
[ "$(sed 1d one.csv | wc -l)" = 3 ] || complain "not three sizes: $(cat one.csv)"
# bytes,algo,proto,ctas,time_us,busbw,program_algo,program_proto,program_ctas,program_us,loss_pct,fidelity
sed 1d one.csv | awk -F, '$5 > $10 || $11 < 0 || ($10 / $5 - 1) * 100 - $11 > 0.2 { bad = 1 } END { exit bad }' ||
    complain "the best is slower than the program's own: $(cat one.csv)"
grep -q '^1048576,[a-z_]*,[a-z0-9]*,[0-9]*,[0-9.]*,[0-9.]*,ring,ll' one.csv || complain "NCCL's own choice: $(cat one.csv)"
sed 1d one.csv | while IFS=, read -r bytes algo proto ctas us rest; do
    case $proto in ll*) set -- -p "$proto" ;; *) set -- ;; esac
    again=$("$FANOUT" coll all_reduce -s dgx-h100 -n 4 -d half -b "$bytes" -a "$algo" --ctas "$ctas" "$@" --data off \
        --format csv | sed -n 2p | cut -d , -f 10)
    [ "$again" = "$us" ] || echo "$bytes $algo: advise $us us, coll $again us, ${rest%%,*}"
done >differ
[ ! -s differ ] || complain "$(cat differ)"
# shellcheck disable=SC2086
"$FANOUT" $case --format json >one.json
[ "$(grep -c '"loss_pct"' one.json)" = 3 ] || complain "json has not three rows"
# shellcheck disable=SC2086
"$FANOUT" $case >one.text
[ "$(grep -c '^ *[0-9]* *[a-z_]* .*packet$' one.text)" = 3 ] || complain "text: $(cat one.text)"

# Where the best changes there is a crossover between the two sizes, and as many as changes.
awk -F, 'NR > 1 { if (NR > 2 && $2 "," $3 != last) n++; last = $2 "," $3 } END { print n + 0 }' one.csv >changes
[ "$(cat changes)" -ge 1 ] || complain "one algorithm is the best from 4 KiB to 1 MiB: $(cat one.csv)"
[ "$(grep -c '"below_algo"' one.json)" = "$(cat changes)" ] || complain "crossovers: $(cat changes) changes, $(cat one.json)"
awk '/"last_below_bytes"/ { low = $2 + 0 } /"first_above_bytes"/ { high = $2 + 0
    if (low < 4096 || high > 1048576 || high <= low || high > 1.3 * low) bad = 1 } END { exit bad }' one.json ||
    complain "a crossover is not known well: $(grep bytes one.json)"

# Without multicast nothing that needs it is advised.
"$FANOUT" advise all_reduce -s dgx-h100 -n 4 -b 64K --unicast --format csv | sed 1d | cut -d , -f 2 >unicast
grep -q -E '^(nvls|nvls_oneshot|nvls_buffered|sym_llmc|sym_mc)$' unicast && complain "--unicast: $(cat unicast)"

refuses "'all_deduce' is unknown" advise all_deduce
refuses 'OP' advise
refuses 'a barrier has no sizes' advise barrier
refuses 'two GPUs or more' advise all_reduce -n 1
refuses 'cannot take part' advise all_reduce -s dgx-h100 -n 9
refuses 'sizes go from -b up to -e' advise all_reduce -b 2M -e 1M
refuses '16 bytes' advise all_gather -b 8
refuses "did you mean 'vllm'" advise all_reduce --program vlm
finish
