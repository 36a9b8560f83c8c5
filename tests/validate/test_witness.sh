#!/bin/sh
# Proves that the rows that are left out of judgement are those that the written rule finds, no more and no fewer, that
# the rule finds a spike and a row that two others contradict, and that fanout validate skips such a row by its reason.
set -u
reference="$TOP_SRCDIR/validate/reference"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
command -v python3 >/dev/null || { echo "SKIP: python3 would bring this"; exit 77; }

tables="validate.csv aic.csv nvl72.csv nccl_versions.csv nvl72_wide.csv"
# shellcheck disable=SC2086
(cd "$reference/published" && python3 ../witness.py $tables) >"$dir/found" || { echo "FAIL: witness.py"; exit 1; }
python3 - "$reference/published" $tables >"$dir/marked" <<'EOF'
import csv
import sys
for name in sys.argv[2:]:
    with open(f"{sys.argv[1]}/{name}", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            if row["left_out"]:
                print(f"{row['id']}: {row['left_out']}")
EOF
cmp "$dir/found" "$dir/marked" || { echo "FAIL: marked are others than the rule finds"; exit 1; }

head='id,group,preset,gpus,op,algo,proto,ctas,program,bytes,time_us,timing,derived,source_url,note,nccl,left_out'
row() { echo "$1,launch,dgx-h100,8,all_to_all,auto,,,nccl,$2,$3,eager,,$4,,2.29.2,$5"; }
{ echo "$head"; row a 1024 7 one ""; row spike 2048 22 one ""; row b 4096 7 one ""; } >"$dir/one.csv"
{ echo "$head"; row a 1024 7 one ""; row high 2048 11 one ""; row b 4096 7 one ""; row other 2048 8 two ""; } >"$dir/two.csv"
[ "$(python3 "$reference/witness.py" "$dir/one.csv" | cut -d: -f1)" = spike ] || { echo "FAIL: a spike"; exit 1; }
[ "$(python3 "$reference/witness.py" "$dir/two.csv" | cut -d: -f1)" = high ] || { echo "FAIL: a witness"; exit 1; }

{ echo "$head"; row spike 2048 22 one "22 us where others took 7"; } >"$dir/left.csv"
"$FANOUT" validate "$dir/left.csv" >"$dir/out" 2>&1
grep -q 'left out: 22 us where others took 7' "$dir/out" || { cat "$dir/out"; echo "FAIL: not skipped by its reason"; exit 1; }
