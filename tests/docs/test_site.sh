#!/bin/sh
# Proves that the site's sources are whole: every verb and option, parameter, statistic, field of a report and public
# header is in the reference, links lead somewhere, and, where Sphinx is installed, that it builds without a warning.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0
complain() { echo "$*"; failures=$((failures + 1)); }
command -v gnuplot >/dev/null || { echo "skipped: no gnuplot, for an example; ./bootstrap installs it"; exit 77; }

python3 "$TOP_SRCDIR/docs/site/build.py" "$FANOUT" "$TOP_SRCDIR" src || { echo "build.py: exit $?"; exit 1; }
for verb in $("$FANOUT" --complete '' | cut -f 1 | grep -v '^-'); do
    for option in $("$FANOUT" --complete "$verb" -- | cut -f 1 | grep '^--'); do
        grep -q -e "\`$option[\`=]" "src/reference/verbs/$verb.md" || complain "the reference of $verb has no $option"
    done
done
for system in dgx-h100 teach-4gpu; do
    "$FANOUT" systems $system --format csv | sed 1d | cut -d , -f 2 | while read -r key; do
        grep -q "^| \`$key\` " src/reference/parameters.md || echo "$key"
    done >lost
    [ ! -s lost ] || complain "parameters that the reference lacks: $(cat lost)"
done
# Statistics, as a waveform names them: one that is not in the reference is forgotten.
"$FANOUT" walk multimem.ld_reduce -s teach-4gpu --vcd w.vcd >out
for name in replays queue_peak stalls_tag hbm_bytes multicast_requests; do
    grep -q "var wire .* $name " w.vcd || complain "no signal $name"
    grep -q "^| \`$name\` " src/reference/statistics.md || complain "statistics have no $name"
done
"$FANOUT" coll all_reduce -s teach-4gpu -a nvls -b 4K --format json >report.json
python3 -c 'import json
fields = open("src/reference/fields.md").read()
report = json.load(open("report.json"))
keys = set(report) | {k for rows in report.values() if isinstance(rows, list) for r in rows if isinstance(r, dict) for k in r}
tables = {k for k, v in report.items() if isinstance(v, list) and v and isinstance(v[0], dict)}
lost = [k for k in keys - tables if f"| `{k}` |" not in fields] + [t for t in tables if f"## coll: {t}" not in fields]
assert not lost, lost' || complain "fields of coll that the reference lacks"
for name in fo_ld fo_multimem_st fo_reg; do
    grep -q "$name" src/reference/api/device_h.md || complain "the API has no $name"
done
# It can fail: a header that no page has.
mkdir -p top/api && cp -r "$TOP_SRCDIR/docs" "$TOP_SRCDIR/README.md" "$TOP_SRCDIR/CONTRIBUTING.md" top/
cp -r "$TOP_SRCDIR/api/include" top/api/
for folder in examples validate/reference tests/cli; do mkdir -p top/$folder; done
cp "$TOP_SRCDIR/examples/README.md" top/examples/
cp "$TOP_SRCDIR/validate/reference/README.md" top/validate/reference/
echo '[gone](nowhere.md)' >>top/docs/concepts.md
if python3 "$TOP_SRCDIR/docs/site/build.py" "$FANOUT" "$work/top" src2 >out 2>&1; then
    complain "a link to nowhere is taken"
fi
grep -q 'there is no ' out || complain "a link to nowhere: $(cat out)"

sphinx=/usr/bin/sphinx-build
if [ -x $sphinx ] && $sphinx -q -b html -d made -c src src html >out 2>&1; then
    [ ! -s out ] || complain "sphinx: $(head -5 out)"
    for page in index reference/verbs/coll reference/parameters reference/api/device_h docs/howto/teacher; do
        [ -s html/$page.html ] || complain "no $page.html"
    done
    ! grep -rlE '(src|href)="(https?:)?//[^"]*\.(js|css)' html --include=*.html | head -3 | grep . || complain "pages that need a network"
elif [ -x $sphinx ]; then
    grep -q "No module named" out || complain "sphinx: $(tail -3 out)"
fi
echo "$failures failures"
[ "$failures" = 0 ]
