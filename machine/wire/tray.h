/* Trays: with `fanout exec --trays` each host of a system of several has the ranks of its own GPUs. */
#ifndef MACHINE_WIRE_TRAY_H
#define MACHINE_WIRE_TRAY_H

#include <glib.h>

#define TRAYS_ENV "FANOUT_TRAYS" /* GPUs of one tray; set by `fanout exec --trays` */
#define TRAY_HOST "fanout-tray"  /* a tray's host name is this and its number */

/* The tray of this process: rank (wire_rank()) / GPUs of one. A process that no launcher has given a rank is on tray 0.
 * *gpus: of one tray; 0: there are no trays. Needs the C library alone. */
guint32 wire_tray(guint32 *gpus);

#endif
