/* Logical endpoints inside the engine: unicast ones, the tables of programs, and copies that name one. */
#ifndef MACHINE_ENGINE_ENDPOINT_H
#define MACHINE_ENGINE_ENDPOINT_H

#include "machine/engine/internal.h"

/* A unicast endpoint: memory of one GPU that takes nothing of the fabric, neither addresses nor entries. */
#define ENGINE_UNICAST 0x80000000u /* in the numbers of these objects */
typedef struct {
    McObject *object; /* its id is 0; NULL: it has ended */
    ObjectNote note;
} EngineUnicast;

/* object: that request->object means. */
void engine_endpoint_request(Engine *engine, const EngineRequest *request, McObject *object, EngineReply *reply);
void engine_endpoints_forget(Engine *engine, const McObject *object); /* which is about to be freed */
EngineUnicast *engine_unicast(const Engine *engine, guint32 number);  /* there is one of that number */
guint32 engine_unicast_new(Engine *engine, guint64 bytes);            /* its number */
void engine_endpoints_report(Engine *engine, Report *report);
/* endpoint_copy.c: one end of a copy in an endpoint; *room gets how far its memory goes on. FALSE: it leads nowhere,
 * and the work is done with a fault. */
gboolean engine_endpoint_end(Work *work, guint32 id, guint64 offset, CopyEnd *end, guint64 *room);

#endif
