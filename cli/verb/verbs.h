/* Every verb, in the order of `fanout --help`. Included several times, hence no guard. */
VERB(systems)
VERB(coll)
VERB(bench)
VERB(walk)
VERB(validate)
VERB(exec)
VERB(replay)
VERB(convert)
