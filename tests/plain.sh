# Sourced by tests whose programs are built without sanitizers and load libraries of a build that has them. The runtime of
# the address sanitizer comes late then and does not see what the program allocates, so that it must not look for leaks;
# that of the race checker cannot come late.
case ${SANITIZE:-no} in
no | '') ;;
yes)
    ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0"
    export ASAN_OPTIONS
    ;;
*) echo "a plain program cannot load a library under the race checker"; exit 77 ;;
esac
