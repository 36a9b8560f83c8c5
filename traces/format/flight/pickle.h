/* Python pickles of plain data as JSON text. Nothing in them is ever called: of the classes and functions that a pickle
 * may name, only those are known that hand back the list or dictionary given to them; any other is refused by name. */
#ifndef TRACES_FORMAT_FLIGHT_PICKLE_H
#define TRACES_FORMAT_FLIGHT_PICKLE_H

#include <glib.h>

/* Protocols 2 to 5. Tuples and sets become arrays, bytes become strings, numbers that are no JSON numbers null, keys
 * that are no strings their text. NULL: *wrong says what is wrong and at which byte (the caller's to free). */
char *pickle_to_json(const guint8 *data, gsize bytes, gsize *length, char **wrong);

#endif
