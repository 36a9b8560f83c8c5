#!/bin/sh
# Proves that the same inputs give the same bytes in another locale, time zone, with another umask, other memory, on one
# host core or two, and with one to three simulation threads. builds.sh does the same for compilers.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
outputs=$TOP_SRCDIR/tests/determinism/outputs.sh
PROGRAM=$(dirname "$FANOUT")/examples/switch_reduction
export PROGRAM
[ -x "$PROGRAM" ] || { echo "no $PROGRAM"; exit 77; }
case ${SANITIZE:-no} in no | '') ;; *) echo "a sanitized library is not preloaded into programs"; exit 77 ;; esac

# same FOLDER: as in the first one.
same() {
    diff -rq "$work/first" "$work/$1" >"$work/differ" || { cat "$work/differ"; echo "$1: other bytes"; exit 1; }
}

LC_ALL=C TZ=UTC sh "$outputs" "$work/first"
[ "$(find "$work/first" -type f -size +0 | wc -l)" -ge 18 ] || { echo "too few outputs"; ls -l "$work/first"; exit 1; }

# Commas for points, dots between thousands: where the host can make such a locale.
locale=C.UTF-8
if localedef -i de_DE -f UTF-8 "$work/de_DE.UTF-8" >/dev/null 2>&1; then
    locale=de_DE.UTF-8
    export LOCPATH="$work"
fi
one=
! command -v taskset >/dev/null || one="taskset -c $(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')"
(umask 077 && LC_ALL=$locale LANGUAGE=de TZ=Asia/Kathmandu CORES=2 MALLOC_PERTURB_=165 HOME=/ $one sh "$outputs" "$work/second")
same second
unset LOCPATH
(umask 002 && LC_ALL=C.UTF-8 TZ=America/St_Johns CORES=3 COLUMNS=40 sh "$outputs" "$work/third")
same third
echo "the same bytes in $locale, two time zones, on one to three threads"
