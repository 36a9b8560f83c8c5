#!/bin/sh
# Undefined behaviour is never silent: a program that does all of it gets a diagnostic or a fault for each, with the
# call, the device, the handle and the address; two runs give the same bytes; --perfetto and --html are written;
# options that exec cannot honour are refused.
set -eu
. "$TOP_SRCDIR/tests/plain.sh"
libs=$(dirname "$FANOUT")/.libs
[ -f "$libs/libcuda.so.1" ] || { echo "no $libs/libcuda.so.1"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
${CC:-cc} -std=gnu11 -O1 -Wall -Wextra -Werror -I"$TOP_SRCDIR/api/include" "$TOP_SRCDIR/tests/api/cuda_undefined.c" -o "$dir/undefined" \
    "$libs/libcuda.so.1" -Wl,-rpath-link,"$libs"
for run in 1 2; do
    FANOUT_LOG=cuda:error "$FANOUT" exec -s dgx-h100 --report "$dir/report.json" --html "$dir/page.html" \
        --perfetto "$dir/time.json" -- "$dir/undefined" >"$dir/out"
    mv "$dir/report.json" "$dir/report$run.json" # one command, since the page names it
    mv "$dir/page.html" "$dir/page$run.html"
    mv "$dir/time.json" "$dir/time$run.json"
done
for file in report page time; do
    one=$(echo "$dir/$file"1.*) two=$(echo "$dir/$file"2.*)
    cmp "$one" "$two" || { echo "two runs differ in $file"; exit 1; }
done
object=$(sed -n 's/^object \(0x[0-9a-f]*\),.*/\1/p' "$dir/out")
mc=$(sed -n 's/.*address \(0x[0-9a-f]*\)$/\1/p' "$dir/out")
# One object of the report a line, without spaces between its members.
tr -d '\n' <"$dir/report1.json" | sed -e 's/  */ /g' -e 's/{/\n{/g' >"$dir/rows"

expect() { # expect TEXT...: one row has all of them
    cp "$dir/rows" "$dir/left"
    for text in "$@"; do
        grep -F -- "$text" "$dir/left" >"$dir/next" || { echo "no row of the report has: $*"; exit 1; }
        mv "$dir/next" "$dir/left"
    done
}
expect 'read through a multicast address' '"call": "cuMemcpyDtoH_v2"' '"device": 0' "\"handle\": \"$object\"" "\"address\": \"$mc\""
expect 'unbind mismatch' '"call": "cuMulticastUnbind"' '"device": 1' "\"handle\": \"$object\""
expect 'use of a released memory handle' '"call": "cuMemMap"' '"handle": "0x' '"address": "0x'
expect 'import of a multicast object after its creator released it: descriptor' '"call": "cuMemImportFromShareableHandle"'
expect 'bound memory was freed' '"call": "cuMemUnmap"' '"device": 1' "\"handle\": \"$object\""
expect 'nothing is bound at' '"call": "cuMulticastUnbind"' '"device": 1' "\"handle\": \"$object\""
expect 'no memory bound there (cuMulticastBindMem): device 1"' '"call": "cuMemsetD32_v2"' '"device": 0' \
    "\"handle\": \"$object\"" "\"address\": \"$mc\"" '"count": 8192'
expect 'no memory bound there (cuMulticastBindMem): device 0, device 1"' '"call": "fo_launch"' '"work": "stray CTA 0"' \
    '"device": 1' "\"handle\": \"$object\""
expect '"target": "multicast 1"' "\"handle\": \"$object\"" '"bytes": 4194304' '"team": 2' '"members": "0 1"' '"binds": 2'
grep -q '"name":"stray".*"call":"fo_launch"' "$dir/time1.json" || { echo "no kernel in the timeline"; exit 1; }
grep -q 'unbind mismatch' "$dir/page1.html" || { echo "no diagnostics in the page"; exit 1; }
for wrong in '--fidelity auto' '--fidelity flow' '--set cuda.fail=cuMemMap' '--set cuda.fail=cuMemMap:NO_SUCH_CODE'; do
    code=0
    # shellcheck disable=SC2086
    "$FANOUT" exec $wrong -- "$dir/undefined" >"$dir/wrong" 2>&1 || code=$?
    [ "$code" = 1 ] && [ "$(wc -l <"$dir/wrong")" = 1 ] || { echo "$wrong: exit code $code"; cat "$dir/wrong"; exit 1; }
done
# A launcher that closes what its processes inherit, as MPI's do, makes no difference: the report has both.
if command -v python3 >/dev/null; then
    both='import subprocess, sys
for run in 1, 2: subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True, close_fds=True)'
    "$FANOUT" exec -s dgx-h100 --report "$dir/both.json" -- python3 -c "$both" "$dir/undefined" >"$dir/wrong" 2>&1 ||
        { echo "a program that closes its descriptors: $(tail -1 "$dir/wrong")"; exit 1; }
    grep -q '"processes": 2' "$dir/both.json" || { echo "of two processes, one is not in the report"; exit 1; }
fi
# An option's value may stand apart from it: it is not taken for the program.
for option in $("$FANOUT" exec --help | sed -n 's/^ *\(-., \)\{0,1\}\(--[a-z-]*\)=.*/\2/p'); do
    (cd "$dir" && "$FANOUT" exec "$option" value -- true) >"$dir/words" 2>&1 || true
    if grep -q -e 'Missing argument' -e "'value' cannot be started" "$dir/words"; then
        echo "exec $option value -- true: $(cat "$dir/words")"
        exit 1
    fi
done
echo "every diagnostic and fault names its call, device, handle and address"
