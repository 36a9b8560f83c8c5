#!/bin/sh
# Proves that a walk of each of the six operations fits into 100 columns, on small and large systems, and that the line
# before its steps draws the path that the steps take: the same switch, the same first link, as many replicas as members.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

for system in teach-4gpu dgx-h100 hgx-b200; do
    for op in store load atomic multimem.st multimem.red multimem.ld_reduce; do
        "$FANOUT" walk $op -s $system >out 2>err || complain "walk $op -s $system: $(cat err)"
        wide=$(awk 'length($0) > 100' out)
        [ -z "$wide" ] || complain "walk $op -s $system: wider than 100 columns: $wide"
        picture=$(grep -e '-->' out)
        link=$(awk '$2 ~ /^gpu0\..*\.up$/ { split($2, part, "."); print part[2]; exit }' out)
        switch=$(awk '$3 == "switch/switch.c" { print $2; exit }' out)
        case $picture in
        "gpu0 --$link--> $switch "*"--$link--> gpu0") ;;
        *) complain "walk $op -s $system: '$picture' does not go through $link and $switch and back" ;;
        esac
        case $op in
        multimem.*)
            served=$(awk '$3 == "gpu/target.c"' out | wc -l)
            answers=$(grep -c 'reduction.c .*from GPU' out)
            case $picture in
            *"==$served replicas==>"*"==$answers answers==>"*) ;;
            *) complain "walk $op -s $system: $served replicas and $answers answers are not in '$picture'" ;;
            esac
            ;;
        *) [ "$(echo "$picture" | grep -c gpu1)" = 1 ] || complain "walk $op -s $system: no gpu1 in '$picture'" ;;
        esac
    done
done

finish
