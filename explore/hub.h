/* The first rank's side of a sweep on several ranks: it hands out points and takes results over sockets. A rank that
 * is lost is a connection that ends; what it was doing is given to another. */
#ifndef EXPLORE_HUB_H
#define EXPLORE_HUB_H

#include <glib.h>
#include <poll.h>

#include "explore/wire.h"

typedef struct {
    int fd;
    GByteArray *in;
    gboolean is_one_of_us; /* it has said the token */
    gboolean is_lost;
    GByteArray *answer; /* of its last point; NULL: none yet */
    gpointer user;
} HubLink;

typedef struct Hub Hub;

/* Waits for connections at all addresses of this machine. GError: G_FILE_ERROR. */
Hub *hub_new(GError **error);
/* Tells all ranks that there are no points any more. */
void hub_free(Hub *hub);

/* What the other ranks have to know: "TOKEN PORT ADDRESS ADDRESS ...". Borrowed. */
const char *hub_invitation(const Hub *hub);
GPtrArray *hub_links(Hub *hub); /* HubLink; borrowed */

/* Adds what is to be looked at to an array of struct pollfd; hub_serve() then takes what has come. */
void hub_poll(const Hub *hub, GArray *fds);
void hub_serve(Hub *hub);
/* Closes and forgets a link. */
void hub_drop(Hub *hub, HubLink *link);

/* A point's command without its program. FALSE: the rank is lost. */
gboolean hub_send_point(HubLink *link, char **words);
/* Takes the answer apart; out and err point into it. FALSE: it is none. */
gboolean hub_answer(const HubLink *link, int *status, const char **out, gsize *n_out, const char **err, gsize *n_err);

#endif
