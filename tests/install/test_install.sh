#!/bin/sh
# Proves that `make install` under a prefix that configure was never told leaves a tree that works alone, moved elsewhere
# as well, and that it can be taken away again.
set -eu
build=$(dirname "$FANOUT")
[ "$SANITIZE" = no ] || { echo "skipped: programs would need the sanitizers' libraries"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MFLAGS
make -s -C "$build" install prefix="$work/one" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
make -s -C "$build" installcheck prefix="$work/one" || exit 1

# Under a folder that stands for another machine's root, and a folder for libraries as Debian has it.
make -s -C "$build" install DESTDIR="$work/root" prefix=/opt/fanout libdir=/opt/fanout/lib/x86_64-linux-gnu \
    >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
[ -f "$work/root/opt/fanout/lib/x86_64-linux-gnu/fanout/libcuda.so.1" ] || { echo "FAIL: libdir was not heard"; exit 1; }
make -s -C "$build" install DESTDIR="$work/root" prefix=/opt/other >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
make -s -C "$build" installcheck DESTDIR="$work/root" prefix=/opt/other || exit 1

# Manual pages of the command and of each verb, and what shells load for completion.
for file in man/man1/fanout.1 man/man1/fanout-walk.1 bash-completion/completions/fanout zsh/site-functions/_fanout; do
    [ -s "$work/one/share/$file" ] || { echo "FAIL: share/$file is not installed"; exit 1; }
done

# Moved: the command finds its libraries beside it.
mv "$work/one" "$work/two"
"$work/two/bin/fanout" exec -s teach-4gpu --report "$work/report.json" -- "$build/examples/.libs/multicast_store" \
    >"$work/out" || { echo "FAIL: exec from a moved tree: $?"; exit 1; }
grep -q multicast_objects "$work/report.json" || { echo "FAIL: no report from a moved tree"; exit 1; }

make -s -C "$build" uninstall prefix="$work/two" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
[ -z "$(find "$work/two" -type f)" ] || { echo "FAIL: left behind: $(find "$work/two" -type f)"; exit 1; }
echo "PASS: install"
