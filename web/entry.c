/* Where the command begins, for WebAssembly. main() comes back through the fibres' unwound stacks, where its value
 * would be lost: exit() tells it. */
#include <stdlib.h>

int fanout_main(int argc, char **argv);

int main(int argc, char **argv) { exit(fanout_main(argc, argv)); }
