#!/bin/sh
# An SQLite export of Nsight Systems becomes NCCL's calls with their sizes: from the payload of the ranges that NCCL makes,
# in the columns of older and of newer exports, compressed too; ranges without a size are left out with a note; where there
# are kernels alone, a note names them; and what is SQLite but no such export is refused.
set -eu
fanout=${FANOUT:-./fanout}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*"
    exit 1
}
python3 -c 'import sqlite3' 2>/dev/null || {
    echo "skipped: python3 with sqlite3 writes the exports"
    exit 77
}
cat >"$work/make.py" <<'PY'
import json, sqlite3, sys

path, how = sys.argv[1], sys.argv[2]
db = sqlite3.connect(path)
db.execute("CREATE TABLE StringIds (id INTEGER, value TEXT)")
ids = how == "ids"
db.execute("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, globalTid INTEGER, %s)"
           % ("jsonTextId INTEGER" if ids else "jsonText TEXT"))
strings = []


def string(text):
    strings.append(text)
    db.execute("INSERT INTO StringIds VALUES (?, ?)", (len(strings), text))
    return len(strings)


def ranges(pid, at, name, payload):
    text = json.dumps(payload) if payload else None
    db.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?, ?, ?)", (at, at + 5000, None if ids else name,
               string(name) if ids else None, 1 << 48 | pid << 24 | 7, (string(text) if ids and text else text)))


for rank in range(2):
    pid = 4711 + rank
    ranges(pid, 10, "ncclCommInitRank", {"Communicator ID": 99, "No. of ranks": 2, "Rank": rank, "CUDA device": rank})
    ranges(pid, 20, "ncclAllReduce", {"Communicator ID": 99, "Message size [bytes]": 4096, "Reduction operation": "Sum"})
    ranges(pid, 25, "forward", None)
    ranges(pid, 30, "ncclReduceScatter", {"Communicator ID": 99, "Message size [bytes]": 1024, "Reduction operation": "Sum"})
    ranges(pid, 40, "ncclSend" if rank == 0 else "ncclRecv", {"Communicator ID": 99, "Message size [bytes]": 512, "Peer rank": 1 - rank})
    ranges(pid, 50, "ncclAllGather", None)
db.commit()
PY
for how in text ids; do
    python3 "$work/make.py" "$work/$how.sqlite" $how || fail "make.py"
    "$fanout" convert "$work/$how.sqlite" - >"$work/out" 2>"$work/err" || fail "$how: $(cat "$work/err")"
    grep -q '^world 2$' "$work/out" || fail "$how: $(cat "$work/out")"
    for wanted in 'all_reduce .*bytes=4096' 'reduce_scatter .*bytes=2048'; do
        [ "$(grep -c "$wanted" "$work/out")" -eq 2 ] || fail "$how: $wanted: $(cat "$work/out")"
    done
    grep -q 'send .*bytes=512 to=1' "$work/out" || fail "$how: $(cat "$work/out")"
    grep -q 'without a size are left out.*2 of ncclAllGather' "$work/err" || fail "$how: $(cat "$work/err")"
done
# Kernels alone, with and without a table of ranges: they are told by name, beside another file in a note, and alone as
# the reason why there is nothing to replay.
for table in '' 'CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, text TEXT, textId INTEGER, globalTid INTEGER);'; do
    rm -f "$work/kernels.sqlite"
    python3 - "$work/kernels.sqlite" "$table" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript(sys.argv[2] + """CREATE TABLE StringIds (id INTEGER, value TEXT);
INSERT INTO StringIds VALUES (1, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'), (2, 'sgemm'), (3, 'ncclDevKernel_SendRecv');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, shortName INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 1), (3, 4, 0, 2), (5, 6, 0, 3), (7, 8, 0, 1);""")
db.commit()
PY
    told='3 kernels of NCCL, but no ranges.*; 2 of ncclDevKernel_AllReduce_Sum_f32_RING_LL, 1 of ncclDevKernel_SendRecv$'
    "$fanout" convert "$work/kernels.sqlite" - >"$work/out" 2>"$work/err" && fail "kernels alone were replayed"
    grep -q "holds no operation to replay: .*$told" "$work/err" || fail "kernels alone: $(cat "$work/err")"
    "$fanout" convert "$work/text.sqlite,$work/kernels.sqlite" - >"$work/out" 2>"$work/err" ||
        fail "kernels beside ranges: $(cat "$work/err")"
    grep -q "$told" "$work/err" && grep -q 'all_reduce .*bytes=4096' "$work/out" || fail "kernels beside ranges: $(cat "$work/err")"
done
gzip -c "$work/ids.sqlite" | "$fanout" replay /dev/stdin --no-compare >"$work/got" 2>&1 || fail "compressed: $(cat "$work/got")"
python3 -c "import sqlite3; db = sqlite3.connect('$work/other.sqlite'); db.execute('CREATE TABLE t (a)'); db.commit()"
"$fanout" convert "$work/other.sqlite" - 2>"$work/err" && fail "another database was taken"
grep -q 'no export of Nsight Systems' "$work/err" || fail "another database: $(cat "$work/err")"
head -c 5000 "$work/text.sqlite" >"$work/cut.sqlite"
"$fanout" convert "$work/cut.sqlite" - 2>"$work/err" && fail "half a database was taken"
[ "$(wc -l <"$work/err")" -eq 1 ] || fail "half a database: $(cat "$work/err")"
echo "NCCL's ranges of an Nsight export have sizes"
