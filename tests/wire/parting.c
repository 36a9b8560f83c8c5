/* Asks the owner of a machine and is gone before the answer comes, again and again: run below `fanout exec`.
 *
 * The owner is stopped while the question is sent and its connection closed, so that the answer cannot be quicker. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "machine/wire/client.h"

int main(void)
{
    WireCall call = {.head = wire_head(WIRE_CALL), .request.op = WIRE_OP_PRINTS};

    for (guint i = 0; i < 20; i++) {
        WireHello hello;
        WireWelcome welcome;

        wire_introduce(&hello, WIRE_ROLE_CALLER, TRUE);
        int fd = wire_dial(g_getenv(WIRE_ENV), &hello, &welcome, NULL);
        if (fd < 0)
            return 1;
        kill(getppid(), SIGSTOP);
        gboolean sent = message_send(fd, &call, sizeof call, NULL, 0, -1);
        close(fd);
        kill(getppid(), SIGCONT);
        if (!sent)
            return 2;
    }
    puts("asked 20 times");
    return 0;
}
