#!/bin/sh
# Dumps of PyTorch's flight recorder are read, as pickles of any protocol and as JSON: what all ranks called is replayed, and
# which rank is missing in which collective is said; a pickle that names code is refused, and nothing of it is run.
set -eu
fanout=${FANOUT:-./fanout}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*"
    exit 1
}
command -v python3 >/dev/null || {
    echo "skipped: python3 writes the dumps"
    exit 77
}
cat >"$work/make.py" <<'PY'
import json, os, pickle, sys

folder, how = sys.argv[1], sys.argv[2]
os.makedirs(folder, exist_ok=True)


def entry(i, sizes, name="nccl:all_reduce", state="completed", dtype="Float", out=None, seq=None, group=("0", "default_pg")):
    return {"frames": [{"name": "f", "filename": "a.py", "line": 1}], "record_id": i, "pg_id": 0, "process_group": group,
            "collective_seq_id": i + 1 if seq is None else seq, "p2p_seq_id": 0, "op_id": i + 1, "profiling_name": name,
            "time_created_ns": 1724779239936775119 + i * 1000, "input_sizes": [sizes], "input_dtypes": [dtype],
            "output_sizes": [out or sizes], "output_dtypes": [dtype], "state": state, "time_discovered_started_ns": None,
            "time_discovered_completed_ns": None, "duration_ms": 0.5, "retired": True, "timeout_ms": 600000, "is_p2p": False}


def write(rank, entries, world=2, protocol=2, groups=None):
    config = {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(world)))}}
    config.update(groups or {})
    dump = {"version": "2.10", "nccl_version": "2.27.5", "pg_config": config, "pg_status": {"0": {"last_enqueued_collective": 4,
            "last_started_collective": -1, "last_completed_collective": 2}}, "entries": entries}
    with open("%s/nccl_trace_rank_%d%s" % (folder, rank, ".json" if how == "json" else ""), "wb") as f:
        f.write(json.dumps(dump).encode() if how == "json" else pickle.dumps(dump, protocol=int(how)))


kind = sys.argv[3]
if kind == "tutorial":  # rank 0 calls one on another tensor that rank 1 forgot
    a, b = [3, 4], [4, 5]
    write(0, [entry(0, a), entry(1, a), entry(2, b, state="scheduled"), entry(3, a, state="scheduled"), entry(4, a, state="scheduled")])
    write(1, [entry(0, a), entry(1, a), entry(2, a, state="scheduled"), entry(3, a, state="scheduled")])
elif kind == "missing":  # of four ranks, 2 never comes to the third call; rank 3's ring has lost the first
    for rank in range(4):
        calls = [entry(0, [1024], dtype="BFloat16"), entry(1, [256], name="nccl:_all_gather_base", out=[1024]), entry(2, [1024], state="scheduled")]
        write(rank, calls[:2] if rank == 2 else calls[1:] if rank == 3 else calls, world=4)
elif kind == "hung":
    for rank in range(2):
        write(rank, [entry(0, [8]), entry(1, [8], state="started" if rank else "completed")])
elif kind == "messages":
    write(0, [entry(0, [64], name="nccl:send 0->1", seq=0), entry(1, [8], seq=1)])
    write(1, [entry(0, [64], name="nccl:recv 1<-0", seq=0), entry(1, [8], seq=1)])
elif kind == "coalesced":  # two calls of one sequence number, then what closes them; rank 1 forgets the second of another two
    for rank in range(2):
        calls = [entry(0, [64], name="nccl:_all_gather_base", out=[128], seq=1), entry(1, [32], name="nccl:_all_gather_base", out=[64], seq=1),
                 dict(entry(2, [], name="nccl:coalesced", seq=1), input_sizes=[], output_sizes=[]), entry(3, [8], name="nccl:all_reduce_barrier", seq=2),
                 entry(4, [8], seq=3), entry(5, [16], seq=3), entry(6, [8], seq=4)]
        write(rank, calls[:5] + calls[6:] if rank else calls)
elif kind == "stacks":  # 2,000 calls of the same 300 frames: the text of their stacks would have 60 MB and more
    frames = [{"name": "forward_of_layer_%d" % i, "filename": "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py" * 4, "line": i} for i in range(300)]
    for rank in range(2):
        write(rank, [dict(entry(i, [8]), frames=frames) for i in range(2000)])
elif kind == "anysource":  # whom it comes from is only known when it comes
    write(0, [entry(0, [64], name="nccl:send 0->1", seq=0), entry(1, [8], seq=1)], world=3)
    write(1, [entry(0, [64], name="nccl:recv 1<-?", seq=0), entry(1, [8], seq=1)], world=3)
    write(2, [entry(0, [64], name="nccl:recv 2<-?", seq=0), entry(1, [8], seq=1)], world=3)
