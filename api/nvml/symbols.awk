# Makes C from api/nvml/symbols.list: a weak definition for each function, which answers NVML_ERROR_NOT_SUPPORTED unless
# another file defines it.
BEGIN {
    print "/* Made by api/nvml/symbols.awk from api/nvml/symbols.list; do not edit. */"
    print "#define STUB(symbol) \\"
    print "    int symbol(void); \\"
    print "    __attribute__((weak, visibility(\"default\"))) int symbol(void) { return 3; }"
}
/^#/ || NF == 0 { next }
{ printf "STUB(%s)\n", $1 }
