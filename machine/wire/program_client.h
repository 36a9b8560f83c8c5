/* Device programs of a client (program.h): what was launched, and the thread on which the CTAs' functions run. */
#ifndef MACHINE_WIRE_PROGRAM_CLIENT_H
#define MACHINE_WIRE_PROGRAM_CLIENT_H

#include "machine/wire/client.h"
#include "machine/wire/program.h"

typedef struct ProgramClient ProgramClient;

ProgramClient *program_client_new(const char *name);    /* of the owner's socket; never freed */
void program_client_close(const ProgramClient *client); /* in the child of a fork */
/* Keeps a launch's function and a copy of its arguments; *sent is what the owner gets. The first one connects. */
EngineStatus program_client_launch(ProgramClient *client, const FoKernel *kernel, WireProgram *sent);
void program_client_forget(ProgramClient *client, guint64 launch); /* the owner has refused it */

#endif
