/* Ctrl-C (SIGINT) and SIGTERM in verbs whose report does not grow by rows; those that grow have cli/live/live.h.
 *
 * The first signal ends the run with 130: at once where nothing can be finished before the end, or, in a verb that
 * looks, when what is there has been printed and written. A second one ends it at once. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <glib.h>

void interrupt_catch(void); /* of main(), before the verb; a signal that is ignored stays so */
/* From here on the first one is only noted: the verb looks at it (atomic) and ends early. The number of the signal; 0:
 * none came. */
const gint *interrupt_look(void);
const char *interrupt_name(gint number); /* "interrupted (SIGINT)" */

#endif
