/* The other ranks' side: a rank runs one point after another for the first one, until there are none. */
#ifndef EXPLORE_PEER_H
#define EXPLORE_PEER_H

#include <glib.h>

/* invitation: what hub_invitation() says on the first rank. program: the path of the `fanout` command. GError:
 * G_FILE_ERROR: the first rank cannot be reached, or is lost before it said that it has no points any more. */
gboolean peer_serve(const char *invitation, const char *program, GError **error);

#endif
