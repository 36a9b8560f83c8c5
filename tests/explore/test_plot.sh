#!/bin/sh
# fanout plot: medians, quartiles and fronts are those worked out by hand, pictures have what was asked for, and what
# cannot be drawn is refused by name with nothing written.
set -eu
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

is() { [ "$2" = "$3" ] || complain "$1: '$2' is not '$3'"; }
values() { "$FANOUT" plot s.db "$@" --format csv | sed 1d | tr '\n' ' '; }

# The title would be a command of gnuplot's, and markup of a page, if it were ever read as one.
cat >s.ini <<'END'
[sweep]
run = coll all_reduce
title = it's <b>&'; system('touch hacked') {/Bold x_y}
[fixed]
system = teach-4gpu
[grid]
algo = nvls, ring
bytes = 16K..64K x2
switch.multicast_tags + switch.reduction_tags = 32, 64
END
"$FANOUT" sweep s.ini >/dev/null

# Without gnuplot there is no picture, and the command says what to install.
mkdir empty
PATH=empty "$FANOUT" plot s.db >out 2>err && complain "drawn without gnuplot"
grep -q "gnuplot draws the pictures and is not installed here.*apt-get install gnuplot-nox" err || complain "$(cat err)"
[ ! -e s.svg ] || complain "a file without gnuplot"
command -v gnuplot >/dev/null || { echo "skipped: no gnuplot; ./bootstrap installs it"; exit 77; }

# ---- numbers, of points 1 to 12: nvls has 1 to 6, ring 7 to 12; sizes in pairs
is "lines" "$(values -y id --by algo -x bytes)" "nvls,16384,1.500,1.000,2.000,2 nvls,32768,3.500,3.000,4.000,2 \
nvls,65536,5.500,5.000,6.000,2 ring,16384,7.500,7.000,8.000,2 ring,32768,9.500,9.000,10.000,2 ring,65536,11.500,11.000,12.000,2 "
is "a line for each input that varies; tied ones are one" "$("$FANOUT" plot s.db -x bytes -y time_us --format json |
    grep '"by"')" ' "by": "algo, switch.multicast_tags",'
is "box" "$(values -k box -x algo -y id)" ",nvls,1.000,2.250,3.500,4.750,6.000,6 ,ring,7.000,8.250,9.500,10.750,12.000,6 "
is "heat" "$(values -k heat -x bytes -y algo -z id)" "16384,nvls,1.500,2 16384,ring,7.500,2 32768,nvls,3.500,2 \
32768,ring,9.500,2 65536,nvls,5.500,2 65536,ring,11.500,2 "
is "numbers ascend, 10 behind 2" "$(values -k box -x u -y id --column 'u=(id * 5) % 12' | tr ' ' '\n' | cut -d , -f 2,5 |
    tr '\n' ' ')" "0,12.000 1,5.000 2,10.000 3,3.000 4,8.000 5,1.000 6,6.000 7,11.000 8,4.000 9,9.000 10,2.000 11,7.000 "
is "where" "$(values -y id -x bytes --by none --where algo=ring --where switch.reduction_tags=64)" \
    ",16384,8.000,8.000,8.000,1 ,32768,10.000,10.000,10.000,1 ,65536,12.000,12.000,12.000,1 "
# A circle: 12 points round (0, 0); less of both is better on a quarter of it, more on the opposite one.
front() { "$FANOUT" plot s.db -k pareto -x u -y v --column 'u=round(100 * cos(id * 0.5236))' \
    --column 'v=round(100 * sin(id * 0.5236))' "$@" --format csv | sed 1d | cut -d , -f 4 | tr '\n' ' '; }
if "$FANOUT" plot s.db --column 'u=cos(1)' >out 2>err || ! grep -q "no such function" err; then
    is "front, less is better" "$(front)" "6 7 8 9 "
    is "front, more is better" "$(front --better higher,higher)" "3 2 1 12 "
fi
is "front, by hand" "$("$FANOUT" plot s.db -k pareto -x u -y v --column 'u=id % 4' --column 'v=(id * 5) % 12' --format csv |
    sed 1d | cut -d , -f 2-4 | tr '\n' ' ')" "0,0,12 "
is "front, two ways" "$("$FANOUT" plot s.db -k pareto -x u -y v --column 'u=id % 4' --column 'v=(id * 5) % 12' \
    --better lower,higher --format csv | sed 1d | cut -d , -f 2-4 | tr '\n' ' ')" "0,8,4 1,9,9 2,10,2 3,11,7 "

# ---- pictures
"$FANOUT" plot s.db -o a.svg -o a.png -o a.html >/dev/null
for word in "it's &lt;b>&amp;'; system('touch hacked') {/Bold x_y}<" 'bus bandwidth (GB/s)' 'size (bytes)' 'x: bytes, y: busbw_GBps' 'nvls, 32' 'ring, 64' 16K 64K; do
    grep -q -F -e "$word" a.svg || complain "a.svg lacks $word"
