#!/bin/sh
# Proves that the wheel, where `make wheel` has left one, is enough by itself: in a fresh environment, far from the
# build tree, the command, a collective, libfanout and the library of `fanout exec` are there.
set -eu
wheel=$(ls fanout_sim-*.whl 2>/dev/null | head -n 1)
[ -n "$wheel" ] || { echo "no wheel here; 'make wheel' brings it"; exit 77; }
python3 -c 'import venv, ensurepip' 2>/dev/null || {
    echo "no venv; 'apt-get install python3-venv' brings it"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
pip="$work/venv/bin/pip -q --disable-pip-version-check"
# shellcheck disable=SC2086
env -i PATH=/usr/bin:/bin HOME="$work" $pip install --no-index "$wheel" || {
    echo "pip refuses $wheel"
    exit 1
}
cd "$work"
cat >try.py <<END
import fanout
assert fanout.command_path().startswith("$work") and fanout.library_path().startswith("$work")
assert fanout.System("teach-4gpu").coll("all_reduce", "64K", algo="nvls", no_compare=True) is not None
with fanout.Simulator("teach-4gpu") as sim:
    sim.send(0, 1, "4K")
    sim.recv(0, 1, "4K")
    print(fanout.version() == fanout.__version__, sim.run() > 1000000)
END
said=$(env -i PATH="$work/venv/bin:/usr/bin:/bin" HOME="$work" python try.py)
[ "$said" = "True True" ] || { echo "said: $said"; exit 1; }
env -i PATH="$work/venv/bin:/usr/bin:/bin" HOME="$work" fanout doctor >doctor || :
grep -q "libcuda  *yes  *$work" doctor || {
    echo "fanout doctor does not find the wheel's libcuda"
    exit 1
}
size=$(stat -c %s "$OLDPWD/$wheel")
[ "$size" -lt 25000000 ] || { echo "$wheel has $size bytes; 25 MB is what it may have"; exit 1; }
