#!/bin/sh
# fanout compare: rows are paired by what they are, differences are sorted and counted (rows of one report alone
# come last), and what is no report is refused.
set -eu
. "$TOP_SRCDIR/tests/cli/cli_test.sh"

report() { printf '{"schema": "fanout/1", "report": "%s", "system": "%s", "rows": [%s], "notes": ["%s"]}' "$@"; }
report coll x '{"algo": "nvls", "bytes": 1, "time_us": 10.0, "verified": true},
  {"algo": "nvls", "bytes": 2, "time_us": 20.0, "verified": true},
  {"algo": "ring", "bytes": 1, "time_us": 0, "verified": null}' n >a.json
# The same rows in another order, one more, and one less.
report coll y '{"algo": "ring", "bytes": 1, "time_us": 5.0, "verified": true},
  {"algo": "nvls", "bytes": 2, "time_us": 15.0, "verified": false},
  {"algo": "nvls", "bytes": 4, "time_us": 1.0, "verified": true}' m >b.json
"$FANOUT" compare a.json b.json --format csv >out
cat >want <<'END'
where,key,a,b,change,change_pct
,system,x,y,,
rows[nvls 2],verified,true,false,,
rows[ring 1],time_us,0,5,5,
rows[ring 1],verified,,true,,
rows[nvls 2],time_us,20,15,-5,-25.00
rows[nvls 1],,a row,,,
rows[nvls 4],,,a row,,
END
cmp -s out want || complain "differences: $(diff out want)"

# One algorithm against another is one row against one row.
report coll x '{"algo": "nvls", "time_us": 10.0}' n >one.json
report coll x '{"algo": "ring", "time_us": 11.0}' n >two.json
"$FANOUT" compare one.json two.json --format csv >out
printf 'where,key,a,b,change,change_pct\nrows,algo,nvls,ring,,\nrows,time_us,10,11,1,10.00\n' | cmp -s - out ||
    complain "algorithms: $(cat out)"
says '"equal": 5' compare one.json one.json --format json
says '--above: 1 more differ' compare one.json two.json --above 10
says '--top: 1 more differ' compare one.json two.json --top 1
says "a is a report of 'coll' and b of 'bench'" compare one.json "$(report bench x '' n >bench.json; echo bench.json)"

# The headline: which is slower and by how much, the cause by where the time went, and what is far from the answer on
# request alone. 10 us in tags of 30 are a third.
report coll x '{"algo": "nvls", "time_us": 20.0}' n | sed 's/, "notes"/, "where": [{"run": "r", "what": "flight", "time_us": 20.0}], "link_rows": [{"link": "a", "packets": 1}], "notes"/' >h1.json
report coll x '{"algo": "nvls", "time_us": 30.0}' n | sed 's/, "notes"/, "where": [{"run": "r", "what": "flight", "time_us": 20.0}, {"run": "r", "what": "tags", "time_us": 10.0}], "link_rows": [{"link": "a", "packets": 9}], "notes"/' >h2.json
says '^# > b is 50 % slower: 20 to 30 us, since tags went from 0 to 33 % of the time (0.00 to 10.00 us)$' compare h1.json h2.json
says '^# > b is 33 % faster: 30 to 20 us, since tags went from 33 to 0 %' compare h2.json h1.json
says '^# --all: [12] more differ' compare h1.json h2.json
"$FANOUT" compare h1.json h2.json >out
grep -q link_rows out && complain "a link's packets are near to the answer: $(cat out)"
says 'link_rows' compare h1.json h2.json --all
says '^# > nothing differs$' compare h1.json h1.json

# Reports of the command itself, and the page.
"$FANOUT" coll all_reduce -s teach-4gpu -a ring -b 64K --format json >a.json
"$FANOUT" coll all_reduce -s teach-4gpu -a ring -b 64K --set link.flight_ps=500000 --format json >b.json
says 'rows  *time_us' compare a.json b.json --html page.html
grep -q 'time_us' page.html || complain "the page lacks a difference"

echo '{"a": 1}' >other.json
echo '{"schema": ' >cut.json
refuses "'other.json' is no report: it is JSON" compare a.json other.json
: >empty.json
refuses "'empty.json' is no report: it is empty, as of a run that failed or has not ended" compare a.json empty.json
refuses "'cut.json' is no report: " compare cut.json a.json
refuses "'gone.json' is no report: .*No such file" compare a.json gone.json
refuses "something is missing" compare a.json
refuses "above: a number of 0 or more" compare a.json b.json --above -1
finish
