/* Wiring by rules: [topology] wire.
 *
 *     gpu*.link[0-8] -> leaf{gpu/8}.port*; leaf*.trunk[0-17] -> spine{trunk}.port*
 *
 * Rules stand in order, with ';' between them. Left of the arrow stand the links that a rule wires: links of GPUs, or
 * ports of leaf switches that lead up (leaf*.port[40-47], or leaf*.trunk[0-7] for as many free ports). Numbers are
 * `*` (all), 3, [0-8] or [0,2,4-7]. Right of it stands where each of them goes: a switch's number and port, each a
 * number, an expression of whole numbers in braces (+ - * / % and parentheses over `gpu`, `link`, or `leaf`, `port`,
 * `trunk` of the left side), or for ports `*`, the lowest free one. */
#ifndef MODEL_FABRIC_WIRING_H
#define MODEL_FABRIC_WIRING_H

#include "model/fabric/topology.h"

/* Fills in topology->leaf, trunks, leaves and spines. GError (PARAM_ERROR): the rule and what is wrong with it: its
 * grammar, a link or port that is wired twice, a GPU or link that the system has not. */
gboolean wiring_apply(Topology *topology, const char *rules, GError **error);

#endif
