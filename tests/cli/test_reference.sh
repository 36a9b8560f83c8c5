#!/bin/sh
# Proves that every verb has a manual page that troff takes without a warning and that has every option of its help,
# that the examples of pages and help run, and that bash and zsh complete verbs, options and values from the same tables.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"
. "$TOP_SRCDIR/tests/cli/inputs.sh"

# ---- manual pages
verbs=$("$FANOUT" --complete '' | cut -f 1 | grep -v '^-')
[ "$(echo "$verbs" | wc -l)" -ge 12 ] || complain "verbs: $verbs"
"$FANOUT" --manual >fanout.1
for verb in $verbs; do
    "$FANOUT" "$verb" --manual >"fanout-$verb.1" || complain "$verb --manual: exit $?"
    grep -q "fanout.-$verb" fanout.1 || complain "fanout(1) does not name $verb"
    for section in NAME SYNOPSIS DESCRIPTION 'OPTIONS OF EVERY VERB' EXAMPLES 'EXIT STATUS' 'SEE ALSO'; do
        grep -q "^.SH $section" "fanout-$verb.1" || complain "fanout-$verb(1) has no $section"
    done
    sed -e 's/\\-/-/g' -e 's/\\f[BRI]//g' "fanout-$verb.1" >plain
    "$FANOUT" "$verb" --help | grep -o '^  \(-., \)\?--[a-z-]*' | sed 's/.*--/--/' | while read -r option; do
        grep -q -e "$option\\b" plain || echo "$verb $option"
    done >lost
    [ ! -s lost ] || complain "options without a place in a manual page: $(cat lost)"
    "$FANOUT" "$verb" --help | grep -q '^Examples:' || complain "$verb --help has no examples"
done
if command -v groff >/dev/null; then
    for page in fanout*.1; do
        groff -man -Tutf8 -P-cbu -ww "$page" >shown 2>err || complain "$page: groff: exit $?"
        [ ! -s err ] || complain "$page: $(head -3 err)"
        grep -q 'SEE.*ALSO' shown || complain "$page ends early"
    done
fi

# ---- every example runs, in the order of the tables
"$FANOUT" --list-reference >reference.json
python3 -c 'import json
for verb in json.load(open("reference.json"))["verbs"]:
    assert verb["about"] and verb["examples"], verb["name"]
    print("\n".join(e["line"] for e in verb["examples"]))' >lines || complain "--list-reference: exit $?"
[ "$(wc -l <lines)" -ge 24 ] || complain "only $(wc -l <lines) examples"
while read -r line; do
    case $line in plot*) command -v gnuplot >/dev/null || continue ;; esac
    # shellcheck disable=SC2086
    "$FANOUT" $line >out 2>err </dev/null || complain "fanout $line: exit $?: $(cat err)"
done <lines
"$FANOUT" no_such_verb --manual >out 2>err && complain "a manual page of no verb"

# ---- completion: the command's own half
completes() { # WORDS... = what is offered, with blanks between
    words=''
    while [ "$1" != = ]; do words="$words$1|"; shift; done
    offered=$(IFS='|'; set -f; set -- $words; [ "$words" != "${words%||}" ] && set -- "$@" ''; "$FANOUT" --complete "$@" |
        cut -f 1 | tr '\n' ' ')
    [ "$offered" = "$2 " ] || complain "complete $words: '$offered', not '$2'"
}
completes wal = walk
completes coll all_r = all_reduce
completes coll --no-c = --no-compare
completes coll --algo nvls,rin = "nvls,ring :nospace"
completes coll -a rin = "ring :nospace"
completes coll --format=js = --format=json
completes walk multimem.l = multimem.ld_reduce
completes bench load_lat = load_latency
completes coll -s teach = "teach-4gpu :files"
completes coll --set switch.multicast_t = "switch.multicast_tags= :nospace"
completes coll --fault link_d = "link_down= link_degraded= :nospace"
completes coll --html x = :files
completes exec -- prog --ht = :files
completes replay on = :files
"$FANOUT" systems dgx-h100 | grep -c '^[a-z][a-zA-Z0-9_]* = ' >parameters
[ "$("$FANOUT" --complete coll --set '' | grep -c '=$')" = "$(cat parameters)" ] ||
    complain "completion does not offer the $(cat parameters) parameters that a system has"

# ---- and the shells' halves
cat >complete.bash <<'END'
. "$TOP_SRCDIR/cli/reference/fanout.bash"
complete -p fanout | grep -q -- '-F _fanout' || echo "not registered"
try() { # WANTED WORD...: as bash takes the words apart
    local wanted=$1; shift
    COMP_WORDS=("$FANOUT" "$@") COMP_CWORD=$#
    _fanout
    [ "${COMPREPLY[*]}" = "$wanted" ] || echo "bash: $*: '${COMPREPLY[*]}', not '$wanted'"
}
try walk wal
try "--set --seed" coll --se
try json coll --format = js
try "switch.multicast_tags=" coll --set switch.multicast_tag
try "switch.multicast_tags=" coll --set = switch.multicast_tag
try two.csv validate tw
try two.csv coll --config = tw
try nvls,ring coll -a nvls,rin
try "" coll --seed 1
END
bash complete.bash >out 2>&1 || complain "bash: exit $?"
[ ! -s out ] || complain "$(cat out)"
if command -v zsh >/dev/null; then
    cat >complete.zsh <<'END'
_describe() { print -r -- ${described} }
_files() { print FILES }
compset() { }
try() { local wanted=$1 got; shift; words=($FANOUT "$@"); CURRENT=$#words; got=$(. $TOP_SRCDIR/cli/reference/_fanout)
    [[ $got == $~wanted ]] || print -r "zsh: $*: '$got', not '$wanted'" }
try 'walk:follow*' wal
try 'all_reduce' coll all_r
try '--set:* --seed:*' coll --se
try 'FILES' coll --html x
END
    zsh -f complete.zsh >out 2>&1 || complain "zsh: exit $?"
    [ ! -s out ] || complain "$(cat out)"
    cat >terminal.zsh <<'END'
# what a person sees: a shell of its own at a terminal, and the tabulator
zmodload zsh/zpty
TERM=dumb zpty shell zsh -f -i
said() {
    local line all
    repeat 200 { zpty -r -t shell line && all+=$line || sleep 0.05; [[ $all == *$1* ]] && return 0 }
    print -r -- "zsh at a terminal: no '$1' in '$all'"
    return 1
}
zpty -w shell "PATH=${FANOUT:h}:\$PATH; fpath=($TOP_SRCDIR/cli/reference \$fpath); autoload -U compinit"
zpty -w shell "compinit -u -D; echo rea''dy"
said 'ready' && for pair in 'fanout wal|walk ' 'fanout coll all_red|all_reduce ' 'fanout coll --see|--seed' \
    'fanout coll --set switch.multicast_ta|multicast_tags='; do
    zpty -w -n shell "${pair%|*}"$'\t'
    said "${pair#*|}"
    zpty -w -n shell $'\025'
done
zpty -d shell
END
    zsh -f terminal.zsh >out 2>&1 || complain "zsh at a terminal: exit $?"
    [ ! -s out ] || complain "$(cat out)"
fi
finish
