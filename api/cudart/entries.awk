# Turns entries.list, the names that NVIDIA's libraries export, into functions that answer "not supported" for those
# that ours does not have: weak ones, so that a function of the same name in another file stands in their place.
BEGIN { print "#include \"api/cudart/runtime.h\"" }
{
    printf "__attribute__((weak)) RT %s(void)\n{\n    static int said;\n    return runtime_missing(\"%s\", &said);\n}\n", $1, $1
}
