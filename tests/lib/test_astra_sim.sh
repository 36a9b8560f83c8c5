#!/bin/sh
# Proves that the port to ASTRA-sim keeps to its header: messages meet, an event fires in time, "nvls" takes what
# `fanout coll` says, and a receive that nothing was sent for ends with its name. ASTRA_SIM names ASTRA-sim's sources.
set -eu
[ -n "${ASTRA_SIM:-}" ] || { echo "ASTRA_SIM names no sources of ASTRA-sim (github.com/astra-sim/astra-sim)"; exit 77; }
case ${SANITIZE:-no} in no) ;; *) echo "the port is built without sanitizers"; exit 77 ;; esac
top=$(cd "${TOP_SRCDIR:-.}" && pwd)
library=$(readlink -f .libs/libfanout.so.0)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
port=$top/astra-sim/fanout
${CXX:-c++} -std=c++17 -Wall -I"$port" -I"$top/lib/include" -I"$ASTRA_SIM" -I"$ASTRA_SIM/extern/helper" \
    "$port/selftest.cc" "$port/FanoutNetworkApi.cc" "$library" -Wl,-rpath,"$(dirname "$library")" -o "$work/selftest"
printf 'system = teach-4gpu # four ranks\n' >"$work/teach.conf"
if "$work/selftest" "$work/teach.conf" 65536 >"$work/out" 2>"$work/err"; then
    echo "a receive without a send is no error"
    exit 1
fi
nvls=$("$FANOUT" coll all_reduce -s teach-4gpu -a nvls -b 64K --format csv | awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == "time_us") t = i; next } { print $t; exit }')
failures=0
awk -v right="$nvls" '$1 == "nvls_us" { off = $2 - right; exit off > 0.006 || off < -0.006 }' "$work/out" || failures=1
for line in 'ring_us [0-9.]* left 0' 'nvls_us [0-9.]* ended 4' 'event_ns 1500 fired 1'; do
    grep -q "^$line\$" "$work/out" || { echo "no '$line' in:"; cat "$work/out"; failures=1; }
done
grep -q 'FO_SIM_ERROR_STUCK.*' "$work/err" && grep -q 'GPU 1 to 0, tag 1, waits for its send' "$work/err" ||
    { cat "$work/err"; failures=1; }
printf 'system = teach-4gpu\nspeed = 9\n' >"$work/bad.conf"
"$work/selftest" "$work/bad.conf" 64 >"$work/out" 2>&1 && failures=1
grep -q "bad.conf:2: unknown key 'speed'; system, gpus, set and report are known" "$work/out" || {
    cat "$work/out"
    failures=1
}
exit $failures
