#!/bin/sh
# Proves how the fanout command treats a user: right exit codes, one clear line for each mistake, the same
# bytes twice, and systems that can be saved, changed and given back.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

says 'Usage: fanout VERB' --help
says '^fanout [0-9]' --version
says 'systems' help
says 'Usage:' help systems
says '^  fanout systems ' systems --help
refuses "unknown verb 'sytems'; did you mean 'systems'?" sytems
refuses "unknown verb 'xyzzy'; known are" xyzzy
refuses "did you mean --format?" systems --formt json
refuses "'two' is too much" systems dgx-h100 two

says '^  dgx-h100 ' systems
says '"schema": "fanout/1"' systems --format json
says '^name,gpus,' systems --format csv
refuses "dgx-h100" systems dgx-h10
refuses "nosuch.ini" systems nosuch.ini
refuses "nosuch.ini" systems dgx-h100 --config nosuch.ini

# Every preset: twice the same bytes; its text is an INI file that gives the same system back.
"$FANOUT" systems --format csv | sed 1d | cut -d , -f 1 >names
[ -s names ] || complain "no systems"
while read -r name; do
    "$FANOUT" systems "$name" >"$name.ini"
    "$FANOUT" systems "$name" | cmp -s - "$name.ini" || complain "$name: other bytes the second time"
    "$FANOUT" systems "$name" --format csv | cut -d , -f 1-3 >built_in
    "$FANOUT" systems "./$name.ini" --format csv | cut -d , -f 1-3 >saved
    cmp -s built_in saved || complain "$name: what was saved is another system"
    grep -v -e '^$' -e '^\[' "$name.ini" | awk '
        /^[a-zA-Z]/ && last !~ /^# (source|calibrated|assumed|from)/ { print "no origin: " $0 }
        { last = $0 }' >without
    [ ! -s without ] || complain "$name: $(head -n 3 without)"
done <names

# --config, then --set: the later wins, and says so.
printf '[link]\nflight_ps = 1000\n' >c.ini
"$FANOUT" systems dgx-h100 --config c.ini --format csv | grep '^link,flight_ps,1000,' | grep -q 'c.ini' ||
    complain "--config does not reach the parameter, or is not its origin"
"$FANOUT" systems dgx-h100 --config c.ini --set link.flight_ps=7 --format csv |
    grep '^link,flight_ps,7,' | grep -q -e --set || complain "--set does not win over --config"

# Parameters that the documents name in backquotes exist.
"$FANOUT" systems dgx-h100 --format csv | sed 1d | cut -d , -f 1,2 | tr , . >known
sections=$(cut -d . -f 1 known | sort -u | tr '\n' '|' | sed 's/|$//')
cat "$TOP_SRCDIR"/*.md "$TOP_SRCDIR"/docs/*.md | grep -o -E "\`($sections)\.[A-Za-z_]+\`" |
    tr -d '\`' | sort -u >named
[ -s named ] || complain "the documents name no parameter"
while read -r key; do
    grep -q -x "$key" known || complain "the documents name the parameter $key, which does not exist"
done <named

# Mistakes in files and settings name file, line and key.
refuses "flight" systems dgx-h100 --set link.fligth_ps=7
refuses "link" systems dgx-h100 --set lnk.flight_ps=7
refuses "flight_ps" systems dgx-h100 --set link.flight_ps=soon
refuses "flight_ps" systems dgx-h100 --set link.flight_ps=-1
refuses "flight_ps" systems dgx-h100 --set link.flight_ps=99999999999999999999
printf '[link]\nflight_ps = 1000\nfligth_ps = 2000\n' >c.ini
refuses "c.ini:3" systems dgx-h100 --config c.ini
printf '[lnk]\n' >c.ini
refuses "c.ini:1" systems dgx-h100 --config c.ini
printf 'flight_ps = 1\n' >c.ini
refuses "c.ini:1" systems dgx-h100 --config c.ini
printf '[link]\nflight_ps = 1\nflight_ps = 2\n' >c.ini
refuses "c.ini:3" systems dgx-h100 --config c.ini
printf '[link]\nflight_ps\n' >c.ini
refuses "c.ini:2" systems dgx-h100 --config c.ini
refuses "no/such/dir" systems --html no/such/dir/x.html

# A full disk is not success.
if [ -w /dev/full ]; then
    status=0
    "$FANOUT" systems >/dev/full 2>err || status=$?
    [ "$status" != 0 ] || complain "a full disk passed for success"
fi

# The simulator's own speed: every bench has rows with a ratio, and a bad record is refused.
says '^engine,10000,' bench engine --runs 1 --format csv
says '"of_heap": [0-9]' bench nvls --runs 1 --format json
refuses 'no/such/file' bench nvls --runs 1 --record no/such/file
refuses 'runs: at least 1' bench nvls --runs 0
# What goes wrong in a process of its own is said by the one that was called.
refuses 'gpu.no_such' bench growth --runs 1 --set gpu.no_such=1

# A GPU that answers nothing is named, whatever was asked of it.
for op in store load atomic multimem.st multimem.red multimem.ld_reduce; do
    status=0
    "$FANOUT" walk $op --set fault.gpu_silent=gpu1 >out 2>err || status=$?
    [ "$status" = 2 ] || complain "walk $op with a silent GPU: exit $status, not 2: $(cat err)"
    grep -q 'gpu1 answered nothing' err || complain "walk $op: the silent GPU is not named in: $(cat err)"
done

# What an acquire costs is 0 in every system, since it was measured so; as a parameter it acts: a round trip of flags has
# two polls that acquire, each later by it and by the half of a longer period.
rtt() { "$FANOUT" bench flag_pingpong_rtt --variant "$1" --set sm.acquire_ps="$2" --format csv | sed -n 2p | cut -d , -f 7; }
[ "$(rtt relaxed 100000)" = "$(rtt relaxed 0)" ] || complain "sm.acquire_ps changes what is relaxed"
awk -v with="$(rtt release_acquire 100000)" -v without="$(rtt release_acquire 0)" \
    'BEGIN { exit !((with - without - 300)^2 < 1) }' || complain "sm.acquire_ps: not 2 x 150 ns more"

finish
