# What tests of programs written against CUDA's headers share, to be sourced: a folder $dir for what they write, and
# `build_client SOURCE NAME FLAG...`, which makes $dir/NAME of SOURCE with Fanout's cuda.h in CUDA's place. They skip
# where there is no libcuda.
. "$TOP_SRCDIR/tests/plain.sh"
libs=$(dirname "$FANOUT")/.libs
[ -f "$libs/libcuda.so.1" ] || { echo "no $libs/libcuda.so.1"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/own"
printf '#include <fanout/cuda.h>\n' >"$dir/own/cuda.h"
build_client() {
    source=$1 name=$2
    shift 2
    ${CC:-cc} -std=gnu11 -O1 -Wall -Wextra -Werror -I"$dir/own" -I"$TOP_SRCDIR/api/include" -I"$TOP_SRCDIR" \
        "$source" -o "$dir/$name" "$libs/libcuda.so.1" -Wl,-rpath-link,"$libs" "$@"
}
