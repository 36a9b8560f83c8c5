#!/bin/sh
# Mistakes that people make at the command line (mistakes.txt): each is refused without a crash, and the answer
# has the words that lead on. At least 95 of 100 must; those that do not are printed.
set -eu
list=$TOP_SRCDIR/tests/cli/mistakes.txt
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp "$list" "$dir/list"
cd "$dir"
good=0 all=0 crashed=0
while IFS='|' read -r command words; do
    case $command in '#'* | '') continue ;; esac
    words=${words# }
    code=0
    # shellcheck disable=SC2086
    timeout 20 "$FANOUT" $command >out 2>&1 </dev/null || code=$?
    all=$((all + 1))
    if [ "$code" -ge 3 ]; then
        echo "fanout $command: exit $code"
        crashed=$((crashed + 1))
    elif [ "$code" = 1 ] && grep -qF -e "$words" out; then
        good=$((good + 1))
    else
        echo "fanout $command: exit $code, without '$words': $(head -1 out)"
    fi
done <list
echo "$good of $all lead on"
[ "$crashed" = 0 ] && [ "$all" -ge 258 ] && [ $((good * 100)) -ge $((all * 95)) ]
