#!/bin/sh
# Do the tests notice? Plants the faults of tests/mutants/list one after the other in a copy of the sources, builds what
# changed, runs the tests named beside each, and prints who noticed and the score. `make mutants` runs it.
#
#   run.sh FOLDER [FIRST [LAST]]   FOLDER: a built copy, which is left as it was; FIRST, LAST: which faults, from 1
#
# A fault that no test notices wants a test. One that does not build is a mistake in the list.
set -eu
list=$(cd "$(dirname "$0")" && pwd)/list
cd "$1"
first=${2:-1}
last=${3:-9999}
least=${MUTANTS_LEAST_PERCENT:-90}
tab=$(printf '\t')
# What `make check` gives its tests.
FANOUT=$PWD/fanout TOP_SRCDIR=$PWD CC=${CC:-cc} SANITIZE=no FANOUT_SHARED=${FANOUT_SHARED:-$PWD/../../shared}
export FANOUT TOP_SRCDIR CC SANITIZE FANOUT_SHARED

# outcome TEST...: builds and runs until one fails; prints its name, or nothing.
outcome() {
    scripts=no
    for test in "$@"; do
        case $test in *.sh) scripts=yes ;; esac
    done
    programs=$(for test in "$@"; do case $test in *.sh) ;; *) echo "tests/$test" ;; esac; done)
    [ $scripts = no ] || programs="fanout $programs"
    # shellcheck disable=SC2086
    make -s -j2 $programs >mutants.log 2>&1 || { echo build; return; }
    for test in "$@"; do
        run=tests/$test
        case $test in *.sh) run="sh $run" ;; esac
        timeout 150 $run >>mutants.log 2>&1 || { echo "$test"; return; }
    done
}

# replace FILE OLD NEW: fails unless OLD is there once.
replace() {
    perl -0 -e '
        my ($file, $old, $new) = @ARGV;
        s/\\n/\n/g for $old, $new;
        open(my $in, "<", $file) or die "$file: $!\n";
        my $text = <$in>;
        my $at = index($text, $old);
        die "$file has no \"$old\"\n" if $at < 0;
        die "$file has \"$old\" twice\n" if index($text, $old, $at + 1) >= 0;
        substr($text, $at, length $old) = $new;
        open(my $out, ">", $file) or die "$file: $!\n";
        print $out $text;' "$@"
}

number=0 noticed=0 tried=0 mistakes=0
while IFS="$tab" read -r file tests old new; do
    case $file in '#'* | '') continue ;; esac
    number=$((number + 1))
    [ "$number" -ge "$first" ] && [ "$number" -le "$last" ] || continue
    cp -p "$file" mutants.saved
    replace "$file" "$old" "$new"
    # shellcheck disable=SC2086
    by=$(MAKEFLAGS='' outcome $tests </dev/null)
    cp mutants.saved "$file" # newer than what was built of the fault
    tried=$((tried + 1))
    case $by in
    build) mistakes=$((mistakes + 1)); echo "$number $file: does not build: $old" ;;
    '') echo "$number $file: NOT NOTICED: $old -> $new" ;;
    *) noticed=$((noticed + 1)); echo "$number $file: $by" ;;
    esac
done <"$list"
rm -f mutants.saved
echo "$noticed of $tried faults noticed"
[ "$mistakes" = 0 ] && [ $((noticed * 100)) -ge $((tried * least)) ]
