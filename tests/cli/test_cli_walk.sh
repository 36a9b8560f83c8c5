#!/bin/sh
# Proves that a walk of each of the eight operations fits into 100 columns, on small and large systems, and that the line
# before its steps draws the path that the steps take: the same switch, the same first link, as many replicas as members.
# Under --background waits appear, and the time without it stands beside; over two levels each switch counts its own
# answers, and the line names leaves and spine.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

for system in teach-4gpu dgx-h100 hgx-b200; do
    for op in store load atomic multimem.st multimem.red multimem.ld_reduce fabric.put fabric.pullred; do
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
        multimem.* | fabric.pullred)
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

for op in store load atomic multimem.st multimem.red multimem.ld_reduce; do
    alone=$("$FANOUT" walk $op -s teach-4gpu | sed -n 's/.* took \([0-9.]*\) ns$/\1/p')
    "$FANOUT" walk $op -s teach-4gpu --background 0.9 >out 2>err || complain "walk $op --background: $(cat err)"
    grep -q 'waits [0-9.]* ns' out || complain "walk $op --background 0.9: no wait is shown"
    grep -q "; $alone ns on an idle fabric" out || complain "walk $op --background 0.9: not beside $alone ns"
    wide=$(awk 'length($0) > 100' out)
    [ -z "$wide" ] || complain "walk $op --background 0.9: wider than 100 columns: $wide"
done
# Times in the text are rounded, not cut off: a flit of 16 B at 23.55 GB/s takes 679 ps. Every word has its article.
"$FANOUT" walk load -s dgx-h100 >out
grep -q '1 flit in 0\.7$' out || complain "walk load -s dgx-h100: a flit does not take 0.7 ns"
for op in load atomic multimem.ld_reduce; do
    "$FANOUT" walk $op -s teach-4gpu | grep -e ' a [aeiou]' -e ' a ld_' && complain "walk $op: 'a' where it should be 'an'"
done
"$FANOUT" walk load --background 0.9 --format json >out
python3 -c 'import json
walk = json.load(open("out"))
assert any(wait["times"] > 0 for wait in walk["waits"]), "no waits in JSON"
both = [sum(wait["total_ns"] for wait in walk["waits"]), sum(step["wait_ns"] or 0 for step in walk["steps"])]
assert abs(both[0] - both[1]) < 1, f"the sums of the waits and of the steps differ: {both}"' 2>err || complain "$(tail -1 err)"
refuses 'from 0.001 to 1 is right' walk load --background 80
refuses 'has no team' walk load -n 3

cat >two.ini <<'EOF'
[system]
inherits = teach-4gpu
# assumed: of two boxes of four
gpus = 8
[topology]
# assumed: a small tree
kind = rules
# assumed: two leaves a box, two spines
wire = gpu*.link* -> leaf{gpu/4*2+link%2}.port*; leaf*.trunk[0-3] -> spine{trunk%2}.port*
EOF
for op in multimem.st multimem.ld_reduce; do
    "$FANOUT" walk $op -s two.ini --background 0.3 >out 2>err || complain "walk $op -s two.ini: $(cat err)"
    wide=$(awk 'length($0) > 100' out)
    [ -z "$wide" ] || complain "walk $op -s two.ini: wider than 100 columns: $wide"
    sed -n '/-->/,/^$/p' out | tr '\n' ' ' | grep -q -E -e \
        '^gpu0 --link[0-9]+--> leaf0 --port[0-9]+--> spine[01] ==2 replicas==> leaf0, leaf2 ==8 replicas==> gpu0..gpu7' ||
        complain "walk $op -s two.ini: the line does not draw the tree"
    awk '/(acknowledgement|operand) [0-9]+ of/ { sub(/,/, "", $7); if ($5 > $7 || ($2 ~ /spine/ ? $7 != 2 : $7 != 4)) print }' out \
        >wrong
    [ ! -s wrong ] || complain "walk $op -s two.ini: wrong counts: $(cat wrong)"
done

# The timeline's arrows: every step but the first has one, each operand's way is its own GPU's, and all meet in the sum.
"$FANOUT" walk multimem.ld_reduce -s teach-4gpu -n 3 --perfetto arrows.json >out
python3 -c 'import json
events = json.load(open("arrows.json"))["traceEvents"]
track = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
ends = {}
for e in events:
    if e["ph"] in "sf":
        ends.setdefault(e["id"], {})[e["ph"]] = (track[e["tid"]], e["ts"])
ways = [(a["s"][0], a["f"][0]) for a in ends.values()]
slices = [e for e in events if e["ph"] == "X"]
assert len(ways) == len(slices) - 1, (len(ways), len(slices))
for gpu in range(3):
    for way in (("switch0", f"gpu{gpu}.link0.down"), (f"gpu{gpu}.link0.down", f"gpu{gpu}"),
                (f"gpu{gpu}", f"gpu{gpu}.link0.up"), (f"gpu{gpu}.link0.up", "switch0")):
        assert way in ways, way
assert ways[0] == ("gpu0.sm0", "gpu0") and ways[-1] == ("gpu0.link0.down", "gpu0"), (ways[0], ways[-1])' 2>err ||
    complain "arrows: $(tail -1 err)"

# An operation of the fabric engine: the way there, the packet's 863.4 ns (the walk of ld_reduce from its request on), the
# report: 40 + 60 + 863.4 + 40 ns on a DGX H100.
"$FANOUT" walk fabric.pullred -s dgx-h100 >out
grep -q 'fabric.pullred took 1003.4 ns' out || complain "fabric.pullred: $(tail -n 1 out)"
[ "$(grep -c 'gpu/fabric_engine.c' out)" = 3 ] || complain "fabric.pullred: the engine is not seen three times"
"$FANOUT" walk fabric.pullred -s gb200-nvl72 -n 8 >out || complain "fabric.pullred -n 8"
grep -q '8 answers' out || complain "fabric.pullred -n 8: $(grep -e '-->' out)"

finish
