# Makes C from cuda_symbols.list: a weak definition for each symbol, which answers
# CUDA_ERROR_NOT_SUPPORTED and says so once, unless another file defines it; and the table of
# cuGetProcAddress, sorted as the list is.
BEGIN {
    print "/* Made by cuda_symbols.awk from cuda_symbols.list; do not edit. */"
    print "#include \"api/cuda/symbols.h\""
    print "#define STUB(symbol, row) \\"
    print "    int symbol(void); \\"
    print "    __attribute__((weak, visibility(\"default\"))) int symbol(void) \\"
    print "    { return cuda_symbols_stub(row); }"
}
/^#/ || NF == 0 { next }
{
    printf "STUB(%s, %d)\n", $1, n
    row[n++] = sprintf("    {\"%s\", \"%s\", %d, %s, %s, (void (*)(void))%s},", $1, $2, $3, \
        $4 == "ptsz" || $4 == "ptds" ? "1" : "0", $5 == "suffixed" ? "1" : "0", $1)
}
END {
    print "const CudaSymbol cuda_symbols[] = {"
    for (i = 0; i < n; i++)
        print row[i]
    print "};"
    printf "const unsigned cuda_symbols_n = %d;\n", n
}
