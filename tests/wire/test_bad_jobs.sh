#!/bin/sh
# Proves that a job which is put together wrongly is told what is wrong, and that the owner and the other processes go on:
# a library of another version, a process of another user, an owner that is not there, more ranks than GPUs or than
# hosts, and descriptors that are of something else than the driver's memory.
set -eu
case ${SANITIZE:-no} in no | '') ;; *) echo "a sanitized library is not loaded into other programs"; exit 77 ;; esac
build=$(cd "$(dirname "$FANOUT")" && pwd)
answers=$build/tests/wire/answers
[ -x "$answers" ] || { echo "no $answers"; exit 77; }
[ ! -x "$build/tests/wire/.libs/answers" ] || answers=$build/tests/wire/.libs/answers # without libtool's script
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
fail() { cat "$dir/out"; echo "$1"; exit 1; }
has() { grep -q -e "$1" "$dir/out" || fail "not said: $1"; }

# More ranks than GPUs: the ninth asks for a device that is not there, and the eight others are served.
cat >"$dir/nine" <<EOF
pids=
for r in 0 1 2 3 4 5 6 7 8; do RANK=\$r "$answers" device \$r & pids="\$pids \$!"; done
bad=0
for p in \$pids; do wait \$p || bad=\$((bad + 1)); done
echo "\$bad of nine failed"
EOF
"$FANOUT" exec -s dgx-h100 -- sh "$dir/nine" >"$dir/out" 2>&1 || fail "nine ranks on eight GPUs: the job failed"
has '^device 8: CUDA_ERROR_INVALID_DEVICE$'
has '^1 of nine failed$'
[ "$(grep -c '^device [0-7]: CUDA_SUCCESS$' "$dir/out")" = 8 ] || fail "not all of the first eight were served"

# More ranks than hosts have GPUs: 18 trays of four are 72 ranks.
RANK=72 "$FANOUT" exec -s gb200-nvl72 --trays -- "$answers" init >"$dir/out" 2>&1 && fail "rank 72 of 72 was served"
has '^cuInit: CUDA_ERROR_'
has 'rank 72'

"$FANOUT" exec -s dgx-h100 -- "$answers" descriptors >"$dir/out" 2>&1 || fail "a descriptor of something else is memory"
[ "$(grep -c 'descriptor: CUDA_ERROR_UNKNOWN$' "$dir/out")" = 2 ] || fail "no descriptor, and a closed one: UNKNOWN"
[ "$(grep -c ': CUDA_ERROR_INVALID_VALUE$' "$dir/out")" = 8 ] || fail "of eight other things each is INVALID_VALUE"

# No owner: a name that none has, one that cannot be a name, and an owner that has ended.
for name in fanout-none-$$ "$(printf '%0200d' 0)"; do
    LD_LIBRARY_PATH=$build/.libs FANOUT_OWNER=$name "$answers" init >"$dir/out" 2>&1 && fail "served by no owner"
    has '^cuInit: CUDA_ERROR_'
    has 'no owner of a machine listens at'
done

# A program that listens at the name and never answers is no owner: it is not the process that the name tells.
LD_LIBRARY_PATH=$build/.libs "$answers" listen "fanout-1-$$" >"$dir/listens" &
listener=$!
until [ -s "$dir/listens" ]; do kill -0 $listener || fail "nobody listens"; sleep 0.1; done
code=0
LD_LIBRARY_PATH=$build/.libs FANOUT_OWNER=fanout-1-$$ timeout 20 "$answers" init >"$dir/out" 2>&1 || code=$?
kill $listener
[ $code = 1 ] || fail "another program for the owner: ended with $code"
has 'no owner of a machine listens at'

# Something else where the owner's page of time is named: a folder, a pipe that nobody writes, files that are too short, of
# zeros, and like a page but for their seals, without which they might become shorter. The owner tells the time itself then.
mkfifo "$dir/pipe"
printf 'FANOMCH0' >"$dir/short"
head -c 65536 /dev/zero >"$dir/zeros"
{ cat "$dir/short"; cat "$dir/zeros"; } >"$dir/alike"
for page in "$dir" "$dir/pipe" "$dir/short" "$dir/zeros" "$dir/alike" /dev/zero /dev/null "$dir/none"; do
    timeout 30 "$FANOUT" exec -s dgx-h100 -- env FANOUT_OWNER_PAGE="$page" sh -c "sleep 2; \"$answers\" device 0" \
        >"$dir/out" 2>&1 || fail "$page for the page of time: ended with $?"
    has '^device 0: CUDA_SUCCESS$'
done

# A library of another version: the same library, with another number in its greeting.
mkdir "$dir/other"
cp "$build/.libs/libcuda.so.1" "$dir/other/libcuda.so.1"
LC_ALL=C sed -i 's/ wire 1\x00/ wire 0\x00/' "$dir/other/libcuda.so.1"
cmp -s "$build/.libs/libcuda.so.1" "$dir/other/libcuda.so.1" && fail "the greeting is not in the library"
"$FANOUT" exec -s dgx-h100 -- env -u LD_AUDIT LD_LIBRARY_PATH="$dir/other" "$answers" init >"$dir/out" 2>&1 &&
    fail "a library of another version was served"
has '^cuInit: CUDA_ERROR_'
has "its library is 'fanout .* wire 0 .* must be of one build"

# A process of another user: it finds the owner, and is not heard.
if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null || ! setpriv --reuid=65534 test -r "$answers"; then
    echo "another user's process: only root can start one that reads $answers"
    exit 0
fi
"$FANOUT" exec -s dgx-h100 -- setpriv --reuid=65534 "$answers" init >"$dir/out" 2>&1 && fail "another user was served"
has '^cuInit: CUDA_ERROR_'
has "another user's"
