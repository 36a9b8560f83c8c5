/* Inside libfanout_wait.so: a thread's talk with the machine's owner. */
#ifndef API_WIRE_WAIT_H
#define API_WIRE_WAIT_H

#include <stdint.h>
#include <sys/socket.h>

#include "api/wire/client.h"

/* Sends a request of this thread: the connection on which its answer comes; -1: there is no owner. */
int wait_ask(uint32_t op, uint64_t argument, uint64_t time_ps);
int wait_answered(int fd); /* takes the answer; 0: the owner is gone */

#endif
