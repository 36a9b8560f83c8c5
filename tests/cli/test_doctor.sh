#!/bin/sh
# Proves that `fanout doctor` finds what is there, says what to do about what is not, and fails only where simulations do.
. "$TOP_SRCDIR/tests/cli/cli_test.sh"
field() { python3 -c 'import json, sys
row = {r["what"]: r for r in json.load(open(sys.argv[1]))["rows"]}[sys.argv[2]]
print(row[sys.argv[3]])' "$1" "$2" "$3"; }
is() { [ "$2" = "$3" ] || complain "$1: '$2' is not '$3'"; }

says 'core  *yes  teach-4gpu: all_reduce of 256 KiB, verified' doctor
"$FANOUT" doctor --format json >all.json || complain "json: exit $?"
is "the core" "$(field all.json core usable)" True
is "cores" "$(field all.json cores found)" "$(nproc)"
is "libcuda" "$(field all.json libcuda usable)" True

# Programs that are there are found where the path has them first; without any, each row says what to do.
mkdir bin empty
for program in gnuplot chromium gtkwave; do printf '#!/bin/sh\n' >bin/$program && chmod +x bin/$program; done
PATH="$PWD/bin:$PATH" "$FANOUT" doctor --format json >found.json
is "gnuplot" "$(field found.json gnuplot found)" "$PWD/bin/gnuplot"
is "browser" "$(field found.json browser found)" "$PWD/bin/chromium"
is "no advice where it is there" "$(field found.json GTKWave install)" None
PATH=empty "$FANOUT" doctor --format json >none.json || complain "without programs: exit $?"
for part in gnuplot browser GTKWave mpirun python3 pandas; do
    is "$part without a path" "$(field none.json "$part" usable)" False
    field none.json "$part" install | grep -q 'install' || complain "$part: no advice"
    [ "$(field none.json "$part" serves)" != None ] || complain "$part: serves nothing"
done

# A fabric that gets stuck is a core that fails; a system that is none is the user's error.
status=0
"$FANOUT" doctor --fault gpu_silent=gpu1 >out 2>err || status=$?
[ "$status" = 2 ] && grep -q 'a simulation of one collective failed' err || complain "stuck: exit $status: $(cat err)"
grep -q '^  core .*stuck' out || complain "stuck: the table does not say so: $(cat out)"
refuses "did you mean teach-4gpu" doctor -s teach-4gp
refuses "is too much" doctor now
finish
