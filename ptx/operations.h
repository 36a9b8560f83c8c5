/* The operations: all that is known of one but the function that does it stands together.
 *
 *     SCALAR(name, lowering, family, traits)
 *     OPERATION(name, lowering, step, traits)
 *     FORM(name, opcode, modifiers, types, operands, kind, sm)
 *     COST(name, type, flag, latency, slots, unit(busy), unit(busy))
 *
 * Either makes OP_name. Its statements are lowered by ptx_lower_<lowering>() in translate/ (plain: by the roles of
 * their operands; nothing: without effect). A scalar operation is a function of the operands of one lane, in one of the
 * families of run/scalar.c. Lanes execute the others by ptx_step_<step>() in run/; "none" has a handler (run/plain.c,
 * run/hot.c), or is never executed.
 *
 * FORM is one way of writing it: a row of optable.h. Forms of one opcode keep their order, in which they are tried; so
 * some stand with another operation of their opcode.
 *
 * COST is what it costs on operands of that type (ANY: of all that no row before it names) if it has that flag: cycles
 * from its issue to its result, slots of issue, and for how many cycles of a quarter of an SM it keeps one or two
 * units busy. What has no row here is told by a function of translate/cost.c.
 * Source: h100/classes.csv (latency; throughput of one SM with 32 warps: a warp's instruction takes 128 / lanes a clock
 * of a quarter), which says for what is measured in pairs how much of it is the other one's. Where a PTX instruction is
 * several of SASS, slots are their number. Rows `assumed` are between those that are like them.
 *
 * Included several times, with those macros that the includer wants; hence no guard. */
#ifndef OPERATION
#define OPERATION(name, lowering, step, traits)
#endif
#ifndef SCALAR /* an operation without a step */
#define SCALAR(name, lowering, family, traits) OPERATION(name, lowering, none, traits)
#endif
#ifndef OTHER_OPERATIONS /* stands before those that are no function of the operands of one lane */
#define OTHER_OPERATIONS
#endif
#ifndef FORM
#define FORM(name, opcode, modifiers, types, operands, kind, sm)
#endif
#ifndef COST
#define COST(...)
#endif

#include "ptx/operations_scalar.h"
OTHER_OPERATIONS
#include "ptx/operations_other.h"

#undef OPERATION
#undef SCALAR
#undef OTHER_OPERATIONS
#undef FORM
#undef COST
