/* Messages between the first rank of a sweep and the others, over a socket: how many bytes, a letter, the bytes.
 *
 *     H token              from a rank: it is one of this run
 *     W                    to a rank: it was taken in
 *     P word 0 word 0 ...  to a rank: a point's command, without the program
 *     R status n out err   from a rank: what waitpid() said, how long the report is, the report, the messages
 *     B                    to a rank: there are no points any more
 */
#ifndef EXPLORE_WIRE_H
#define EXPLORE_WIRE_H

#include <glib.h>

typedef enum { WIRE_HELLO = 'H', WIRE_WELCOME = 'W', WIRE_POINT = 'P', WIRE_RESULT = 'R', WIRE_BYE = 'B' } WireKind;

/* All of it. FALSE: the other end is gone, or takes nothing for ten seconds. */
gboolean wire_send(int fd, WireKind kind, const void *bytes, gsize n);
/* Reads what has come, behind `in`. FALSE: the other end is gone. */
gboolean wire_read(int fd, GByteArray *in);
/* Takes the first message off `in`, to be freed. FALSE: none is whole yet; *wrong: it is none of ours. */
gboolean wire_take(GByteArray *in, WireKind *kind, GByteArray **payload, gboolean *wrong);
/* Sets what a connection of a sweep has: no delay, and a machine that is lost is noticed within two minutes. */
void wire_prepare(int fd);

#endif
