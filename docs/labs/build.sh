# build.sh FILE.c: builds a program that uses the driver API and device programs, as ./FILE, with the examples' team.c.
# It takes the Fanout that `fanout` is of: a build tree, or an installed one.
set -eu
top=${FANOUT_TOP:-$(dirname "$(command -v fanout)")}
name=$(basename "$1" .c)
if [ -e "$top/.libs/libcuda.so" ]; then
    sources=${TOP_SRCDIR:-$top}
    flags="-I$sources -I$sources/api/include -L$top/.libs -lcuda"
else
    sources=$(pkg-config --variable=pkgdatadir fanout)
    flags="-I$sources $(pkg-config --cflags --libs fanout)"
fi
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -Wall -Wextra -o "$name" "$1" "$sources/examples/team.c" $flags