done
[ "$(head -c 8 a.png | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] || complain "a.png is no PNG"
grep -q '<figure class="drawn".*aria-label="it&apos;s\|<figure class="drawn".*aria-label="it&#39;s' a.html || complain "the page has no picture"
grep -q '<b>' a.html a.svg && complain "a title became markup"
[ ! -e hacked ] || complain "a title was run"
grep -q 'class="plotted"' a.svg && grep -q 'prefers-color-scheme: dark' a.svg || complain "a.svg stays white in the dark"
"$FANOUT" plot s.db -o b.svg >/dev/null
cmp -s a.svg b.svg || complain "two pictures of one sweep differ"
for kind in heat pareto box; do
    "$FANOUT" plot s.db -k $kind -o $kind.svg >/dev/null 2>err || complain "$kind: $(cat err)"
    [ ! -s err ] || complain "$kind: $(cat err)"
    tail -2 $kind.svg | grep -q '</svg>' || complain "$kind.svg is cut"
done
grep -q 'up to 2 points share a place' heat.svg || complain "a heat map of two algorithms does not say so"
# Numbers below the middle of the least and the most, 1.5 and 11.5, stand on dark cells in white.
"$FANOUT" plot s.db -k heat -x bytes -y algo -z id -o numbers.svg >/dev/null
number() { grep -c "fill=\"rgb($1)\" font-family=.*text-anchor=\"middle\"" numbers.svg; }
is "numbers in white and black" "$(number 255,255,255) $(number 0,0,0)" "3 3"
# An axis of times goes by factors where they are apart by 100 and more, another one only if that is said.
for name in far_us far; do
    "$FANOUT" plot s.db -y $name --by algo -x bytes --column "$name=id * id * id" -o $name.svg >/dev/null
done
grep -q '<text> *128<' far_us.svg || complain "times from 1 to 1728 us are not by factors"
grep -q '<text> *128<' far.svg && complain "what is no time is by factors"
"$FANOUT" plot s.db -y id -x seed --by none >/dev/null 2>err || complain "one x: $(cat err)"
[ -s s.svg ] || complain "no s.svg unless said otherwise"

# ---- what cannot be drawn
rm -f s.svg
refuses "-x: 'byte' is no column; did you mean 'bytes'" plot s.db -x byte
refuses "--by: 'alg' is no column; did you mean 'algo'" plot s.db --by alg
refuses "--where: no row has algo=nvl; did you mean 'nvls'" plot s.db --where algo=nvl
refuses "--where: 'x' is not COLUMN=VALUE" plot s.db --where x
refuses "'time_u' is no column; did you mean 'time_us'" plot s.db --column 'a="time_u" * 2'
refuses "'a' is not NAME=EXPRESSION" plot s.db --column a
refuses "syntax error" plot s.db --column 'a=1;drop table points'
refuses "-y: 'algo' is words" plot s.db -y algo
refuses "kind: 'heet' is unknown; did you mean 'heat'" plot s.db -k heet
refuses "better: 'up' is neither" plot s.db -k pareto --better up,down
refuses "log x: 'algo' has values without a logarithm" plot s.db -x algo --log x
refuses "'x.pdf' ends in none of .svg, .png and .html" plot s.db -o x.pdf
refuses "out: 'gone/x.svg' cannot be written" plot s.db -o gone/x.svg
refuses "'gone.db' cannot be read" plot gone.db
: >empty.db
refuses "'empty.db' is no database of fanout sweep" plot empty.db
echo text >text.db
refuses "'text.db' is no database of fanout sweep" plot text.db
sed 's/bytes = .*/bytes = 1K..17K +1K/; /^switch/d' s.ini >many.ini
"$FANOUT" sweep many.ini >/dev/null
refuses "17 lines, one for each of bytes, are more than the 16" plot many.db -x algo --by bytes
sed 's/teach-4gpu/teach-4gpu\ngpus = 9/' s.ini >bad.ini
"$FANOUT" sweep bad.ini >/dev/null
refuses "none of its 12 points is done" plot bad.db
if command -v sqlite3 >/dev/null; then
    cp s.db v.db
    sqlite3 v.db "UPDATE sweep SET value = '0.0.1' WHERE key = 'version'"
    says "made by fanout 0.0.1; this is fanout" plot v.db -o v.svg
    sqlite3 v.db "DELETE FROM points"
    refuses "'v.db': it has no points yet" plot v.db
    sqlite3 v.db "UPDATE sweep SET value = 'fanout-sweep/9' WHERE key = 'format'"
    refuses "'v.db' is a sweep of another version of fanout: its format is 'fanout-sweep/9'" plot v.db
fi
[ ! -e s.svg ] && [ ! -e x.pdf ] || complain "a refused plot left a file"
finish
