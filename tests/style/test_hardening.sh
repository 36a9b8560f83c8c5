#!/bin/sh
# Proves that what is built guards its stacks, checks the bounds that the compiler knows, and has nothing that the
# loader fills in left writable: the command and the library that programs load; and that what is loaded before a program
# is bound at its start, too.
set -eu
command -v readelf >/dev/null || { echo "no readelf; 'apt-get install binutils' brings it"; exit 77; }
case ${SANITIZE:-no} in no) ;; *) echo "sanitizers have checks of their own"; exit 77 ;; esac
libs=$(dirname "$FANOUT")/.libs
[ -f "$libs/libcuda.so.1" ] || { echo "no $libs/libcuda.so.1"; exit 77; }
grep -q '^FO_HARDEN = .*-fstack-protector' Makefile || { echo "this compiler has no stack protector"; exit 77; }
bad=0
for file in "$FANOUT" "$libs/libcuda.so.1" "$libs/libfanout_exit.so" "$libs/libfanout_clock.so" \
    "$libs/libfanout_find.so"; do
    readelf -dW "$file" | grep -q 'BIND_NOW' || { echo "$file: not bound at start"; bad=1; }
done
for file in "$FANOUT" "$libs/libcuda.so.1"; do
    readelf -lW "$file" | grep -q 'GNU_RELRO' || { echo "$file: no read-only relocations"; bad=1; }
    readelf -lW "$file" | grep 'GNU_STACK' | grep -q 'RWE' && { echo "$file: an executable stack"; bad=1; }
    readelf -sW "$file" | grep -q '__stack_chk_fail' || { echo "$file: no stack protector"; bad=1; }
    readelf -sW "$file" | grep -qE '__[a-z]+_chk' || { echo "$file: no bounds checked"; bad=1; }
done
[ "$bad" = 0 ]
