# Makes coll/nccl.gen.c, a table of NCCL's versions, from the data files beside this one, which are given in ascending
# order. A key that is not known, or one that is missing, ends the build.
function fail(text) { print FILENAME ":" FNR ": " text > "/dev/stderr"; failed = 1; exit 1 }
function version(text,  part) {
    if (split(text, part, ".") != 3)
        fail("'" text "' is no version of three numbers")
    return part[1] * 1000000 + part[2] * 1000 + part[3]
}
function close_section(  i) {
    if (section == "")
        return
    for (i = 1; i <= wanted; i++)
        if (!(names[i] in got))
            fail("section " section " has no key " names[i])
    if (section != "nccl")
        printf "}"
}
function close_file() {
    close_section()
    if (section != "")
        print "}},"
    section = ""
}
BEGIN {
    print "/* Made by coll/nccl/nccl.awk from coll/nccl/: not to be changed by hand. */"
    print "#include \"coll/internal.h\""
    print "const CollNccl coll_nccl_versions[] = {"
}
FNR == 1 { close_file() }
/^#/ || /^$/ { next }
/^\[/ {
    close_section()
    delete got
    section = substr($0, 2, length($0) - 2)
    if (section == "nccl") {
        wanted = split("from channel_traffic_bytes p2p_ll_channels nvls_model nvls_own_part", names, " ")
        printf "    {"
    } else if (section ~ /^sm_[0-9]+$/) {
        wanted = split("ll_MBps tree_MBps tree_ll128_MBps ring_ll128_MBps nvls_permille nvls_channels", names, " ")
        printf "%s{.arch = %d", section == "sm_80" ? ".of = {" : ", ", substr(section, 4)
    } else
        fail("section '" section "' is none of nccl, sm_80, sm_90, sm_100")
    next
}
{
    if (NF != 3 || $2 != "=")
        fail("a line is KEY = VALUE")
    known = 0
    for (i = 1; i <= wanted; i++)
        known = known || names[i] == $1
    if (!known)
        fail("section " section " has no key '" $1 "'")
    got[$1] = 1
    if ($1 == "from")
        printf ".from = %d, ", version($3)
    else if ($1 == "p2p_ll_channels")
        printf ".p2p_ll_most = %s, ", $3 == "most" ? "TRUE" : "FALSE"
    else if ($1 == "nvls_model")
        printf ".nvls_twice = %s, ", $3 == "twice" ? "TRUE" : "FALSE"
    else if ($1 == "nvls_own_part")
        printf ".nvls_own_part = %s, ", $3 == "true" ? "TRUE" : "FALSE"
    else
        printf section == "nccl" ? ".%s = %d, " : ", .%s = %d", $1, $3
}
END {
    if (failed)
        exit 1
    close_file()
    print "};"
    print "const guint32 coll_nccl_versions_n = G_N_ELEMENTS(coll_nccl_versions);"
}
