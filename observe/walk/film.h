/* A whole small run as a scene: all of its packets on links and in the parts of GPUs and switches, its queues, credits,
 * tags and buffers, and a step in words for each event of a packet. What a recorder (recorder.h) makes of a walk, of
 * any run. From the first request to others on; requests to a GPU's own memory are not seen. */
#ifndef OBSERVE_WALK_FILM_H
#define OBSERVE_WALK_FILM_H

#include "observe/walk/recorder.h"

#define FILM_PACKETS 500u /* on links: more can neither be followed nor drawn in good time */

typedef struct Film Film;
Film *film_new(const Fabric *fabric, const char *title);
void film_note(Film *film, const ProbeEvent *event);
/* The scene, which is the caller's; the film is freed. *packets: how many went over links; NULL where that is more than
 * FILM_PACKETS, or 0. */
Scene *film_finish(Film *film, guint64 *packets);

#endif