elif kind == "evil":
    class Evil:
        def __reduce__(self):
            return (os.system, ("touch %s/ran" % folder,))
    write(0, [Evil()])
PY
make_dumps() { python3 "$work/make.py" "$work/$1" "$2" "$1" || fail "make.py"; }
convert() { # WHAT: into $work/out and $work/err
    "$fanout" convert "$work/$1" - >"$work/out" 2>"$work/err" || fail "$1: $(cat "$work/err")"
}
said() { grep -qF "$1" "$work/err" || fail "should say '$1': $(cat "$work/err")"; }

for how in 2 3 4 5 json; do
    rm -rf "$work/tutorial" "$work/missing"
    make_dumps tutorial $how
    convert tutorial
    said "ranks differ in collective 3 of group '0': all_reduce of 80 bytes on rank 0, but all_reduce of 48 bytes on rank 1"
    [ "$(grep -c 'all_reduce.*bytes=48 dtype=f32' "$work/out")" -eq 6 ] || fail "$how: $(cat "$work/out")" # 1, 2 and 4 of two ranks
    make_dumps missing $how
    convert missing
    said "rank 2 did not join collective 3 of group '0': all_reduce of 4096 bytes, which ranks 0, 1, 3 called"
    said "1 collectives of group '0' that fell out of some rank's ring are left out"
    grep -q 'all_gather.*bytes=1024 .*dtype=f32' "$work/out" || fail "$how: $(cat "$work/out")"
    grep -q all_reduce "$work/out" && fail "$how: what not all called is replayed: $(cat "$work/out")"
done
make_dumps hung 2
convert hung
said "collective 2 of group '0': all_reduce of 32 bytes was called by all its ranks and not ended by rank 1 (1 of them had started it)"
make_dumps messages 4
convert messages
grep -q 'send.*to=1.*bytes=256' "$work/out" || grep -q 'send.*bytes=256.*to=1' "$work/out" || fail "messages: $(cat "$work/out")"
"$fanout" replay "$work/messages" --no-compare >"$work/out" || fail "replay"
# Calls that were coalesced share a sequence number and are told apart; what closes them is no call; a barrier's one
# element is no data.
for how in 2 json; do
    rm -rf "$work/coalesced"
    make_dumps coalesced $how
    convert coalesced
    [ "$(grep -c 'all_gather .*bytes=256 ' "$work/out")" -eq 2 ] && [ "$(grep -c 'all_gather .*bytes=128 ' "$work/out")" -eq 2 ] &&
        [ "$(grep -c 'barrier .*bytes=0 ' "$work/out")" -eq 2 ] && [ "$(grep -c 'all_reduce .*bytes=32 ' "$work/out")" -eq 4 ] ||
        fail "coalesced: $(cat "$work/out" "$work/err")"
    said "rank 1 did not join collective 3.1 of group '0': all_reduce of 64 bytes, which rank 0 called"
    grep -q 'left out: .* nccl:coalesced' "$work/err" && fail "what closes coalesced calls is counted: $(cat "$work/err")"
done
make_dumps stacks 2
convert stacks
[ "$(grep -c 'all_reduce .*bytes=32 ' "$work/out")" -eq 4000 ] || fail "stacks: $(head -3 "$work/out")"
# A receive from any rank is left out, with its send, and not taken for one from the group's first.
make_dumps anysource 4
convert anysource
grep -q -e send -e recv "$work/out" && fail "any source: $(cat "$work/out")"
said "left out: 2 of nccl:recv"
said "messages whose other side did not call are left out: 1 of send"
# One file stands for those beside it, by pipe as well.
"$fanout" convert "$work/missing/nccl_trace_rank_0.json" - >/dev/null 2>"$work/err" || fail "one of four: $(cat "$work/err")"
said "rank 2 did not join collective 3"

# Nothing of a pickle is run; what is cut off is said, with its byte.
mkdir "$work/evil"
make_dumps evil 2
"$fanout" convert "$work/evil" - 2>"$work/err" && fail "a pickle that calls os.system was taken"
grep -q "holds a '[a-z]* system'; plain data are right" "$work/err" || fail "evil: $(cat "$work/err")"
[ ! -e "$work/evil/ran" ] || fail "a pickle's code was run"
head -c 700 "$work/hung/nccl_trace_rank_0" >"$work/cut"
"$fanout" convert "$work/cut" - 2>"$work/err" && fail "a pickle cut off was taken"
grep -q 'cut: pickle: byte 69[0-9]: ends' "$work/err" || fail "cut: $(cat "$work/err")"
echo "flight recorders say which rank is missing"
