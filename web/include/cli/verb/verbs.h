/* The verbs that WebAssembly has, in the order of `fanout --help`. Included several times, hence no guard. */
VERB(systems)
VERB(coll)
VERB(bench)
VERB(walk)
