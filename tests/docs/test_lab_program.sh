#!/bin/sh
# Proves that lab 6's program can be written by a student: as it is handed out it builds, and its check says what is
# missing; the instructor's solution, the same program but for the exercise, passes on both systems with the times that
# the instructor's page shows; solutions with the mistakes that the lab speaks of are found out.
set -eu
case ${SANITIZE:-no} in no | '') ;; *) echo "a plain program cannot load a sanitized library"; exit 77 ;; esac
TOP_SRCDIR=$(cd "${TOP_SRCDIR:-.}" && pwd)
FANOUT_TOP=$(cd "$(dirname "${FANOUT:-./fanout}")" && pwd)
export TOP_SRCDIR FANOUT_TOP
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$TOP_SRCDIR/docs/labs/." "$work"
chmod -R u+w "$work"
cd "$work"
bad=0

# try CODE TEXT FILE.c OPTION...: FILE.c builds without a warning, ends with CODE, and prints TEXT (a pattern of grep).
try() {
    code=$1 text=$2 file=$3 got=0
    shift 3
    CC="${CC:-cc} -Werror" sh build.sh "$file" >out 2>&1 || { cat out; echo "$file does not build"; bad=1; return; }
    timeout 120 "$FANOUT_TOP/fanout" exec "$@" --report report.json -- "./$(basename "$file" .c)" >out 2>&1 || got=$?
    [ "$got" = "$code" ] && grep -q -e "$text" out ||
        { echo "$file $*: exit code $got ($code expected), and '$text' expected in:"; cat out; bad=1; }
}

try 1 '^your_barrier: in round 1 GPU [0-3] left [0-9]* ns before GPU 1 came: it does not wait for all\.$' barrier.c -s dgx-h100
for system in teach-4gpu dgx-h100; do
    try 0 '^flag_barrier: [0-9]* ns, your_barrier: [0-9]* ns\. Both wait for all' instructor/barrier.c -s $system
    shown=$(sed -n 's/^\(flag_barrier: .* ns\)\. Both.*/\1/p' out)
    grep -q -F -e "$system: $shown" instructor.md || { echo "instructor.md does not show: $system: $shown"; bad=1; }
done
try 0 'Both wait for all' instructor/barrier.c -s teach-4gpu --fault link_degraded=gpu1.link1

# The two files are one program: but for the comment at the top and the body of your_barrier() nothing differs.
for file in barrier.c instructor/barrier.c; do
    sed -e '1,/\*\//d' -e '/^static void your_barrier/,/^}/d' "$file" >"$(echo "$file" | tr / -).rest"
done
[ "$(grep -c . barrier.c.rest)" -gt 100 ] && cmp barrier.c.rest instructor-barrier.c.rest ||
    { echo "docs/labs/barrier.c and docs/labs/instructor/barrier.c differ in more than your_barrier()"; bad=1; }

sed 's/FO_RELEASE, .scope/FO_RELAXED, .scope/' instructor/barrier.c >relaxed.c
try 0 'your_barrier: 702 ns' relaxed.c -s teach-4gpu
grep -q '702 ns' instructor.md || { echo "instructor.md does not show the relaxed add's 702 ns"; bad=1; }
try 1 'after round 1 GPU 2 misses [0-9]* of 256 lines that GPU 1 stored' relaxed.c -s teach-4gpu \
    --fault link_degraded=gpu1.link1
sed '/counter_mine, 4/,/fo_sync/{/fo_all/d;}' instructor/barrier.c >one.c
try 1 'misses [0-9]* of 256 lines' one.c -s dgx-h100
sed 's/round \* TEAM_GPUS/round/' instructor/barrier.c >few.c
try 1 'it does not wait for all' few.c -s dgx-h100
sed 's/round \* TEAM_GPUS/round * TEAM_GPUS + 1/' instructor/barrier.c >many.c
try 2 'gpu0: your_barrier CTA 0 polls for 0x[0-9a-f]* to reach 5, and 4 is there$' many.c -s dgx-h100
exit $bad
