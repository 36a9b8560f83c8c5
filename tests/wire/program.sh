# What tests of programs that wait share, to be sourced: a folder $dir for what they write, and `build NAME FLAG...`, which
# makes $dir/NAME of tests/wire/NAME.c. They skip where there is no library that knows of waits.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$TOP_SRCDIR/tests/plain.sh"
libs=$(dirname "$FANOUT")/.libs
[ -f "$libs/libfanout_wait.so" ] || { echo "no $libs/libfanout_wait.so"; exit 77; }
build() {
    name=$1
    shift
    ${CC:-cc} -std=gnu11 -O1 -Wall -Wextra -Werror -I"$TOP_SRCDIR/api/include" "$TOP_SRCDIR/tests/wire/$name.c" \
        -o "$dir/$name" "$libs/libcuda.so.1" -Wl,-rpath-link,"$libs" "$@"
}
